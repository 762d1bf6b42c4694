// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/k8s-aibom/k8s-aibom/internal/bom"
	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/internal/scrape"
)

// core is what every fake secret holds. It must be in no output.
const core = "Zq7XkW3vT9pL2mN8rB4s"

// shaped are secrets that their own shape gives away, wherever they stand. They are in parts,
// lest a scanner of repositories takes them for a leak.
var shaped = map[string]string{
	"Hugging Face": "hf" + "_" + core, "OpenAI": "sk" + "-" + core + core, "an OpenAI project": "sk" + "-proj-" + core,
	"Anthropic": "sk" + "-ant-api03-" + core, "GitHub": "gh" + "p_" + core + "aB3dE5fG", "GitLab": "gl" + "pat-" + core,
	"Slack": "xo" + "xb-123456789012-" + core, "NVIDIA": "nv" + "api-" + core, "Google": "AI" + "za" + core + "aB3dE5fG7hJ9kL1",
	"Groq": "gs" + "k_" + core, "LangSmith": "lsv2" + "_pt_" + core, "Replicate": "r8" + "_" + core,
	"a JWT": "ey" + "JhbGciOiJIUzI1NiJ9." + core + "." + core, "AWS": "AK" + "IA" + strings.ToUpper(core),
	"a private key": "-----BEGIN PRIVATE KEY-----\n" + core + "\n-----END PRIVATE KEY-----",
}

