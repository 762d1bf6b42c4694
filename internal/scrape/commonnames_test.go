// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// named is a workload whose container has that name, and variables.
func named(name string, pairs ...string) Input {
	return deployment(withEnv(corev1.Container{Name: name, Image: custom}, pairs...))
}

// accelerated is a workload that runs one with an accelerator.
func accelerated(words ...string) Input { return deployment(gpu(withCommand(custom, words...))) }

// Each family stands before what has such a name too and is something else.
func TestServersThatOthersHaveToo(t *testing.T) {
	testFamilies(t, []family{
		// A model server
		{"a known model", app("MODEL_SERVER_URL=http://server:8000", "MODEL_NAME=gemma-2b"), "agent | gemma-2b called"},
		{"a repository", app("INFERENCE_SERVICE_URL=http://server:8000", "MODEL_ID=org/m"), "agent | org/m called"},
		{"the protocol", app("INFERENCE_SERVER_URL=http://server:8000/v1", "MODEL_NAME=chat"), "agent | chat called inferred"},
		{"the server's name", app("MODEL_SERVER_URL=http://vllm:8000", "MODEL_NAME=chat"), "agent | chat called inferred"},
		{"a word for it before", app("TRITON_INFERENCE_URL=http://server:8000", "LLM_HOST=http://server", "MODEL_NAME=chat"), "agent | chat called inferred"},
		{"a path of KServe's", app("INFERENCE_URL=http://server/v2/models/m/infer", "MODEL_NAME=chat"), "agent | chat called inferred"},
		{"a path of a rule", app("INFERENCE_URL=http://server/v2/rules/m", "MODEL_NAME=chat"), ""},
		{"a chat with a server's name", named("chat", "CHAT_API_URL=http://vllm:8000"), "agent | http://vllm:8000 endpoint"},
		{"a front end", app("GRADIO_SERVER_PORT=7860", "MODEL_SERVER_URL=http://server:8000"), "agent | http://server:8000 endpoint"},
		{"a chat and a model", app("CHAT_API_URL=http://server:8000", "MODEL_NAME=google/gemma-2-9b-it"), "agent | google/gemma-2-9b-it called"},
		{"an editor of diagrams", app("MODEL_SERVER_URL=http://diagrams:8081/api/v2/", "MODEL_NAME=Brewer.coffee"), ""},
		{"an engine of rules", app("INFERENCE_SERVICE_URL=http://rules:8080/services/rest", "MODEL_NAME=credit-rules"), ""},
		{"a flag of one", deployment(withArgs(custom, "--inference-service-url=http://rules:8080", "--model=credit-rules")), ""},
		{"a chat of people", named("chat", "CHAT_API_URL=http://livechat:8080"), ""},

		// A model by its form
		{"a maker", app("MODEL_URL=http://server:8000", "DEFAULT_MODEL=ibm-granite/g4"), "agent | ibm-granite/g4 called"},
		{"a size", app("HOST=http://server:8000", "DEFAULT_MODEL=acme/help-7b"), "agent | acme/help-7b called"},
		{"a word of models", app("MODEL_URL=http://server:8000", "DEFAULT_MODEL=acme/help-instruct"), "agent | acme/help-instruct called"},
		{"a car", app("MODEL_URL=http://catalogue:8080", "HOST=http://web:3000", "DEFAULT_MODEL=ford/focus"), ""},
		{"a device", app("HOST=http://registry:8080", "DEVICE_MODEL=acme/sensor-3"), ""},
		{"an inverter", app("BASE_URL=http://10.0.0.4/v1", "INVERTER_MODEL=solar-edge-5000"), ""},
		{"a processor", app("API_URL=http://inventory/v1", "CPU_MODEL=e5-2690v4"), ""},
		{"a lamp", app("BASE_URL=https://lamps.example/v1", "FEATURED_MODEL=t5-neon-28w"), ""},
		{"a family of that name", app("BASE_URL=http://server/v1", "MODEL_NAME=t5-small"), "agent | t5-small called"},
		{"another", app("BASE_URL=http://server/v1", "EMBED_NAME_MODEL=solar-10.7b"), "agent | solar-10.7b called"},

		// A hosted model
		{"a version of Gemini", app("MODEL_NAME=gemini-2.5-flash"), "agent | gemini-2.5-flash called"},
		{"a word behind it", app("MODEL_NAME=gemini-2-flash"), "agent | gemini-2-flash called"},
		{"a telescope's mount", app("MOUNT_MODEL=gemini-2"), ""},
		{"a deployment of Kubernetes", app("DEPLOYMENT_NAME=gemini-2"), ""},
		{"a deployment of Azure's", app("CHAT_DEPLOYMENT_NAME=gpt-4o"), "agent | gpt-4o called"},

		// An address by itself
		{"a family's endpoint", app("LLAMA_ENDPOINT=http://llama:8000"), "agent | http://llama:8000 endpoint"},
		{"one on the web with the protocol", app("LLAMA_ENDPOINT=https://llama.example.com/v1"), "agent | https://llama.example.com/v1 endpoint"},
		{"another's on the web", app("LLAMA_ENDPOINT=https://api.llama.example"), ""},
		{"completions", app("X=http://server/serve/v1/completions"), "agent | http://server/serve/v1/completions endpoint"},
		{"completions of courses", app("X=http://courses:8000/api/completion/v1/completions", "Y=http://courses/api/v1/completions"), ""},
		{"embeddings", app("EMBEDDING_ENDPOINT=http://embed.ml/text"), "agent | http://embed.ml/text endpoint"},
		{"a dashboard in a page", app("EMBEDDING_ENDPOINT=http://metabase:3000/embed"), ""},
		{"one on the web", app("EMBEDDING_ENDPOINT=https://bi.example.com/embed/dashboard"), ""},
		{"a dashboard and a front end", app("STREAMLIT_SERVER_PORT=8501", "METABASE_EMBEDDING_URL=http://bi:3000/embed"), ""},
		{"an assistant", named("assistant", "LLM_URL=http://llm:8000"), "agent | http://llm:8000 endpoint"},
		{"a school's page", named("assistant", "LLM_URL=https://law.example.edu/admissions/llm"), ""},
		{"a list of films", named("chat", "VLM_URL=http://films:8080/requests/vlm.xml"), ""},
	})
}

