// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

func TestModelsInHuggingFacesCache(t *testing.T) {
	snapshot := strings.Repeat("0a", 20)
	hub := "/root/.cache/huggingface/hub/"
	for name, test := range map[string]struct {
		container corev1.Container
		want      []string
	}{
		"a snapshot":         {withArgs(vllmImage, "--model", hub+"models--org--m/snapshots/"+snapshot), []string{"org/m@" + snapshot + " served huggingface inferred"}},
		"a file of one":      {withArgs("ghcr.io/ggml-org/llama.cpp:server", "-m", hub+"models--org--m-GGUF/snapshots/"+snapshot+"/q4.gguf"), []string{"org/m-GGUF@" + snapshot + " served huggingface inferred"}},
		"without a snapshot": {withArgs(vllmImage, "--model", "/cache/models--org--m/"), []string{"org/m served huggingface inferred"}},
		"nobody's":           {withArgs(vllmImage, "--model", "/cache/models--gpt2"), []string{"gpt2 served inferred"}},
		"by a variable":      {withEnv(shell(plain, "vllm serve $P --served-model-name m"), "P="+hub+"models--org--m/snapshots/"+snapshot), []string{"org/m@" + snapshot + " served huggingface inferred as=m"}},
		"whose snapshot is not known": {shell(plain, "vllm serve /hub/models--org--m/snapshots/$(ls /hub/models--org--m/snapshots)"),
			[]string{"org/m served huggingface inferred"}},
		"whose folder is not known": {shell(plain, "vllm serve $HF_HOME/hub/models--org--m"), []string{"org/m served huggingface inferred"}},
		"both ways": {withEnv(withArgs(vllmImage, "--model", "org/m"), "MODEL_PATH="+hub+"models--org--m"),
			[]string{"org/m served huggingface", "org/m served huggingface inferred"}},
		"whose name is not known": {shell(plain, "vllm serve /hub/models--org--$M"), []string{"/hub/models--org--$M served unresolved=M"}},
		"a name like it":          {withArgs(vllmImage, "--model", "/data/my-models--org--m"), []string{"/data/my-models--org--m served file"}},
		"three parts":             {withArgs(vllmImage, "--model", "/data/models--a--b--c"), []string{"/data/models--a--b--c served file"}},
		"a bucket":                {withArgs(vllmImage, "--model", "s3://b/models--org--m"), []string{"s3://b/models--org--m served object-store"}},
		"a dataset":               {withArgs(vllmImage, "--model", "/hub/datasets--org--d"), []string{"/hub/datasets--org--d served file"}},
	} {
		NewWithT(t).Expect(lines(PodWorkload(deployment(test.container)), evidence.TypeModel)).To(Equal(test.want), name)
	}
	g := NewWithT(t)
	train := withCommand("pytorch/pytorch:2.8.0", "torchrun", "train.py", "--dataset-path", "/hub/datasets--org--d/snapshots/main")
	g.Expect(lines(PodWorkload(job(train)), evidence.TypeData)).To(Equal([]string{"org/d dataset huggingface inferred"}))

	in := deployment(mounted(withArgs(vllmImage, "--model", "/hub/models--org--m"), "v", "/hub"))
	in.Template.Spec.Volumes = []corev1.Volume{pvc("v", "cache")}
	g.Expect(lines(PodWorkload(in), evidence.TypeData)).To(Equal([]string{"persistentVolumeClaim/cache model-store volume inferred"}))
}

func mounted(c corev1.Container, volume, path string) corev1.Container {
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: path})
	return c
}

