// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

func TestOrdinaryWorkloads(t *testing.T) {
	for name, in := range map[string]Input{
		"nginx":            deployment(withArgs("nginx:1.29")),
		"postgres":         deployment(withEnv(withArgs("postgres:17"), "POSTGRES_PASSWORD=x", "POSTGRES_DB=models")),
		"redis":            deployment(withArgs("redis:8", "--save", "60")),
		"model railway":    deployment(withArgs("example.com/model-railway:1.0", "--model=N-scale")),
		"railway sim":      deployment(withCommand("example.com/model-railway:1.0", "python", "train.py", "--model=N-scale")),
		"model of a car":   deployment(withEnv(withArgs("example.com/shop:1"), "MODEL=T", "MODEL_NAME=Tin Lizzie", "HOST=0.0.0.0")),
		"prometheus":       deployment(withArgs("quay.io/prometheus/prometheus:v3.6.0", "--config.file=/etc/p.yml")),
		"gitlab runner":    deployment(withEnv(withArgs("gitlab/gitlab-runner:v18.4.0", "run"), "CI_SERVER_TOKEN=x")),
		"busybox":          deployment(shell("busybox:1.37", "while true; do echo $MODEL; sleep 1; done")),
		"a shop's host":    deployment(withEnv(withArgs("example.com/shop:1"), "MODEL=T1000", "HOST=https://shop.example.com")),
		"a shop's model":   deployment(withEnv(withArgs("example.com/shop:1"), "MODEL=T1000", "MODEL_URL=https://shop.example.com/t1000")),
		"NIM's look-alike": deployment(withArgs("example.com/nim/games/chess:1.0.0")),
		"Jupyter":          deployment(withGPU(withArgs("quay.io/jupyter/tensorflow-notebook:2025-03-14"), "1")),
		"tf notebook":      deployment(withGPU(withCommand("tensorflow/tensorflow:2.20.0-gpu-jupyter", "jupyter", "notebook"), "1")),
		"TensorBoard":      deployment(withCommand("tensorflow/tensorflow:2.20.0", "tensorboard", "--logdir", "/logs")),
		"PyTorch shell":    deployment(withCommand("pytorch/pytorch:2.8.0", "sleep", "infinity")),
		"endpoint picker": deployment(withEnv(withArgs("registry.k8s.io/gateway-api-inference-extension/epp:v1.0.0",
			"--pool-name", "vllm-pool", "--pool-namespace=ns", "--v", "4"), "HF_TOKEN=x")),
		"llm-d's scheduler":      deployment(withArgs("ghcr.io/llm-d/llm-d-inference-scheduler:v0.3.2", "--pool-name=p")),
		"look-alike":             deployment(withArgs("evil/vllm-openai:v1", "--model", "org/m")),
		"echo of a command":      deployment(withCommand("busybox:1.37", "echo", "vllm", "serve", "org/m")),
		"code that speaks of it": deployment(withCommand(plain, "python", "-c", "# import vllm\nprint('from vllm import LLM')")),
		"comment":                deployment(shell("busybox:1.37", "# vllm serve org/m\nsleep 1")),
		"no containers":          deployment(),
		"no template":            {},
	} {
		t.Run(name, func(t *testing.T) {
			report := PodWorkload(in)
			NewWithT(t).Expect(report.Category).To(BeEmpty(), "%v", report.Findings)
		})
	}
}

