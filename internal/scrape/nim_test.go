// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

func TestNIMService(t *testing.T) {
	testObjects(t, "NIMService", []objectCase{{
		name: "the image names the model",
		spec: `
spec:
  image: {repository: nvcr.io/nim/meta/llama-3.2-1b-instruct, tag: 1.12.0}
  resources: {limits: {nvidia.com/gpu: 1}}
  storage: {nimCache: {name: cache, profile: tensorrt_llm}}
  inferencePlatform: kserve
  initContainers: [{name: x, image: {repository: a, tag: b}}]
  sidecarContainers: [{name: y, image: {repository: c, tag: d}}]`,
		findings: []string{
			"container nvcr.io/nim/meta/llama-3.2-1b-instruct@1.12.0 main (thing-ctr) declared at image:spec.image",
			"runtime nim@1.12.0 (thing-ctr) inferred at image:spec.image",
			"runtime nim@1.12.0 declared at kind:kind image:spec.image.tag",
			"model meta/llama-3.2-1b-instruct served/ngc inferred at image:spec.image.repository",
			"device nvidia.com/gpu x1 declared at resource:spec.resources.limits[nvidia.com/gpu]",
		},
		properties: []string{"nim:nimCache=cache", "nim:nimCacheProfile=tensorrt_llm", "nim:inferencePlatform=kserve"},
	}, {
		name: "the shared rules for env, args and command, and NIM_MODEL_NAME wins",
		spec: `
spec:
  image: {repository: nvcr.io/nim/nvidia/llm-nim, tag: "1.12"}
  command: [run]
  args: [--tokenizer, org/t]
  env:
  - {name: NIM_MODEL_NAME, value: nvidia/nemo/llama}
  - {name: NIM_SERVED_MODEL_NAME, value: llama}
  - {name: NIM_PEFT_SOURCE, value: /loras}
  storage: {pvc: {name: claim}}`,
		findings: []string{
			"container nvcr.io/nim/nvidia/llm-nim@1.12 main (thing-ctr) declared at image:spec.image",
			"runtime nim@1.12 (thing-ctr) inferred at image:spec.image environment:spec.env[0] environment:spec.env[1]",
			"runtime nim@1.12 declared at kind:kind image:spec.image.tag",
			"model nvidia/nemo/llama served/ngc (thing-ctr) declared at environment:spec.env[0] | identity:servedName=llama",
			"model org/t tokenizer/ngc (thing-ctr) declared at argument:spec.args[1]",
			"model /loras adapter/file (thing-ctr) declared at environment:spec.env[2]",
		},
		properties: []string{"nim:pvc=claim"},
	}, {
		name: "a name that lies elsewhere is not guessed",
		spec: `
spec:
  image: {repository: nvcr.io/nim/meta/llama, tag: latest}
  env: [{name: NIM_MODEL_NAME, valueFrom: {configMapKeyRef: {name: c, key: k}}}]
  storage: {hostPath: /models}
  multiNode: {backendType: lws, parallelism: {tensor: 8, pipeline: 2}}`,
		findings: []string{
			"container nvcr.io/nim/meta/llama@latest main (thing-ctr) declared at image:spec.image",
			"runtime nim (thing-ctr) inferred at image:spec.image environment:spec.env[0]",
			"runtime nim declared at kind:kind",
			"model $(NIM_MODEL_NAME) served (thing-ctr) unresolved at environment:spec.env[0] | identity:unresolved=NIM_MODEL_NAME (key k of configMap/c)",
		},
		properties: []string{"nim:hostPath=/models", "nim:multiNodeBackend=lws", "nim:tensorParallelism=8", "nim:pipelineParallelism=2"},
	}, {
		name: "a field that cannot be decoded does not hide the others",
		spec: "spec: {image: {repository: r/x}, env: 5, args: [--model, org/m], storage: {emptyDir: {}}}",
		findings: []string{
			"container r/x main (thing-ctr) declared at image:spec.image",
			"runtime nim declared at kind:kind",
			"model org/m served/ngc (thing-ctr) declared at argument:spec.args[1]",
		},
		properties: []string{"nim:emptyDir=unlimited", "scrape:error=spec.env cannot be decoded: cannot unmarshal number into Go struct field Container.env of type []v1.EnvVar"},
	}, {
		name: "pods say how the container is called",
		spec: "spec: {image: {repository: r/x, tag: v1}, storage: {emptyDir: {sizeLimit: 10Gi}}}",
		running: []RunningImage{
			{Container: "kserve-container", Image: "r/x:v1", ImageID: "r/x@" + digest(4)},
			{Container: "injected", Image: "other:1", ImageID: "other@" + digest(5)},
		},
		findings: []string{
			"container r/x@v1#4 main (kserve-container) declared at image:spec.image pod-status:status.containerStatuses[name=kserve-container].imageID",
			"runtime nim declared at kind:kind",
		},
		properties: []string{"nim:emptyDir=10Gi"},
	}})
}