// plainPlaces are places that say by themselves that what they hold is secret; %s is the secret.
var plainPlaces = map[string]func(secret string) corev1.PodSpec{
	"a variable that is named as one":          variable("DB_PASSWORD", "%s"),
	"a hub's token":                            variable("HF_TOKEN", "%s"),
	"a provider's key":                         variable("OPENAI_API_KEY", "%s"),
	"a user and password in a model's address": variable("MODEL_URI", "https://user:%s@models.example.com/llama.gguf"),
	"a token in a model's address":             variable("MODEL_URI", "https://%s@github.com/org/model"),
	"a query in a model's address":             variable("MODEL_URI", "https://models.example.com/llama.gguf?rev=1&token=%s"),
	"a signed address":                         variable("MODEL_URI", "https://bucket.s3.amazonaws.com/m?X-Amz-Credential=%[1]s&X-Amz-Signature=%[1]s"),
	"an Azure signature":                       variable("MODEL_URI", "https://account.blob.core.windows.net/models/m?sv=2024-01-01&sig=%s"),
	"the address of a hosted API":              variable("OPENAI_BASE_URL", "https://key:%s@api.openai.com/v1"),
	"the address of a vector database":         variable("QDRANT_URL", "https://qdrant.example.com?api_key=%s"),
	"a served name made of a credential":       variable("SERVED_MODEL_NAME", "$(DB_PASSWORD)", corev1.EnvVar{Name: "DB_PASSWORD", Value: "%s"}),
	"a model made of a credential":             variable("MODEL_ID", "org/$(API_KEY)", corev1.EnvVar{Name: "API_KEY", Value: "%s"}),
	"a flag":                                   arguments("--api-key", "%s"),
	"a flag with =":                            arguments("--hf-token=%s"),
	"a model's address in a flag":              arguments("--model-url", "https://user:%s@models.example.com/x"),
	"an adapter's address":                     arguments("--lora-modules", "sql=https://user:%s@models.example.com/x"),
	"a user and password of curl":              script("curl -u admin:%s -o /m https://models.example.com/m.gguf"),
	"a header of curl":                         script("curl -H 'Authorization: Bearer %s' https://models.example.com/m.gguf"),
	"a header of wget":                         script("wget --header='X-Api-Key: %s' https://models.example.com/m.gguf"),
	"an exported variable":                     script("export HF_TOKEN=%s; hf download org/other"),
	"a variable of one command":                script("PGPASSWORD=%s psql -c 'select 1'"),
	"a default":                                script("vllm serve ${DB_PASSWORD:-%s}"),
	"a default in a template":                  arguments("--model", "${API_KEY:-%s}"),
	"a default in an image": func(s string) corev1.PodSpec {
		p := base()
		p.Containers[0].Image = "${REGISTRY_PASSWORD:-" + s + "}/vllm/vllm-openai:v1"
		return p
	},
	"a login":                   script("huggingface-cli login --token %s && hf download org/other"),
	"a clone":                   script("git clone https://user:%s@huggingface.co/org/other /m"),
	"a command's output":        script("vllm serve $(curl -s -u a:%s https://internal/model)"),
	"Python code":               python("from huggingface_hub import login\nlogin(token='%s')"),
	"a call in Python code":     python("from huggingface_hub import snapshot_download\nsnapshot_download('org/other', token='%s')"),
	"an address in Python code": python("from huggingface_hub import snapshot_download\nsnapshot_download('https://u:%s@huggingface.co/org/other')"),
	"a here-document":           script("cat > /tmp/c <<EOF\napi_key=%s\nEOF\npython - <<EOF\nlogin(token='%s')\nEOF"),
	"an image": func(s string) corev1.PodSpec {
		p := base()
		p.Containers[0].Image = "user:" + s + "@registry.example.com/vllm/vllm-openai:v1"
		return p
	},
	"an init container's image": func(s string) corev1.PodSpec {
		p := base()
		p.InitContainers = []corev1.Container{{Name: "i", Image: "https://u:" + s + "@registry.example.com/i"}}
		return p
	},
	"a volume's attributes": volume(corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: "csi.example.com", VolumeAttributes: map[string]string{"bucketName": "https://u:%s@bucket", "secretKey": "%s"}}}),
	"an NFS server":         volume(corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{Server: "u:%s@nfs.example.com", Path: "/x"}}),
	"an image volume":       volume(corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "user:%s@registry.example.com/models/m:1"}}),
	"a hook": func(s string) corev1.PodSpec {
		p := base()
		p.Containers[0].Lifecycle = &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", "curl -H 'Authorization: Bearer " + s + "' http://x"}}}}
		return p
	},
	"a probe, which is not read": func(s string) corev1.PodSpec {
		p := base()
		p.Containers[0].LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"x", "--password", s}}}}
		return p
	},
	"a script that cannot be parsed":                    script("vllm serve org/other ) password=%s"),
	"the address of a model server":                     variable("LLM_BASE_URL", "http://user:%s@vllm:8000/v1", frontEnd),
	"a token before one without a scheme":               variable("OLLAMA_HOST", "%s@ollama:11434", frontEnd),
	"a user before one without a scheme":                variable("TRITON_URL", "user:%s@triton:8001", frontEnd),
	"a token in gRPC's address":                         variable("TRITON_URL", "grpc://%s@triton:8001", frontEnd),
	"a query of a model server":                         variable("VLLM_URL", "http://vllm:8000/v1?code=%s", frontEnd),
	"a fragment of a model server":                      variable("VLLM_URL", "http://vllm:8000/v1#%s", frontEnd),
	"words behind a model server's address":             variable("VLLM_URL", "http://vllm:8000/v1 %s", frontEnd),
	"an address of which a part is not known":           variable("VLLM_URL", "http://user:%s@$(VLLM)/v1", frontEnd),
	"an address that is known by its path":              variable("RAG_BACKEND", "https://user:%s@models.example.com/v1/chat/completions?code=%[1]s"),
	"an address that is named after a family":           variable("GEMMA_IT_ENDPOINT", "https://%s@models.example.com/x?signature=%[1]s"),
	"an endpoint of embeddings":                         variable("EMBEDDING_ENDPOINT", "https://models.example.com/embed?t=%s"),
	"a general address":                                 variable("MODEL_BASE_URL", "http://user:%s@llm:8000/v1", model),
	"an address of the protocol":                        variable("BASE_URL", "http://user:%s@llm:8000/v1?k=%[1]s", model),
	"a provider's address in a variable of one's own":   variable("SUMMARIES_ENDPOINT", "https://user:%s@api.openai.com/v1?code=%[1]s"),
	"a provider's address by its path":                  variable("X", "https://%s@x.openai.azure.com/openai/v1/chat/completions?code=%[1]s"),
	"a provider's address without a scheme":             variable("OPENAI_BASE_URL", "%s@api.openai.com/v1"),
	"a key with a prefix":                               variable("SPRING_AI_OPENAI_API_KEY", "%s"),
	"a key in .NET's way":                               variable("OpenAI__ApiKey", "%s"),
	"a key that is shared":                              variable("GOOGLE_API_KEY", "%s", corev1.EnvVar{Name: "GEMINI_MODEL", Value: "gemini-2.5-pro"}),
	"a switch":                                          variable("USE_AZURE_OPENAI", "%s"),
	"a provider's name":                                 variable("LLM_PROVIDER", "%s"),
	"an address in a flag":                              arguments("--llm-base-url=http://user:%s@vllm:8000/v1", "--model=org/m"),
	"a dataset's address by its variable":               variable("TRAINING_DATASET_URI", "https://user:%s@data.example.com/d?code=%[1]s"),
	"a dataset's address for a training":                arguments("--train-input=https://%s@data.example.com/d"),
	"the place of a download":                           script("hf download org/other --token %s --local-dir /models/m && vllm serve /models/m"),
	"a download with a user":                            script("cd /models && git clone https://user:%s@huggingface.co/org/m && vllm serve /models/m"),
	"a folder that is not known":                        script("cd /x/$DB_PASSWORD && hf download org/other --local-dir m && vllm serve m", corev1.EnvVar{Name: "DB_PASSWORD", Value: "%s"}),
	"a cache below a credential":                        arguments("--model", "$(DB_PASSWORD)/models--org--m/snapshots/$(API_KEY)"),
	"a name for LiteLLM in an address":                  variable("LLM_MODEL", "litellm_proxy/https://user:%s@models.example.com/m"),
	"a user before a host that looks like a repository": arguments("--lora-modules", "a=proxy/user:%s@registry.example.com/m"),
	"an archive for TorchServe":                         script("torchserve --start --models m=https://user:%s@models.example.com/m.mar"),
}

