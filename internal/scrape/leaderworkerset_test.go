// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"testing"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

func TestLeaderWorkerSet(t *testing.T) {
	testObjects(t, "LeaderWorkerSet", []objectCase{{
		name: "both templates, each with its role; the runtime stays inferred",
		spec: `
spec:
  replicas: 3
  leaderWorkerTemplate:
    size: 2
    leaderTemplate:
      spec:
        containers:
        - {name: leader, image: "vllm/vllm-openai:v0.8.5", command: [sh, -c, "ray start; vllm serve org/m"]}
    workerTemplate:
      spec:
        containers:
        - {name: worker, image: "vllm/vllm-openai:v0.8.5", resources: {limits: {nvidia.com/gpu: 8}}}`,
		findings: []string{
			"container vllm/vllm-openai@v0.8.5 main (leader) declared at image:spec.leaderWorkerTemplate.leaderTemplate.spec.containers[0].image | lws:role=leader",
			"runtime vllm@0.8.5 (leader) inferred at command:spec.leaderWorkerTemplate.leaderTemplate.spec.containers[0].command[2] image:spec.leaderWorkerTemplate.leaderTemplate.spec.containers[0].image | lws:role=leader",
			"model org/m served/huggingface (leader) declared at command:spec.leaderWorkerTemplate.leaderTemplate.spec.containers[0].command[2] | lws:role=leader",
			"container vllm/vllm-openai@v0.8.5 main (worker) declared at image:spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].image | lws:role=worker",
			"runtime vllm@0.8.5 (worker) inferred at image:spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].image | lws:role=worker",
			"device nvidia.com/gpu x8 declared at resource:spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].resources.limits[nvidia.com/gpu] | lws:role=worker",
		},
		properties: []string{"lws:size=2", "lws:replicas=3"},
	}, {
		name: "without a leader template the workers' makes both",
		spec: "spec: {leaderWorkerTemplate: {workerTemplate: {spec: {containers: [{name: c, image: ollama/ollama}]}}}}",
		findings: []string{
			"container ollama/ollama main (c) declared at image:spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].image | lws:role=leader lws:role=worker",
			"runtime ollama (c) inferred at image:spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].image | lws:role=leader lws:role=worker",
		},
	}, {
		name: "a leader that cannot be decoded",
		spec: "spec: {leaderWorkerTemplate: {leaderTemplate: {spec: 1}, workerTemplate: {spec: {containers: [{name: c, image: ollama/ollama}]}}}}",
		findings: []string{
			"container ollama/ollama main (c) declared at image:spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].image | lws:role=worker",
			"runtime ollama (c) inferred at image:spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].image | lws:role=worker",
		},
		properties: []string{"scrape:error=spec.leaderWorkerTemplate.leaderTemplate cannot be decoded: cannot unmarshal number into Go struct field PodTemplateSpec.spec of type v1.PodSpec"},
	}, {
		name: "the templates need not infer", category: evidence.CategoryTraining,
		spec: "spec: {leaderWorkerTemplate: {workerTemplate: {spec: {containers: [{name: c, image: a/b, command: [torchrun, t.py]}]}}}}",
		findings: []string{
			"container a/b main (c) declared at image:spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].image | lws:role=leader lws:role=worker",
			"runtime pytorch (c) inferred at command:spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].command[0] | lws:role=leader lws:role=worker",
		},
	}})
}

func TestDisaggregatedSet(t *testing.T) {
	testObjects(t, "DisaggregatedSet", []objectCase{{
		name: "a LeaderWorkerSet for each role",
		spec: `
spec:
  slices: 2
  roles:
  - name: prefill
    spec:
      replicas: 4
      leaderWorkerTemplate:
        size: 2
        leaderTemplate: {spec: {containers: [{name: m, image: "vllm/vllm-openai:v0.9.0", args: [--model=org/m]}]}}
        workerTemplate: {spec: {containers: [{name: m, image: "vllm/vllm-openai:v0.9.0"}]}}
  - name: broken
    spec: {replicas: 1, leaderWorkerTemplate: {workerTemplate: {spec: {containers: {}}}}}
  - name: shapeless
  - name: decode
    spec:
      leaderWorkerTemplate:
        size: 1
        workerTemplate: {spec: {containers: [{name: m, image: "vllm/vllm-openai:v0.9.0"}]}}`,
		findings: []string{
			"container vllm/vllm-openai@v0.9.0 main (m) declared at image:spec.roles[0].spec.leaderWorkerTemplate.leaderTemplate.spec.containers[0].image | disaggregatedset:role=prefill lws:role=leader",
			"runtime vllm@0.9.0 (m) inferred at image:spec.roles[0].spec.leaderWorkerTemplate.leaderTemplate.spec.containers[0].image | disaggregatedset:role=prefill lws:role=leader",
			"model org/m served/huggingface (m) declared at argument:spec.roles[0].spec.leaderWorkerTemplate.leaderTemplate.spec.containers[0].args[0] | disaggregatedset:role=prefill lws:role=leader",
			"container vllm/vllm-openai@v0.9.0 main (m) declared at image:spec.roles[0].spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].image | disaggregatedset:role=prefill lws:role=worker",
			"runtime vllm@0.9.0 (m) inferred at image:spec.roles[0].spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].image | disaggregatedset:role=prefill lws:role=worker",
			"container vllm/vllm-openai@v0.9.0 main (m) declared at image:spec.roles[3].spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].image | disaggregatedset:role=decode lws:role=leader lws:role=worker",
			"runtime vllm@0.9.0 (m) inferred at image:spec.roles[3].spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].image | disaggregatedset:role=decode lws:role=leader lws:role=worker",
		},
		properties: []string{
			"disaggregatedset:slices=2",
			"disaggregatedset:role=prefill", "disaggregatedset:role=broken", "disaggregatedset:role=decode",
			"disaggregatedset:size=prefill=2", "disaggregatedset:size=decode=1",
			"disaggregatedset:replicas=prefill=4", "disaggregatedset:replicas=broken=1",
			"scrape:error=spec.roles[1].spec.leaderWorkerTemplate.workerTemplate cannot be decoded: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container",
			"scrape:error=spec.roles[2].spec.leaderWorkerTemplate is missing",
		},
	}})
}
