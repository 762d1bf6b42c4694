// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// called gives the workload and its first container a name.
func called(in Input, workload, container string) Input {
	in.Workload.Name = workload
	in.Template.Spec.Containers[0].Name = container
	return in
}

func TestNamesThatPeopleGive(t *testing.T) {
	unknown := func(workload, container, image string, words ...string) Input {
		return called(deployment(gpu(withArgs(image, words...))), workload, container)
	}
	runs := func(workload, container string, command ...string) Input {
		return called(deployment(gpu(withCommand("${image}", command...))), workload, container)
	}
	stateful := unknown("tgi", "c", "V_IMAGE")
	stateful.Workload.Kind = "StatefulSet"
	daemon := unknown("vllm", "c", "V_IMAGE")
	daemon.Workload.Kind = "DaemonSet"
	two := called(deployment(gpu(withArgs("V_IMAGE")), gpu(withArgs("V_IMAGE"))), "vllm", "c")
	testFamilies(t, []family{
		// A server's name
		{"the container's", unknown("web", "comfyui", "${image}", "--listen"), "inference | comfyui"},
		{"the workload's", unknown("comfyui-nvidia-l4", "main", "V_IMAGE"), "inference | comfyui"},
		{"a StatefulSet's", stateful, "inference | tgi"},
		{"with its model", unknown("vllm-gemma", "c", "${image}", "--model", "org/m"), "inference | vllm | org/m served huggingface"},
		{"a program in Python", runs("comfyui", "c", "python", "main.py"), "inference | comfyui"},
		{"a module that serves", runs("gemma", "c", "python", "-m", "uvicorn", "main:app"), "inference"},
		{"a module of anything", runs("gemma", "c", "python", "-m", "visdom"), ""},
		{"without an accelerator", called(deployment(withArgs("${image}")), "comfyui", "comfyui"), ""},
		{"in a Job", called(job(gpu(withArgs("${image}"))), "comfyui", "comfyui"), ""},
		{"in a DaemonSet", daemon, ""},
		{"a part of a word", unknown("mycomfyuis", "novllms", "${image}"), ""},
		{"an exporter of one", unknown("vllm-exporter", "c", "${image}"), ""},
		{"a router to one", unknown("vllm-router", "c", "${image}"), ""},
		{"a measurement of one", unknown("vllm-benchmark", "c", "${image}"), ""},
		{"a program of another kind", runs("vllm-node", "c", "nvidia-smi", "-l"), ""},
		{"one that idles", runs("vllm", "c", "sleep", "infinity"), ""},
		{"one of two that could be meant", two, ""},
		// A family of models
		{"of an image", unknown("stable-diffusion-endpt", "stable-diffusion-endpt", "stable-diffusion-endpt"), "inference | stable-diffusion served inferred"},
		{"of an image of a size", unknown("web", "c", "team/llama3-server:1"), "inference | llama3 served inferred"},
		{"of an image with more in its name", unknown("web", "c", "team/gemma-tuned-shop:1"), "inference"},
		{"of an image of a common word", unknown("web", "c", "team/phi-service:1"), "inference"},
		{"of a container", unknown("embed", "blip2", "V_IMAGE"), "inference"},
		{"of a workload", unknown("gemma-2b", "c", "V_IMAGE"), "inference"},
		{"beside a model", withVariables(unknown("flux-server", "c", "team/flux:latest"), "MODEL_ID=/gcs/org/FLUX.1"), "inference | /gcs/org/FLUX.1 served file"},
		{"of a common word with a server's", unknown("t5-service", "c", "V_IMAGE"), "inference"},
		{"a common word", unknown("flux", "falcon-sensor", "team/phi:1"), ""},
		{"a part of one", unknown("t5g-node-server", "graphite-model", "team/phisher-api:1"), ""},
		{"a family of a notebook", unknown("llama-notebook", "c", "V_IMAGE"), ""},
		{"a family's training", runs("gemma", "c", "python", "run_all.py", "train.py"), "training"},
		// A server of models
		{"for embeddings", unknown("multimodal-embedding-model", "c", "V_IMAGE"), "inference"},
		{"for inference", unknown("web", "inference-server", "V_IMAGE"), "inference"},
		{"for a language model", runs("web", "llm-api", "uvicorn", "main:app"), "inference"},
		{"without a word for it", unknown("inference", "embedding", "V_IMAGE"), ""},
		{"a server of anything", unknown("model-server", "api", "V_IMAGE"), ""},
		// What else uses an accelerator
		{"a device plugin", unknown("inference-device-plugin-server", "c", "nvidia/k8s-device-plugin:v0.17.0"), ""},
		{"DCGM's exporter", unknown("dcgm-exporter", "llm-service", "nvidia/dcgm-exporter:4"), ""},
		{"a sample of CUDA", unknown("cuda-sample", "vectoradd", "nvidia/samples:vectoradd"), ""},
		{"a notebook", unknown("jupyter-inference-server", "c", "jupyter/base:1"), ""},
		{"a transcoder", unknown("video-transcoder", "inference-service", "team/transcoder:1"), ""},
		{"a game", unknown("llama-game-server", "c", "team/llama-game:1"), ""},
		{"a viewer of patients' images", unknown("phi-viewer-service", "volume-viewer", "team/volume-viewer:6"), ""},
		{"a solver for heat", unknown("heat-solver", "flux-api", "team/heat-flux-api:1"), ""},
		{"a radar", unknown("harbour-radar", "blip-tracker", "team/radar-blip-tracker:4"), ""},
		{"a radar's word alone", unknown("harbour", "c", "team/blip-tracker:4"), ""},
		{"that of a server", unknown("harbour", "c", "team/blip-server:4"), "inference"},
		{"clothes", unknown("vicuna-knitwear", "c", "V_IMAGE"), ""},
		{"a person", unknown("roberta-portfolio", "c", "V_IMAGE"), ""},
		{"gems", unknown("gemma-gemstones-viewer", "viewer", "V_IMAGE"), ""},
		{"a diving robot", unknown("deepseek-rov-console", "console", "V_IMAGE"), ""},
		{"a game's flights", unknown("falcon-inference", "sim", "team/falcon-flight-service:4"), ""},
		{"rules", unknown("rules-inference-engine", "inference-service", "team/rules-gpu:1"), ""},
		{"drawings", unknown("bert-service", "cad", "team/bert-cad-service:1"), ""},
		{"a model railway", unknown("model-railway", "railway-server", "team/model-railway:1"), ""},
	})
	g := NewWithT(t)
	runtime := of(PodWorkload(unknown("comfyui-nvidia-l4", "main", "V_IMAGE")), evidence.TypeRuntime)[0]
	g.Expect(runtime.Confidence).To(Equal(evidence.Inferred))
	g.Expect(runtime.Evidence).To(Equal([]evidence.Evidence{{Source: evidence.SourceField, Locator: "metadata.name"}}))
}

