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
		{"a client's address", app("MCP_SERVER_URL=http://tools:8000/mcp"), "agent | mcp"},
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
		{"an exporter of a server", on("team/vllm-monitor"), ""},
	})
}
