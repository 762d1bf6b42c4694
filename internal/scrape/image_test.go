// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

func TestMatchesImage(t *testing.T) {
	for _, test := range []struct {
		pattern, reference string
		want               bool
	}{
		{"vllm/vllm-openai", "vllm/vllm-openai", true},
		{"vllm/vllm-openai", "docker.io/vllm/vllm-openai:v1", true},
		{"vllm/vllm-openai", "index.docker.io/vllm/vllm-openai@" + digestA, true},
		{"vllm/vllm-openai", "localhost:5000/vllm/vllm-openai:v1", true},
		{"vllm/vllm-openai", "registry.example.com/cache/docker.io/vllm/vllm-openai:v1@" + digestA, true},
		{"vllm/vllm-openai", "123456789012.dkr.ecr.eu-west-1.amazonaws.com/mirror/vllm/vllm-openai:v1", true},
		{"vllm/vllm-openai", "vllm/vllm-openai:${TAG}", true},
		{"vllm/vllm-openai", "<REGISTRY>/vllm/vllm-openai:v1", true},
		{"vllm/vllm-openai", "REGION-docker.pkg.dev/PROJECT_ID/vllm/vllm-openai", true},
		{"vllm/vllm-openai", "evil/vllm-openai", false},
		{"vllm/vllm-openai", "vllm-openai", false},
		{"vllm/vllm-openai", "vllm/vllm-openai-evil", false},
		{"vllm/vllm-openai", "notvllm/vllm-openai", false},
		{"vllm/vllm-openai", "vllm/vllm-openai/evil", false},
		{"vllm/vllm-openai", "vllm.example.com/vllm-openai", false},
		{"vllm/vllm-openai", "example.com/app:vllm/vllm-openai", false},
		{"vllm/vllm-openai", "VLLM/vllm-openai", false},
		{"vllm/vllm-openai", "", false},
		{"vllm/vllm-openai", "vllm/vllm-openai v1", false},
		{"rhaiis/vllm-*-rhel9", "registry.redhat.io/rhaiis/vllm-cuda-rhel9:3.2", true},
		{"rhaiis/vllm-*-rhel9", "registry.redhat.io/rhaiis/x/vllm-cuda-rhel9:3.2", false},
		{"nvcr.io/nim/*/*", "nvcr.io/nim/meta/llama-3.1-8b-instruct:1", true},
		{"nvcr.io/nim/*/*", "example.com/nim/meta/llama:1", false},
		{"nvcr.io/nim/*/*", "example.com/nvcr.io/nim/meta/llama:1", true},
		{"nvcr.io/nim/*/*", "example.com:5000/hub/nvcr.io/nim/meta/llama:1", true},
		{"nvcr.io/nim/*/*", "example.com/nvcr.io/nim/meta/llama/x:1", false},
		{"nvcr.io/nim/*/*", "nvcr.io/nim/llama:1", false},
		{"nvcr.io/nim/*/*", "nvcr.io/other/nim/meta/llama:1", false},
		{"[", "vllm/vllm-openai", false},
	} {
		if got := matchesImage(test.pattern, parseImage(test.reference)); got != test.want {
			t.Errorf("%s and %s: %v, want %v", test.pattern, test.reference, got, test.want)
		}
	}
}

func TestParseImage(t *testing.T) {
	for reference, want := range map[string]image{
		"nginx":                     {"nginx", "library/nginx", "index.docker.io", "", ""},
		"nginx:1.29":                {"nginx", "library/nginx", "index.docker.io", "1.29", ""},
		"localhost:5000/a/b":        {"localhost:5000/a/b", "a/b", "localhost:5000", "", ""},
		"ghcr.io/a/b:v1@" + digestA: {"ghcr.io/a/b", "a/b", "ghcr.io", "v1", digestA},
		"ghcr.io/a/b@" + digestA:    {"ghcr.io/a/b", "a/b", "ghcr.io", "", digestA},
		"ghcr.io/a/b@sha256:short":  {"ghcr.io/a/b", "a/b", "ghcr.io", "", ""},
		"a b":                       {"a b", "", "", "", ""},
		"$IMAGE":                    {"$IMAGE", "", "", "", ""},
		"$(REGISTRY)/x:1":           {"$(REGISTRY)/x:1", "", "", "", ""},
		"":                          {"", "", "", "", ""},
		strings.Repeat("a", 20<<10): {strings.Repeat("a", maxValueBytes), "", "", "", ""},
	} {
		if got := parseImage(reference); got != want {
			t.Errorf("%.60s is %.300v, want %.300v", reference, got, want)
		}
	}
}

func TestVersionOf(t *testing.T) {
	for tag, want := range map[string]string{
		"v0.11.0": "0.11.0", "3.3.6": "3.3.6", "25.03-py3": "25.03", "2.8.0-cuda12.8-cudnn9-runtime": "2.8.0",
		"v0.6.3.post1": "0.6.3.post1", "0.5.0rc2": "0.5.0rc2", "v1.0.0-rc.1-cuda": "1.0.0-rc.1", "0.12.0-gpu": "0.12.0",
		"1.2.3-alpine": "1.2.3", "12.1.0-devel-ubuntu22.04": "12.1.0", "0.8.1-pg17": "0.8.1", "0.4.9.1": "0.4.9.1",
		"latest": "", "": "", "main": "", "1": "", "v1": "", "20250101": "", "sha-1a2b3c4": "", "pg17": "", "cpu-1.8": "",
		"server-cuda-b4719": "", "nightly-2025.01.02": "", "${TAG}": "", "123456789.1": "", "v": "",
		"1.2.3.4.5": "", "2024.01.15": "", "2024.01.15-cuda": "", "20240115.1": "", "v2024.01.15": "", "2025.3": "2025.3", "2025.3.0": "2025.3.0",
		"1.2x": "", "1..2": "", " 1.2": "", "1.2\n": "",
	} {
		if got := versionOf(tag); got != want {
			t.Errorf("%q holds the version %q, want %q", tag, got, want)
		}
	}
}