func TestModelsThatAreDownloadedBefore(t *testing.T) {
	const hf, local = "org/m served huggingface inferred", "/models/m served file"
	fetch := func(words ...string) corev1.Container { return mounted(withCommand(plain, words...), "v", "/models") }
	script := func(text string) corev1.Container { return mounted(shell(plain, text), "v", "/models") }
	for name, test := range map[string]struct {
		init corev1.Container
		want string
	}{
		"huggingface-cli":         {fetch("huggingface-cli", "download", "org/m", "--local-dir", "/models/m"), hf},
		"hf":                      {fetch("hf", "download", "org/m", "--local-dir=/models/m/"), hf},
		"a file of a repository":  {fetch("hf", "download", "org/x", "m", "--local-dir", "/models"), "org/x served huggingface inferred"},
		"snapshot_download":       {fetch("python", "-c", "snapshot_download('org/m', local_dir='/models/m')"), hf},
		"git":                     {fetch("git", "clone", "https://huggingface.co/org/x", "/models/m"), "https://huggingface.co/org/x served huggingface inferred"},
		"git in a folder":         {script("cd /models && git clone https://huggingface.co/org/m.git"), "https://huggingface.co/org/m.git served huggingface inferred"},
		"gsutil":                  {fetch("gsutil", "-m", "cp", "-r", "gs://b/m", "/models"), "gs://b/m served object-store inferred"},
		"gcloud":                  {fetch("gcloud", "storage", "cp", "-r", "gs://b/x/*", "/models/m"), "gs://b/x/* served object-store inferred"},
		"aws":                     {fetch("aws", "s3", "sync", "s3://b/x", "/models/m"), "s3://b/x served object-store inferred"},
		"s5cmd":                   {fetch("s5cmd", "cp", "s3://b/x/*", "/models/m/"), "s3://b/x/* served object-store inferred"},
		"rclone":                  {fetch("rclone", "copy", "s3://b/x", "/models/m"), "s3://b/x served object-store inferred"},
		"the volume elsewhere":    {mounted(withCommand(plain, "hf", "download", "org/m", "--local-dir", "/data/m"), "v", "/data"), hf},
		"another folder":          {fetch("hf", "download", "org/m", "--local-dir", "/models/other"), local},
		"a folder below":          {fetch("hf", "download", "org/m", "--local-dir", "/models/m/tokenizer"), local},
		"another volume":          {mounted(withCommand(plain, "hf", "download", "org/m", "--local-dir", "/models/m"), "w", "/models"), local},
		"another name above":      {fetch("gsutil", "cp", "-r", "gs://b/other", "/models"), local},
		"somewhere":               {fetch("hf", "download", "org/m"), local},
		"two of them":             {script("hf download org/a --local-dir /models/m; hf download org/b --local-dir /models/m"), local},
		"one that is not known":   {script("hf download $X --local-dir /models/m"), local},
		"a folder of its own":     {script("cd $X && git clone https://huggingface.co/org/m"), local},
		"what copies to a bucket": {fetch("aws", "s3", "sync", "/models/m", "s3://b/x"), local},
	} {
		in := deployment(mounted(withArgs(vllmImage, "--model", "/models/m", "--tokenizer", "/models/m"), "v", "/models"))
		test.init.Name = "init"
		in.Template.Spec.InitContainers = []corev1.Container{test.init}
		models := lines(PodWorkload(in), evidence.TypeModel)
		NewWithT(t).Expect(models).To(Equal([]string{test.want, strings.Replace(test.want, "served", "tokenizer", 1)}), name)
	}
}

func TestAServedNameBesideADownload(t *testing.T) {
	server := mounted(withArgs("tensorflow/serving:2.19.0", "--model_name=flowers", "--model_base_path=/mnt/models"), "v", "/mnt/models")
	in := deployment(server)
	in.Template.Spec.InitContainers = []corev1.Container{
		mounted(withArgs("kserve/storage-initializer:v0.15.0", "gs://b/flowers", "/mnt/models"), "v", "/mnt/models"),
	}
	g := NewWithT(t)
	g.Expect(lines(PodWorkload(in), evidence.TypeModel)).To(Equal([]string{"gs://b/flowers served object-store inferred as=flowers"}))
	g.Expect(lines(PodWorkload(deployment(server)), evidence.TypeModel)).To(Equal([]string{"flowers served as=flowers"}), "without one the name is all that is known")
}
