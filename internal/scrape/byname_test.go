// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

func TestModulesRunAsScripts(t *testing.T) {
	testFamilies(t, []family{
		{"MaxText's training", job(gpu(shell(custom, "python3 MaxText/train.py MaxText/configs/base.yml model_name=gemma-2b dataset_path=gs://b/c4 steps=10"))), "training | maxtext | gemma-2b served | gs://b/c4 dataset object-store"},
		{"where a bucket is not known", job(shell(custom, "python3 -u /app/MaxText/train.py base.yml model_name=gemma-2b dataset_path=gs://${BUCKET}/c4")), "training | maxtext | gemma-2b served | gs://${BUCKET}/c4 dataset unresolved=BUCKET"},
		{"MaxText's module", job(shell(custom, "python3 -m MaxText.train base.yml model_name=gemma-2b hf_path=org/d")), "training | maxtext | gemma-2b served | org/d dataset"},
		{"MaxText's decoding", job(shell(custom, "python3 MaxText/decode.py base.yml model_name=gemma-2b")), "inference | maxtext | gemma-2b served"},
		{"vLLM's server", deployment(withCommand(custom, "python3", "/opt/vllm/entrypoints/openai/api_server.py", "--model", "org/m")), "inference | vllm | org/m served huggingface"},
		{"a folder that only ends so", job(shell(custom, "python3 MyMaxText/train.py base.yml model_name=gemma-2b")), ""},
		{"another script", job(shell(custom, "python3 MaxText/convert.py model_name=gemma-2b")), ""},
		{"a folder of a short name", deployment(withCommand(custom, "python3", "jetstream/main.py", "model_name=x")), ""},
		{"the folder among arguments", deployment(withCommand(custom, "python3", "main.py", "MaxText/train.py")), ""},
		{"what is only shown", deployment(withCommand(custom, "cat", "MaxText/train.py")), ""},
	})
}

func testFamilies(t *testing.T, all []family) {
	t.Helper()
	for _, f := range all {
		t.Run(f.name, func(t *testing.T) {
			NewWithT(t).Expect(describeReport(PodWorkload(f.in))).To(Equal(f.want))
		})
	}
}

func probed(c corev1.Container, path string) corev1.Container {
	c.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path}}}
	return c
}

func TestModelsInProbes(t *testing.T) {
	torchserve := withArgs("example.com/models/t5:1", "torchserve", "--start")
	serving, triton := withArgs("tensorflow/serving:2.19.0"), withCommand("nvcr.io/nvidia/tritonserver:25.03-py3", "tritonserver")
	testFamilies(t, []family{
		{"TorchServe's management", deployment(probed(torchserve, "/models/t5-small")), "inference | torchserve | t5-small served inferred"},
		{"a version there", deployment(probed(torchserve, "/models/t5-small/1.0")), "inference | torchserve | t5-small served inferred"},
		{"all models there", deployment(probed(torchserve, "/models")), "inference | torchserve"},
		{"TensorFlow Serving", deployment(probed(serving, "/v1/models/resnet")), "inference | tf-serving@2.19.0 | resnet served inferred"},
		{"a version of one", deployment(probed(serving, "/v1/models/resnet/versions/2/metadata")), "inference | tf-serving@2.19.0 | resnet served inferred"},
		{"the protocol of version 2", deployment(probed(triton, "/v2/models/bert/ready")), "inference | triton | bert served inferred"},
		{"a health check", deployment(probed(triton, "/v2/health/ready")), "inference | triton"},
		{"the list of models", deployment(probed(withCommand(plain, "vllm", "serve"), "/v1/models")), "inference | vllm"},
		{"another server's path", deployment(probed(serving, "/models/resnet")), "inference | tf-serving@2.19.0"},
		{"what is still to fill", deployment(probed(serving, "/v1/models/<name>")), "inference | tf-serving@2.19.0"},
		{"a model beside", deployment(probed(withCommand(plain, "vllm", "serve", "org/m"), "/v1/models/m")), "inference | vllm | org/m served huggingface"},
		{"a reference beside", deployment(probed(withCommand(plain, "vllm", "serve", "$(M)"), "/v1/models/m")), "inference | vllm | $(M) served unresolved=M"},
		{"a served name beside", deployment(probed(withArgs("tensorflow/serving:2.19.0", "--model_name=a"), "/v1/models/b")), "inference | tf-serving@2.19.0 | a served inferred"},
		{"a label beside", labelledPod(deployment(probed(triton, "/v2/models/bert/ready")), "ai.gke.io/model=gemma"), "inference | triton | gemma served inferred"},
		{"no server", deployment(probed(withArgs(custom), "/v1/models/resnet")), ""},
	})
	report := PodWorkload(deployment(probed(torchserve, "/models/t5-small")))
	NewWithT(t).Expect(of(report, evidence.TypeModel)[0].Evidence).To(Equal([]evidence.Evidence{
		{Source: evidence.SourceField, Locator: "spec.template.spec.containers[0].livenessProbe.httpGet.path"},
	}))
}