func TestDatabasesThatOthersHaveToo(t *testing.T) {
	testFamilies(t, []family{
		{"an embedder", named("docs-embedder", "ES_URL=http://es:9200"), "agent | http://es:9200 vector-store"},
		{"embeddings", named("embeddings-worker", "OPENSEARCH_URL=http://os:9200"), "agent | http://os:9200 vector-store"},
		{"a chat about an index", named("chatbot", "ES_URL=http://es:9200", "INDEX_NAME=docs"), "agent | http://es:9200 vector-store"},
		{"a bot that logs", named("chatbot", "ELASTICSEARCH_HOST=es"), ""},
		{"a wiki", named("semantic-wiki", "ELASTICSEARCH_HOST=es"), ""},
		{"players in pages", named("embed", "ELASTICSEARCH_URL=http://es:9200"), ""},
		{"a report in three colours", named("rag-report", "OPENSEARCH_URL=http://os:9200"), ""},
		{"a dog", named("golden-retriever", "ES_URL=http://es:9200", "PEDIGREE_INDEX=dogs"), ""},
		{"a pilot's charts", named("copilot", "OPENSEARCH_HOST=http://os:9200"), ""},
		{"a degree", named("llm-programme", "ES_HOST=es"), ""},

		{"a database of vectors", named("retriever", "CHROMA_HOST=chroma"), "agent | chroma vector-store"},
		{"its kind", named("rag-api", "VECTOR_DB=qdrant"), "agent | qdrant vector-store"},
		{"colours of a film", named("embed", "CHROMA_SUBSAMPLING=yuv420p"), ""},
		{"a scooter", named("bike-retriever", "VESPA_DB=postgres://pg/vespa"), ""},

		{"documents kept anywhere", named("embed-docs", "POSTGRES_HOST=pg"), "agent"},
		{"documents for Jobs", named("embed-docs", "JOB_IMAGE=embed-docs:1"), "agent"},
		{"documents and nothing", named("embed-docs"), ""},
		{"documents in a page", named("docs-embed-widget", "POSTGRES_HOST=pg"), ""},
		{"fonts", named("pdf-font-embedder", "REDIS_HOST=redis"), ""},
		{"sentences of a court", named("sentence-documents", "POSTGRES_HOST=pg"), ""},
		{"a library for sentences", app("SENTENCE_TRANSFORMER_MODEL=all-MiniLM-L6-v2"), "agent | all-MiniLM-L6-v2 called"},
		{"sentences of a lesson", app("SENTENCE_MODEL=grammar/past"), ""},
		{"how a bot talks", deployment(withEnv(withArgs(custom, "--adapter", "slack"), "HF_TOKEN=x")), ""},
		{"an adapter", deployment(withEnv(withArgs(custom, "--model=org/m", "--adapter", "org/a"), "HF_TOKEN=x")), "inference | org/m served huggingface | org/a adapter huggingface"},
	})
}

