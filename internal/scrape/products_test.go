// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// recognition is one way in which a product shows.
type recognition struct {
	product  string
	category evidence.Category
	how      string
	in       Input
	version  string
}

const plain = "docker.io/library/python:3.12-slim"

func byImage(product string, category evidence.Category, reference, version string) recognition {
	return recognition{product, category, "image " + reference, deployment(withArgs(reference)), version}
}

func byCommand(product string, category evidence.Category, words ...string) recognition {
	return recognition{product, category, "command " + words[0], deployment(withCommand(plain, words...)), ""}
}

// byBaseImage is a base image beside a training script.
func byBaseImage(product, reference, version string, words ...string) recognition {
	return recognition{product, evidence.CategoryTraining, "image " + reference, job(withCommand(reference, words...)), version}
}

func byPackage(product string, category evidence.Category, requirement, version string) recognition {
	script := "pip install --no-cache-dir '" + requirement + "' && python app.py"
	return recognition{product, category, "package " + requirement, deployment(shell(plain, script)), version}
}

func byVariable(product string, category evidence.Category, name string) recognition {
	return recognition{product, category, "variable " + name, deployment(withEnv(withArgs("example.com/app:1"), name+"=x")), ""}
}

const (
	inference  = evidence.CategoryInference
	vectordb   = evidence.CategoryVectorDB
	agent      = evidence.CategoryAgent
	evaluation = evidence.CategoryEvaluation
)

