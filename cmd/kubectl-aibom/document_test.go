// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
)

func TestDocumentIsPrintedByteForByte(t *testing.T) {
	a := aibomOf("shop", "llm", "inference", "vllm")
	const data = "{\"name\": \"\u001b[31m <&> \u00e9\"}"
	hold(&a, data)
	for _, reference := range []string{
		"deployment/llm", "Deployment/llm", "deployments/llm", "deployments.apps/llm",
		"deployment-llm", "aibom/deployment-llm", "aiboms/deployment-llm", "bom/deployment-llm", "aibom.aibom.k8saibom.dev/deployment-llm",
	} {
		t.Run(reference, func(t *testing.T) {
			g := NewWithT(t)
			out, errOut, err := serving().with(inShop+"/deployment-llm", always(200, a)).run(t, "document", reference)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(out).To(Equal(data))
			g.Expect(errOut).To(BeEmpty())
		})
	}
}

func TestAnOldDocumentIsPrintedWithAWarning(t *testing.T) {
	g := NewWithT(t)
	a := aibomOf("shop", "llm", "inference", "vllm")
	a.Status.Conditions = []metav1.Condition{{Type: v1beta1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1beta1.ReasonScrapeFailed, Message: "no template\x1b[2J"}}
	out, errOut, err := serving().with(inShop+"/deployment-llm", always(200, a)).run(t, "document", "deployment/llm")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out).To(Equal(a.Status.BOMDocument.Inline.Data))
	g.Expect(errOut).To(Equal("warning: this is the last good document of AIBOM shop/deployment-llm; the newest attempt failed (ScrapeFailed): no template^[[2J\n"))
}

func TestWhereADocumentIsInstead(t *testing.T) {
	g := NewWithT(t)
	external := &v1beta1.ExternalDocument{Sink: "archive", URL: "https://sbom.example.com/x.cdx.json"}
	writeOnly := &v1beta1.ExternalDocument{Sink: "archive", URL: "https://sbom.example.com/x.cdx.json", WriteOnly: true}
	for _, c := range []struct {
		document *v1beta1.BOMDocument
		want     []string
	}{
		{nil, []string{"AIBOM shop/deployment-llm has no document yet", "kubectl describe aibom -n shop deployment-llm"}},
		{&v1beta1.BOMDocument{External: external, Size: 9, SHA256: "abc"}, []string{`sink "archive" at https://sbom.example.com/x.cdx.json; fetch it`, "9 bytes, sha256 abc"}},
		{&v1beta1.BOMDocument{External: writeOnly}, []string{`sink "archive" at https://sbom.example.com/x.cdx.json`, "does not hand documents out"}},
		{&v1beta1.BOMDocument{External: &v1beta1.ExternalDocument{Sink: "archive"}}, []string{`sink "archive" at an address that it did not tell`}},
		{&v1beta1.BOMDocument{Truncated: true, TruncationReason: "every configured sink failed", Size: 300000}, []string{"is truncated", "300000 bytes", "because every configured sink failed", "inlineThresholdBytes"}},
		{&v1beta1.BOMDocument{Inline: &v1beta1.InlineDocument{Data: "{}"}, SHA256: "abc"}, []string{"does not have the SHA-256 that its status states"}},
	} {
		a := aibomOf("shop", "llm", "inference", "vllm")
		a.Status.BOMDocument = c.document
		out, _, err := serving().with(inShop+"/deployment-llm", always(200, a)).run(t, "document", "deployment/llm")
		g.Expect(out).To(BeEmpty())
		for _, want := range c.want {
			g.Expect(err).To(MatchError(ContainSubstring(want)))
		}
	}
}

func TestDocumentMistakesAreNamed(t *testing.T) {
	absent := failure(404, metav1.StatusReasonNotFound, "not found")
	for reference, want := range map[string]string{
		"deployment/llm":                         "there is no AIBOM shop/deployment-llm: Deployment llm may not exist",
		"deployment-llm":                         "there is no AIBOM shop/deployment-llm: kubectl aibom summary -o wide",
		"pod/llm":                                `"pod" is not a known kind of workload; it must be one of Deployment, StatefulSet`,
		"deployments.batch/llm":                  `"deployments.batch" is not a known kind`,
		"deployment/":                            "neither KIND/NAME of a workload nor the name of an AIBOM",
		"a/b/c":                                  "neither KIND/NAME",
		"":                                       "neither KIND/NAME",
		"deployment/" + strings.Repeat("a", 250): "is too long for its AIBOM to bear",
	} {
		t.Run(reference, func(t *testing.T) {
			g := NewWithT(t)
			out, _, err := serving().with(inShop+"/deployment-llm", absent).run(t, "document", reference)
			g.Expect(err).To(MatchError(ContainSubstring(want)))
			g.Expect(out).To(BeEmpty())
		})
	}
	g := NewWithT(t)
	_, _, err := serving().run(t, "document")
	g.Expect(err).To(MatchError(ContainSubstring("kubectl aibom document deployment/my-llm")))
	_, _, err = serving().run(t, "document", "deployment/unserved")
	g.Expect(err).To(MatchError(ContainSubstring("this cluster does not serve")))
	_, _, err = serving().with(inShop+"/deployment-llm", failure(403, metav1.StatusReasonForbidden, "forbidden")).run(t, "document", "deployment-llm")
	g.Expect(err).To(MatchError("reading AIBOM shop/deployment-llm: forbidden; have the ClusterRole view or k8s-aibom-aibom-viewer-role bound to you in that namespace"))
}