func TestCategoryIsThatOfTheStrongestSignal(t *testing.T) {
	for name, test := range map[string]struct {
		in   Input
		want evidence.Category
	}{
		"agent with its vector store":  {deployment(withArgs("langchain/langchain:0.1.0"), withArgs("qdrant/qdrant:v1.15.5")), agent},
		"server with a hosted key":     {deployment(withEnv(withArgs(vllmImage), "OPENAI_API_KEY=x")), inference},
		"command before image":         {deployment(withCommand("langchain/langchain:0.1.0", "vllm", "serve", "org/m")), inference},
		"training beside a server":     {job(withCommand(plain, "torchrun", "train.py"), withArgs(vllmImage)), evidence.CategoryTraining},
		"unknown server with a GPU":    {deployment(withGPU(withArgs("example.com/server:1", "--model", "org/m"), "1")), inference},
		"unknown server with no GPU":   {deployment(withGPU(withArgs("example.com/server:1", "--model", "org/m"), "0")), ""},
		"unknown server with a token":  {deployment(withEnv(withArgs("example.com/server:1", "--model", "org/m"), "HF_TOKEN=x")), inference},
		"client of a model server":     {deployment(withEnv(withArgs("example.com/chat:1"), "MODEL_ID=org/m", "LLM_URL=http://vllm:8000")), agent},
		"client by a general variable": {deployment(withEnv(withArgs("example.com/chat:1"), "MODEL_ID=org/m-7b", "HOST=http://server:8000")), agent},
		"and the engine's name":        {deployment(withEnv(withArgs("example.com/chat:1"), "MODEL=gemma", "HOST=http://server:8000", "LLM_ENGINE=vllm")), agent},
		"client of OpenAI's protocol":  {deployment(withEnv(withArgs("example.com/chat:1"), "OPENAI_MODEL=m", "OPENAI_BASE_URL=http://vllm:8000/v1")), agent},
		"unresolved model and nothing": {deployment(withGPU(withArgs("example.com/server:1", "--model", "$(MODEL)"), "1")), ""},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(PodWorkload(test.in).Category).To(Equal(test.want))
		})
	}
}

