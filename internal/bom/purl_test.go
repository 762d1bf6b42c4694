// SPDX-License-Identifier: Apache-2.0

package bom

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/package-url/packageurl-go"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

func TestImagePURL(t *testing.T) {
	tests := []struct{ name, tag, digest, want string }{
		{"debian", "12", testDigest, "pkg:oci/debian@" + testDigest + "?repository_url=docker.io%2Flibrary%2Fdebian&tag=12"},
		{"vllm/vllm-openai", "v0.11.0", "", "pkg:oci/vllm-openai?repository_url=docker.io%2Fvllm%2Fvllm-openai&tag=v0.11.0"},
		{"registry.example.com:5000/a/b/c", "", testDigest, "pkg:oci/c@" + testDigest + "?repository_url=registry.example.com:5000%2Fa%2Fb%2Fc"},
		{"index.example.com/a", "", "", "pkg:oci/a?repository_url=index.example.com%2Fa"},
		{"a", "", "sha256:abc", "pkg:oci/a?repository_url=docker.io%2Flibrary%2Fa"},
		{"Upper/Case", "1", "", ""},
		{"not an image", "", "", ""},
		{"a/", "", "", ""},
		{"", "", "", ""},
		{"user:pw@registry.example.com/a", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			f := cleanFinding(evidence.Finding{Type: evidence.TypeContainer, Name: tt.name, Version: tt.tag, Digest: tt.digest})
			got := purlOf(f)
			g.Expect(got).To(Equal(tt.want))
			if got != "" {
				_, err := packageurl.FromString(got)
				g.Expect(err).NotTo(HaveOccurred())
			}
		})
	}
}

func TestModelPURL(t *testing.T) {
	tests := []struct {
		name, version string
		origin        evidence.Origin
		want          string
	}{
		{"meta-llama/Llama-3.1-8B", "", evidence.OriginHuggingFace, "pkg:huggingface/meta-llama/Llama-3.1-8B"},
		{"meta-llama/Llama-3.1-8B", strings.ToUpper(testCommit), evidence.OriginHuggingFace, "pkg:huggingface/meta-llama/Llama-3.1-8B@" + testCommit},
		{"gpt2", "main", evidence.OriginHuggingFace, "pkg:huggingface/gpt2"},
		{"hf://org/name:" + testCommit, "", evidence.OriginHuggingFace, "pkg:huggingface/org/name@" + testCommit},
		{"org/name:Q4_K_M", "", evidence.OriginHuggingFace, "pkg:huggingface/org/name"},
		{"https://huggingface.co/org/name", "", evidence.OriginHuggingFace, "pkg:huggingface/org/name"},
		{"meta-llama/Llama-3.1-8B", "", evidence.OriginUnknown, ""},
		{"llama3.2", "", evidence.OriginOllama, ""},
		{"/models/llama", "", evidence.OriginHuggingFace, ""},
		{"a/b/c", "", evidence.OriginHuggingFace, ""},
		{"$(MODEL)", "", evidence.OriginHuggingFace, ""},
		{"hf_Zq7Zq7Zq7Zq7Zq7Zq7Zq7Zq7Zq7Zq7/x", "", evidence.OriginHuggingFace, ""},
		{strings.Repeat("a", 2000), "", evidence.OriginHuggingFace, ""},
	}
	for _, tt := range tests {
		t.Run(cutAt(tt.name, 40)+string(tt.origin), func(t *testing.T) {
			f := cleanFinding(evidence.Finding{Type: evidence.TypeModel, Name: tt.name, Version: tt.version, Origin: tt.origin, Confidence: evidence.Declared})
			NewWithT(t).Expect(purlOf(f)).To(Equal(tt.want))
		})
	}
	t.Run("a dataset is no model", func(t *testing.T) {
		f := evidence.Finding{Type: evidence.TypeData, Name: "org/data", Origin: evidence.OriginHuggingFace, Confidence: evidence.Declared}
		NewWithT(t).Expect(purlOf(f)).To(BeEmpty())
	})
}