func withVariables(in Input, pairs ...string) Input {
	c := &in.Template.Spec.Containers[0]
	*c = withEnv(*c, pairs...)
	return in
}

func TestImagesInServersFolders(t *testing.T) {
	testFamilies(t, []family{
		{"an architecture", deployment(withArgs("gcr.io/tensorflow-serving/resnet")), "inference | tf-serving | resnet served inferred"},
		{"in a mirror", deployment(withArgs("mirror.example.com/hub/tensorflow-serving/mobilenet-v2:1")), "inference | tf-serving | mobilenet-v2 served inferred"},
		{"a family", deployment(withArgs("team/torchserve/bert")), "inference | torchserve | bert served inferred"},
		{"a model beside", deployment(withArgs("tensorflow-serving/resnet", "--model_base_path=gs://b/m")), "inference | tf-serving | gs://b/m served object-store"},
		{"what is no model", deployment(withArgs("tensorflow-serving/router")), ""},
		{"more than a model", deployment(withArgs("tensorflow-serving/resnet-client")), ""},
		{"another folder", deployment(withArgs("tensorflow/resnet")), ""},
		{"a folder that is named like one", deployment(withArgs("my-tensorflow-serving/resnet")), ""},
		{"no folder", deployment(withArgs("resnet")), ""},
		{"in a Job with another program", job(withCommand("tensorflow-serving/resnet", "ls")), ""},
	})
}

