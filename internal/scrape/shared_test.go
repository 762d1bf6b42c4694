// SPDX-License-Identifier: Apache-2.0

package scrape

import "testing"

// TestSharedEvidence holds that what others have as well shows a product only where something else
// makes the product likely.
func TestSharedEvidence(t *testing.T) {
	testFamilies(t, []family{
		// Flags
		{"a beacon node's port", deployment(withArgs("consensys/teku:25.4", "--data-path=/data", "--rest-api-port=5051")), ""},
		{"TensorFlow Serving's port", deployment(withArgs(custom, "--rest_api_port=8501", "--model_name=resnet")), "inference | tf-serving | resnet served inferred"},
		{"an alert on GPUs", deployment(withArgs(custom, "--gpu-memory-utilization=0.95", "--gpu-idle-minutes=60")), ""},
		{"a cache of prefixes", deployment(withArgs(custom, "--bucket=media", "--enable-prefix-caching")), ""},
		{"vLLM's flags and a model", deployment(withArgs(custom, "--enable-prefix-caching", "--model=org/m")), "inference | vllm | org/m served huggingface"},
		{"vLLM's flag and a GPU", deployment(gpu(withArgs(custom, "--gpu-memory-utilization=0.9"))), "inference | vllm"},
		{"vLLM's flag and a token", deployment(withEnv(withArgs(custom, "--gpu-memory-utilization=0.9"), "HF_TOKEN=x")), "inference | vllm"},
		{"a flag of vLLM only", deployment(withArgs(custom, "--max-num-batched-tokens=8192")), "inference | vllm"},

		// Imports and packages
		{"Graphite's Whisper", deployment(withCommand(plain, "python", "-c", "import whisper\nwhisper.info('/a.wsp')")), ""},
		{"OpenAI's Whisper", deployment(withCommand(plain, "python", "-c", "import whisper\nwhisper.load_model('base')")), "inference | whisper | base served inferred"},
		{"Django's Haystack", deployment(shell(plain, "pip install django django-haystack==3.3.0 drf-haystack celery-haystack-ng && gunicorn w")), ""},
		{"deepset's Haystack", deployment(shell(plain, "pip install qdrant-haystack && python app.py")), "agent | haystack"},

		// Images
		{"a company's platform", deployment(withArgs("harbor.example.com/mcp/billing-api:2.31")), ""},
		{"Docker's MCP servers", deployment(withArgs("mcp/fetch")), "agent | mcp"},
		{"their full name", deployment(withArgs("docker.io/mcp/fetch:1.2.0")), "agent | mcp@1.2.0"},
		{"in a mirror", deployment(withArgs("mirror.example.com/docker.io/mcp/fetch")), "agent | mcp"},
		{"a game's mods", job(withEnv(withArgs("example.com/mc/forge-mcp:1.12"), "MCP_MAPPINGS=stable_39")), ""},
		{"a server of tools", deployment(withArgs("example.com/team/notes-mcp:1.2.0", "--transport", "sse")), "agent | mcp@1.2.0"},
		{"one by its argument", deployment(withArgs("example.com/team/notes-mcp", "stdio")), "agent | mcp"},
		{"one by its variable", deployment(withEnv(withArgs("example.com/team/notes-mcp"), "MCP_SERVER_PORT=8080")), "agent | mcp"},
		{"a railway's rosters on Ray", job(withCommand("rayproject/ray:2.44.1-py311", "python", "train_rostering.py", "--solver", "cbc")), ""},
		{"a training on Ray", job(gpu(withCommand("rayproject/ray:2.44.1-gpu", "python", "train_loop.py"))), "training | ray-train@2.44.1"},
		{"an image of Ray for it", job(withCommand("rayproject/ray-ml:2.44.1", "python", "train_loop.py")), "training | ray-train@2.44.1"},

		// Variables
		{"the mesh's configuration protocol", app("MCP_SERVER_PORT=18848", "MCP_SERVER_KEEPALIVE=30s"), ""},
		{"the machines' configuration pools", deployment(withEnv(withArgs("example.com/ops/mcp-dashboard"), "MCP_SERVER_NAMESPACE=x")), ""},
		{"an address of any such thing", app("MCP_SERVER_URL=tcp://can-bus:7000"), ""},
		{"an address in a client's image", deployment(withEnv(withArgs("example.com/team/notes-mcp"), "MCP_SERVER_URL=http://tools:8000/mcp")), "agent | mcp"},
		{"the SDK's way to talk", app("MCP_TRANSPORT=sse"), "agent | mcp"},

		// Programs
		{"a blockchain's server", deployment(withCommand(custom, "/usr/bin/rpc-server", "--listen=0.0.0.0:8545", "--ws")), ""},
		{"llama.cpp's worker on a GPU", deployment(gpu(withCommand(custom, "rpc-server", "-H", "0.0.0.0", "-p", "50052"))), "inference | llama.cpp"},
		{"llama.cpp's worker in its image", deployment(withCommand("team/llama-cpp-rpc", "rpc-server", "-p", "50052")), "inference | llama.cpp"},
		{"advertisements", deployment(withCommand(plain, "python3", "-m", "adserver", "--bind", "0.0.0.0:5000")), ""},
		{"alibi's detector", deployment(withCommand(plain, "python3", "-m", "adserver", "--model_name=drift", "--http_port=8080")), "inference | alibi-detect | drift served inferred"},
		{"a folder of pages", deployment(withCommand("node:22", "npx", "serve", "deploy", "-l", "tcp://0.0.0.0:3000")), ""},
		{"Ray's settings", deployment(withCommand(custom, "serve", "deploy", "conf/serve.yaml")), "inference | ray-serve"},
		{"Ray's application", deployment(withCommand(custom, "serve", "run", "app.main:deployment")), "inference | ray-serve"},
		{"Ray's reference", deployment(withCommand(custom, "serve", "run", "$(APP)")), "inference | ray-serve"},
		{"a messenger", deployment(withCommand(custom, "axolotl", "-e", "server", "-host", "0.0.0.0")), ""},
		{"a training with axolotl", job(withCommand(custom, "axolotl", "train", "/c.yaml")), "training | axolotl"},
		{"releases of charts", job(withCommand(custom, "helm-run", "upgrade", "--install", "shop", "charts/shop")), ""},
		{"HELM's evaluation", job(withCommand(custom, "helm-run", "--suite=v1", "--run-entries", "mmlu:subject=x")), "evaluation | helm-eval"},
		{"cars on trains", deployment(withCommand(custom, "autotrain", "serve-bookings", "--port=8080")), ""},
		{"AutoTrain", job(withCommand(custom, "autotrain", "llm", "--train")), "training | autotrain"},
		{"AutoTrain beside a token", job(withEnv(withCommand(custom, "autotrain", "--config", "/c.yml"), "HF_TOKEN=x")), "training | autotrain"},

		// Words in names
		{"an airport", called(job(withArgs(custom, "--train-data=/gtfs/jax/trips.txt")), "jax-import", "import"), ""},
		{"Terraform", called(job(withArgs(custom, "--train-data=/rail")), "tf-apply", "c"), ""},
		{"JAX beside a token", called(job(withEnv(withArgs(custom, "--train-data=/d"), "HF_TOKEN=x")), "jax-job", "c"), "training | jax | /d dataset file"},
		{"a framework of one meaning", called(job(withArgs(custom, "--train-data=/d")), "xgboost-job", "c"), "training | xgboost | /d dataset file"},
	})
}