func TestAcceleratorsForOtherThings(t *testing.T) {
	renders := accelerated("python", "train.py")
	renders.Workload.Name = "cab-simulator"
	testFamilies(t, []family{
		// Scripts
		{"one that infers", accelerated("python", "infer.py"), "inference"},
		{"over a batch", accelerated("python", "batch_infer.py"), "inference"},
		{"one that serves", accelerated("python", "serve.py"), "inference"},
		{"a language model", accelerated("bash", "serve_llm.sh"), "inference"},
		{"a module", accelerated("python", "-m", "app.serve"), "inference"},
		{"one that makes text", accelerated("python", "generate_text.py"), "inference"},
		{"with a model's name", accelerated("python", "generate-sdxl.py"), "inference"},
		{"a server", accelerated("python", "server.py"), ""},
		{"a server's module", accelerated("python", "-m", "wolf.server"), ""},
		{"a shell's", accelerated("bash", "serve.sh"), ""},
		{"a tree", accelerated("sh", "infer_tree.sh"), ""},
		{"small pictures", accelerated("python", "generate_thumbnails.py"), ""},
		{"maps", accelerated("python", "generate-tiles.py"), ""},
		{"a simulator", renders, ""},

		// What may be a model
		{"a family", gpuApp("MODEL=resnet50"), "inference | resnet50 served"},
		{"a repository", gpuApp("MODEL=org/m"), "inference | org/m served"},
		{"a file", gpuApp("MODEL_PATH=/srv/m.onnx"), "inference | /srv/m.onnx served file"},
		{"a framework's file", gpuApp("MODEL_PATH=/srv/net.h5"), "inference | /srv/net.h5 served file"},
		{"a folder of models", gpuApp("MODEL_DIR=/data/models/m"), "inference | /data/models/m served file"},
		{"a bucket of models", gpuApp("STORAGE_URI=s3://b/models/m"), "inference | s3://b/models/m served object-store"},
		{"a flag", deployment(gpu(withArgs(custom, "--model=/models/m"))), "inference | /models/m served file"},
		{"a volume of models", with(gpuApp("MODEL_PATH=/srv/a"), pvc("models", "m"), "/srv"), "inference | /srv/a served file | persistentVolumeClaim/m model-store volume inferred"},
		{"a volume of anything", with(gpuApp("MODEL_PATH=/srv/a"), pvc("files", "f"), "/srv"), ""},
		{"a chair elsewhere", gpuApp("MODEL_URI=https://cdn.example.com/chair.GLB"), ""},
		{"a chair", gpuApp("MODEL_PATH=/models/chair.glb"), ""},
		{"a print", deployment(gpu(withArgs(custom, "--model=/stl/boat.stl"))), ""},
		{"a bucket of pictures", gpuApp("STORAGE_URI=s3://pictures/shot-1"), ""},
		{"the weather", gpuApp("MODEL=wrf-arw"), ""},
		{"a folder to write to", gpuApp("MODEL_DIR=/out/statue"), ""},
		{"a state", deployment(gpu(withArgs(custom, "--checkpoint-path", "s3://state/checkpoints/a"))), ""},
		{"a run", gpuApp("CHECKPOINT=lysozyme/run-7"), ""},
		{"a card", gpuApp("GPU_MODEL=nvidia/rtx-4090"), ""},
		{"a desktop", gpuApp("DEPLOYMENT_NAME=studio/desktop"), ""},
		{"a radio", app("MODEL=IC-7300", "HF_TOKEN=x"), ""},
		{"a repository with a token", app("MODEL=org/m", "HF_TOKEN=x"), "inference | org/m served huggingface"},

		// What may be a dataset
		{"a well-known one", gpuApp("DATASET=cifar10"), "training | cifar10 dataset"},
		{"one with a token", gpuApp("DATASET_NAME=org/d", "HF_TOKEN=x"), "training | org/d dataset huggingface"},
		{"one beside a model", gpuApp("DATASET=d", "MODEL=org/m"), "training | org/m served | d dataset"},
		{"a file of one", deployment(gpu(withArgs(custom, "--data-path=/data/chats.jsonl"))), "training | /data/chats.jsonl dataset file"},
		{"a file system", gpuApp("DATASET=tank/media"), ""},
		{"tables", gpuApp("DATASET_ID=orders_prod"), ""},
		{"a database", deployment(gpu(withArgs(custom, "--data-path=/var/lib/sql"))), ""},
		{"a library for plots", deployment(gpu(withCommand(custom, "python", "-c", "import seaborn as sns; sns.load_dataset('flights')"))), ""},
		{"a library for datasets", deployment(gpu(withCommand(custom, "python", "-c", "import datasets; datasets.load_dataset('org/d')"))), "training | org/d dataset huggingface inferred"},
	})
}
