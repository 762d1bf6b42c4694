// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestModulesRunAsScripts(t *testing.T) {
	testFamilies(t, []family{
		{"MaxText's training", job(gpu(shell(custom, "python3 MaxText/train.py MaxText/configs/base.yml model_name=gemma-2b dataset_path=gs://b/c4 steps=10"))), "training | maxtext | gemma-2b served | gs://b/c4 dataset object-store"},
		{"where a bucket is not known", job(shell(custom, "python3 -u /app/MaxText/train.py base.yml model_name=gemma-2b dataset_path=gs://${BUCKET}/c4")), "training | maxtext | gemma-2b served | gs://${BUCKET}/c4 dataset unresolved=BUCKET"},
		{"MaxText's module", job(shell(custom, "python3 -m MaxText.train base.yml model_name=gemma-2b hf_path=org/d")), "training | maxtext | gemma-2b served | org/d dataset"},
		{"MaxText's decoding", job(shell(custom, "python3 MaxText/decode.py base.yml model_name=gemma-2b")), "inference | maxtext | gemma-2b served"},
		{"vLLM's server", deployment(withCommand(custom, "python3", "/opt/vllm/entrypoints/openai/api_server.py", "--model", "org/m")), "inference | vllm | org/m served huggingface"},
		{"a folder that only ends so", job(shell(custom, "python3 MyMaxText/train.py base.yml model_name=gemma-2b")), ""},
		{"another script", job(shell(custom, "python3 MaxText/convert.py model_name=gemma-2b")), ""},
		{"a folder of a short name", deployment(withCommand(custom, "python3", "jetstream/main.py", "model_name=x")), ""},
		{"the folder among arguments", deployment(withCommand(custom, "python3", "main.py", "MaxText/train.py")), ""},
		{"what is only shown", deployment(withCommand(custom, "cat", "MaxText/train.py")), ""},
	})
}

func testFamilies(t *testing.T, all []family) {
	t.Helper()
	for _, f := range all {
		t.Run(f.name, func(t *testing.T) {
			NewWithT(t).Expect(describeReport(PodWorkload(f.in))).To(Equal(f.want))
		})
	}
}