// TestNamesOfOtherMeanings holds that a word such as triton means the server only with another sign.
func TestNamesOfOtherMeanings(t *testing.T) {
	on := func(image string, args ...string) Input { return deployment(gpu(withArgs(image, args...))) }
	testFamilies(t, []family{
		{"a moon's sea floor", on("survey/triton-bathymetry:2"), ""},
		{"the wind", called(on("meteo/upper-air:5"), "jetstream-aviation-wind", "solver"), ""},
		{"a conference", on("conf/fastchat-video-mixer:1"), ""},
		{"a queue's bridge", on("nats/jetstream-bridge:1"), ""},
		{"the word alone", on("team/triton"), "inference | triton"},
		{"with what it is built for", on("team/triton-gpu"), "inference | triton"},
		{"with a word for a server", on("team/triton-inference-server"), "inference | triton"},
		{"with a family of models", on("team/jetstream-gemma"), "inference | jetstream"},
		{"with a model", on("team/fastchat-worker", "--model-path=org/m"), "inference | fastchat | org/m served huggingface"},
		{"a name of one meaning", on("team/my-tritonserver"), "inference | triton"},
		{"what watches a server", on("team/vllm-monitor"), ""},
		{"an exporter of one", on("team/vllm-exporter"), ""},
		{"a router that fetches tokenizers", deployment(withEnv(withArgs("team/vllm-router"), "HF_TOKEN=x")), ""},
		{"a server for videos", on("team/video-vllm-transcoder"), ""},
		{"a build of a server for its developers", on("team/vllm-dev"), "inference | vllm"},
		{"a framework's client", deployment(withArgs("team/langchain-client")), "agent | langchain"},
	})
}