// shapedPlaces are places where anything may stand.
var shapedPlaces = map[string]func(secret string) corev1.PodSpec{
	"a model":                 variable("MODEL_ID", "%s"),
	"a part of a model":       variable("MODEL_ID", "org/%s"),
	"a dataset":               variable("DATASET", "%s"),
	"a served name":           variable("SERVED_MODEL_NAME", "%s"),
	"a variable of any name":  variable("GREETING", "%s"),
	"the value of a flag":     arguments("--model", "%s"),
	"the name of an adapter":  arguments("--lora-modules", "%s=org/other"),
	"a word of a script":      script("vllm serve %s"),
	"a string of Python code": python("from vllm import LLM\nLLM('%s')"),
	"a path":                  arguments("--model", "/models/%s/x"),
	"the path of a mount": func(s string) corev1.PodSpec {
		p := volume(corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{Server: "nfs", Path: "/"}})(s)
		p.Containers[0].VolumeMounts[0].MountPath = "/models/" + s
		return p
	},
	"a variable that is missing": arguments("--model", "$(%s)"),
	"a script that is cut":       script("vllm serve 'org/m %s"),
	"the path of an endpoint":    variable("RAG_BACKEND", "https://models.example.com/%s/v1/chat/completions"),
	"the host of an endpoint":    variable("LLM_BASE_URL", "http://%s:8000/v1", frontEnd),
	"a name for LiteLLM":         variable("LLM_MODEL", "hosted_vllm/org/%s"),
	"a model of Bedrock":         variable("LLM_MODEL", "bedrock/anthropic.%s"),
	"a repository in a cache":    arguments("--model", "/hub/models--org--%s/snapshots/main"),
	"a snapshot in a cache":      arguments("--model", "/hub/models--org--m/snapshots/%s"),
	"what is downloaded before":  script("hf download org/%s --local-dir /models/m && vllm serve /models/m"),
	"the name of an archive":     script("torchserve --start --models %s=m.mar"),
	"a program that trains":      script("train_%s --max-steps 1"),
	"a name of LocalAI's":        script("local-ai run %s"),
}

// model is the name of a model, beside which an address is that of its server.
var model = corev1.EnvVar{Name: "MODEL_ID", Value: "org/called"}

// frontEnd makes a program one that shows a chat, of which the address of its model server is reported.
var frontEnd = corev1.EnvVar{Name: "STREAMLIT_SERVER_PORT", Value: "8501"}

// base is a workload in which nothing is secret: what is found in it must be found in each
// other workload as well.
func base() corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{
		{Name: "victim", Image: "registry.example.com/team/app:1"},
		{Name: "server", Image: "vllm/vllm-openai:v0.11.0", Args: []string{"--model", "org/neighbour"}},
	}}
}