// TestNIMImageModel holds the one rule that derives a model from an image: the exact prefix
// and exactly two segments, and only where nothing else names a model.
func TestNIMImageModel(t *testing.T) {
	for _, c := range []struct{ repository, env, model string }{
		{"nvcr.io/nim/meta/llama-3.2-1b-instruct", "", "meta/llama-3.2-1b-instruct"},
		{"nvcr.io/nim/nvidia/riva-tts", "", "nvidia/riva-tts"},
		{"nvcr.io/nim/meta", "", ""},
		{"nvcr.io/nim//llama", "", ""},
		{"nvcr.io/nim/meta/", "", ""},
		{"nvcr.io/nim/meta/llama/extra", "", ""},
		{"nvcr.io/nimble/meta/llama", "", ""},
		{"mirror.example/nvcr.io/nim/meta/llama", "", ""},
		{"docker.io/nim/meta/llama", "", ""},
		{"nvcr.io/nvidia/nim/llama", "", ""},
		{"nvcr.io/nim/meta/llama", "NIM_MODEL_NAME", "own/name"},
		{"nvcr.io/nim/meta/llama", "NIM_SERVED_MODEL_NAME", "own/name"},
		{"nvcr.io/nim/meta/llama", "NIM_PEFT_SOURCE", "meta/llama"},
		{"nvcr.io/nim/meta/llama", "NIM_CUSTOM_MODEL_NAME", "meta/llama"},
		{"nvcr.io/nim/meta/llama", "NCCL_DEBUG", "meta/llama"},
	} {
		t.Run(c.repository+" "+c.env, func(t *testing.T) {
			env := "[]"
			if c.env != "" {
				env = "[{name: " + c.env + ", value: own/name}]"
			}
			report, err := readObject(t, "NIMService", objectCase{
				spec: "spec: {image: {repository: \"" + c.repository + "\", tag: latest}, env: " + env + "}",
			})
			g := NewWithT(t)
			g.Expect(err).NotTo(HaveOccurred())
			model := ""
			for _, f := range report.Findings {
				if f.Type == evidence.TypeModel && f.Role == evidence.RoleServed {
					g.Expect(model).To(BeEmpty(), "only one model is served")
					model = f.Name
				}
			}
			g.Expect(model).To(Equal(c.model))
		})
	}
}

// TestNIMAliases holds that a name which says no more than the image is one for clients, and that the
// address of a service is no adapter.
func TestNIMAliases(t *testing.T) {
	const repository = "nvcr.io/nim/nvidia/llama-3.1-guard"
	for name, c := range map[string]struct {
		env  string
		want []string
	}{
		"the image's own name":  {"[{name: NIM_SERVED_MODEL_NAME, value: llama-3.1-guard}]", []string{"nvidia/llama-3.1-guard served ngc inferred as=llama-3.1-guard"}},
		"and one of one's own":  {"[{name: NIM_SERVED_MODEL_NAME, value: llama-3.1-guard}, {name: NIM_CUSTOM_MODEL_NAME, value: llama-mine}]", []string{"nvidia/llama-3.1-guard served ngc inferred as=llama-3.1-guard,llama-mine"}},
		"its beginning":         {"[{name: NIM_SERVED_MODEL_NAME, value: llama-3.1}]", []string{"nvidia/llama-3.1-guard served ngc inferred as=llama-3.1"}},
		"half a word of it":     {"[{name: NIM_SERVED_MODEL_NAME, value: llama-3.1-gu}]", []string{"llama-3.1-gu served inferred"}},
		"another served name":   {"[{name: NIM_SERVED_MODEL_NAME, value: llama-3.1-other}]", []string{"llama-3.1-other served inferred"}},
		"a service of adapters": {"[{name: NIM_PEFT_SOURCE, value: 'http://store.nemo.svc:8000/v1'}]", []string{"nvidia/llama-3.1-guard served ngc inferred"}},
		"adapters":              {"[{name: NIM_PEFT_SOURCE, value: /loras}]", []string{"/loras adapter file", "nvidia/llama-3.1-guard served ngc inferred"}},
	} {
		g := NewWithT(t)
		report, err := readObject(t, "NIMService", objectCase{spec: "spec: {image: {repository: " + repository + ", tag: 1.0.0}, env: " + c.env + "}"})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(lines(report, evidence.TypeModel)).To(Equal(c.want), name)
	}
}
