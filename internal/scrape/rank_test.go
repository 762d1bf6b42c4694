// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

func TestWhatAContainerIsThereFor(t *testing.T) {
	for name, test := range map[string]struct {
		in         Input
		runtime    string
		frameworks []string
	}{
		"a launcher by itself":            {job(withCommand(plain, "accelerate", "launch", "train.py")), "accelerate", nil},
		"a launcher of a product":         {job(withCommand(plain, "accelerate", "launch", "-m", "axolotl.cli.train", "/c.yml")), "axolotl", []string{"accelerate"}},
		"torchrun of a product":           {job(withCommand(plain, "torchrun", "-m", "verl.trainer.main_ppo")), "verl", []string{"pytorch"}},
		"deepspeed of a product":          {job(withCommand(plain, "deepspeed", "--module", "openrlhf.cli.train_sft", "--pretrain", "org/m")), "openrlhf", []string{"deepspeed"}},
		"a library of a product":          {job(withCommand(plain, "python3", "-c", "from unsloth import FastLanguageModel\nfrom trl import SFTTrainer")), "unsloth", []string{"trl"}},
		"a launcher in a product's image": {job(withCommand("axolotlai/axolotl:0.8.0", "accelerate", "launch", "train.py")), "axolotl", []string{"accelerate"}},
		"a server in a stack's image":     {deployment(shell("ghcr.io/llm-d/llm-d-cuda:v0.4.0", "exec vllm serve org/m")), "vllm", []string{"llm-d"}},
		"a stack's image by itself":       {deployment(withArgs("ghcr.io/llm-d/llm-d-cuda:v0.4.0", "--model", "org/m")), "llm-d", nil},
		"a server in another's image":     {deployment(withCommand("nvcr.io/nvidia/tritonserver:25.09-py3", "vllm", "serve", "org/m")), "vllm", []string{"triton"}},
		"a variable says less":            {deployment(withEnv(withArgs(vllmImage), "NIM_MODEL_PROFILE=p")), "vllm nim", nil},
		"a server in its own image":       {deployment(withCommand(vllmImage, "vllm", "serve", "org/m")), "vllm", nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			report := PodWorkload(test.in)
			var runtimes, frameworks []string
			for _, f := range of(report, evidence.TypeRuntime) {
				runtimes = append(runtimes, f.Name)
			}
			for _, f := range of(report, evidence.TypeFramework) {
				frameworks = append(frameworks, f.Name)
			}
			g.Expect(strings.Join(runtimes, " ")).To(Equal(test.runtime))
			g.Expect(frameworks).To(Equal(test.frameworks))
		})
	}
}

// What an administrator's rule says of an image stands.
func TestARuleSaysWhatAContainerIsThereFor(t *testing.T) {
	in := deployment(withCommand("nvcr.io/nvidia/tritonserver:25.09-py3", "vllm", "serve", "org/m"))
	in.Rules.RuntimeImages = []ImagePattern{{Pattern: "nvidia/tritonserver", Runtime: "triton"}}
	var runtimes []string
	for _, f := range of(PodWorkload(in), evidence.TypeRuntime) {
		runtimes = append(runtimes, f.Name)
	}
	NewWithT(t).Expect(runtimes).To(ConsistOf("triton", "vllm"))
}

func TestCodeThatUsesAModelOnADataset(t *testing.T) {
	code := func(script string) Input {
		return job(withGPU(withCommand(plain, "python3", "-c", "from datasets import load_dataset\nd = load_dataset('org/d')\n"+script), "1"))
	}
	for name, test := range map[string]struct {
		script string
		want   evidence.Category
	}{
		"it embeds":            {"SentenceTransformer('org/m').encode(d)", inference},
		"it generates":         {"m = AutoModel.from_pretrained('org/m')\nm.generate(d)", inference},
		"it trains":            {"m = AutoModel.from_pretrained('org/m')\nm.train()\nm.generate(d)", evidence.CategoryTraining},
		"it does what it does": {"m = AutoModel.from_pretrained('org/m')\nrun(m, d)", evidence.CategoryTraining},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(PodWorkload(code(test.script)).Category).To(Equal(test.want))
		})
	}
}

func TestWhatALauncherRuns(t *testing.T) {
	for name, test := range map[string]struct {
		words []string
		want  evidence.Category
	}{
		"a server":                  {[]string{"accelerate", "launch", "inference_api.py", "--pretrained_model_name_or_path", "org/m"}, inference},
		"a server of that name":     {[]string{"torchrun", "server.py", "--model", "org/m"}, inference},
		"a batch":                   {[]string{"torchrun", "--nproc_per_node", "8", "generate.py", "--model", "org/m"}, inference},
		"what says nothing":         {[]string{"torchrun", "main.py", "--model", "org/m"}, evidence.CategoryTraining},
		"a training that generates": {[]string{"torchrun", "train_and_generate.py", "--model", "org/m"}, evidence.CategoryTraining},
	} {
		t.Run(name, func(t *testing.T) {
			report := PodWorkload(job(withGPU(withCommand(plain, test.words...), "1")))
			NewWithT(t).Expect(report.Category).To(Equal(test.want))
		})
	}
}

// What measures a server from without runs no model, whatever it names and though it has a token.
func TestBenchmarks(t *testing.T) {
	token := func(c corev1.Container) corev1.Container {
		c.Env = append(c.Env, fromSecret("HF_TOKEN", "hf", "token"))
		return c
	}
	client := []string{"benchmark_serving.py", "--model", "org/m", "--dataset-name", "sharegpt"}
	for name, test := range map[string]struct {
		in   Input
		want evidence.Category
	}{
		"a script":               {job(token(withCommand(plain, append([]string{"python3"}, client...)...))), evidence.CategoryNone},
		"vLLM's command":         {job(token(withCommand(vllmImage, "vllm", "bench", "serve", "--model", "org/m", "--dataset-name", "random"))), evidence.CategoryNone},
		"an image":               {deployment(token(withEnv(withArgs("example.com/vllm-benchmark:1"), "MODEL_ID=org/m"))), evidence.CategoryNone},
		"beside an accelerator":  {job(withGPU(withCommand(plain, append([]string{"python3"}, client...)...), "1")), inference},
		"a training's benchmark": {job(token(withCommand(plain, "python3", "benchmark_train.py", "--model", "org/m"))), evidence.CategoryTraining},
		"one that trains":        {job(withGPU(withCommand(plain, "python", "tf_cnn_benchmarks.py", "--model=resnet50"), "1")), evidence.CategoryTraining},
		"another name":           {job(token(withCommand(plain, "python3", "main.py", "--model", "org/m", "--dataset-name", "org/d"))), evidence.CategoryTraining},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(PodWorkload(test.in).Category).To(Equal(test.want))
		})
	}
}