func variable(name, value string, before ...corev1.EnvVar) func(string) corev1.PodSpec {
	return func(s string) corev1.PodSpec {
		p := base()
		for _, v := range append(before, corev1.EnvVar{Name: name, Value: value}) {
			v.Value = fill(v.Value, s)
			p.Containers[0].Env = append(p.Containers[0].Env, v)
		}
		return p
	}
}

func arguments(args ...string) func(string) corev1.PodSpec {
	return func(s string) corev1.PodSpec {
		p := base()
		for _, a := range args {
			p.Containers[0].Args = append(p.Containers[0].Args, fill(a, s))
		}
		return p
	}
}

func script(source string, env ...corev1.EnvVar) func(string) corev1.PodSpec {
	return func(s string) corev1.PodSpec {
		p := base()
		p.Containers[0].Command = []string{"sh", "-c", fill(source, s)}
		for _, v := range env {
			p.Containers[0].Env = append(p.Containers[0].Env, corev1.EnvVar{Name: v.Name, Value: fill(v.Value, s)})
		}
		return p
	}
}

func python(code string) func(string) corev1.PodSpec {
	return func(s string) corev1.PodSpec {
		p := base()
		p.Containers[0].Command = []string{"python", "-c", fill(code, s)}
		return p
	}
}

func volume(source corev1.VolumeSource) func(string) corev1.PodSpec {
	return func(s string) corev1.PodSpec {
		data, err := json.Marshal(source)
		if err != nil {
			panic(err)
		}
		quoted, err := json.Marshal(s)
		if err != nil {
			panic(err)
		}
		var filled corev1.VolumeSource
		if err := json.Unmarshal([]byte(fill(string(data), strings.Trim(string(quoted), `"`))), &filled); err != nil {
			panic(err)
		}
		p := base()
		p.Volumes = []corev1.Volume{{Name: "v", VolumeSource: filled}}
		p.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/models"}}
		return p
	}
}

func fill(text, secret string) string {
	return strings.NewReplacer("%[1]s", secret, "%s", secret).Replace(text)
}

// outputs are all texts that leave the controller for a report: documents in both versions, the
// summary and every text of the report as an Event or log would show it.
func outputs(t *testing.T, r evidence.Report) (texts []string, document cdx.BOM) {
	t.Helper()
	g := NewWithT(t)
	for _, version := range []string{"1.6", "1.7"} {
		built, err := bom.Build(bom.Input{Report: r, SpecVersion: version, Tool: bom.Tool{Name: "t", Vendor: "t", Version: "1"}}, time.Unix(0, 0))
		g.Expect(err).NotTo(HaveOccurred())
		texts = append(texts, string(built.Bytes))
		g.Expect(json.Unmarshal(built.Bytes, &document)).To(Succeed())
	}
	texts = append(texts, fmt.Sprintf("%+v", bom.Summarize(bom.Normalize(r))))
	for _, f := range r.Findings {
		texts = append(texts, bom.Redact(f.Name), bom.Redact(f.Endpoint))
	}
	return texts, document
}

// neighbours are what is found in base.
var neighbours = []string{"vllm", "vllm/vllm-openai", "org/neighbour"}

// holdsNoSecret holds a report's outputs to the secret and to what must be left.
func holdsNoSecret(t *testing.T, r evidence.Report, left ...string) {
	t.Helper()
	g := NewWithT(t)
	texts, document := outputs(t, r)
	for _, text := range texts {
		lower := strings.ToLower(text)
		g.Expect(lower).NotTo(ContainSubstring(strings.ToLower(core)))
		g.Expect(lower).NotTo(ContainSubstring(strings.ToLower(core[:10])), "nor half of it")
	}
	var names []string
	for _, c := range *document.Components {
		names = append(names, c.Name)
	}
	g.Expect(names).To(ContainElements(left), "nothing else is lost")
}