func TestServices(t *testing.T) {
	for name, test := range map[string]struct {
		env  []corev1.EnvVar
		want map[string]string // service and endpoint
	}{
		"a key":                      {env("OPENAI_API_KEY=sk-secret-value"), map[string]string{"openai": ""}},
		"a key in a Secret":          {[]corev1.EnvVar{fromSecret("ANTHROPIC_API_KEY", "s", "k")}, map[string]string{"anthropic": ""}},
		"an empty key":               {env("OPENAI_API_KEY="), map[string]string{}},
		"an address":                 {env("OPENAI_API_KEY=sk-secret-value", "OPENAI_BASE_URL=https://api.openai.com/v1"), map[string]string{"openai": "https://api.openai.com/v1"}},
		"an address without scheme":  {env("OPENAI_API_KEY=sk-secret-value", "OPENAI_BASE_URL=vllm:8000/v1"), map[string]string{}},
		"another server":             {env("OPENAI_API_KEY=sk-secret-value", "OPENAI_BASE_URL=http://vllm.ns.svc:8000/v1"), map[string]string{}},
		"a load balancer of Amazon":  {env("OPENAI_API_KEY=sk-secret-value", "OPENAI_BASE_URL=http://x.eu-west-1.elb.amazonaws.com"), map[string]string{}},
		"an address in a ConfigMap":  {append(env("OPENAI_API_KEY=sk-secret-value"), fromConfigMap("OPENAI_BASE_URL", "c", "k")), map[string]string{"openai": ""}},
		"Azure by OpenAI's variable": {env("OPENAI_API_KEY=sk-secret-value", "OPENAI_API_BASE=https://team.openai.azure.com/"), map[string]string{"azure-openai": "https://team.openai.azure.com/"}},
		"Azure":                      {env("AZURE_OPENAI_API_KEY=sk-secret-value", "AZURE_OPENAI_ENDPOINT=https://team.openai.azure.com"), map[string]string{"azure-openai": "https://team.openai.azure.com"}},
		"a look-alike of Azure":      {env("AZURE_OPENAI_API_KEY=sk-secret-value", "AZURE_OPENAI_ENDPOINT=https://openai.azure.com.evil.example"), map[string]string{}},
		"Gemini":                     {env("GEMINI_API_KEY=sk-secret-value"), map[string]string{"google-gemini": ""}},
		"Weaviate's key for OpenAI":  {env("OPENAI_APIKEY=sk-secret-value"), map[string]string{"openai": ""}},
		"Google's key alone":         {env("GOOGLE_API_KEY=sk-secret-value"), map[string]string{}},
		"Google's key and a model":   {env("GOOGLE_API_KEY=sk-secret-value", "LLM_MODEL=gemini-2.5-flash"), map[string]string{"google-gemini": ""}},
		"Google's key and another":   {env("GOOGLE_API_KEY=sk-secret-value", "LLM_MODEL=gpt-4o"), map[string]string{}},
		"Google's key, a framework":  {env("GOOGLE_API_KEY=sk-secret-value", "LANGCHAIN_TRACING_V2=true"), map[string]string{"google-gemini": ""}},
		"Vertex AI":                  {env("GOOGLE_GENAI_USE_VERTEXAI=true"), map[string]string{"google-vertex-ai": ""}},
		"Vertex AI, not used":        {env("GOOGLE_GENAI_USE_VERTEXAI=False"), map[string]string{}},
		"Cohere":                     {env("COHERE_API_KEY=sk-secret-value"), map[string]string{"cohere": ""}},
		"Bedrock":                    {env("BEDROCK_MODEL_ID=anthropic.claude-3"), map[string]string{"amazon-bedrock": ""}},
		"Bedrock's address":          {env("BEDROCK_ENDPOINT_URL=https://bedrock-runtime.eu-west-1.amazonaws.com"), map[string]string{"amazon-bedrock": "https://bedrock-runtime.eu-west-1.amazonaws.com"}},
		"a general variable":         {env("LLM_BASE_URL=https://api.mistral.ai/v1"), map[string]string{"mistral": "https://api.mistral.ai/v1"}},
		"two providers":              {env("OPENAI_API_KEY=sk-secret-value", "MISTRAL_API_KEY=sk-secret-value"), map[string]string{"openai": "", "mistral": ""}},
		"a key in an argument's way": {env("OPENAI_API_KEY=sk-secret-value", "MODEL=$(OPENAI_API_KEY)"), map[string]string{"openai": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			report := PodWorkload(deployment(corev1.Container{
				Image: "example.com/app:1", Env: test.env, Args: []string{"--model=$(OPENAI_API_KEY)", "--api-key", "$(OPENAI_API_KEY)"},
			}))
			found := map[string]string{}
			for _, f := range of(report, evidence.TypeService) {
				found[f.Name] = f.Endpoint
				g.Expect(f.Confidence).To(Equal(map[bool]evidence.Confidence{true: evidence.Declared, false: evidence.Inferred}[f.Endpoint != ""]))
			}
			g.Expect(found).To(Equal(test.want))
			if len(test.want) > 0 {
				g.Expect(report.Category).To(Equal(agent))
			}
			text, err := json.Marshal(report)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(text)).NotTo(ContainSubstring("secret-value"), "the value of a key")
		})
	}
}

