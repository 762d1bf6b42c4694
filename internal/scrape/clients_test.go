// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
)

// app is a workload of an image of somebody's own, with variables.
func app(pairs ...string) Input { return deployment(withEnv(withArgs(custom), pairs...)) }

// appOf is the same with a container of that name and variables from elsewhere.
func appOf(name string, env ...corev1.EnvVar) Input {
	return deployment(corev1.Container{Name: name, Image: custom, Env: env})
}

func gpuApp(pairs ...string) Input { return deployment(gpu(withEnv(withArgs(custom), pairs...))) }

// Each family stands before what looks like it and is something else.
var clients = []family{
	// A model and the address of its server
	{"an address for models and a model", app("MODEL_BASE_URL=http://llm-service:8000/v1/", "MODEL_NAME=google/gemma-2-9b-it"), "agent | google/gemma-2-9b-it called"},
	{"without the protocol", app("MODEL_BASE_URL=http://models.ai.svc:8000", "MODEL_NAME=gemma-2b"), "agent | gemma-2b called"},
	{"with a name of one's own", app("LLM_BASE_URL=http://vllm:8000/v1", "MODEL_NAME=chat"), "agent | chat called inferred"},
	{"KServe's path", app("BASE_URL=http://gemma.ns.svc/openai/v1", "MODEL=gemma-2b"), "agent | gemma-2b called"},
	{"a ranking of a shop", app("RANKING_URL=http://ranking:8080", "EMBED_URL=http://videos:8080", "MODEL_NAME=Tin Lizzie"), ""},
	{"a model alone", app("MODEL_NAME=google/gemma-2-9b-it"), ""},
	{"an address alone", app("MODEL_BASE_URL=http://llm-service:8000/v1"), ""},
	{"a language model's address alone", app("LLM_BASE_URL=http://llm-service:8000/v1"), ""},
	{"a shop's models", app("MODEL_BASE_URL=https://cdn.example.com/models", "MODEL_NAME=acme/widget"), ""},
	{"a shop's own API", app("MODEL_BASE_URL=http://catalogue:8080/v1", "MODEL_NAME=Tin Lizzie"), ""},
	{"a file to fetch", app("MODEL_URL=https://huggingface.co/org/m/resolve/main/m.gguf", "MODEL_NAME=org/m"), ""},
	{"any address with the protocol", app("BASE_URL=http://vllm:8000/v1", "MODEL=qwen3-8b"), "agent | qwen3-8b called"},
	{"any address without", app("BASE_URL=http://shop:8000", "MODEL=qwen3-8b"), ""},
	{"any API and any model", app("API_BASE_URL=http://orders:8080/v1", "MODEL=acme/widget"), ""},
	{"a router", deployment(withEnv(corev1.Container{Name: "llm-router", Image: custom}, "MODEL_SERVER_URL=http://vllm:8000", "MODEL_NAME=org/m")), ""},
	{"a proxy", deployment(withEnv(withArgs("registry.example.com/auth-proxy:1"), "VLLM_URL=http://vllm:8000", "MODEL_ID=org/m")), ""},
	{"an address to listen at", app("OLLAMA_HOST=http://0.0.0.0:11434", "MODEL_NAME=acme-x"), ""},
	{"an address without a scheme", app("OLLAMA_HOST=ollama", "OLLAMA_MODEL=llama3.2"), "agent | llama3.2 called"},
	{"a host that is named after its model", app("INFERENCE_ENDPOINT=mistral-7b-instruct-service"), "agent | mistral-7b-instruct-service endpoint"},
	{"with its namespace", app("INFERENCE_URL=gemma-7b.models.svc"), "agent | gemma-7b.models.svc endpoint"},
	{"a server's name, its protocol and a variable for it", app("OPENAI_API_BASE_URL=http://vllm-llama3.ai.svc.cluster.local:8000/v1", "OPENAI_API_KEY=x"), "agent | http://vllm-llama3.ai.svc.cluster.local:8000/v1 endpoint"},
	{"the same in a Job", job(withEnv(withArgs(custom), "OPENAI_API_BASE_URL=http://vllm:8000/v1")), ""},
	{"the same of a router", deployment(withEnv(corev1.Container{Name: "llm-router", Image: custom}, "OPENAI_API_BASE_URL=http://vllm:8000/v1")), ""},
	{"the same of a health check", app("VLLM_HEALTHCHECK_URL=http://vllm:8000/v1"), ""},
	{"the same without its protocol", app("VLLM_URL=http://vllm:8000"), ""},
	{"a copy of Open WebUI", deployment(withEnv(withArgs("team/openwebui"), "OPENAI_API_BASE_URL=http://llm:8000/v1")), "agent | open-webui"},
	{"a model for an address", app("INFERENCE_ENDPOINT=gemma-7b"), ""},
	{"a host that only begins like a model", app("INFERENCE_ENDPOINT=gemma-service"), ""},
	{"an address of OPEA's", app("LLM_SERVER_HOST_IP=llm-svc", "LLM_SERVER_PORT=9009", "LLM_MODEL=org/m"), "agent | org/m called"},
	{"with a port", app("TRITON_URL=triton:8001", "MODEL_NAME=resnet50"), "agent | resnet50 called inferred"},
	{"where one's own server listens", gpuApp("HOST=localhost", "VLLM_LOGGING_LEVEL=DEBUG", "MODEL_ID=org/m"), "inference | org/m served"},
	{"where a named one listens", gpuApp("LLM_HOST=127.0.0.1", "MODEL_ID=org/m"), "inference | org/m served"},
	{"where one listens with IPv6", gpuApp("LLM_HOST=::", "MODEL_ID=org/m"), "inference | org/m served"},
	{"where one listens everywhere", gpuApp("LLM_HOST=*", "MODEL_ID=org/m"), "inference | org/m served"},
	{"any host by its name", app("HOST=shop", "LLM_MODEL=org/m"), ""},
	{"a sidecar's port", app("LLM_HOST=localhost:8000", "MODEL_ID=org/m"), "agent | org/m called"},
	{"an engine's name", app("LLM_SERVER=vllm", "MODEL_ID=org/m"), ""},
	{"an address with a prefix", app("SUPPORT_LLM_API_URL=http://vllm:8000", "MODEL_ID=org/m"), "agent | org/m called"},
	{"a word within a word", app("SMALLM_API_URL=http://shop:8000", "MODEL_NAME=T1000"), ""},
	{"an address of a ConfigMap", appOf("web", fromConfigMap("VLLM_URL", "c", "url"), corev1.EnvVar{Name: "MODEL_ID", Value: "org/m"}), "agent | org/m called"},
	{"any address of a ConfigMap", appOf("web", fromConfigMap("BASE_URL", "c", "url"), corev1.EnvVar{Name: "MODEL_ID", Value: "org/m"}), ""},
	{"the pod's own address", appOf("web", corev1.EnvVar{Name: "LLM_HOST", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}}, corev1.EnvVar{Name: "MODEL_ID", Value: "org/m"}), ""},
	{"a model of a ConfigMap", appOf("web", fromConfigMap("LLM_MODEL", "c", "model"), corev1.EnvVar{Name: "LLM_BASE_URL", Value: "http://vllm:8000/v1"}), "agent | $(LLM_MODEL) called unresolved=LLM_MODEL (key model of configMap/c) | http://vllm:8000/v1 endpoint"},
	{"an address in a flag", deployment(withArgs(custom, "--llm-base-url=http://vllm:8000/v1", "--model=org/m")), "agent | org/m called"},
	{"another address in a flag", deployment(withArgs(custom, "--base-url=http://shop:8000/v1", "--model=org/m")), ""},
	{"a front end by its variables", app("STREAMLIT_SERVER_PORT=8501", "LLM_URL=http://vllm:8000"), "agent | http://vllm:8000 endpoint"},
	{"a front end by its name", deployment(withEnv(corev1.Container{Name: "rag-ui", Image: custom}, "LLM_URL=http://vllm:8000")), "agent | http://vllm:8000 endpoint"},
	{"a front end whose server is not known", app("STREAMLIT_SERVER_PORT=8501", "LLM_URL=http://$(LLM):8000/v1"), "agent | http://$(LLM):8000/v1 endpoint unresolved=LLM"},
	{"a front end with a key in its server's address", app("STREAMLIT_SERVER_PORT=8501", "LLM_URL=http://u:pw@vllm:8000/v1?code=x"), "agent | http://vllm:8000/v1 endpoint"},
	{"a dashboard", app("STREAMLIT_SERVER_PORT=8501", "API_URL=http://sales:8000"), ""},
	{"Spring AI with a server of its own", app("SPRING_AI_OPENAI_BASE_URL=http://vllm:8000", "SPRING_AI_OPENAI_API_KEY=x", "SPRING_AI_OPENAI_CHAT_OPTIONS_MODEL=org/m"), "agent | spring-ai | org/m called"},
	{"Spring AI with Ollama", app("SPRING_AI_OLLAMA_BASE_URL=http://ollama:11434", "SPRING_AI_OLLAMA_CHAT_OPTIONS_MODEL=llama3.2"), "agent | spring-ai | llama3.2 called"},

	// Names for LiteLLM
	{"a server of vLLM's", app("LLM_BASE_URL=http://vllm:8000/v1", "LLM_MODEL_NAME=hosted_vllm/meta-llama/Llama-3.1-8B-Instruct"), "agent | meta-llama/Llama-3.1-8B-Instruct called"},
	{"Ollama's chat", app("MODEL=ollama_chat/gemma3:4b", "OLLAMA_API_BASE=http://ollama:11434"), "agent | gemma3:4b called"},
	{"Vertex AI without a key", app("LLM_MODEL=vertex_ai/gemini-2.5-flash"), "agent | gemini-2.5-flash called | google-vertex-ai inferred"},
	{"Bedrock without a key", app("MODEL_ID=bedrock/us.anthropic.claude-sonnet-4-20250514-v1:0"), "agent | us.anthropic.claude-sonnet-4-20250514-v1:0 called | amazon-bedrock inferred"},
	{"a quarry", app("MODEL=bedrock/granite"), ""},
	{"the protocol of OpenAI", app("MODEL_NAME=openai/Qwen/Qwen3-8B", "OPENAI_API_BASE=http://vllm:8000/v1", "OPENAI_API_KEY=x"), "agent | Qwen/Qwen3-8B called"},
	{"a repository of OpenAI's", gpuApp("MODEL_ID=openai/gpt-oss-20b"), "inference | openai/gpt-oss-20b served"},
	{"a repository of an owner like that", gpuApp("MODEL_ID=Groq/Llama-3-Groq-8B-Tool-Use"), "inference | Groq/Llama-3-Groq-8B-Tool-Use served"},
	{"a path like that", gpuApp("MODEL_PATH=/hosted_vllm/models/m"), "inference | /hosted_vllm/models/m served file"},

	// Models that only hosted APIs have
	{"a hosted model and nothing else", app("OPENAI_MODEL=gpt-4o-mini"), "agent | gpt-4o-mini called"},
	{"of any variable", app("SUMMARY_MODEL=claude-sonnet-4-5"), "agent | claude-sonnet-4-5 called"},
	{"open weights", app("MODEL=gpt-oss-20b"), ""},
	{"a phone", app("MODEL_NAME=gpt-x", "PHONE_MODEL=o1-mini"), ""},

	// Embeddings
	{"an ingestion", job(withEnv(withCommand(custom, "python3", "ingest.py"), "EMBEDDING_MODEL_NAME=BAAI/bge-small-en-v1.5", "REDIS_HOST=redis")), "agent | BAAI/bge-small-en-v1.5 called"},
	{"with a token", job(withEnv(withCommand(custom, "python3", "ingest.py"), "EMBED_MODEL_ID=all-MiniLM-L6-v2", "HF_TOKEN=x")), "agent | all-MiniLM-L6-v2 called"},
	{"with documents", with(job(withEnv(withCommand(custom, "python3", "ingest.py"), "EMBEDDING_MODEL=BAAI/bge-m3")), pvc("docs", "docs"), "/datasets"), "agent | BAAI/bge-m3 called"},
	{"an application", app("RAG_EMBEDDING_MODEL=sentence-transformers/all-MiniLM-L6-v2"), "agent | sentence-transformers/all-MiniLM-L6-v2 called"},
	{"a server of embeddings", deployment(withEnv(corev1.Container{Name: "embedding-api", Image: custom}, "EMBEDDING_MODEL=BAAI/bge-m3")), "inference | BAAI/bge-m3 served"},
	{"with an accelerator", gpuApp("EMBEDDING_MODEL=BAAI/bge-m3"), "inference | BAAI/bge-m3 served"},
	{"what only fetches it", job(withEnv(withCommand(custom, "python3", "download.py"), "EMBEDDING_MODEL=BAAI/bge-m3")), ""},
	{"an embedding of another kind", app("EMBED_MODEL=youtube-player", "EMBED_MODEL_PATH=/assets/embed.js"), ""},
	{"a model that is not for embeddings", job(withEnv(withCommand(custom, "python3", "ingest.py"), "CAR_MODEL=acme/t1000")), ""},

	// Azure OpenAI
	{"a switch", app("USE_AZURE_OPENAI=True", "AZURE_OPENAI_DEPLOYMENT_NAME=", "AZURE_OPENAI_ENDPOINT=", "OPENAI_API_KEY="), "agent | azure-openai inferred"},
	{"a switch and a key of OpenAI's name", app("USE_AZURE_OPENAI=true", "OPENAI_API_KEY=x"), "agent | azure-openai inferred"},
	{"a switch of a ConfigMap", appOf("web", fromConfigMap("USE_AZURE_OPENAI", "c", "k")), "agent | azure-openai inferred"},
	{"a switch that is off", app("USE_AZURE_OPENAI=False", "AZURE_OPENAI_ENDPOINT=https://x.openai.azure.com", "OPENAI_API_KEY=x"), "agent | openai inferred"},
	{"empty variables", app("AZURE_OPENAI_ENDPOINT=", "AZURE_OPENAI_DEPLOYMENT_NAME=", "OPENAI_API_KEY="), ""},
	{"LiteLLM's variables", app("AZURE_API_KEY=x", "AZURE_API_BASE=https://x.openai.azure.com/"), "agent | azure-openai"},
	{"another API at Azure", app("AZURE_API_KEY=x", "AZURE_API_BASE=https://api.example.com"), ""},
	{"a key for Azure alone", app("AZURE_API_KEY=x"), ""},
	{"an address in a Secret", appOf("web", fromSecret("AZURE_OPENAI_ENDPOINT", "s", "endpoint")), "agent | azure-openai inferred"},
	{"OpenAI's type", app("OPENAI_API_TYPE=azure", "OPENAI_API_KEY=x"), "agent | azure-openai inferred"},
	{".NET's variables", app("AzureOpenAI__Endpoint=https://x.openai.azure.com/", "AzureOpenAI__DeploymentName=gpt-4o"), "agent | azure-openai"},
	{".NET's key", app("OpenAI__ApiKey=x"), "agent | openai inferred"},
	{"a service for speech at Azure", app("SPEECH_ENDPOINT=https://x.cognitiveservices.azure.com"), ""},
	{"a probe of an API", app("PROBE_URL=https://api.openai.com/v1/models"), ""},
	{"an address in a variable of one's own", app("SUMMARIES_ENDPOINT=https://api.openai.com/v1"), "agent | openai"},
	{"a list of hosts", app("NO_PROXY=x.openai.azure.com,api.openai.com", "ALLOWED=https://api.openai.com"), ""},
	{"a store of Databricks", app("DATABRICKS_HOST=https://x.azuredatabricks.net"), ""},

	// A key for many of Google's services
	{"a shopping assistant", deployment(withEnv(withArgs("shoppingassistantservice"), "GOOGLE_API_KEY=x", "ALLOYDB_TABLE_NAME=t")), "agent | google-gemini inferred"},
	{"a parking assistant", deployment(withEnv(withArgs("city/parking-assistant"), "GOOGLE_API_KEY=x")), ""},
	{"a travel agent", deployment(withEnv(corev1.Container{Name: "travel-agent", Image: custom}, "GOOGLE_API_KEY=x")), ""},
	{"a travel agent's database", deployment(withEnv(corev1.Container{Name: "travel-agent", Image: custom}, "GOOGLE_API_KEY=x", "DATABASE_URL=postgres://db")), ""},
	{"a shop's AlloyDB", deployment(withEnv(withArgs("team/shop"), "GOOGLE_API_KEY=x", "ALLOYDB_TABLE_NAME=t")), ""},
	{"an agent of ADK", deployment(withEnv(corev1.Container{Name: "travel-adk", Image: custom}, "GOOGLE_API_KEY=x")), "agent | google-gemini inferred"},
	{"an agent of AI", deployment(withEnv(withArgs("team/travel-ai-agent"), "GOOGLE_API_KEY=x")), "agent | google-gemini inferred"},
	{"a chat bot", deployment(withEnv(withArgs("team/shopchatbot"), "GOOGLE_API_KEY=x")), "agent | google-gemini inferred"},
	{"a chat bot whose key is switched off", deployment(withEnv(withArgs("team/shopchatbot"), "GOOGLE_API_KEY=no")), ""},
	{"an agent that looks at maps", deployment(withEnv(corev1.Container{Name: "travel-ai", Image: custom}, "GOOGLE_API_KEY=x", "MAPS_REGION=eu")), ""},
	{"a home's assistant", deployment(withEnv(withArgs("ghcr.io/home-assistant/home-assistant:2026.1"), "GOOGLE_API_KEY=x")), ""},
	{"a shop's storage", deployment(withEnv(withArgs("registry.example.com/storage:1"), "GOOGLE_API_KEY=x")), ""},
	{"a switch of Google's library", app("GOOGLE_API_KEY=x", "GOOGLE_GENAI_USE_VERTEXAI=FALSE"), "agent | google-gemini inferred"},
	{"a switch to Vertex AI", deployment(withEnv(corev1.Container{Name: "adk-agent", Image: custom}, "GOOGLE_API_KEY=x", "GOOGLE_GENAI_USE_VERTEXAI=1")), "agent | google-vertex-ai inferred"},
	{"a search for LangChain", app("LANGSMITH_TRACING=true", "OPENAI_API_KEY=x", "GOOGLE_API_KEY=x", "GOOGLE_CSE_ID=x"), "agent | langchain | openai inferred"},
	{"a tool for maps", deployment(withEnv(withArgs("mcp/places:1"), "GOOGLE_API_KEY=x")), "agent | mcp"},

	// Keys that servers of one's own want too
	{"a key for one's own server", app("OPENAI_API_KEY=EMPTY", "LLM_BASE_URL=http://vllm:8000/v1", "LLM_MODEL=org/m"), "agent | org/m called"},
	{"a server of one's own and the provider", app("OPENAI_BASE_URL=http://vllm:8000/v1", "LLM_URL=https://api.openai.com/v1", "OPENAI_API_KEY=x"), "agent | openai"},
	{"a key beside another protocol", app("OPENAI_API_KEY=x", "OLLAMA_BASE_URL=http://ollama:11434"), "agent | openai inferred"},
	{"a key for one model of two", app("OPENAI_API_KEY=x", "LLM_BASE_URL=http://vllm:8000/v1", "EMBEDDING_MODEL=text-embedding-3-small"), "agent | text-embedding-3-small called | openai inferred"},
	{"NVIDIA's key and servers of one's own", app("NVIDIA_API_KEY=x", "APP_LLM_SERVERURL=nim-llm:8000", "APP_LLM_MODELNAME=meta/llama3", "APP_EMBEDDINGS_SERVERURL=embed:8000"), "agent | meta/llama3 called"},
	{"and one of NVIDIA's", app("NVIDIA_API_KEY=x", "APP_LLM_SERVERURL=nim-llm:8000", "APP_LLM_MODELNAME=meta/llama3", "APP_EMBEDDINGS_SERVERURL="), "agent | meta/llama3 called | nvidia-api-catalog inferred"},
	{"a company's own key", app("ACME_CO_API_KEY=x", "NOAHS_ARK_API_KEY=x"), ""},

	// What says by name who answers
	{"a provider's name", app("LLM_PROVIDER=bedrock"), "agent | amazon-bedrock inferred"},
	{"a protocol's name", app("LLM_PROVIDER=openai"), ""},
	{"a provider of something else", app("MAIL_PROVIDER=azure", "PROVIDER=bedrock"), ""},
	{"Claude Code on Bedrock", app("CLAUDE_CODE_USE_BEDROCK=1"), "agent | amazon-bedrock inferred"},
	{"LangSmith's own licence", app("LANGSMITH_LICENSE_KEY=x"), ""},
	{"an agent's SDK", app("OPENAI_AGENTS_DISABLE_TRACING=1"), "agent | openai-agents"},
}

func TestClients(t *testing.T) {
	for _, f := range clients {
		t.Run(f.name, func(t *testing.T) {
			NewWithT(t).Expect(describeReport(PodWorkload(f.in))).To(Equal(f.want))
		})
	}
}

func TestTargets(t *testing.T) {
	for address, want := range map[string]string{
		"http://vllm:8000/v1":             "http://vllm:8000/v1",
		"https://user:pw@llm/v1?code=x#y": "https://llm/v1",
		"token@ollama:11434":              "ollama:11434",
		"grpc://token@triton:8001":        "grpc://triton:8001",
		"http://llm/v1 further words":     "http://llm/v1",
		"http://llm/a@b/v1":               "http://llm/a@b/v1",
		"http://$(HOST)/v1":               "http://$(HOST)/v1",
		"https://u:1#2@llm/v1":            "https://u:1#2@llm/v1", // the redaction knows what this is
		"https://u:p/w@llm/v1":            "https://u:p/w@llm/v1",
		"not an address":                  "not an address",
		"":                                "",
	} {
		NewWithT(t).Expect(target(address)).To(Equal(want), address)
	}
}