var recognitions = []recognition{
	byImage("vllm", inference, "vllm/vllm-openai:v0.11.0", "0.11.0"),
	byImage("vllm", inference, "registry.example.com:5000/mirror/vllm/vllm-openai:v0.6.3.post1", "0.6.3.post1"),
	byImage("vllm", inference, "nvcr.io/nvidia/vllm:25.09-py3", ""),
	byCommand("vllm", inference, "vllm", "serve", "org/m"),
	{"vllm", inference, "a Job's batch", job(withCommand(vllmImage, "vllm", "run-batch", "--model", "org/m")), "0.11.0"},
	{"vllm", inference, "a Job's benchmark", job(withCommand(vllmImage, "vllm", "bench", "throughput", "--model", "org/m")), "0.11.0"},
	{"vllm", inference, "code", job(withGPU(withCommand(plain, "python", "-c", "from vllm import LLM; LLM('org/m')"), "1")), ""},
	{"vllm", inference, "code in a script", job(shell(plain, "python3 -c 'import os, vllm\nvllm.LLM(\"org/m\")'")), ""},
	{"langchain", agent, "code", deployment(withCommand(plain, "python", "-c", "from langchain_openai import ChatOpenAI")), ""},
	byCommand("vllm", inference, "/opt/venv/bin/vllm", "serve", "org/m"),
	byCommand("vllm", inference, "python3", "-m", "vllm.entrypoints.openai.api_server", "--model", "org/m"),
	{"vllm", inference, "arguments that name the program", deployment(withArgs(plain, "vllm", "serve", "org/m")), ""},
	{"vllm", inference, "a wrapper", deployment(withCommand(plain, "tini", "-g", "--", "env", "A=b", "vllm", "serve", "org/m")), ""},
	{"vllm", inference, "uv", deployment(withCommand(plain, "uv", "run", "--with", "vllm", "vllm", "serve", "org/m")), ""},
	byImage("tgi", inference, "ghcr.io/huggingface/text-generation-inference:3.3.6", "3.3.6"),
	byCommand("tgi", inference, "text-generation-launcher", "--model-id", "org/m"),
	byImage("tei", inference, "ghcr.io/huggingface/text-embeddings-inference:cpu-1.8", ""),
	byCommand("tei", inference, "text-embeddings-router", "--model-id", "org/m"),
	byImage("triton", inference, "nvcr.io/nvidia/tritonserver:25.03-py3", ""),
	{"triton", inference, "arguments that name the program", deployment(withArgs("example.com/serving:1", "tritonserver", "--model-repository=s3://b/m")), ""},
	byImage("ollama", inference, "ollama/ollama:0.12.6", "0.12.6"),
	byCommand("ollama", inference, "ollama", "serve"),
	byImage("ray-serve", inference, "anyscale/ray-llm:2.9.0", "2.9.0"),
	byCommand("ray-serve", inference, "serve", "run", "app:deployment"),
	byImage("llm-d", inference, "ghcr.io/llm-d/llm-d-cuda:v0.3.0", "0.3.0"),
	byImage("sglang", inference, "lmsysorg/sglang:v0.4.6.post1-cu124", "0.4.6.post1"),
	byCommand("sglang", inference, "python3", "-m", "sglang.launch_server", "--model-path", "org/m"),
	byImage("lmdeploy", inference, "openmmlab/lmdeploy:v0.9.2-cu12", "0.9.2"),
	byCommand("lmdeploy", inference, "lmdeploy", "serve", "api_server", "org/m"),
	byImage("nim", inference, "nvcr.io/nim/meta/llama-3.1-8b-instruct:1.8.4", "1.8.4"),
	byImage("nim", inference, "mirror.example.com/nvcr.io/nim/meta/llama-3.1-8b-instruct:1.3.3", "1.3.3"),
	{"nim", inference, "a mirror's image and the catalogue's key", deployment(withEnv(withArgs("artifactory.corp/nvcr-remote/nim/meta/llama-3.1-8b-instruct:1.3.3"), "NGC_API_KEY=x")), "1.3.3"},
	byVariable("nim", inference, "NIM_MODEL_PROFILE"),
	byImage("tensorrt-llm", inference, "nvcr.io/nvidia/tensorrt-llm/release:1.0.0", "1.0.0"),
	byCommand("tensorrt-llm", inference, "trtllm-serve", "org/m"),
	byImage("llama.cpp", inference, "ghcr.io/ggml-org/llama.cpp:server-cuda-b4719", ""),
	byCommand("llama.cpp", inference, "llama-server", "-m", "/m.gguf"),
	byImage("tf-serving", inference, "tensorflow/serving:2.19.0", "2.19.0"),
	byCommand("tf-serving", inference, "tensorflow_model_server", "--model_base_path=/m"),
	byImage("torchserve", inference, "pytorch/torchserve:0.12.0-gpu", "0.12.0"),
	byCommand("torchserve", inference, "torchserve", "--start", "--model-store", "/m"),
	byImage("localai", inference, "quay.io/go-skynet/local-ai:v2.26.0", "2.26.0"),
	byImage("localai", inference, "localai/localai:latest-cpu", ""),
	byImage("infinity", inference, "michaelf34/infinity:0.0.77", "0.0.77"),
	byCommand("infinity", inference, "infinity_emb", "v2", "--model-id", "org/m"),
	byImage("huggingfaceserver", inference, "kserve/huggingfaceserver:v0.15.0", "0.15.0"),
	byCommand("huggingfaceserver", inference, "python", "-m", "huggingfaceserver", "--model_id", "org/m"),
	byImage("vllm", inference, "nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.6.1", ""),
	byImage("sglang", inference, "nvcr.io/nvidia/ai-dynamo/sglang-runtime:0.6.1", ""),
	byImage("tensorrt-llm", inference, "nvcr.io/nvidia/ai-dynamo/tensorrtllm-runtime:0.6.1", ""),
	byCommand("vllm", inference, "python3", "-m", "dynamo.vllm", "--model", "org/m"),
	byCommand("sglang", inference, "python3", "-m", "dynamo.sglang", "--model", "org/m"),
	byCommand("tensorrt-llm", inference, "python3", "-m", "dynamo.trtllm", "--model", "org/m"),

	byImage("milvus", vectordb, "milvusdb/milvus:v2.6.2", "2.6.2"),
	{"milvus", vectordb, "arguments", deployment(withArgs("example.com/db:1", "milvus", "run", "standalone")), ""},
	byImage("qdrant", vectordb, "docker.io/qdrant/qdrant:v1.15.5", "1.15.5"),
	byImage("weaviate", vectordb, "cr.weaviate.io/semitechnologies/weaviate:1.33.0", "1.33.0"),
	byImage("chroma", vectordb, "ghcr.io/chroma-core/chroma:1.1.0", "1.1.0"),
	byCommand("chroma", vectordb, "chroma", "run", "--host", "0.0.0.0"),
	byImage("pgvector", vectordb, "pgvector/pgvector:pg17", ""),
	byImage("pgvector", vectordb, "pgvector/pgvector:0.8.1-pg17", "0.8.1"),

	byImage("langchain", agent, "langchain/langchain:0.1.0", "0.1.0"),
	byPackage("langchain", agent, "langchain[openai]==0.3.27", "0.3.27"),
	byPackage("langchain", agent, "langchain-google-genai==2.1.0", ""),
	byPackage("llamaindex", agent, "llama-index-llms-openai==0.5.0", ""),
	byVariable("langchain", agent, "LANGCHAIN_TRACING_V2"),
	byImage("langgraph", agent, "langchain/langgraph-api:3.11", ""),
	byPackage("langgraph", agent, "langgraph>=0.6", ""),
	byPackage("autogen", agent, "autogen_agentchat==0.7.4", "0.7.4"),
	byCommand("autogen", agent, "autogenstudio", "ui"),
	byPackage("crewai", agent, "crewai", ""),
	byCommand("crewai", agent, "crewai", "run"),
	byImage("langflow", agent, "langflowai/langflow:1.6.0", "1.6.0"),
	byCommand("langflow", agent, "langflow", "run"),
	byImage("flowise", agent, "flowiseai/flowise:3.0.5", "3.0.5"),
	byCommand("flowise", agent, "npx", "flowise", "start"),
	byCommand("chainlit", agent, "chainlit", "run", "app.py"),
	byPackage("chainlit", agent, "chainlit==2.8.0", "2.8.0"),
	byImage("dify", agent, "langgenius/dify-api:1.9.0", "1.9.0"),
	byImage("n8n", agent, "docker.n8n.io/n8nio/n8n:1.114.0", "1.114.0"),
	byCommand("n8n", agent, "npx", "n8n@1.114.0", "start"),
	byImage("open-webui", agent, "ghcr.io/open-webui/open-webui:v0.6.32", "0.6.32"),
	byCommand("open-webui", agent, "open-webui", "serve"),
	byPackage("haystack", agent, "haystack-ai==2.18.0", "2.18.0"),
	byImage("haystack", agent, "deepset/hayhooks:v1.3.0", "1.3.0"),
	byPackage("semantic-kernel", agent, "semantic_kernel==1.37.0", "1.37.0"),
	byPackage("llamaindex", agent, "llama-index==0.14.3", "0.14.3"),
	byCommand("llamaindex", agent, "python", "-m", "llama_deploy.apiserver"),

	byBaseImage("pytorch", "pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime", "2.8.0", "python", "train.py"),
	byBaseImage("pytorch", "nvcr.io/nvidia/pytorch:25.08-py3", "", "torchrun", "--nproc_per_node=8", "finetune.py"),
	byCommand("pytorch", evidence.CategoryTraining, "torchrun", "train.py"),
	byBaseImage("jax", "nvcr.io/nvidia/jax:25.04-py3", "", "python3", "/app/train.py"),
	byCommand("maxtext", evidence.CategoryTraining, "python3", "-m", "MaxText.train", "configs/base.yml"),
	{"ray-train", evidence.CategoryTraining, "image rayproject/ray", job(gpu(withCommand("rayproject/ray:2.49.2-gpu", "python", "train_loop.py"))), "2.49.2"},
	byCommand("accelerate", evidence.CategoryTraining, "accelerate", "launch", "sft.py"),
	byCommand("deepspeed", evidence.CategoryTraining, "deepspeed", "--num_gpus=8", "train.py"),
	byImage("axolotl", evidence.CategoryTraining, "axolotlai/axolotl:0.12.2", "0.12.2"),
	byCommand("axolotl", evidence.CategoryTraining, "accelerate", "launch", "-m", "axolotl.cli.train", "config.yml"),
	byImage("nemo", evidence.CategoryTraining, "nvcr.io/nvidia/nemo:25.07", ""),
	byBaseImage("tensorflow", "tensorflow/tensorflow:2.20.0-gpu", "2.20.0", "python", "train.py"),

	byBaseImage("nemo", "nvcr.io/nvidia/nemo:24.07", "", "python", "/opt/NeMo/examples/megatron_gpt_pretraining.py"),
	byBaseImage("nemo", "nvcr.io/nvidia/nemo:24.07", "", "python", "train.py"),
	byBaseImage("axolotl", "axolotlai/axolotl:0.12.2", "0.12.2", "python", "my_finetune.py"),
	byBaseImage("axolotl", "axolotlai/axolotl:0.12.2", "0.12.2", "bash", "run-training.sh"),
	byBaseImage("pytorch", "pytorch/pytorch:2.8.0", "2.8.0", "python", "-m", "team.llm.pretrain"),
	byBaseImage("pytorch", "us-docker.pkg.dev/deeplearning-platform-release/gcr.io/pytorch-xla.2-3.py310", "", "python3", "test_train_mp_imagenet.py"),
	byBaseImage("tensorflow", "us-docker.pkg.dev/deeplearning-platform-release/gcr.io/tf2-gpu.2-15.py310", "", "python3", "train.py"),
	byBaseImage("pytorch", "pytorch/pytorch:2.8.0", "2.8.0", "python", "Llama-SFT.py"),
	byImage("lm-evaluation-harness", evaluation, "eleutherai/lm-eval:0.4.9", "0.4.9"),
	byCommand("lm-evaluation-harness", evaluation, "lm_eval", "--model", "hf"),
	byPackage("lm-evaluation-harness", evaluation, "lm_eval[hf]==0.4.9.1", "0.4.9.1"),
	byPackage("ragas", evaluation, "ragas==0.3.5", "0.3.5"),
	byPackage("trulens", evaluation, "trulens==2.4.0", "2.4.0"),
	byPackage("deepeval", evaluation, "deepeval==3.6.0", "3.6.0"),
	byCommand("deepeval", evaluation, "deepeval", "test", "run", "test_rag.py"),
	byImage("promptfoo", evaluation, "ghcr.io/promptfoo/promptfoo:0.118.0", "0.118.0"),
	byCommand("promptfoo", evaluation, "npx", "promptfoo@latest", "eval"),
}

