// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

func TestDynamoGraphDeployment(t *testing.T) {
	testObjects(t, "DynamoGraphDeployment", []objectCase{{
		name: "frontend and workers",
		spec: `
spec:
  backendFramework: vllm
  env: [{name: MODEL, value: Qwen/Qwen3-0.6B}, {name: A, value: b}]
  components:
  - name: Frontend
    type: frontend
    podTemplate:
      spec:
        containers:
        - {name: main, image: "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.0.0", command: [python3, -m, dynamo.frontend]}
  - name: Decode
    type: decode
    modelRef: {name: Qwen/Qwen3-0.6B, revision: abc}
    podTemplate:
      spec:
        containers:
        - name: main
          image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.0.0
          command: [python3, -m, dynamo.vllm]
          args: [--model, $(TARGET)]
          env: [{name: TARGET, value: Qwen/Qwen3-0.6B-FP8}]
          resources: {limits: {nvidia.com/gpu: "1"}}`,
		findings: []string{
			"runtime vllm declared at field:spec.backendFramework",
			"container nvcr.io/nvidia/ai-dynamo/vllm-runtime@1.0.0 main (main) declared at image:spec.components[0].podTemplate.spec.containers[0].image | dynamo:component=Frontend dynamo:componentType=frontend",
			"model Qwen/Qwen3-0.6B called/huggingface (main) declared at environment:spec.env[0] | dynamo:component=Frontend dynamo:componentType=frontend",
			"container nvcr.io/nvidia/ai-dynamo/vllm-runtime@1.0.0 main (main) declared at image:spec.components[1].podTemplate.spec.containers[0].image | dynamo:component=Decode dynamo:componentType=decode",
			"runtime vllm (main) inferred at command:spec.components[1].podTemplate.spec.containers[0].command[0] image:spec.components[1].podTemplate.spec.containers[0].image | dynamo:component=Decode dynamo:componentType=decode",
			"model Qwen/Qwen3-0.6B-FP8 served/huggingface (main) declared at argument:spec.components[1].podTemplate.spec.containers[0].args[1] environment:spec.components[1].podTemplate.spec.containers[0].env[0] | dynamo:component=Decode dynamo:componentType=decode",
			"model Qwen/Qwen3-0.6B served/huggingface (main) declared at environment:spec.env[0] | dynamo:component=Decode dynamo:componentType=decode",
			"model Qwen/Qwen3-0.6B@abc served declared at field:spec.components[1].modelRef.name field:spec.components[1].modelRef.revision | dynamo:component=Decode dynamo:componentType=decode",
			"device nvidia.com/gpu x1 declared at resource:spec.components[1].podTemplate.spec.containers[0].resources.limits[nvidia.com/gpu] | dynamo:component=Decode dynamo:componentType=decode",
		},
		properties: []string{"dynamo:backendFramework=vllm", "dynamo:component=Frontend", "dynamo:component=Decode"},
	}, {
		name: "roles, and no model from an image path",
		spec: `
spec:
  backendFramework: trtllm
  components:
  - name: w
    type: worker
    roles:
    - {name: leader, podTemplate: {spec: {containers: [{name: main, image: registry.example/org/llama-3-runtime, args: [--model=org/m]}]}}}
    - {name: bare}
    - {name: worker, podTemplate: {spec: {containers: [{name: main, image: "nvcr.io/nim/meta/llama-3.2-1b-instruct:1"}]}}}`,
		findings: []string{
			"runtime tensorrt-llm declared at field:spec.backendFramework",
			"container registry.example/org/llama-3-runtime main (main) declared at image:spec.components[0].roles[0].podTemplate.spec.containers[0].image | dynamo:component=w dynamo:componentType=worker dynamo:role=leader",
			"model org/m served/huggingface (main) declared at argument:spec.components[0].roles[0].podTemplate.spec.containers[0].args[0] | dynamo:component=w dynamo:componentType=worker dynamo:role=leader",
			"container nvcr.io/nim/meta/llama-3.2-1b-instruct@1 main (main) declared at image:spec.components[0].roles[2].podTemplate.spec.containers[0].image | dynamo:component=w dynamo:componentType=worker dynamo:role=worker",
			"runtime nim (main) inferred at image:spec.components[0].roles[2].podTemplate.spec.containers[0].image | dynamo:component=w dynamo:componentType=worker dynamo:role=worker",
		},
		properties: []string{"dynamo:backendFramework=trtllm", "dynamo:component=w"},
	}, {
		name: "parts that cannot be decoded",
		spec: "spec: {backendFramework: mine, env: {a: b}, components: [7, {name: x, podTemplate: {spec: []}, modelRef: {name: m}, roles: z}]}",
		findings: []string{
			"runtime mine declared at field:spec.backendFramework",
			"model m served declared at field:spec.components[1].modelRef.name | dynamo:component=x",
		},
		properties: []string{
			"dynamo:backendFramework=mine", "dynamo:component=x",
			"scrape:error=spec.env cannot be decoded: cannot unmarshal object into Go struct field Container.env of type []v1.EnvVar",
			"scrape:error=spec.components[0] is not an object",
			"scrape:error=spec.components[1].podTemplate cannot be decoded: cannot unmarshal array into Go struct field PodTemplateSpec.spec of type v1.PodSpec",
			"scrape:error=spec.components[1].roles is not a list",
		},
	}})
}

