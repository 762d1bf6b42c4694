// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

func TestInferenceService(t *testing.T) {
	testObjects(t, "InferenceService", []objectCase{{
		name: "model, format, runtime and service account",
		spec: `
spec:
  predictor:
    serviceAccountName: reader
    model:
      modelFormat: {name: sklearn, version: "1"}
      runtime: kserve-mlserver
      runtimeVersion: 1.5.0
      storageUri: s3://bucket/iris`,
		findings: []string{
			"runtime sklearn@1 (kserve-container) declared at field:spec.predictor.model.modelFormat.name field:spec.predictor.model.modelFormat.version field:spec.predictor.model.runtimeVersion | kserve:component=predictor kserve:modelFormatVersion=1 kserve:runtimeVersion=1.5.0",
			"model s3://bucket/iris served/object-store (kserve-container) declared at field:spec.predictor.model.storageUri | kserve:component=predictor",
		},
		properties: []string{"kserve:runtime=kserve-mlserver", "kserve:serviceAccountName=reader"},
	}, {
		name: "a path in a configured storage, and never its credentials",
		spec: `
spec:
  predictor:
    model:
      modelFormat: {name: xgboost}
      storage:
        key: store
        path: models/iris
        parameters: {type: s3, bucket: b, region: eu, secret_access_key: hidden}`,
		findings: []string{
			"runtime xgboost (kserve-container) declared at field:spec.predictor.model.modelFormat.name | kserve:component=predictor",
			"model models/iris served/object-store (kserve-container) declared at field:spec.predictor.model.storage.path | kserve:component=predictor kserve:storageKey=store kserve:storageParameter=bucket=b kserve:storageParameter=region=eu kserve:storageParameter=type=s3 kserve:storagePath=models/iris",
		},
	}, {
		name: "arguments of the huggingface server; --model_name is a served name",
		spec: `
spec:
  predictor:
    model:
      modelFormat: {name: huggingface}
      args: [--model_name=llama3, --model_id=meta-llama/Meta-Llama-3-8B]
      resources: {limits: {nvidia.com/gpu: 2}}`,
		findings: []string{
			"runtime huggingface (kserve-container) declared at field:spec.predictor.model.modelFormat.name | kserve:component=predictor",
			"model meta-llama/Meta-Llama-3-8B served/huggingface (kserve-container) declared at argument:spec.predictor.model.args[1] | identity:servedName=llama3 kserve:component=predictor",
			"device nvidia.com/gpu x2 declared at resource:spec.predictor.model.resources.limits[nvidia.com/gpu] | kserve:component=predictor",
		},
	}, {
		name: "a model folder and the pod's volumes",
		spec: `
spec:
  predictor:
    volumes: [{name: v, persistentVolumeClaim: {claimName: weights}}]
    model:
      name: server
      modelFormat: {name: huggingface}
      image: kserve/huggingfaceserver:v0.15.0
      env: [{name: D, value: /mnt/models/x}]
      args: [--model_dir=$(D)]
      volumeMounts: [{name: v, mountPath: /mnt/models}]`,
		findings: []string{
			"container kserve/huggingfaceserver@v0.15.0 main (server) declared at image:spec.predictor.model.image | kserve:component=predictor",
			"runtime huggingfaceserver@0.15.0 (server) inferred at image:spec.predictor.model.image | kserve:component=predictor",
			"runtime huggingface (server) declared at field:spec.predictor.model.modelFormat.name | kserve:component=predictor",
			"model /mnt/models/x served/file (server) declared at argument:spec.predictor.model.args[0] environment:spec.predictor.model.env[0] | kserve:component=predictor",
			"data persistentVolumeClaim/weights model-store/volume (server) inferred at volume:spec.predictor.model.volumeMounts[0] | kserve:component=predictor volume:path=/mnt/models volume:source=persistentVolumeClaim/weights",
		},
	}, {
		name: "custom predictor, workers, transformer and explainer",
		spec: `
spec:
  predictor:
    initContainers: [{name: fetch, image: tools/fetch}]
    containers:
    - name: kserve-container
      image: vllm/vllm-openai:v0.9.1
      args: [--model, Qwen/Qwen3-8B]
      resources: {limits: {nvidia.com/gpu: 4}}
    workerSpec:
      containers: [{name: worker-container, image: "vllm/vllm-openai:v0.9.1"}]
  transformer:
    containers: [{name: kserve-container, image: acme/transformer, args: [--model_name, qwen]}]
  explainer:
    containers: [{name: explainer, image: acme/explainer}]`,
		findings: []string{
			"container tools/fetch init (fetch) declared at image:spec.predictor.initContainers[0].image | kserve:component=predictor",
			"container vllm/vllm-openai@v0.9.1 main (kserve-container) declared at image:spec.predictor.containers[0].image | kserve:component=predictor",
			"runtime vllm@0.9.1 (kserve-container) inferred at image:spec.predictor.containers[0].image | kserve:component=predictor",
			"model Qwen/Qwen3-8B served/huggingface (kserve-container) declared at argument:spec.predictor.containers[0].args[1] | identity:servedName=qwen kserve:component=predictor",
			"device nvidia.com/gpu x4 declared at resource:spec.predictor.containers[0].resources.limits[nvidia.com/gpu] | kserve:component=predictor",
			"container vllm/vllm-openai@v0.9.1 main (worker-container) declared at image:spec.predictor.workerSpec.containers[0].image | kserve:component=worker",
			"runtime vllm@0.9.1 (worker-container) inferred at image:spec.predictor.workerSpec.containers[0].image | kserve:component=worker",
			"container acme/transformer main (kserve-container) declared at image:spec.transformer.containers[0].image | kserve:component=transformer",
			"container acme/explainer main (explainer) declared at image:spec.explainer.containers[0].image | kserve:component=explainer",
		},
	}, {
		name: "a sidecar that is written as an init container runs",
		spec: `
spec:
  predictor:
    initContainers: [{name: side, image: "vllm/vllm-openai:v0.9.0", restartPolicy: Always, args: [--model, org/side]}]
    containers: [{name: kserve-container, image: acme/predictor}]`,
		findings: []string{
			"container vllm/vllm-openai@v0.9.0 main (side) declared at image:spec.predictor.initContainers[0].image | kserve:component=predictor",
			"runtime vllm@0.9.0 (side) inferred at image:spec.predictor.initContainers[0].image | kserve:component=predictor",
			"model org/side served/huggingface (side) declared at argument:spec.predictor.initContainers[0].args[1] | kserve:component=predictor",
			"container acme/predictor main (kserve-container) declared at image:spec.predictor.containers[0].image | kserve:component=predictor",
		},
	}, {
		name: "what is still to be filled in is unresolved",
		spec: "spec: {predictor: {model: {modelFormat: {name: onnx}, storageUri: <your-bucket>}, triton: {storageUri: MODEL_URI}}}",
		findings: []string{
			"runtime onnx (kserve-container) declared at field:spec.predictor.model.modelFormat.name | kserve:component=predictor",
			"model <your-bucket> served (kserve-container) unresolved at field:spec.predictor.model.storageUri | identity:unresolved=<your-bucket> kserve:component=predictor",
			"runtime triton (kserve-container) declared at field:spec.predictor.triton | kserve:component=predictor",
			"model MODEL_URI served (kserve-container) unresolved at field:spec.predictor.triton.storageUri | identity:unresolved=MODEL_URI kserve:component=predictor",
		},
	}, {
		name: "a part that cannot be decoded does not hide the rest",
		spec: "spec: {predictor: {containers: text, model: {modelFormat: {name: pmml}, args: 3, storageUri: 'gs://b/m'}}}",
		findings: []string{
			"runtime pmml (kserve-container) declared at field:spec.predictor.model.modelFormat.name | kserve:component=predictor",
			"model gs://b/m served/object-store (kserve-container) declared at field:spec.predictor.model.storageUri | kserve:component=predictor",
		},
		properties: []string{
			"scrape:error=spec.predictor cannot be decoded: cannot unmarshal string into Go struct field PodSpec.containers of type []v1.Container",
			"scrape:error=spec.predictor.model cannot be decoded: cannot unmarshal number into Go struct field Container.args of type []string",
		},
	}, {
		name: "running images go to the container that they belong to",
		spec: `
spec:
  predictor: {model: {modelFormat: {name: sklearn}}}
  transformer: {containers: [{name: kserve-container, image: "acme/transformer:1"}]}`,
		running: []RunningImage{
			{Container: "kserve-container", Image: "kserve/sklearnserver:v0.15.0", ImageID: "docker.io/kserve/sklearnserver@" + digest(1)},
			{Container: "kserve-container", Image: "acme/transformer:1", ImageID: "acme/transformer@" + digest(2)},
			{Container: "queue-proxy", Image: "knative/queue", ImageID: "knative/queue@" + digest(3)},
		},
		findings: []string{
			"runtime sklearn (kserve-container) declared at field:spec.predictor.model.modelFormat.name | kserve:component=predictor",
			"container kserve/sklearnserver@v0.15.0#1 main (kserve-container) declared at pod-status:status.containerStatuses[name=kserve-container].imageID | kserve:component=predictor",
			"container acme/transformer@1#2 main (kserve-container) declared at image:spec.transformer.containers[0].image pod-status:status.containerStatuses[name=kserve-container].imageID | kserve:component=transformer",
		},
	}, {
		name: "a running image that fits no part is reported without one",
		spec: `
spec:
  predictor: {containers: [{name: c, image: "a:1"}]}
  transformer: {containers: [{name: c, image: "b:1"}]}`,
		running: []RunningImage{{Container: "c", Image: "a:0", ImageID: "a@" + digest(7)}},
		findings: []string{
			"container a@1 main (c) declared at image:spec.predictor.containers[0].image | kserve:component=predictor",
			"container b@1 main (c) declared at image:spec.transformer.containers[0].image | kserve:component=transformer",
			"container a@0#7 main (c) declared at pod-status:status.containerStatuses[name=c].imageID",
		},
	}})
}

