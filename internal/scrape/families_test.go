// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// custom is an image that somebody built themselves.
const custom = "registry.example.com/team/app:1.0"

// family is one workload of a family, and what is found in it: category, runtimes, models,
// data and services, each as line says it.
type family struct {
	name string
	in   Input
	want string
}

func labelledPod(in Input, labels ...string) Input {
	in.Template.Labels = map[string]string{}
	for _, l := range labels {
		name, value, _ := strings.Cut(l, "=")
		in.Template.Labels[name] = value
	}
	return in
}

// with adds volumes to a workload and mounts to its first container.
func with(in Input, volume corev1.Volume, mount string) Input {
	in.Template.Spec.Volumes = append(in.Template.Spec.Volumes, volume)
	c := &in.Template.Spec.Containers[0]
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: volume.Name, MountPath: mount})
	return in
}

func withInit(in Input, c corev1.Container) Input {
	c.Name = "init"
	in.Template.Spec.InitContainers = append(in.Template.Spec.InitContainers, c)
	return in
}

func configMap(name string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: name},
	}}}
}

func gpu(c corev1.Container) corev1.Container { return withGPU(c, "1") }

func describeReport(r evidence.Report) string {
	var all []string
	for _, t := range []evidence.Type{evidence.TypeRuntime, evidence.TypeFramework} {
		for _, l := range lines(r, t) {
			all = append(all, strings.TrimSuffix(l, " inferred"))
		}
	}
	for _, t := range []evidence.Type{evidence.TypeModel, evidence.TypeData, evidence.TypeService} {
		all = append(all, lines(r, t)...)
	}
	return strings.Join(append([]string{string(r.Category)}, all...), " | ")
}

func TestReadsLabel(t *testing.T) {
	g := NewWithT(t)
	g.Expect(ReadsLabel("ai.gke.io/model")).To(BeTrue())
	g.Expect(ReadsLabel("ai.gke.io/inference-server")).To(BeTrue())
	g.Expect(ReadsLabel("app")).To(BeFalse())
}

func TestFamilies(t *testing.T) {
	for _, f := range families {
		t.Run(f.name, func(t *testing.T) {
			NewWithT(t).Expect(describeReport(PodWorkload(f.in))).To(Equal(f.want))
		})
	}
}