func TestVolumes(t *testing.T) {
	c := withEnv(withArgs(vllmImage, "--model", "/mnt/work/m"), "HF_HOME=/cache/hf")
	mount := func(name, path string) {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: path})
	}
	mount("claim", "/models")
	mount("host", "/models/host")
	mount("image", "/models/image")
	mount("csi", "/mnt/models")
	mount("nfs", "/mnt/work")
	mount("cache", "/cache")
	mount("template", "/root/.cache/huggingface")
	mount("scratch", "/models/scratch")
	mount("config", "/models/config")
	mount("other", "/var/lib/other")
	mount("data", "/datasets")
	mount("absent", "/model")
	in := deployment(c)
	in.VolumeClaimTemplates = []string{"template"}
	in.Template.Spec.Volumes = []corev1.Volume{
		pvc("claim", "models"), pvc("cache", "cache"), pvc("other", "other"), pvc("data", "data"),
		{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/srv/models/"}}},
		{Name: "image", VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "ghcr.io/org/model:v1"}}},
		{Name: "csi", VolumeSource: corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: "gcsfuse.csi.storage.gke.io", VolumeAttributes: map[string]string{"bucketName": "b"}}}},
		{Name: "nfs", VolumeSource: corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{Server: "nas", Path: "/exports"}}},
		{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}},
	}
	g := NewWithT(t)
	report := PodWorkload(in)
	g.Expect(lines(report, evidence.TypeData)).To(Equal([]string{
		"persistentVolumeClaim/models model-store volume inferred",
		"hostPath/srv/models model-store volume inferred",
		"ghcr.io/org/model:v1 model-store oci inferred",
		"csi/gcsfuse.csi.storage.gke.io/b model-store volume inferred",
		"nfs/nas:/exports model-store volume inferred",
		"persistentVolumeClaim/cache model-store volume inferred",
		"volumeClaimTemplate/template model-store volume inferred",
		"persistentVolumeClaim/data dataset volume inferred",
	}))
	first := of(report, evidence.TypeData)[0]
	g.Expect(first.Evidence).To(Equal([]evidence.Evidence{{Source: evidence.SourceVolume, Locator: "spec.template.spec.containers[0].volumeMounts[0]"}}))
	g.Expect(property(first, evidence.PropVolumePath)).To(Equal("/models"))
}

func TestDevices(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	quantities := func(limits bool, pairs ...string) corev1.Container {
		list := corev1.ResourceList{}
		for i := 0; i < len(pairs); i += 2 {
			list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
		}
		c := withArgs(vllmImage)
		if limits {
			c.Resources.Limits = list
		} else {
			c.Resources.Requests = list
		}
		return c
	}
	in := deployment(
		quantities(true, "nvidia.com/gpu", "2", "cpu", "4", "example.com/gpu-like", "1", "nvidia.com/mig-1g.5gb", "1"),
		quantities(true, "nvidia.com/gpu", "1", "amd.com/gpu", "0", "gpu.intel.com/i915", "1"),
		// What is said of the devices is not counted in devices.
		quantities(true, "nvidia.com/gpumem", "8000", "nvidia.com/gpucores", "50", "nvidia.com/gpumem-percentage", "50", "nvidia.com/gpu.memory", "8000",
			"gpu.intel.com/memory.max", "8000", "gpu.intel.com/millicores", "500", "gpu.intel.com/tiles", "1", "gpu.intel.com/i915_monitoring", "1",
			"huawei.com/Ascend910B-memory", "8000", "cambricon.com/mlu.smlu.vmemory", "8000", "cambricon.com/mlu370.smlu.vcore", "50"),
		quantities(true, "huawei.com/Ascend910B", "1", "huawei.com/Ascend310P-2c", "1", "cambricon.com/mlu370", "1"),
		quantities(false, "google.com/tpu", "4"),
	)
	in.Template.Spec.InitContainers = []corev1.Container{quantities(true, "nvidia.com/gpu", "8"), quantities(true, "intel.com/gpu", "1")}
	in.Template.Spec.InitContainers[1].RestartPolicy = &always
	g := NewWithT(t)
	found := map[string]int64{}
	for _, f := range of(PodWorkload(in), evidence.TypeDevice) {
		found[f.Name] = f.Quantity
		g.Expect(f.Evidence[0].Source).To(Equal(evidence.SourceResource))
	}
	g.Expect(found).To(Equal(map[string]int64{"nvidia.com/gpu": 3, "nvidia.com/mig-1g.5gb": 1, "google.com/tpu": 4, "intel.com/gpu": 1,
		"gpu.intel.com/i915": 1, "huawei.com/Ascend910B": 1, "huawei.com/Ascend310P-2c": 1, "cambricon.com/mlu370": 1}))
}