func TestLabelsOfToolsAndRuntimes(t *testing.T) {
	const server = "ai.gke.io/inference-server="
	anything := func() corev1.Container { return withArgs(custom) }
	testFamilies(t, []family{
		{"ADK's own deployment", labelledPod(deployment(anything()), "app.kubernetes.io/managed-by=adk-cli"), "agent | google-adk"},
		{"another tool", labelledPod(deployment(anything()), "app.kubernetes.io/managed-by=Helm"), ""},
		{"a tool named like a server", labelledPod(deployment(anything()), "app.kubernetes.io/managed-by=vllm"), ""},
		{"the label's value elsewhere", labelledPod(deployment(anything()), "app=adk-cli"), ""},
		{"beside a framework", labelledPod(deployment(shell(plain, "pip install langchain")), "app.kubernetes.io/managed-by=adk-cli"), "agent | langchain"},

		{"an unknown runtime", labelledPod(deployment(anything()), server+"Fast-Server"), "inference | Fast-Server"},
		{"a word for a known one", labelledPod(deployment(anything()), server+"jetstream-maxtext"), "inference | jetstream"},
		{"where something shows the runtime", labelledPod(deployment(withArgs(vllmImage)), server+"fast-server"), "inference | vllm@0.11.0"},
		{"where another label does", labelledPod(deployment(anything()), server+"vllm", "kubeai.org/engine=fast"), "inference | vllm"},
		{"no name", labelledPod(deployment(anything()), server+"true"), ""},
		{"a sentence", labelledPod(deployment(anything()), server+"the fast one"), ""},
		{"what is still to fill", labelledPod(deployment(anything()), server+"${SERVER}"), ""},

		{"a repository", labelledPod(deployment(gpu(withArgs("V_IMAGE"))), "hf.co/model=BAAI--bge-base-en-v1.5"), "inference | BAAI/bge-base-en-v1.5 served huggingface inferred"},
		{"a repository beside a model", labelledPod(deployment(withArgs(vllmImage, "--model", "org/m")), "hf.co/model=BAAI--bge-base-en-v1.5"), "inference | vllm@0.11.0 | org/m served huggingface"},
		{"dashes in another label", labelledPod(deployment(gpu(withArgs("V_IMAGE"))), "ai.gke.io/model=a--b"), "inference | a--b served inferred"},
	})
	NewWithT(t).Expect(ReadsLabel("app.kubernetes.io/managed-by")).To(BeTrue())
}