// TestServedNameAlone holds that a served name is the identity only where nothing else names a
// model.
func TestServedNameAlone(t *testing.T) {
	g := NewWithT(t)
	const explainer = "explainer: {containers: [{name: e, image: acme/e, command: [python, -m, e, --model_name, credit]}]}"
	report, err := readObject(t, "InferenceService", objectCase{
		spec: "spec: {predictor: {containers: [{name: c, image: acme/server}]}, " + explainer + "}",
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(describeFindings(report)).To(ContainElement(And(
		HavePrefix("model credit served (e)"), HaveSuffix("at command:spec.explainer.containers[0].command[4] | kserve:component=explainer"))))

	report, err = readObject(t, "InferenceService", objectCase{
		spec: "spec: {predictor: {sklearn: {storageUri: 'gs://b/m'}}, " + explainer + "}",
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(describeFindings(report)).NotTo(ContainElement(HavePrefix("model credit")))
	g.Expect(describeFindings(report)).To(ContainElement(And(HavePrefix("model gs://b/m"), ContainSubstring("identity:servedName=credit"))))
}

// TestLegacyPredictors holds that each framework's own predictor is still read.
func TestLegacyPredictors(t *testing.T) {
	for _, framework := range []string{"sklearn", "tensorflow", "pytorch", "triton", "xgboost", "lightgbm", "onnx", "pmml", "paddle", "huggingface"} {
		testObjects(t, "InferenceService", []objectCase{{
			name: framework,
			spec: "spec: {predictor: {" + framework + ": {storageUri: 'gs://b/m', runtimeVersion: 20.10-py3}}}",
			findings: []string{
				fmt.Sprintf("runtime %s@20.10-py3 (kserve-container) declared at field:spec.predictor.%[1]s field:spec.predictor.%[1]s.runtimeVersion | kserve:component=predictor kserve:runtimeVersion=20.10-py3", framework),
				fmt.Sprintf("model gs://b/m served/object-store (kserve-container) declared at field:spec.predictor.%s.storageUri | kserve:component=predictor", framework),
			},
		}})
	}
}

// TestFormatsOfOneModel holds that a format which is made for one model of a product names it, where
// nothing else does.
func TestFormatsOfOneModel(t *testing.T) {
	const component = " | kserve:component=predictor"
	for _, c := range []struct{ name, model, runtime, want string }{
		{"all of a claim", "{modelFormat: {name: nvidia-nim-llama3-8b-instruct}, storageUri: 'pvc://nim-pvc/'}", "nim",
			"model llama3-8b-instruct served/ngc (kserve-container) inferred at field:spec.predictor.model.modelFormat.name"},
		{"nothing stored", "{modelFormat: {name: nvidia-nim-llama3-8b-instruct}}", "nim",
			"model llama3-8b-instruct served/ngc (kserve-container) inferred at field:spec.predictor.model.modelFormat.name"},
		{"the runtime's name", "{modelFormat: {name: nim}, runtime: nvidia-nim-mixtral-8x7b-24.05}", "nim",
			"model mixtral-8x7b served/ngc (kserve-container) inferred at field:spec.predictor.model.runtime"},
		{"a stored model", "{modelFormat: {name: nvidia-nim-llama3-8b-instruct}, storageUri: 'pvc://nim-pvc/llama'}", "nim",
			"model pvc://nim-pvc/llama served/volume (kserve-container) declared at field:spec.predictor.model.storageUri"},
		{"no model", "{modelFormat: {name: nvidia-nim-}, storageUri: 'pvc://claim'}", "nvidia-nim-",
			"model pvc://claim served/volume (kserve-container) declared at field:spec.predictor.model.storageUri"},
		{"another format", "{modelFormat: {name: my-nvidia-nim-x}, storageUri: 'gs://b/m'}", "my-nvidia-nim-x",
			"model gs://b/m served/object-store (kserve-container) declared at field:spec.predictor.model.storageUri"},
	} {
		g := NewWithT(t)
		report, err := readObject(t, "InferenceService", objectCase{spec: "spec: {predictor: {model: " + c.model + "}}"})
		g.Expect(err).NotTo(HaveOccurred(), c.name)
		g.Expect(names(report, evidence.TypeRuntime)).To(Equal([]string{c.runtime}), c.name)
		var models []string
		for _, line := range describeFindings(report) {
			if strings.HasPrefix(line, "model ") {
				models = append(models, line)
			}
		}
		g.Expect(models).To(Equal([]string{c.want + component}), c.name)
	}
}

// TestCustomPredictors holds that an image which is called exactly like a server shows it in a
// predictor, without an accelerator, and that all of a claim is a model where nothing else is.
func TestCustomPredictors(t *testing.T) {
	for image, want := range map[string][]string{
		"'{username}/torchserve:latest'": {"torchserve"},
		"registry.example.com/x/triton":  {"triton"},
		"acme/my-torchserve":             nil,
		"acme/torchserve-client":         nil,
		"torchserve/custom-model":        nil,
	} {
		g := NewWithT(t)
		report, err := readObject(t, "InferenceService", objectCase{
			spec: "spec: {predictor: {containers: [{image: " + image + ", env: [{name: STORAGE_URI, value: 'pvc://claim'}]}]}}",
		})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(names(report, evidence.TypeRuntime)).To(Equal(want), image)
		g.Expect(lines(report, evidence.TypeModel)).To(Equal([]string{"pvc://claim served volume"}), image)
	}
	report, err := readObject(t, "InferenceService", objectCase{spec: "spec: {predictor: {sklearn: {storageUri: 'gs://b/m'}}, transformer: {containers: [{image: acme/torchserve}]}}"})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(names(report, evidence.TypeRuntime)).To(Equal([]string{"sklearn"}))
}