func TestArgumentsOfLocalAI(t *testing.T) {
	const image = "quay.io/go-skynet/local-ai:master-cublas"
	testFamilies(t, []family{
		{"a name of the gallery", deployment(withArgs(image, "phi-2")), "inference | localai | phi-2 served"},
		{"a URI", deployment(withArgs(image, "--debug", "huggingface://org/m/m.gguf")), "inference | localai | huggingface://org/m/m.gguf served huggingface"},
		{"with run", deployment(withArgs(image, "run", "phi-2")), "inference | localai | phi-2 served"},
		{"an installed one", deployment(withArgs(image, "models", "install", "phi-2")), "inference | localai | phi-2 served"},
		{"a subcommand", deployment(withArgs(image, "federated")), "inference | localai"},
		{"a flag's value", deployment(withArgs(image, "--models-path", "/build/models")), "inference | localai | /build/models served file"},
		{"a script", deployment(withArgs(image, "/start.sh")), "inference | localai"},
		{"a shell", deployment(withArgs(image, "sh", "-c", "prepare phi-2")), "inference | localai"},
		{"no arguments", deployment(withArgs(image)), "inference | localai"},
	})
}

func TestArchivesOfTorchServe(t *testing.T) {
	start := func(models string) Input {
		return deployment(withCommand("pytorch/torchserve:0.12.0", "torchserve", "--start", "--models", models))
	}
	testFamilies(t, []family{
		{"one of a store", start("sq=squeeze.mar"), "inference | torchserve@0.12.0 | sq served"},
		{"one of the web", start("sq=https://example.com/squeeze.mar"), "inference | torchserve@0.12.0 | https://example.com/squeeze.mar served http as=sq"},
		{"of its predecessor", deployment(withArgs(plain, "multi-model-server", "--start", "--mms-config /c.properties", "--models sq=https://example.com/squeeze.mar")),
			"inference | multi-model-server | https://example.com/squeeze.mar served http as=sq"},
		{"one without a name", start("squeeze.mar"), "inference | torchserve@0.12.0 | squeeze.mar served"},
	})
}

func TestImagesOfGroups(t *testing.T) {
	for image, want := range map[string]string{
		"llamacpp-llama3-8b-instruct-q5km:latest":  "inference | llama.cpp | llama3-8b-instruct-q5km served inferred",
		"team/vllm-qwen2.5-0.5b":                   "inference | vllm | qwen2.5-0.5b served inferred",
		"llamacpp-gemma3-12b-it-qat-q4_0-gguf-cpu": "inference | llama.cpp | gemma3-12b-it-qat-q4_0 served inferred",
		"team/ollama:gemma-7b":                     "inference | ollama | gemma-7b served inferred",
		"team/vllm:gemma-worker":                   "inference | vllm",
		"llamacpp-worker:latest":                   "inference | llama.cpp",
		"vllm-llama-server":                        "inference | vllm",
		"vllm-llama3-8b-worker":                    "inference | vllm",
		"vllm-8b":                                  "inference | vllm",
		"nginx:1.29":                               "",
		"registry.k8s.io/pause:3.10":               "",
		"team/llama3-8b":                           "",
	} {
		spec := "spec: {leaderWorkerTemplate: {workerTemplate: {spec: {containers: [{name: c, image: '" + image + "'}]}}}}"
		report, err := readObject(t, "LeaderWorkerSet", objectCase{spec: spec})
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		NewWithT(t).Expect(describeReport(report)).To(Equal(want), image)
		if !strings.Contains(want, " served ") {
			want = "" // in other kinds the product's name alone is not enough
		}
		NewWithT(t).Expect(describeReport(PodWorkload(deployment(withArgs(image))))).To(Equal(want), image)
	}
	testFamilies(t, []family{
		{"beside an accelerator", deployment(gpu(withArgs("team/vllm-llama3-8b"))), "inference | vllm | llama3-8b served inferred"},
		{"a model beside", deployment(gpu(withArgs("team/vllm-llama3-8b", "--model", "org/m"))), "inference | vllm | org/m served huggingface"},
		{"a name for clients beside", deployment(gpu(withArgs("team/vllm-llama3-8b", "--served-model-name", "chat"))), "inference | vllm | chat served inferred"},
	})
}