func TestAddressesOfModels(t *testing.T) {
	client := func(pairs ...string) Input { return deployment(withEnv(withArgs(custom), pairs...)) }
	proxy := client("UPSTREAM=http://vllm:8000/v1/chat/completions")
	proxy.Template.Spec.Containers[0].Name = "gateway"
	testFamilies(t, []family{
		{"a chat", client("RAG_BACKEND=http://rag.ml-team:8000/v1/chat/completions"), "agent | http://rag.ml-team:8000/v1/chat/completions endpoint"},
		{"completions", client("X=http://m:8000/serve/v1/completions"), "agent | http://m:8000/serve/v1/completions endpoint"},
		{"embeddings", client("X=http://m/v1/embeddings"), "agent | http://m/v1/embeddings endpoint"},
		{"a provider's", client("X=https://api.openai.com/v1/chat/completions"), "agent | openai"},
		{"a provider's beside an own one", client("X=https://api.openai.com/v1/embeddings", "Y=http://m/v1/completions"), "agent | openai"},
		{"Ollama's port", client("X=http://m:11434/api/generate"), "agent | http://m:11434/api/generate endpoint"},
		{"Ollama's name", client("X=http://ollama.ai/api/chat"), "agent | http://ollama.ai/api/chat endpoint"},
		{"a family's endpoint", client("GEMMA_IT_ENDPOINT=http://it-model.ml:8000/"), "agent | http://it-model.ml:8000/ endpoint"},
		{"a family of a generation", client("LLAMA3_ENDPOINT_URL=http://it-model.ml:8000/"), "agent | http://it-model.ml:8000/ endpoint"},
		{"an endpoint of embeddings", client("EMBEDDING_ENDPOINT_TEXT=http://embed.ml/text"), "agent | http://embed.ml/text endpoint"},
		{"anybody's generator", client("X=http://reports/generate", "Y=http://reports/api/generate"), ""},
		{"anybody's chat", client("CHAT=http://support:8080/api/chat"), ""},
		{"TorchServe's path", client("PREDICTION_URL=http://t5-inference:8080/predictions/t5-small/1.0"), "agent | t5-small called inferred"},
		{"TensorFlow Serving's", client("X=http://m:8501/v1/models/resnet:predict"), "agent | resnet called inferred"},
		{"KServe's", client("X=http://m/v2/models/resnet/versions/2/infer"), "agent | resnet called inferred"},
		{"a model's state", client("X=http://m/v2/models/resnet/ready"), ""},
		{"predictions of departures", client("X=http://m/predictions/departures"), ""},
		{"another path below", client("X=http://m/v1/chat/completions/history"), ""},
		{"a health check", client("HEALTH_URL=http://m/v1/chat/completions"), ""},
		{"a family's color", client("GEMMA_COLOR=http://colors/red"), ""},
		{"a family's farm", client("LLAMA_FARM_URL=http://farm:8000/"), ""},
		{"itself", client("X=http://localhost:8000/v1/chat/completions", "Y=http://127.0.0.1/v1/embeddings"), ""},
		{"a gateway of a known name", deployment(withEnv(withArgs("kong:3.9"), "X=http://m/v1/chat/completions")), ""},
		{"a family within a name", client("MY_GEMMAS_ENDPOINT=http://m:8000/"), ""},
		{"a common word", client("FLUX_ENDPOINT=http://flux:80/", "FALCON_URL=http://f/"), ""},
		{"a column of embeddings", client("EMBEDDING_COLUMN_TEXT=http://x/"), ""},
		{"no address", client("EMBEDDING_ENDPOINT_TEXT=/text", "X=/v1/chat/completions"), ""},
		{"where it listens", client("X=http://0.0.0.0:8000/v1/chat/completions"), ""},
		{"a gateway", proxy, ""},
		{"a load generator", deployment(withEnv(withArgs("grafana/k6:1.3.0"), "X=http://m/v1/chat/completions")), ""},
		{"a Job that measures", job(withEnv(withArgs(custom), "X=http://m/v1/chat/completions", "MODEL_PATH=/data/m")), ""},
	})
}

func TestBatchPredictions(t *testing.T) {
	const script = "cd /data; pip install -r requirements.txt; python tensorflow_mnist_batch_predict.py"
	testFamilies(t, []family{
		{"TensorFlow", job(gpu(shell("tensorflow/tensorflow:2.19.0-gpu", script))), "inference | tensorflow@2.19.0"},
		{"PyTorch", job(gpu(withCommand("pytorch/pytorch:latest", "python", "batch_inference.py", "--model", "org/m"))), "inference | pytorch | org/m served huggingface"},
		{"a training", job(gpu(withCommand("tensorflow/tensorflow:2.19.0-gpu", "python", "mnist_train.py"))), "training | tensorflow@2.19.0"},
		{"another image", job(gpu(shell(custom, script))), "inference"},
		{"an image of a launcher", job(gpu(withCommand("rayproject/ray:2.9.0", "python", "predict.py"))), "inference"},
		{"without an accelerator", job(shell("tensorflow/tensorflow:2.19.0", script)), ""},
		{"another script", job(gpu(withCommand("pytorch/pytorch:latest", "python", "unpredictable.py"))), ""},
	})
}

