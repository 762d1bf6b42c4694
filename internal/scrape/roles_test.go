// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// What a container calls and what another one serves stand in the same pod.
func TestCalledModels(t *testing.T) {
	server := withArgs(vllmImage, "--model", "org/m")
	client := func(pairs ...string) Input {
		return deployment(server, withEnv(withArgs("example.com/app:1"), pairs...))
	}
	for name, test := range map[string]struct {
		in   Input
		want []string
	}{
		"a hosted model beside a server":   {client("OPENAI_API_KEY=x", "OPENAI_MODEL=gpt-4o"), []string{"org/m served huggingface", "gpt-4o called"}},
		"without its key":                  {client("ANTHROPIC_MODEL=claude-sonnet-4-0"), []string{"org/m served huggingface", "claude-sonnet-4-0 called"}},
		"of a general variable":            {client("OPENAI_API_KEY=x", "LLM_MODEL=gpt-4o"), []string{"org/m served huggingface", "gpt-4o called"}},
		"a deployment at Azure":            {client("AZURE_OPENAI_DEPLOYMENT=chat"), []string{"org/m served huggingface", "chat called"}},
		"the server's client":              {client("LLM_BASE_URL=http://localhost:8000/v1", "MODEL_ID=org/m"), []string{"org/m served huggingface", "org/m called"}},
		"a framework's container":          {deployment(server, withEnv(withArgs("langchain/langchain:0.1.0"), "MODEL=gpt-4o")), []string{"org/m served huggingface", "gpt-4o called"}},
		"a server with a hosted fallback":  {deployment(withEnv(server, "OPENAI_API_KEY=x", "GEMINI_MODEL=gemini-2.5-pro")), []string{"org/m served huggingface", "gemini-2.5-pro called"}},
		"an agent beside its own server":   {deployment(withEnv(withArgs("langchain/langchain:0.1.0"), "BEDROCK_MODEL_ID=amazon.nova-pro-v1:0"), server), []string{"amazon.nova-pro-v1:0 called", "org/m served huggingface"}},
		"a judge":                          {job(withEnv(withCommand(plain, "deepeval", "test", "run", "t.py"), "OPENAI_MODEL_NAME=gpt-4o")), []string{"gpt-4o called"}},
		"an evaluation of a hosted model":  {job(withCommand(plain, "lm_eval", "--model", "openai-chat-completions", "--model_args", "model=gpt-4o")), []string{"gpt-4o called"}},
		"and in the other order":           {job(withCommand(plain, "lm_eval", "--model_args=model=claude-3", "--model=anthropic-chat-completions")), []string{"claude-3 called"}},
		"a list of lighteval's":            {job(withCommand(plain, "lighteval", "accelerate", "model_name=org/m,dtype=float16", "leaderboard|arc|25|0")), []string{"org/m served huggingface"}},
		"an evaluation that loads a model": {job(withCommand(plain, "lm_eval", "--model", "hf", "--model_args", "pretrained=org/m")), []string{"org/m served huggingface"}},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(lines(PodWorkload(test.in), evidence.TypeModel)).To(Equal(test.want))
		})
	}
}

func TestListsOfAdapters(t *testing.T) {
	sglang := func(args ...string) Input {
		return deployment(withCommand(plain, append([]string{"python3", "-m", "sglang.launch_server", "--model-path", "org/m"}, args...)...))
	}
	tgi := func(list string, args ...string) Input {
		return deployment(withEnv(withArgs("ghcr.io/huggingface/text-generation-inference:3.3.6", append(args, "--model-id=org/m")...), "LORA_ADAPTERS="+list))
	}
	two := []string{"e/f adapter huggingface as=l0", "g/h adapter huggingface as=l1"}
	for name, test := range map[string]struct {
		in   Input
		want []string
	}{
		"SGLang":              {sglang("--lora-paths", "l0=e/f", "l1=g/h", "--port", "1"), two},
		"SGLang, joined":      {sglang("--lora-paths=l0=e/f", "l1=g/h"), two},
		"SGLang, JSON":        {sglang("--lora-paths", `{"lora_name": "l0", "lora_path": "e/f"}`, `{"lora_name": "l1", "lora_path": "g/h", "pinned": true}`), two},
		"SGLang, paths":       {sglang("--lora-paths", "e/f", "/lora/x"), []string{"e/f adapter huggingface", "/lora/x adapter file"}},
		"TGI":                 {tgi("x/y,z=w/v"), []string{"x/y adapter huggingface", "w/v adapter huggingface as=z"}},
		"TGI, revisions":      {tgi("x/y@main, z=w/v"), []string{"x/y@main adapter huggingface", "w/v adapter huggingface as=z"}},
		"TGI, an unknown one": {tgi("", "--lora-adapters=x/y,z=$(LORA)"), []string{"x/y adapter huggingface", "$(LORA) adapter unresolved=LORA as=z"}},
		"TGI's flag":          {tgi("", "--lora-adapters", "x/y,z=w/v"), []string{"x/y adapter huggingface", "w/v adapter huggingface as=z"}},
		"an empty item":       {tgi("x/y,,"), []string{"x/y adapter huggingface"}},
	} {
		t.Run(name, func(t *testing.T) {
			var adapters []string
			for _, f := range of(PodWorkload(test.in), evidence.TypeModel) {
				if f.Role == evidence.RoleAdapter {
					adapters = append(adapters, line(f))
				}
			}
			NewWithT(t).Expect(adapters).To(Equal(test.want))
		})
	}
}
