// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

func TestFrameworksOfTrainings(t *testing.T) {
	named := func(in Input, name string) Input {
		in.Workload.Name = name
		return in
	}
	boost := func(words ...string) Input {
		return named(job(withCommand(custom, append([]string{"python", "housing.py"}, words...)...)), "xgboost-housing")
	}
	testFamilies(t, []family{
		// The name of an image that runs by itself
		{"TensorFlow on MNIST", job(gpu(withArgs("mcr.example.com/samples-tf-mnist-demo:gpu", "--max_steps", "500"))), "training | tensorflow | mnist dataset inferred"},
		{"without arguments", job(gpu(withArgs("team/pytorch-mnist"))), "training | pytorch | mnist dataset inferred"},
		{"with epochs", job(gpu(withArgs("team/jax-job", "--epochs=3"))), "training | jax"},
		{"without an accelerator", job(withArgs("team/samples-tf-mnist-demo", "--max_steps", "500")), ""},
		{"not in a Job", deployment(gpu(withArgs("team/samples-tf-mnist-demo", "--max_steps", "500"))), ""},
		{"neither dataset nor flag", job(gpu(withArgs("team/pytorch-gpu-check"))), ""},
		{"one that infers", job(gpu(withArgs("team/pytorch-mnist-inference", "--max_steps", "5"))), ""},
		{"a benchmark", job(gpu(withArgs("team/tf-benchmark", "--epochs", "5"))), ""},
		{"another program in it", job(gpu(withCommand("team/samples-tf-mnist-demo", "nvidia-smi"))), ""},
		{"a part of a word", job(gpu(withArgs("team/tfoo-mnist", "--max_steps", "5"))), ""},
		// A script that trains
		{"a script of Flax", job(gpu(withCommand(custom, "python3", "train_text_to_image_flax.py"))), "training | jax"},
		{"JAX by a variable", job(gpu(withEnv(withCommand(custom, "python3", "train.py"), "JAX_PLATFORMS=tpu"))), "training | jax"},
		{"JAX by a script's variable", job(gpu(shell(custom, "export JAX_PLATFORM_NAME=tpu\npython3 train.py"))), "training | jax"},
		{"the variable alone", job(gpu(withEnv(withCommand(custom, "python3", "main.py"), "JAX_PLATFORMS=tpu"))), ""},
		{"the variable of a server", deployment(gpu(withEnv(withArgs("vllm/vllm-tpu:v0.11.0", "--model", "org/m"), "JAX_PLATFORMS="))), "inference | vllm@0.11.0 | org/m served huggingface"},
		{"without a framework", job(gpu(withCommand(custom, "python3", "train.py"))), "training"},
		// Data to train with
		{"XGBoost by the Job's name", boost("--train-input", "/mnt/x/train.csv", "--model-file", "/mnt/x/m.dat"), "training | xgboost | /mnt/x/m.dat output file | /mnt/x/train.csv dataset file"},
		{"without such data", boost("--input", "/mnt/x/train.csv", "--model-file", "/mnt/x/m.dat"), ""},
		{"without a framework's name", job(withCommand(custom, "python", "housing.py", "--train-input", "/mnt/x/train.csv")), ""},
		{"not in a Job either", named(deployment(withCommand(custom, "python", "app.py", "--train-input", "/x.csv")), "xgboost-app"), ""},
		// Variables that hold datasets
		{"a dataset of a use", job(gpu(withEnv(withCommand(custom, "python3", "train.py"), "TRAINING_DATASET_PATH=dataset/output/training"))), "training | dataset/output/training dataset file"},
		{"its bucket", job(gpu(withEnv(withCommand(custom, "python3", "train.py"), "TRAINING_DATASET_BUCKET=bucket", "BIGQUERY_DATASET=d"))), "training"},
	})
}

func TestVolumesOfDatasets(t *testing.T) {
	train := func(path string) Input {
		in := job(gpu(mounted(withEnv(withCommand(custom, "python3", "train.py"), "DATASET_PATH="+path), "v", "/datasets")))
		in.Template.Spec.Volumes = []corev1.Volume{pvc("v", "claim")}
		return in
	}
	g := NewWithT(t)
	report := PodWorkload(train("/datasets/d"))
	g.Expect(lines(report, evidence.TypeData)).To(Equal([]string{"/datasets/d dataset file"}), "the volume is where the dataset lies, and none by itself")
	data := of(report, evidence.TypeData)[0]
	g.Expect(property(data, evidence.PropVolumeSource)).To(Equal("persistentVolumeClaim/claim"))
	g.Expect(property(data, evidence.PropVolumePath)).To(Equal("/datasets"))
	g.Expect(data.Evidence).To(HaveLen(2))

	g.Expect(lines(PodWorkload(train("/elsewhere/d")), evidence.TypeData)).To(Equal([]string{
		"/elsewhere/d dataset file", "persistentVolumeClaim/claim dataset volume inferred",
	}))
}