func TestEveryProductIsRecognised(t *testing.T) {
	for _, r := range recognitions {
		t.Run(r.product+" by "+r.how, func(t *testing.T) {
			g := NewWithT(t)
			report := PodWorkload(r.in)
			g.Expect(report.Category).To(Equal(r.category))
			found := of(report, evidence.TypeRuntime, evidence.TypeFramework)
			i := slices.IndexFunc(found, func(f evidence.Finding) bool { return f.Name == r.product })
			g.Expect(i).To(BeNumerically(">=", 0), "found only %v", lines(report, evidence.TypeRuntime, evidence.TypeFramework))
			g.Expect(found[i].Version).To(Equal(r.version))
			g.Expect(found[i].Confidence).To(Equal(evidence.Inferred))
			g.Expect(found[i].Evidence).NotTo(BeEmpty())
		})
	}
}

func TestEveryPromisedProductIsTested(t *testing.T) {
	tested := map[string]bool{}
	for _, r := range recognitions {
		tested[r.product] = true
	}
	// The list that the documentation promises.
	for _, name := range []string{
		"vllm", "tgi", "tei", "triton", "ollama", "ray-serve", "llm-d", "sglang", "lmdeploy", "nim",
		"tensorrt-llm", "llama.cpp", "tf-serving", "torchserve", "localai", "infinity", "huggingfaceserver",
		"milvus", "qdrant", "weaviate", "chroma", "pgvector",
		"langchain", "langgraph", "autogen", "crewai", "langflow", "flowise", "chainlit", "dify", "n8n",
		"open-webui", "haystack", "semantic-kernel", "llamaindex",
		"pytorch", "jax", "maxtext", "ray-train", "accelerate", "deepspeed", "axolotl", "nemo", "tensorflow",
		"lm-evaluation-harness", "ragas", "trulens", "deepeval", "promptfoo",
	} {
		if !tested[name] {
			t.Errorf("%s is not tested", name)
		}
	}
}