func TestProgramsThatTrain(t *testing.T) {
	const image = "nvcr.io/nvidia/clara/bionemo-framework:nightly"
	testFamilies(t, []family{
		{"a program that begins so", job(gpu(withCommand(custom, "train_esm2", "--num-steps", "100"))), "training | esm2 served inferred"},
		{"one that ends so", job(gpu(withCommand(custom, "/opt/resnet50-train"))), "training | resnet50 served inferred"},
		{"beside a model", job(gpu(withCommand(custom, "train_esm2", "--model", "org/m"))), "training | org/m served"},
		{"of no known kind", job(gpu(withCommand(custom, "train_shop"))), "training"},
		{"without an accelerator", job(withCommand(custom, "train_esm2")), ""},
		{"an argument", job(gpu(withCommand(custom, "run", "train_esm2"))), ""},
		{"a word of its own", job(gpu(withCommand(custom, "train"))), ""},
		{"another word", job(gpu(withCommand(custom, "constrain"))), ""},
		{"a time table", job(gpu(withCommand(custom, "train-timetable"))), ""},
		{"BioNeMo with its data", job(gpu(shell(image, "export D=$(download_bionemo_data esm2/testdata:2.0 --source ngc)\ntrain_esm2 --dir ${D}/x"))), "training | bionemo | esm2 served inferred | esm2/testdata:2.0 dataset"},
		{"BioNeMo's data only", job(shell(image, "download_bionemo_data esm2/testdata:2.0")), ""},
		{"BioNeMo by itself", deployment(gpu(withArgs(image))), "training | bionemo"},
	})
}

func TestWhatElseRunsInSamples(t *testing.T) {
	const garden = "us-docker.pkg.dev/vertex-ai/vertex-vision-model-garden-dockers/"
	testFamilies(t, []family{
		{"Hex-LLM", deployment(withArgs(garden+"hex-llm-serve:20241210_2323_RC00", "python", "-m", "hex_llm.server.api_server", "--model=google/gemma-2-9b-it")), "inference | hex-llm | google/gemma-2-9b-it served huggingface"},
		{"PEFT", deployment(withEnv(withArgs(garden+"pytorch-peft-serve:20240509"), "BASE_MODEL_ID=tiiuae/falcon-7b", "FINETUNED_LORA_MODEL_PATH=gs://b/lora")), "inference | peft | tiiuae/falcon-7b served huggingface | gs://b/lora adapter object-store"},
		{"diffusers", deployment(withEnv(withArgs(garden+"pytorch-diffusers-serve-opt:20240605"), "MODEL_ID=stabilityai/sdxl")), "inference | diffusers | stabilityai/sdxl served huggingface"},
		{"transformers", deployment(withEnv(withArgs(garden+"pytorch-transformers-serve:20240605"), "MODEL_ID=openai/clip")), "inference | transformers | openai/clip served huggingface"},
		{"an image of that name elsewhere", deployment(withArgs("team/pytorch-peft-serve:1")), ""},
		{"a label", labelledPod(deployment(gpu(withArgs("REGION-docker.pkg.dev/P/gpu-diffusers/flux:latest"))), "ai.gke.io/inference-server=diffusers"), "inference | diffusers"},
		{"a module below src", job(gpu(withCommand(custom, "python3", "-m", "src.MaxText.train", "base.yml", "model_name=gemma3-12b"))), "training | maxtext | gemma3-12b served"},
		{"MaxDiffusion", job(gpu(withCommand(custom, "python", "-m", "src.maxdiffusion.generate_sdxl", "base_xl.yml"))), "inference | maxdiffusion"},
		{"MaxDiffusion's training of a model", job(gpu(shell(custom, "python -m src.maxdiffusion.train_sdxl base_xl.yml pretrained_model_name_or_path=org/m dataset_name=org/d run_name=x"))),
			"training | maxdiffusion | org/m served huggingface | org/d dataset huggingface"},
		{"MaxDiffusion's training", job(gpu(withCommand(custom, "python", "-m", "src.maxdiffusion.train_sdxl", "base_xl.yml"))), "training | maxdiffusion"},
		{"a module below another folder", job(withCommand(custom, "python3", "-m", "mysrc.MaxText.train")), ""},
		{"Hugging Face's image for training", job(gpu(withCommand("us-docker.pkg.dev/deeplearning-platform-release/gcr.io/huggingface-pytorch-training-cu121.2-3.transformers.4-42.ubuntu2204.py310", "python", "train.py"))), "training | pytorch"},
		{"SAX's admin server with a cell", deployment(withArgs("us-docker.pkg.dev/cloud-tpu-images/inference/sax-admin-server:v1.2.0", "--sax_cell=/sax/test")), ""},
	})
}