// TestKeysOfOthers holds that a key shows nothing where what stands beside it says that it opens something
// else of the same name, or where the name alone says too little.
func TestKeysOfOthers(t *testing.T) {
	gemini, mistral := "agent | google-gemini inferred", "agent | mistral inferred"
	testFamilies(t, []family{
		// A secret beside the key
		{"an exchange", app("GEMINI_API_KEY=x", "GEMINI_API_SECRET=x"), ""},
		{"an exchange in .NET", app("Gemini__ApiKey=x", "Gemini__ApiSecret=x"), ""},
		{"Gemini", app("GEMINI_API_KEY=x"), gemini},
		{"Gemini in .NET", app("Gemini__ApiKey=x"), gemini},
		{"a secret of another name", app("GEMINI_API_KEY=x", "KRAKEN_API_SECRET=x"), gemini},
		{"a key of one's own prefix", app("SHOP_GEMINI_API_KEY=x", "GEMINI_API_SECRET=x"), gemini},

		// An address elsewhere
		{"an exchange's stream", app("GEMINI_API_KEY=x", "GEMINI_WS_URL=wss://api.gemini.com/v1"), ""},
		{"an exchange's address of any name", app("GEMINI_API_KEY=x", "EXCHANGE=https://api.gemini.com"), ""},
		{"an exchange in .NET by its address", app("Gemini__ApiKey=x", "Gemini__BaseUrl=https://exchange.example.com/v1"), ""},
		{"the wind", app("MISTRAL_API_KEY=x", "MISTRAL_URL=http://mistral-stations:8080/v1/wind"), ""},
		{"cruises", app("VOYAGE_API_KEY=x", "VOYAGE_API_URL=https://partners.voyage.example/v2"), ""},
		{"rockets", app("FIREWORKS_API_KEY=x", "FIREWORKS_HOST=catalog.example.com"), ""},
		{"rides", app("TOGETHER_API_KEY=x", "TOGETHER_API_URL=https://api.together-rides.example"), ""},
		{"replicas", app("REPLICATE_API_TOKEN=x", "REPLICATE_URL=https://db.example.com"), ""},
		{"Mistral's address", app("MISTRAL_API_KEY=x", "MISTRAL_API_URL=https://api.mistral.ai/v1"), "agent | mistral"},
		{"another host of Mistral's", app("MISTRAL_API_KEY=x", "MISTRAL_AUTH_URL=https://auth.mistral.ai"), mistral},
		{"another model API", app("MISTRAL_API_KEY=x", "MISTRAL_URL=https://openrouter.ai/api/v1"), "agent | openrouter | mistral inferred"},
		{"an address of another name", app("MISTRAL_API_KEY=x", "WIND_URL=http://stations:8080"), mistral},
		{"an address to listen at", app("MISTRAL_API_KEY=x", "MISTRAL_HOST=0.0.0.0"), mistral},
		{"an address that is not there", appOf("c", fromSecret("MISTRAL_API_KEY", "s", "k"), fromSecret("MISTRAL_URL", "s", "u")), mistral},
		{"an address still to fill", app("MISTRAL_API_KEY=x", "MISTRAL_URL=<url>"), mistral},
		{"a page about it", app("GEMINI_API_KEY=x", "HELP=https://www.gemini.com/docs"), gemini},

		// A name that says too little
		{"a game's region", app("BEDROCK_REGION=eu-west", "BEDROCK_VERSION=1.21"), ""},
		{"Amazon's region and a model", app("BEDROCK_REGION=us-east-1", "MODEL_ID=anthropic.claude-3-haiku-20240307-v1:0"), "agent | anthropic.claude-3-haiku-20240307-v1:0 called | amazon-bedrock inferred"},
		{"taxes", app("VERTEX_PROJECT=emea", "VERTEX_HOST=https://calc.example.com"), ""},
		{"Google's project and place", app("VERTEX_PROJECT=p", "VERTEX_LOCATION=us-central1"), "agent | google-vertex-ai inferred"},
		{"carbon monoxide", app("CO_API_KEY=x", "CO_THRESHOLD_PPM=35"), ""},
		{"Cohere beside another API", app("CO_API_KEY=x", "OPENAI_API_KEY=x"), "agent | cohere inferred | openai inferred"},
		{"carbon monoxide beside an exchange", app("CO_API_KEY=x", "GEMINI_API_KEY=x", "GEMINI_API_SECRET=x"), ""},
		{"Cohere's model", app("CO_API_KEY=x", "RERANK_MODEL=rerank-v3.5"), "agent | rerank-v3.5 called | cohere inferred"},
		{"payments", app("ZAI_API_KEY=x", "ZAI_BASE_URL=https://secure.pay.example"), ""},
		{"payments alone", app("ZAI_API_KEY=x"), ""},
		{"a chat bot on z.ai", deployment(withEnv(withArgs("team/shop-chatbot"), "ZAI_API_KEY=x")), "agent | zhipu inferred"},
		{"z.ai by its address", app("ZAI_API_KEY=x", "ZAI_BASE_URL=https://api.z.ai/api/paas/v4"), "agent | zhipu"},
		{"a game's servers", app("ARK_API_KEY=x", "SERVER_MAP=TheIsland"), ""},
		{"maps at Azure", app("AZURE_APIKEY=x", "AZURE_MAPS_URL=https://atlas.microsoft.com"), ""},
		{"a gateway at Azure in .NET", app("Azure__ApiKey=x", "Azure__ApimUrl=https://a.azure-api.net"), ""},
		{"Azure OpenAI", app("AZURE_APIKEY=x", "AZURE_OPENAI_API_VERSION=2024-06-01"), "agent | azure-openai inferred"},

		// Words that say no
		{"no", app("GEMINI_API_KEY=no"), ""},
		{"off", app("GEMINI_API_KEY=OFF"), ""},
		{"a switch", app("CLAUDE_CODE_USE_BEDROCK=disabled"), ""},
		{"a value that begins so", app("GEMINI_API_KEY=nova"), gemini},
	})
}