func TestNoSecretSurvives(t *testing.T) {
	secrets := map[string]string{"a password": core}
	for name, s := range shaped {
		secrets[name] = s
	}
	count := 0
	for _, kind := range []string{"Deployment", "Job"} {
		for secretName, secret := range secrets {
			places := map[string]func(string) corev1.PodSpec{}
			for name, place := range plainPlaces {
				places[name] = place
			}
			if secretName != "a password" {
				for name, place := range shapedPlaces {
					places[name] = place
				}
			}
			for name, place := range places {
				t.Run(kind+"/"+name+"/"+secretName, func(t *testing.T) {
					if strings.Contains(secret, "\n") && !slices.Contains([]string{"a model", "the value of a flag", "a variable of any name"}, name) {
						t.Skip("a key of several lines stands in values only")
					}
					template := corev1.PodTemplateSpec{Spec: place(secret)}
					holdsNoSecret(t, scrape.PodWorkload(scrape.Input{
						Workload: evidence.Workload{APIVersion: "v1", Kind: kind, Namespace: "n", Name: "w", UID: "u"},
						Template: &template, TemplateLocator: "spec.template",
						Annotations: map[string]string{scrape.AnnotationModelSource: "https://user:" + core + "@models.example.com/m"},
					}), neighbours...)
					count++
				})
			}
		}
	}
	t.Logf("%d workloads with a secret each", count)
}

// TestNoSecretSurvivesInNames puts secrets into labels, probes and names of images, which count only
// where nothing else in the workload speaks.
func TestNoSecretSurvivesInNames(t *testing.T) {
	fetching := []corev1.Container{{Name: "fetch", Image: "team/fetch:1", Command: []string{"hf", "download", "org/neighbour"}}}
	accelerated := corev1.ResourceRequirements{Limits: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}}
	probe := func(path string) *corev1.Probe {
		return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path}}}
	}
	for name, place := range map[string]struct {
		fill func(c *corev1.Container, labels map[string]string, secret string)
		left string
	}{
		"a label for a model":          {func(_ *corev1.Container, l map[string]string, s string) { l["ai.gke.io/model"] = s }, "team/app"},
		"a label for a repository":     {func(_ *corev1.Container, l map[string]string, s string) { l["hf.co/model"] = "org--" + s }, "team/app"},
		"a label for a runtime":        {func(_ *corev1.Container, l map[string]string, s string) { l["ai.gke.io/inference-server"] = s }, "team/app"},
		"the end of one for a runtime": {func(_ *corev1.Container, l map[string]string, s string) { l["kubeai.org/engine"] = "fast-" + s }, "team/app"},
		"a label for a tool":           {func(_ *corev1.Container, l map[string]string, s string) { l["app.kubernetes.io/managed-by"] = s }, "org/neighbour"},
		"a model in a probe": {func(c *corev1.Container, _ map[string]string, s string) {
			serve(c)
			c.LivenessProbe = probe("/v1/models/" + s)
		}, "vllm"},
		"a version in a probe": {func(c *corev1.Container, _ map[string]string, s string) {
			serve(c)
			c.ReadinessProbe = probe("/v1/models/m/versions/" + s)
		}, "m"},
		"a query in a probe": {func(c *corev1.Container, _ map[string]string, s string) {
			serve(c)
			c.StartupProbe = probe("/v1/models/m?token=" + s)
		}, "vllm"},
		"the model in an image's name":  {func(c *corev1.Container, _ map[string]string, s string) { c.Image = "team/vllm-llama3-8b-" + s }, "org/neighbour"},
		"an image in a server's folder": {func(c *corev1.Container, _ map[string]string, s string) { c.Image = "tensorflow-serving/resnet-" + s }, "org/neighbour"},
		"an image named for a family":   {func(c *corev1.Container, _ map[string]string, s string) { c.Image = "team/gemma-" + s }, "org/neighbour"},
		"an image's tag":                {func(c *corev1.Container, _ map[string]string, s string) { c.Image = "team/llama3-server:" + s }, "llama3"},
		"a program that trains":         {func(c *corev1.Container, _ map[string]string, s string) { c.Command = []string{"train_" + s} }, "org/neighbour"},
	} {
		for secretName, secret := range shaped {
			if strings.Contains(secret, "\n") {
				continue // a key of several lines stands in no name
			}
			t.Run(name+"/"+secretName, func(t *testing.T) {
				template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{InitContainers: fetching, Containers: []corev1.Container{{Name: "victim", Image: "team/app:1", Resources: accelerated}}}}
				template.Labels = map[string]string{"llm-d.ai/model": "org-labelled"}
				place.fill(&template.Spec.Containers[0], template.Labels, secret)
				if template.Spec.Containers[0].LivenessProbe != nil || template.Spec.Containers[0].ReadinessProbe != nil || template.Spec.Containers[0].StartupProbe != nil {
					template.Labels = nil // a label would say enough
				}
				holdsNoSecret(t, scrape.PodWorkload(scrape.Input{
					Workload: evidence.Workload{APIVersion: "v1", Kind: "Deployment", Namespace: "n", Name: "w", UID: "u"},
					Template: &template, TemplateLocator: "spec.template",
				}), place.left)
			})
		}
	}
}