func TestDynamoBackendFrameworks(t *testing.T) {
	for framework, runtime := range map[string]string{"sglang": "sglang", "vllm": "vllm", "trtllm": "tensorrt-llm", "home-made": "home-made"} {
		report, err := readObject(t, "DynamoGraphDeployment", objectCase{spec: "spec: {backendFramework: " + framework + "}"})
		g := NewWithT(t)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(describeFindings(report)).To(ConsistOf("runtime " + runtime + " declared at field:spec.backendFramework"))
		g.Expect(describeProperties(report.Properties)).To(ConsistOf("dynamo:backendFramework=" + framework))
	}
}

func TestDynamoComponentDeployment(t *testing.T) {
	testObjects(t, "DynamoComponentDeployment", []objectCase{{
		name: "is a graph of one component",
		spec: `
spec:
  name: Worker
  type: worker
  backendFramework: sglang
  modelRef: {name: org/model}
  podTemplate: {spec: {containers: [{name: main, image: "nvcr.io/nvidia/ai-dynamo/sglang-runtime:0.9"}]}}
  roles: [{name: leader, podTemplate: {spec: {containers: [{name: main, image: i}]}}}]`,
		findings: []string{
			"runtime sglang declared at field:spec.backendFramework",
			"container nvcr.io/nvidia/ai-dynamo/sglang-runtime@0.9 main (main) declared at image:spec.podTemplate.spec.containers[0].image | dynamo:component=Worker dynamo:componentType=worker",
			"runtime sglang (main) inferred at image:spec.podTemplate.spec.containers[0].image | dynamo:component=Worker dynamo:componentType=worker",
			"model org/model served declared at field:spec.modelRef.name | dynamo:component=Worker dynamo:componentType=worker",
			"container i main (main) declared at image:spec.roles[0].podTemplate.spec.containers[0].image | dynamo:component=Worker dynamo:componentType=worker dynamo:role=leader",
		},
		properties: []string{"dynamo:backendFramework=sglang", "dynamo:component=Worker"},
	}})
}

// TestDynamoInfrastructure holds that what routes and plans is no model server, by its type or
// its image, whatever image and environment it borrows, unless it is told to run one.
func TestDynamoInfrastructure(t *testing.T) {
	const borrowed = "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.0"
	for _, c := range []struct {
		kind, image, command string
		runtimes             []string
	}{
		{"frontend", borrowed, "dynamo.frontend", nil},
		{"planner", borrowed, "dynamo.planner", nil},
		{"epp", borrowed, "epp", nil},
		{"operator", borrowed, "operator", nil},
		{"frontend", borrowed, "dynamo.vllm", []string{"vllm"}},
		{"", "nvcr.io/nvidia/ai-dynamo/dynamo-frontend:1.0", "x", nil},
		{"", "nvcr.io/nvidia/ai-dynamo/kubernetes-operator:1.0", "x", nil},
		{"", "nvcr.io/nvidia/ai-dynamo/dynamo-planner:1.0", "x", nil},
		{"", "registry.k8s.io/gateway-api-inference-extension/epp:v1", "x", nil},
		{"worker", borrowed, "x", []string{"vllm"}},
	} {
		t.Run(c.kind+" "+c.image+" "+c.command, func(t *testing.T) {
			g := NewWithT(t)
			report, err := readObject(t, "DynamoGraphDeployment", objectCase{spec: `
spec:
  env: [{name: NIM_MODEL_PROFILE, value: p}]
  components: [{name: c, type: "` + c.kind + `", podTemplate: {spec: {containers: [{name: main, image: "` + c.image + `", command: [python3, -m, ` + c.command + `, --model-path, org/m]}]}}}]`})
			g.Expect(err).NotTo(HaveOccurred())
			var runtimes []string
			role := evidence.RoleCalled
			for _, f := range report.Findings {
				if f.Type == evidence.TypeRuntime && f.Name != "nim" {
					runtimes = append(runtimes, f.Name)
				}
				if f.Type == evidence.TypeRuntime && f.Name == "nim" {
					g.Expect(c.kind).To(Equal("worker"), "an environment that is shared shows nothing of infrastructure")
					role = evidence.RoleServed
				}
			}
			g.Expect(runtimes).To(Equal(c.runtimes))
			for _, f := range report.Findings {
				if f.Type == evidence.TypeModel {
					g.Expect(f.Role).To(Equal(role))
				}
			}
		})
	}
}