var families = []family{
	// Labels
	{"a label names the model", labelledPod(deployment(withArgs("us-docker.pkg.dev/x/inference/sax-model-server:v1.2.0")), "ai.gke.io/model=gemma-2b-it"), "inference | saxml | gemma-2b-it served inferred"},
	{"a label names the runtime", labelledPod(deployment(gpu(withArgs("IMAGE_NAME"))), "ai.gke.io/inference-server=text-generation-inference", "ai.gke.io/model=gemma-2b"), "inference | tgi | gemma-2b served inferred"},
	{"a label beside an argument", labelledPod(deployment(withArgs(vllmImage, "--model=google/gemma-7b-it")), "ai.gke.io/model=gemma-7b", "ai.gke.io/inference-server=vllm"), "inference | vllm@0.11.0 | google/gemma-7b-it served huggingface"},
	{"a label beside a path", labelledPod(deployment(withArgs(vllmImage, "--model=/data/checkpoint")), "ai.gke.io/model=gemma-7b"), "inference | vllm@0.11.0 | /data/checkpoint served file | gemma-7b served inferred"},
	{"a label beside a path of a name", labelledPod(deployment(withArgs(vllmImage, "--model=/data/gemma-tuned")), "ai.gke.io/model=gemma-7b"), "inference | vllm@0.11.0 | /data/gemma-tuned served file | gemma-7b served inferred"},
	{"an image named after LangChain", deployment(withArgs("registry.example.com/team/langchain-app:1")), "agent | langchain"},
	{"a label beside what is not resolved", labelledPod(deployment(withArgs(vllmImage, "--model=$(MODEL_ID)")), "ai.gke.io/model=gemma-7b"), "inference | vllm@0.11.0 | $(MODEL_ID) served unresolved=MODEL_ID | gemma-7b served inferred"},
	{"a label of no meaning", labelledPod(deployment(withArgs("nginx:1.29")), "model=T1000", "app=vllm"), ""},
	// Names of images
	{"an image named after vLLM with a GPU", deployment(gpu(withArgs("registry.example.com/team/vllm-gemma:1.2.0", "--model", "org/m"))), "inference | vllm | org/m served huggingface"},
	{"the same without", deployment(withArgs("registry.example.com/team/vllm-gemma:1.2.0")), ""},
	{"max-diffusion on a TPU", deployment(withEnv(gpu(withArgs("REGION-docker.pkg.dev/P/gke-llm/max-diffusion:latest")), "MODEL_NAME=stable_diffusion")), "inference | maxdiffusion | stable_diffusion served inferred"},
	{"a word within a word", deployment(gpu(withArgs("registry.example.com/team/notvllm:1"))), ""},
	{"an image of llama.cpp", deployment(gpu(withArgs("registry.example.com/llamacpp-llm:latest", "-m", "/models/llama.gguf"))), "inference | llama.cpp | /models/llama.gguf served file"},
	// Flags of one product
	{"flags of vLLM in an unknown image", deployment(withArgs("IMAGE", "--model=org/m", "--gpu-memory-utilization=0.9")), "inference | vllm | org/m served huggingface"},
	{"Triton's script", deployment(gpu(shell("IMAGE", "./install.sh; python3 ./server.py leader --triton_model_repo_dir=/data/repo"))), "inference | triton | /data/repo served file"},
	{"a flag of SAX", deployment(withArgs(custom, "--sax_cell=/sax/test")), "inference | saxml"},
	// Frameworks of serving
	{"KServe's PMML server", withInit(deployment(withArgs("kfserving/pmmlserver:v0.5.1", "--model_name=iris", "--model_dir=/mnt/models")), withArgs("gcr.io/kfserving/storage-initializer:v0.5.1", "gs://bucket/iris", "/mnt/models")), "inference | pmml@0.5.1 | gs://bucket/iris served object-store inferred as=iris | gs://bucket/iris download object-store inferred"},
	{"TensorFlow Serving by name", deployment(withArgs("tensorflow/serving:2.19.0", "--model_name=mnist", "--model_base_path=/models/mnist")), "inference | tf-serving@2.19.0 | mnist served as=mnist"},
	{"TensorFlow Serving in a bucket", deployment(withArgs("tensorflow/serving:2.13.1-gpu", "--model_name=mnist", "--model_base_path=gs://bucket/mnist")), "inference | tf-serving@2.13.1 | gs://bucket/mnist served object-store as=mnist"},
	{"TensorFlow Serving by variables", deployment(withEnv(withArgs("tensorflow/serving:2.19.0"), "MODEL_NAME=mnist", "MODEL_BASE_PATH=/models")), "inference | tf-serving@2.19.0 | mnist served as=mnist"},
	{"Triton in a bucket", deployment(withArgs("nvcr.io/nvidia/tritonserver:25.03-py3", "tritonserver", "--model-store=gs://bucket/triton")), "inference | triton | gs://bucket/triton served object-store"},
	{"TorchServe", deployment(gpu(withArgs("REGION-docker.pkg.dev/P/models/t5-small:1-gpu", "torchserve", "--start", "--foreground", "--models", "t5=t5-small.mar"))), "inference | torchserve | t5 served"},
	{"mlflow", deployment(shell(plain, "mlflow models serve -m s3://bucket/model --port 80")), "inference | mlflow | s3://bucket/model served object-store"},
	{"a router of vLLM", deployment(withArgs("lmcache/lmstack-router:latest", "--service-discovery=static", "--static-backends=http://a:8000", "--static-models=org/m")), "inference | vllm-router | org/m called"},
	{"a router in a script", deployment(shell("ubuntu:22.04", "pip install -e . && python -m vllm_router.app --service-discovery=k8s")), "inference | vllm-router"},
	{"JetStream of MaxText", deployment(withArgs("us-docker.pkg.dev/cloud-tpu-images/inference/maxengine-server:v0.2.2", "model_name=gemma-7b", "tokenizer_path=assets/tokenizer.gemma", "load_parameters_path=gs://b/final/unscanned/gemma_7b-it/0/checkpoints/0/items")), "inference | jetstream | gemma-7b served | assets/tokenizer.gemma tokenizer file | gs://b/final/unscanned/gemma_7b-it/0/checkpoints/0/items served object-store"},
	{"diffusers in code", deployment(gpu(shell(plain, "python - <<'EOF'\nfrom diffusers import DiffusionPipeline\npipe = DiffusionPipeline.from_pretrained(\"stabilityai/sdxl\")\nEOF"))), "inference | stabilityai/sdxl served huggingface inferred"},
	{"llama.cpp", deployment(withArgs("ghcr.io/ggml-org/llama.cpp:server", "-hf", "ggml-org/gemma-3-1b-it-GGUF")), "inference | llama.cpp | ggml-org/gemma-3-1b-it-GGUF served huggingface"},
	{"LoRA modules", deployment(withArgs(vllmImage, "--model", "meta-llama/Llama-3.1-8B-Instruct", "--enable-lora", "--lora-modules", `{"name": "food", "path": "Kawon/food", "base_model_name": "x"}`)), "inference | vllm@0.11.0 | meta-llama/Llama-3.1-8B-Instruct served huggingface | Kawon/food adapter huggingface as=food"},
	{"a draft and a tokenizer", deployment(withArgs(vllmImage, "--model", "org/m", "--tokenizer", "org/t", "--speculative-config", `{"model":"org/d"}`)), "inference | vllm@0.11.0 | org/m served huggingface | org/t tokenizer huggingface | org/d draft huggingface"},
	{"Ollama's hook", deployment(hook(withArgs("ollama/ollama:0.12.6"), "sh", "-c", "ollama pull gemma3:1b")), "inference | ollama@0.12.6 | gemma3:1b served ollama"},
	{"HF cache and variables", deployment(withEnv(withArgs("ghcr.io/huggingface/text-embeddings-inference:1.8"), "MODEL_ID=BAAI/bge-m3", "REVISION=main")), "inference | tei@1.8 | BAAI/bge-m3@main served huggingface"},
	{"whisper", deployment(withEnv(withArgs("fedirz/faster-whisper-server:latest-cpu"), "WHISPER__MODEL=Systran/faster-whisper-small")), "inference | whisper | Systran/faster-whisper-small served"},
	// Agents
	{"Streamlit with a server's address", deployment(withEnv(withCommand(custom, "streamlit", "run", "app.py"), "LLM_URL=http://vllm:8000/v1")), "agent | http://vllm:8000/v1 endpoint"},
	{"Streamlit without", deployment(withCommand(custom, "streamlit", "run", "app.py")), ""},
	{"ADK on Vertex AI", deployment(withEnv(withArgs("us-docker.pkg.dev/p/adk-repo/adk-agent:latest"), "GOOGLE_CLOUD_PROJECT=p", "GOOGLE_GENAI_USE_VERTEXAI=true", "PORT=8080")), "agent | google-vertex-ai inferred"},
	{"ADK with a server of its own", deployment(withEnv(withArgs("us-docker.pkg.dev/p/adk-repo/adk-agent:latest"), "MODEL_NAME=hosted_vllm/meta-llama/Llama-3.1-8B", "LLM_BASE_URL=http://vllm:8000/v1", "LLAMA_MODEL_NAME=meta-llama/Llama-3.1-8B-Instruct")), "agent | meta-llama/Llama-3.1-8B called | meta-llama/Llama-3.1-8B-Instruct called"},
	{"ADK's server", deployment(withCommand(plain, "adk", "api_server", "--port", "80")), "agent | google-adk"},
	{"an MCP server", deployment(withArgs("ghcr.io/github/github-mcp-server:v0.5.0", "http")), "agent | mcp@0.5.0"},
	{"an MCP server by npx", deployment(withCommand("node:22", "npx", "-y", "@modelcontextprotocol/server-filesystem", "/data")), "agent | mcp"},
	{"NVIDIA's RAG chain", deployment(withEnv(withArgs("nvcr.io/nvidia/aiworkflows/rag-application-text-chatbot-langchain:24.08"), "APP_LLM_SERVERURL=nim:8000", "APP_LLM_MODELNAME=meta/llama3-8b-instruct", "APP_EMBEDDINGS_MODELNAME=nvidia/nv-embedqa-e5-v5", "APP_VECTORSTORE_URL=http://milvus:19530")), "agent | langchain | meta/llama3-8b-instruct called | nvidia/nv-embedqa-e5-v5 called | http://milvus:19530 vector-store"},
	{"a RAG's embedder", deployment(withEnv(corev1.Container{Name: "embed-docs", Image: "<DOCKER_REPO>/embed-docs:1.0", Command: []string{"python", "/app/endpoint.py"}}, "QDRANT_URL=http://qdrant:6333")), "agent | http://qdrant:6333 vector-store"},
	{"one that is known by its name and keeps what it makes", deployment(withEnv(corev1.Container{Name: "embed-docs", Image: custom}, "POSTGRES_HOST=pg")), "agent"},
	{"one with an accelerator", deployment(gpu(corev1.Container{Name: "docs-embedder", Image: custom, Command: []string{"/embed"}})), ""},
	{"documents of something embedded", deployment(corev1.Container{Name: "embedded-docs", Image: custom}), ""},
	{"an embedder of something else", deployment(corev1.Container{Name: "video-embedder", Image: custom}), ""},
	{"a RAG's chat bot", deployment(withEnv(corev1.Container{Name: "chatbot", Image: "<DOCKER_REPO>/chatbot:1.0"}, "WEAVIATE_ENDPOINT=weaviate:80")), "agent | weaviate:80 vector-store"},
	{"a backup of a vector database", deployment(withEnv(withArgs("example.com/backup:1"), "QDRANT_URL=http://qdrant:6333")), ""},
	{"LiteLLM's gateway", with(deployment(withEnv(withArgs("ghcr.io/berriai/litellm:main-stable", "--config", "/app/config.yaml"), "OPENAI_API_KEY=x")), configMap("litellm"), "/app"), "agent | litellm | /app/config.yaml config unresolved=what it names is in configMap/litellm, which is not read | openai inferred"},
	{"Open WebUI", deployment(withEnv(withArgs("ghcr.io/open-webui/open-webui:main"), "OLLAMA_BASE_URL=http://ollama:11434")), "agent | open-webui"},
	{"variables of any name", deployment(withEnv(withArgs(custom), "SUMMARY_MODEL=gpt-4o-mini", "OPENAI_API_KEY=x", "CAR_MODEL=Model T")), "agent | gpt-4o-mini called | openai inferred"},
	// Training
	{"a recipe in a ConfigMap", with(job(gpu(shell("axolotlai/axolotl:main-latest", "cd /w && python -m axolotl.cli.train /configs/gemma.yaml"))), configMap("axolotl-config"), "/configs"), "training | axolotl | /configs/gemma.yaml config unresolved=what it names is in configMap/axolotl-config, which is not read"},
	{"fine-tuning by variables", job(gpu(withEnv(withArgs("$IMAGE_URL"), "MODEL_NAME=google/gemma-2b", "NEW_MODEL=gemma-ft", "MODEL_PATH=/data/experiment", "DATASET_NAME=org/data"))), "training | google/gemma-2b served | gemma-ft output | /data/experiment model-store file | org/data dataset"},
	{"trl", job(gpu(withCommand(plain, "trl", "sft", "--model_name_or_path", "org/m", "--dataset_name", "org/data", "--output_dir", "out"))), "training | trl | org/m served huggingface | org/data dataset huggingface"},
	{"training in code", job(gpu(shell(plain, "cat <<'EOF' > /tmp/train.py\nfrom datasets import load_dataset\nfrom trl import SFTTrainer\nBASE = 'org/m'\nds = load_dataset('org/data', split='train')\nSFTTrainer(model=BASE, train_dataset=ds).train()\nEOF\npython /tmp/train.py"))), "training | trl | org/m served huggingface inferred | org/data dataset huggingface inferred"},
	{"LLaMA-Factory", job(gpu(withCommand("hiyouga/llamafactory:0.9.3", "llamafactory-cli", "train", "--model_name_or_path", "org/m", "--dataset", "alpaca", "--adapter_name_or_path", "org/lora"))), "training | llama-factory@0.9.3 | org/m served huggingface | org/lora adapter huggingface | alpaca dataset"},
	{"MaxText", job(withCommand("us-docker.pkg.dev/cloud-tpu-images/maxtext:1", "python3", "-m", "MaxText.train", "MaxText/configs/base.yml", "model_name=llama2-7b", "dataset_path=gs://b/data")), "training | maxtext | llama2-7b served | gs://b/data dataset object-store"},
	{"Horovod", job(gpu(withCommand("horovod/horovod:0.28.1", "horovodrun", "-np", "4", "python", "train.py"))), "training | horovod@0.28.1"},
	{"TensorBoard", deployment(withCommand("tensorflow/tensorflow:2.14.0", "tensorboard", "--logdir=/outputs/gemma3")), ""},
	{"a notebook", deployment(gpu(withArgs("tensorflow/tensorflow:2.15.0-jupyter"))), ""},
	// Evaluation
	{"lighteval", job(withCommand(plain, "lighteval", "vllm", "--model_args", "x")), "evaluation | lighteval"},
	{"guidellm", job(withCommand("ghcr.io/vllm-project/guidellm:latest", "guidellm", "benchmark", "--target", "http://vllm:8000", "--model", "org/m")), "evaluation | guidellm | org/m served"},
	// Downloads
	{"a Job that downloads", job(shell("python:3.11-alpine", "pip install huggingface_hub && huggingface-cli download org/m --local-dir=/data/m")), ""},
	{"a Job that downloads in code", job(shell(plain, "python3 <<EOF\nimport os\nfrom huggingface_hub import snapshot_download\nsnapshot_download(repo_id=os.environ['MODEL_ID'])\nEOF", env("MODEL_ID=org/m")...)), ""},
	{"a Job that warms the cache", job(shell(plain, `python -c "from transformers import AutoModel; AutoModel.from_pretrained('org/m')"`)), ""},
	{"a Job's script that downloads, with a token", job(withEnv(withCommand(plain, "python", "/app/download.py", "--model-id", "org/m"), "HF_TOKEN=x", "MODEL_ID=org/m")), ""},
	{"a Job that quantizes", job(gpu(withEnv(corev1.Container{Name: "llm-compressor", Image: custom, Command: []string{"python", "main.py"}}, "MODEL_ID=org/m", "HF_TOKEN=x"))), ""},
	{"a Job that converts", job(gpu(withCommand("nvcr.io/nvidia/tensorrt-llm/release:1.0.0", "python", "convert_checkpoint.py", "--model_dir", "/m"))), ""},
	{"a Job of another name", job(gpu(withEnv(withCommand(custom, "python", "main.py"), "MODEL_ID=org/m", "HF_TOKEN=x"))), "inference | org/m served huggingface"},
	{"a server whose name speaks of a download", deployment(gpu(withEnv(withCommand(custom, "sh", "-c", "hf download org/m && python main.py"), "MODEL_ID=org/m", "HF_TOKEN=x"))), "inference | org/m served huggingface | org/m download huggingface"},
	{"a script in a ConfigMap", with(job(withEnv(withCommand("gcr.io/cloudsdktool/google-cloud-cli:slim", "/scripts/fetch_model.sh"), "MODEL_PATH=google/gemma/pax/2b-it/2")), configMap("scripts"), "/scripts"), ""},
	{"a download to the served folder", withInit(deployment(withArgs(vllmImage, "--model", "/models")), withCommand(plain, "hf", "download", "org/m", "--local-dir", "/models")), "inference | vllm@0.11.0 | org/m served huggingface inferred | org/m download huggingface"},
	{"vLLM on what its script downloads", deployment(shell(vllmImage, "hf download org/m --local-dir /model && vllm serve /model")), "inference | vllm@0.11.0 | org/m served huggingface inferred | org/m download huggingface"},
	// Vector databases
	{"pgvector", deployment(withArgs("pgvector/pgvector:pg17")), "vectordb | pgvector"},
	{"Vespa", deployment(withArgs("vespaengine/vespa:8")), "vectordb | vespa"},
	// Infrastructure
	{"SAX's admin server", deployment(withEnv(withArgs("us-docker.pkg.dev/cloud-tpu-images/inference/sax-admin-server:v1.2.0"), "GSBUCKET=b")), ""},
	{"a device plugin", deployment(withArgs("nvcr.io/nvidia/k8s-device-plugin:v0.15.0")), ""},
	{"LMCache's gateway", deployment(withArgs("lmcache/gateway:latest", "-poolName", "vllm-llama3-1b-instruct", "-v", "4")), ""},
	{"what fetches images to nodes", deployment(withCommand(vllmImage, "sleep", "infinity")), ""},
	{"the same in a shell", deployment(shell(vllmImage, "echo done; trap : TERM; sleep infinity & wait")), ""},
	{"a server behind a pause", deployment(shell(vllmImage, "sleep 5; /start.sh")), "inference | vllm@0.11.0"},
	{"a GPU burn", job(gpu(withArgs("oguzpastirmaci/gpu-burn:latest", "60"))), ""},
	{"DCGM", deployment(withArgs("nvcr.io/nvidia/k8s/dcgm-exporter:4.2.0-4.1.0-ubuntu22.04")), ""},
	// Scripts that say by their name what they do
	{"a training script with a GPU", job(gpu(withCommand(custom, "python", "train.py"))), "training"},
	{"a training script without", job(withCommand(custom, "python", "train.py")), ""},
	{"a batch of inference with a GPU", job(gpu(withCommand(custom, "python", "/app/batch_inference.py"))), "inference"},
	{"Python's web server", deployment(gpu(withCommand(custom, "python3", "-m", "http.server", "8000"))), ""},
	{"a web server's script", deployment(withCommand(custom, "python", "serve.py")), ""},
	{"a GPU and a shell", job(gpu(withCommand(custom, "nvidia-smi"))), ""},
	{"NCCL's test", job(gpu(shell(custom, "/usr/local/bin/all_reduce_perf -b 8 -e 8G"))), ""},
	// Python code
	{"a variable of the environment in code", deployment(gpu(withEnv(withCommand(plain, "python", "-c", "import os\nfrom vllm import LLM\nllm = LLM(model=os.environ['MODEL'])"), "MODEL=org/m"))), "inference | vllm | org/m served huggingface inferred"},
	{"a default in code", deployment(gpu(withCommand(plain, "python", "-c", "import os\nfrom vllm import LLM\nllm = LLM(os.getenv('CHECKPOINT_X', 'org/m'))"))), "inference | vllm | org/m served huggingface inferred"},
	{"what code does not state", deployment(gpu(withCommand(plain, "python", "-c", "from vllm import LLM\nLLM(model=f'org/{name}')"))), "inference | vllm"},
	{"a tokenizer in code", deployment(gpu(withCommand(plain, "python", "-c", "AutoTokenizer.from_pretrained('org/t'); AutoModel.from_pretrained('org/m')"))), "inference | org/t tokenizer huggingface inferred | org/m served huggingface inferred"},
	{"a comment and a string of code", deployment(gpu(withCommand(plain, "python", "-c", "# LLM('org/a')\nprint('from_pretrained(\"org/b\")')"))), ""},
	{"a hosted model in code", deployment(withCommand(plain, "python", "-c", "from langchain_openai import ChatOpenAI\nChatOpenAI(temperature=0, model='gpt-4o')")), "agent | langchain | gpt-4o called inferred"},
	{"code in a file that the script writes", deployment(gpu(shell(plain, "cat > app.py <<'EOF'\nfrom sentence_transformers import SentenceTransformer\nm = SentenceTransformer('BAAI/bge-m3')\nEOF\npython app.py"))), "inference | BAAI/bge-m3 served huggingface inferred"},
	{"code that is only written", deployment(shell(plain, "cat > app.py <<'EOF'\nSentenceTransformer('BAAI/bge-m3')\nEOF")), ""},
	{"a script from a here-document", deployment(shell(plain, "bash <<'EOF'\nvllm serve org/m\nEOF")), "inference | vllm | org/m served huggingface"},
	// Mounted answers
	{"a model's settings in a ConfigMap", with(deployment(withArgs("tensorflow/serving:2.19.0", "--model_config_file=/etc/tf/models.config")), configMap("tf-models"), "/etc/tf"), "inference | tf-serving@2.19.0 | /etc/tf/models.config config unresolved=what it names is in configMap/tf-models, which is not read"},
	{"another file", with(deployment(withArgs("tensorflow/serving:2.19.0", "--model_config_file=/opt/models.config")), configMap("tf-models"), "/etc/tf"), "inference | tf-serving@2.19.0"},
	{"variables from a ConfigMap", deployment(corev1.Container{Image: vllmImage, Args: []string{"--model", "$(MODEL_ID)"}, EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}}}), "inference | vllm@0.11.0 | $(MODEL_ID) served unresolved=MODEL_ID (perhaps in configMap/settings)"},
	// Templates
	{"a default in a template", deployment(withArgs("${IMAGE:-vllm/vllm-openai:v0.8.5}", "--model", "${BASE_MODEL:-org/m}")), "inference | vllm | org/m served huggingface inferred"},
	{"a part of one", deployment(withArgs(vllmImage, "--model=org/${SIZE:-7b}-it")), "inference | vllm@0.11.0 | org/7b-it served huggingface inferred"},
	{"a template without a default", deployment(withArgs(vllmImage, "--model", "${BASE_MODEL}")), "inference | vllm@0.11.0 | ${BASE_MODEL} served unresolved=${BASE_MODEL}"},
	{"a default of a credential", deployment(withArgs(vllmImage, "--model", "${API_KEY:-hunter2}")), "inference | vllm@0.11.0 | ${API_KEY} served unresolved=${API_KEY}"},
	// Places
	{"a path that ends in a name", deployment(withEnv(withArgs(vllmImage, "--model", "/gcs/org/m/"), "MODEL_ID=org/m")), "inference | vllm@0.11.0 | org/m served huggingface | /gcs/org/m/ model-store file"},
	{"a path that ends otherwise", deployment(withEnv(withArgs(vllmImage, "--model", "/gcs/org/n"), "MODEL_ID=org/m")), "inference | vllm@0.11.0 | /gcs/org/n served file | org/m served huggingface"},
	{"a flag and its value in one word", deployment(withArgs(vllmImage, "--model  org/m --dtype half", "--port 80", "--served-model-name a=b")), "inference | vllm@0.11.0 | org/m served huggingface as=a=b"},
	{"a launcher of what serves", deployment(gpu(withCommand(custom, "accelerate", "launch", "tfs/inference_api.py", "--pretrained_model_name_or_path", "org/m"))), "inference | accelerate | org/m served huggingface"},
	{"a draft by a flag of its own", deployment(withArgs(vllmImage, "--model=org/m", "--speculative-config.model", "org/d")), "inference | vllm@0.11.0 | org/m served huggingface | org/d draft huggingface"},
	{"vLLM's command line as a module", deployment(withCommand(custom, "python3", "-m", "vllm.entrypoints.cli.main", "serve", "org/m")), "inference | vllm | org/m served huggingface"},
	{"code that serves without an accelerator", deployment(withCommand(custom, "python", "-c", "m = SentenceTransformer('org/m')")), "inference | org/m served huggingface inferred"},
	{"the same in a Job", job(withCommand(custom, "python", "-c", "m = SentenceTransformer('org/m')")), ""},
	{"an adapter in code", deployment(gpu(withCommand(custom, "python", "-c", "m = PeftModel.from_pretrained(AutoModel.from_pretrained('org/m'), 'org/lora')"))), "inference | org/lora adapter huggingface inferred | org/m served huggingface inferred"},
	{"a hosted model in code", deployment(withCommand(custom, "python", "-c", "OpenAI().chat.completions.create(model='gpt-4o-mini')")), "agent | gpt-4o-mini called inferred"},
	{"Bedrock's in code", deployment(withCommand(custom, "python", "-c", "c.converse(modelId='anthropic.claude-3-5-sonnet-20241022-v2:0')")), "agent | anthropic.claude-3-5-sonnet-20241022-v2:0 called inferred"},
	{"something else that is created", deployment(withCommand(custom, "python", "-c", "orders.create(model='gpt-4o-mini')")), ""},
	{"a model that is drawn", deployment(gpu(withEnv(withCommand(custom, "python", "serve.py"), "MODEL_PATH=/models/car.glb"))), ""},
	{"a web UI by its flags", deployment(withCommand(custom, "python3", "launch.py", "--listen", "--skip-torch-cuda-test")), "inference | stable-diffusion-webui"},
	{"a folder beside a name", deployment(withEnv(withArgs(vllmImage, "--model", "org/m"), "MODEL_PATH=/data/m")), "inference | vllm@0.11.0 | org/m served huggingface | /data/m model-store file"},
	{"a folder and nothing else", deployment(withArgs(vllmImage, "--model", "/models")), "inference | vllm@0.11.0 | /models served file"},
	{"a folder and a served name", deployment(withArgs(vllmImage, "--model", "/models", "--served-model-name", "llama")), "inference | vllm@0.11.0 | llama served inferred as=llama"},
	{"a folder of a name and a served name", deployment(withArgs(vllmImage, "--model", "/models/l3", "--served-model-name", "llama")), "inference | vllm@0.11.0 | /models/l3 served file as=llama"},
	{"two downloads to one folder", withInit(withInit(deployment(withArgs(vllmImage, "--model", "/models")), withCommand(plain, "hf", "download", "org/a", "--local-dir", "/models")), withCommand(plain, "hf", "download", "org/b", "--local-dir", "/models")), "inference | vllm@0.11.0 | /models served file | org/a download huggingface | org/b download huggingface"},
	// URIs
	{"an Azure store", deployment(withArgs(vllmImage, "--model", "abfss://c@account.dfs.core.windows.net/m")), "inference | vllm@0.11.0 | abfss://c@account.dfs.core.windows.net/m served object-store"},
	{"an OCI artefact", deployment(withEnv(withArgs("quay.io/modh/vllm:v1"), "STORAGE_URI=oci://registry/m:1")), "inference | vllm | oci://registry/m:1 served oci"},
	{"a claim", deployment(withArgs(vllmImage, "--model", "pvc://models/llama")), "inference | vllm@0.11.0 | pvc://models/llama served volume"},
	{"NGC", deployment(withEnv(withArgs("nvcr.io/nim/nvidia/llm-nim:1.14"), "NIM_MODEL_NAME=ngc://nim/meta/llama3-8b-instruct:hf")), "inference | nim@1.14 | ngc://nim/meta/llama3-8b-instruct:hf served ngc"},
	{"a model in an image's tag", deployment(withArgs("cr.weaviate.io/semitechnologies/transformers-inference:sentence-transformers-multi-qa-MiniLM-L6-cos-v1")), "inference | weaviate-transformers | sentence-transformers-multi-qa-MiniLM-L6-cos-v1 served inferred"},
	{"a tag that names none", deployment(withArgs("cr.weaviate.io/semitechnologies/transformers-inference:1.9.2-onnx")), "inference | weaviate-transformers@1.9.2"},
	{"a generic NIM", deployment(withArgs("nvcr.io/nim/nvidia/model-free-nim:1.0.0")), "inference | nim@1.0.0"},
	// Downloads by other programs
	{"Kaggle's program", job(shell(plain, "kaggle models instances versions download google/gemma/pyTorch/2b/1")), ""},
	{"NGC's program", withInit(deployment(withArgs(vllmImage, "--model", "/m")), withCommand("nvcr.io/ngc-cli:3", "ngc", "registry", "model", "download-version", "nvidia/nemo/llama:1.0")), "inference | vllm@0.11.0 | /m served file | nvidia/nemo/llama:1.0 download ngc"},
	// Hosted APIs by the variables of frameworks
	{"Bedrock", deployment(withEnv(withArgs(custom), "BEDROCK_MODEL_ID=anthropic.claude-3-sonnet-20240229-v1:0")), "agent | anthropic.claude-3-sonnet-20240229-v1:0 called | amazon-bedrock inferred"},
	{"a deployment of Azure OpenAI", deployment(withEnv(withArgs(custom), "AZURE_OPENAI_ENDPOINT=https://x.openai.azure.com", "AZURE_OPENAI_DEPLOYMENT_NAME=gpt-4o")), "agent | gpt-4o called | azure-openai"},
	{"Spring AI", deployment(withEnv(withArgs(custom), "SPRING_AI_OPENAI_API_KEY=x", "SPRING_AI_OPENAI_CHAT_OPTIONS_MODEL=gpt-4o-mini")), "agent | spring-ai | gpt-4o-mini called | openai inferred"},
}