// serve makes the container a server that names no model.
func serve(c *corev1.Container) { c.Image, c.Command = "team/server:1", []string{"vllm", "serve"} }

// TestNoSecretSurvivesInThirdPartyKinds puts secrets into the fields of the six kinds.
func TestNoSecretSurvivesInThirdPartyKinds(t *testing.T) {
	pod := `{"containers": [{"name": "server", "image": "vllm/vllm-openai:v0.11.0", "args": ["--model", "org/neighbour", "--api-key", "%s"], "env": [{"name": "HF_TOKEN", "value": "%s"}]}]}`
	template := `{"spec": ` + pod + `}`
	for name, object := range map[string]string{
		"serving.kserve.io/InferenceService stored":  `{"spec": {"predictor": {"model": {"modelFormat": {"name": "huggingface"}, "storageUri": "https://u:%s@models.example.com/m", "args": ["--hf-token=%s"]}, "containers": [{"name": "server", "image": "vllm/vllm-openai:v0.11.0", "args": ["--model", "org/neighbour"]}]}}}`,
		"serving.kserve.io/InferenceService format":  `{"spec": {"predictor": {"model": {"modelFormat": {"name": "nvidia-nim-%s"}, "runtime": "nvidia-nim-%s-1.0"}, "containers": [{"name": "server", "image": "vllm/vllm-openai:v0.11.0", "args": ["--model", "org/neighbour"]}]}}}`,
		"serving.kserve.io/InferenceService keyed":   `{"spec": {"predictor": {"sklearn": {"storage": {"key": "k", "path": "m", "parameters": {"secret_access_key": "%s", "bucket": "b?token=%s"}}}, "containers": [{"name": "server", "image": "vllm/vllm-openai:v0.11.0", "args": ["--model", "org/neighbour"]}]}}}`,
		"serving.kserve.io/InferenceService broken":  `{"spec": {"predictor": {"model": {"modelFormat": {"name": "x"}, "storageUri": "s3://b/m", "env": "password=%s"}, "containers": [{"name": "server", "image": "vllm/vllm-openai:v0.11.0", "args": ["--model", "org/neighbour"]}]}}}`,
		"nvidia.com/DynamoGraphDeployment":           `{"spec": {"backendFramework": "vllm", "env": [{"name": "NGC_API_KEY", "value": "%s"}], "components": [{"name": "worker", "type": "worker", "modelRef": {"name": "https://u:%s@models.example.com/m"}, "podTemplate": ` + template + `}]}}`,
		"nvidia.com/DynamoComponentDeployment":       `{"spec": {"name": "worker", "podTemplate": ` + template + `}}`,
		"leaderworkerset.x-k8s.io/LeaderWorkerSet":   `{"spec": {"leaderWorkerTemplate": {"workerTemplate": ` + template + `}}}`,
		"disaggregatedset.x-k8s.io/DisaggregatedSet": `{"spec": {"roles": [{"name": "prefill", "spec": {"leaderWorkerTemplate": {"workerTemplate": ` + template + `}}}]}}`,
	} {
		for secretName, secret := range map[string]string{"a password": core, "Hugging Face": shaped["Hugging Face"]} {
			if secretName == "a password" && strings.HasSuffix(name, " format") {
				continue // a name tells nothing of what it holds
			}
			t.Run(name+"/"+secretName, func(t *testing.T) {
				g := NewWithT(t)
				var content map[string]any
				g.Expect(json.Unmarshal([]byte(fill(object, secret)), &content)).To(Succeed())
				group, rest, _ := strings.Cut(name, "/")
				kindName, _, _ := strings.Cut(rest, " ")
				kind, ok := kinds.For(schema.GroupKind{Group: group, Kind: kindName})
				g.Expect(ok).To(BeTrue())
				report, err := scrape.Object(kind, scrape.ObjectInput{Object: content})
				g.Expect(err).NotTo(HaveOccurred())
				holdsNoSecret(t, report, neighbours...)
			})
		}
	}
}