// A packager's tag says nothing of the version of what is packaged.
func TestVersionsOfVendorImages(t *testing.T) {
	for reference, want := range map[string]string{
		"nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.5.0":      "vllm inferred",
		"registry.redhat.io/rhaiis/vllm-cuda-rhel9:3.2.1":  "vllm inferred",
		"nvcr.io/nvidia/vllm:25.09-py3":                    "vllm inferred",
		"mirror.example.com/nvcr.io/nvidia/vllm:25.09-py3": "vllm inferred",
		"lmcache/vllm-openai:v0.3.5":                       "vllm inferred",
		"intel/vllm:0.10.2-xpu":                            "vllm inferred",
		"us-docker.pkg.dev/deeplearning-platform-release/gcr.io/huggingface-text-generation-inference-cu124.2-4.ubuntu2204.py311:1.2.3": "tgi inferred",
		"nvcr.io/nvidia/tritonserver:25.01-py3":     "triton inferred",
		"nvcr.io/nvidia/nemo:24.07":                 "nemo inferred",
		"vllm/vllm-openai:v0.11.0":                  "vllm@0.11.0 inferred",
		"nvcr.io/nvidia/tensorrt-llm/release:1.0.0": "tensorrt-llm@1.0.0 inferred",
		"nvcr.io/nim/nvidia/llm-nim:1.12.0":         "nim@1.12.0 inferred",
	} {
		found := lines(PodWorkload(deployment(withArgs(reference))), evidence.TypeRuntime)
		if got := strings.Join(found, ", "); got != want {
			t.Errorf("%s is %q, want %q", reference, got, want)
		}
	}
	for _, reference := range []string{"nvcr.io/nvidia/pytorch:24.07-py3", "nvcr.io/nvidia/tensorflow:24.07-tf2-py3", "nvcr.io/nvidia/jax:25.04-py3"} {
		report := PodWorkload(job(withCommand(reference, "python", "train.py")))
		NewWithT(t).Expect(lines(report, evidence.TypeRuntime)).To(HaveExactElements(MatchRegexp("^[a-z]+ inferred$")), reference)
	}
}

func TestRunningDigest(t *testing.T) {
	for imageID, want := range map[string]string{
		"docker.io/vllm/vllm-openai@" + digestA:         digestA,
		"docker-pullable://vllm/vllm-openai@" + digestA: digestA,
		digestA:                         "", // the image's configuration
		"docker://" + digestA:           "",
		"":                              "",
		"a@sha256:1234":                 "",
		"a@sha512:" + digestA:           "",
		"a@" + strings.ToUpper(digestA): "",
	} {
		if got := runningDigest(imageID); got != want {
			t.Errorf("%q gives %q, want %q", imageID, got, want)
		}
	}
}

func TestImagesOfPods(t *testing.T) {
	const old = "vllm/vllm-openai:v0.10.0"
	id := func(digest string) string { return "docker.io/vllm/vllm-openai@" + digest }
	type container struct{ Name, Version, Digest string }
	for name, test := range map[string]struct {
		image   string
		running []RunningImage
		want    []container
	}{
		"no pods":             {vllmImage, nil, []container{{"vllm/vllm-openai", "v0.11.0", ""}}},
		"one digest":          {vllmImage, []RunningImage{{"c0", vllmImage, id(digestA)}, {"c0", vllmImage, id(digestA)}}, []container{{"vllm/vllm-openai", "v0.11.0", digestA}}},
		"a configuration":     {vllmImage, []RunningImage{{"c0", vllmImage, digestA}}, []container{{"vllm/vllm-openai", "v0.11.0", ""}}},
		"two digests":         {vllmImage, []RunningImage{{"c0", vllmImage, id(digestA)}, {"c0", vllmImage, id(digestB)}}, []container{{"vllm/vllm-openai", "v0.11.0", digestA}, {"vllm/vllm-openai", "v0.11.0", digestB}}},
		"another container's": {vllmImage, []RunningImage{{"c1", vllmImage, id(digestA)}}, []container{{"vllm/vllm-openai", "v0.11.0", ""}}},
		"a rollout":           {vllmImage, []RunningImage{{"c0", old, id(digestB)}}, []container{{"vllm/vllm-openai", "v0.10.0", digestB}, {"vllm/vllm-openai", "v0.11.0", ""}}},
		"pinned":              {vllmImage + "@" + digestA, []RunningImage{{"c0", vllmImage + "@" + digestA, id(digestB)}}, []container{{"vllm/vllm-openai", "v0.11.0", digestA}}},
		"pinned, a rollout":   {vllmImage + "@" + digestA, []RunningImage{{"c0", old, id(digestB)}}, []container{{"vllm/vllm-openai", "v0.10.0", digestB}, {"vllm/vllm-openai", "v0.11.0", digestA}}},
	} {
		t.Run(name, func(t *testing.T) {
			in := deployment(withArgs(test.image))
			in.Running = test.running
			var got []container
			for _, f := range of(PodWorkload(in), evidence.TypeContainer) {
				got = append(got, container{f.Name, f.Version, f.Digest})
			}
			NewWithT(t).Expect(got).To(Equal(test.want))
		})
	}
}