// The patterns are data, so their own consistency is a test's matter.
func TestPatternsAreConsistent(t *testing.T) {
	g := NewWithT(t)
	seen := map[string]bool{}
	for _, p := range patterns.Products {
		g.Expect(seen[p.Name]).To(BeFalse(), "%s stands there twice", p.Name)
		seen[p.Name] = true
		for _, pr := range p.Programs {
			g.Expect(pr.Exec == "" || pr.Module == "").To(BeTrue(), "%s: a program has a name or a module", p.Name)
			g.Expect(pr.Exec+pr.Module).NotTo(BeEmpty(), "%s: a program has a name or a module", p.Name)
			g.Expect(pr.Positional).To(BeElementOf("", "model", "dataset", "pairs", "source", "address"), p.Name)
			g.Expect(p.Category != "" || pr.Download).To(BeTrue(), "%s has no category", p.Name)
		}
		for _, i := range append(slices.Clone(p.Images), p.BaseImages...) {
			g.Expect(p.Category).NotTo(BeEmpty(), "%s has images and no category", p.Name)
			g.Expect(matchesImage(i, parseImage(example(i)))).To(BeTrue(), "%s does not match itself", i)
		}
	}
	for _, i := range patterns.VendorImages {
		g.Expect(matchesImage(i, parseImage(example(i)))).To(BeTrue(), "%s does not match itself", i)
	}
	for _, p := range patterns.ModelProviders {
		g.Expect(p.Service == "" || index.services[p.Service] != nil).To(BeTrue(), p.Prefix)
	}
	for _, s := range patterns.Services {
		g.Expect(slices.Concat(s.Hosts, s.SharedHosts)).NotTo(BeEmpty(), s.Name)
		g.Expect(s.InsteadOf == "" || index.services[s.InsteadOf] != nil).To(BeTrue(), s.Name)
	}
}

// example is an image that a pattern names.
func example(pattern string) string {
	reference := strings.ReplaceAll(pattern, "*", "x")
	if strings.Contains(strings.Split(pattern, "/")[0], ".") {
		return reference
	}
	return "registry.example.com/" + reference
}
