// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

func TestInitContainersThatDownload(t *testing.T) {
	const hub = "org/m download huggingface"
	for name, test := range map[string]struct {
		container corev1.Container
		want      []string
	}{
		"merely a variable":        {withEnv(shell("busybox:1.37", "sleep 1"), "MODEL_ID=org/m"), nil},
		"a variable and no words":  {withEnv(withArgs("busybox:1.37"), "MODEL_ID=org/m"), nil},
		"a check":                  {withCommand("example.com/tools:1", "check-config", "--model", "org/m"), nil},
		"a check of an entrypoint": {withArgs("example.com/tools:1", "--model", "org/m"), nil},
		"a launcher":               {withCommand(plain, "vllm", "serve", "org/m"), nil},
		"python that prints":       {withCommand(plain, "python", "-c", "print('org/m')"), nil},
		"echo of a download":       {withCommand("busybox:1.37", "echo", "snapshot_download('org/m')"), nil},
		"aws' entrypoint":          {withArgs("amazon/aws-cli:2.0.0", "s3", "sync", "s3://bucket/m", "/models/m"), []string{"s3://bucket/m download object-store inferred"}},
		"aws with a region":        {withArgs("public.ecr.aws/aws-cli/aws-cli:2.0.0", "--region", "x", "s3", "cp", "s3://b/m", "/m"), []string{"s3://b/m download object-store inferred"}},
		"aws that uploads":         {withArgs("amazon/aws-cli:2.0.0", "s3", "sync", "/models/m", "s3://bucket/m"), nil},
		"KServe":                   {withArgs("kserve/storage-initializer:v0.15.0", "hf://org/m", "/mnt/models"), []string{"hf://org/m download huggingface inferred"}},
		"rclone":                   {withCommand(plain, "rclone", "copy", "s3://b/m", "/m"), []string{"s3://b/m download object-store inferred"}},
		"git with a credential":    {withCommand("alpine/git:2", "git", "clone", "https://user:hunter2@huggingface.co/org/m"), []string{"https://user:hunter2@huggingface.co/org/m download huggingface inferred"}},
		"git's entrypoint":         {withArgs("alpine/git:2", "clone", "https://huggingface.co/org/m"), []string{"https://huggingface.co/org/m download huggingface inferred"}},
		"snapshot_download":        {withCommand(plain, "python", "-c", "from huggingface_hub import snapshot_download; snapshot_download('org/m')"), []string{hub + " inferred"}},
		"repo_id":                  {withCommand(plain, "python3", "-c", `hf_hub_download(repo_id = "org/m", filename="x")`), []string{hub + " inferred"}},
		"from_pretrained":          {shell(plain, `python3 -c 'AutoModel.from_pretrained("org/m")'`), []string{hub + " inferred"}},
		"a script of its name":     {withCommand(plain, "python", "/app/download_model.py", "--model", "org/m"), []string{"org/m download inferred"}},
		"an image of its name":     {withEnv(withArgs("example.com/model-fetcher:1"), "MODEL_ID=org/m"), []string{"org/m download inferred"}},
		"a variable that is used":  {withEnv(shell(plain, "hf download $MODEL_ID"), "MODEL_ID=org/m"), []string{hub}},
		"a condition":              {shell(plain, "[ -d /m ] || hf download org/m"), []string{hub + " inferred"}},
	} {
		in := deployment(withArgs(vllmImage, "--model", "/elsewhere/m"))
		test.container.Name = "init"
		in.Template.Spec.InitContainers = []corev1.Container{test.container}
		report := PodWorkload(in)
		NewWithT(t).Expect(lines(report, evidence.TypeData)).To(Equal(test.want), name)
		NewWithT(t).Expect(lines(report, evidence.TypeModel)).To(Equal([]string{"/elsewhere/m served file"}), name)
	}
}

func hook(c corev1.Container, command ...string) corev1.Container {
	c.Lifecycle = &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: command}}}
	return c
}

func TestHooks(t *testing.T) {
	g := NewWithT(t)
	server := withArgs("ollama/ollama:0.12.6")
	report := PodWorkload(deployment(hook(server, "/bin/sh", "-c", "sleep 5; ollama pull llama3.2")))
	g.Expect(lines(report, evidence.TypeModel)).To(Equal([]string{"llama3.2 served ollama"}))
	g.Expect(of(report, evidence.TypeModel)[0].Evidence[0]).To(Equal(evidence.Evidence{
		Source: evidence.SourceCommand, Locator: "spec.template.spec.containers[0].lifecycle.postStart.exec.command[2]",
	}))
	g.Expect(lines(PodWorkload(job(hook(server, "ollama", "run", "llama3.2"))), evidence.TypeModel)).To(Equal([]string{"llama3.2 served ollama"}))

	report = PodWorkload(deployment(hook(withArgs(vllmImage, "--model", "/m"), "hf", "download", "org/lora")))
	g.Expect(lines(report, evidence.TypeModel)).To(Equal([]string{"/m served file"}))
	g.Expect(lines(report, evidence.TypeData)).To(Equal([]string{"org/lora download huggingface"}))

	g.Expect(lines(PodWorkload(deployment(shell(plain, "ollama serve & ollama pull llama3.2; wait"))), evidence.TypeModel)).
		To(Equal([]string{"llama3.2 served ollama"}), "what the server's own script pulls is what it serves")

	in := deployment(withArgs(vllmImage, "--model", "/m"))
	in.Template.Spec.InitContainers = []corev1.Container{withCommand("ollama/ollama:0.12.6", "ollama", "pull", "llama3.2")}
	g.Expect(lines(PodWorkload(in), evidence.TypeData)).To(Equal([]string{"llama3.2 download ollama"}))
}

func TestAnnotationsThatSayNothing(t *testing.T) {
	g := NewWithT(t)
	in := deployment(withArgs("example.com/opaque:1"))
	in.Annotations = map[string]string{AnnotationModelName: "  "}
	g.Expect(PodWorkload(in).Category).To(BeEmpty())
	in.Annotations = map[string]string{AnnotationModelName: " \t", AnnotationModelSource: " hf://org/m\n"}
	g.Expect(lines(PodWorkload(in), evidence.TypeModel)).To(Equal([]string{"hf://org/m served huggingface"}))

	in = deployment(withEnv(withArgs(vllmImage), "MODEL_NAME=chat"))
	in.Annotations = map[string]string{AnnotationModelName: "<model>", AnnotationModelVersion: "{{ .Values.version }}", AnnotationModelSource: "hf://org/m"}
	g.Expect(lines(PodWorkload(in), evidence.TypeModel)).To(ConsistOf("<model> served unresolved=<model>", "chat served inferred"))
	in.Annotations = map[string]string{AnnotationModelName: " org/m ", AnnotationModelVersion: " r1 "}
	g.Expect(lines(PodWorkload(in), evidence.TypeModel)).To(Equal([]string{"org/m@r1 served"}))
}
