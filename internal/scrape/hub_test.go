// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// A package URL at Hugging Face is a claim: it must be looked up there.
func TestWhatIsLookedUpAtHuggingFace(t *testing.T) {
	serve := func(model string, pairs ...string) corev1.Container {
		return withEnv(withCommand(plain, "vllm", "serve", model), pairs...)
	}
	in := func(folder string, c corev1.Container) corev1.Container {
		c.WorkingDir = folder
		return c
	}
	for name, test := range map[string]struct {
		container corev1.Container
		want      string
	}{
		"by default":                 {serve("org/m"), "org/m served huggingface"},
		"the hub's own address":      {serve("org/m", "HF_ENDPOINT=https://huggingface.co"), "org/m served huggingface"},
		"with a slash":               {serve("org/m", "HF_ENDPOINT=https://huggingface.co/"), "org/m served huggingface"},
		"no address":                 {serve("org/m", "HF_ENDPOINT="), "org/m served huggingface"},
		"another hub":                {serve("org/m", "HF_ENDPOINT=https://hub.corp.example"), "org/m served"},
		"a look-alike":               {serve("org/m", "HF_ENDPOINT=https://huggingface.co.evil.example"), "org/m served"},
		"an unknown hub":             {corev1.Container{Image: vllmImage, Args: []string{"--model=org/m"}, Env: []corev1.EnvVar{fromConfigMap("HF_ENDPOINT", "c", "k")}}, "org/m served"},
		"another hub in a script":    {shell(plain, "export HF_ENDPOINT=https://hub.corp.example; vllm serve org/m"), "org/m served"},
		"its full address elsewhere": {serve("hf://org/m", "HF_ENDPOINT=https://hub.corp.example"), "hf://org/m served huggingface"},
		"SGLang and ModelScope":      {withEnv(withCommand(plain, "sglang", "serve", "org/m"), "SGLANG_USE_MODELSCOPE=1"), "org/m served"},
		"LMDeploy and ModelScope":    {withEnv(withCommand(plain, "lmdeploy", "serve", "api_server", "org/m"), "LMDEPLOY_USE_MODELSCOPE=True"), "org/m served"},
		"ModelScope switched off":    {serve("org/m", "VLLM_USE_MODELSCOPE=False"), "org/m served huggingface"},
		"a folder of models":         {serve("models/llama"), "models/llama served file"},
		"a checkpoint":               {serve("checkpoints/step-1000"), "checkpoints/step-1000 served file"},
		"outputs":                    {serve("outputs/run1"), "outputs/run1 served file"},
		"cd to models":               {shell(plain, "cd /models && vllm serve llama/7b"), "llama/7b served"},
		"cd below models":            {shell(plain, "cd /mnt/models/team; vllm serve llama/7b"), "llama/7b served"},
		"cd to a relative folder":    {in("/srv", shell(plain, "cd weights && vllm serve llama/7b")), "llama/7b served"},
		"cd elsewhere":               {shell(plain, "cd /app && vllm serve org/m"), "org/m served huggingface"},
		"working in models":          {in("/models", serve("llama/7b")), "llama/7b served"},
		"working elsewhere":          {in("/vllm-workspace", serve("org/m")), "org/m served huggingface"},
		"hf:// from models":          {in("/models", serve("hf://org/m")), "hf://org/m served huggingface"},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(lines(PodWorkload(deployment(test.container)), evidence.TypeModel)).To(Equal([]string{test.want}))
		})
	}
}
