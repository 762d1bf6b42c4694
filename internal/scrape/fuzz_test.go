// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// fuzzTime is what one input may take: far more than any needs, far less than a loop.
const fuzzTime = 30 * time.Second

func FuzzScript(f *testing.F) {
	for _, seed := range []string{
		"vllm serve \"${MODEL:-org/m}\" --port 8000 && wait",
		"export A=1; if [ -n \"$A\" ]; then exec python3 -m vllm.entrypoints.openai.api_server --model=$A; fi",
		"pip install 'lm_eval[hf]==0.4.9.1' && lm_eval --model hf --model_args pretrained=a/b,dtype=float32",
		"for m in a b; do hf download $m; done; sh -c 'vllm serve $0'", "cat <<EOF | bash\n$A ${B:=c}\nEOF",
		"python - <<'EOF'\nfrom vllm import LLM\nLLM('org/m')\nEOF\ncat >a.py <<X\nload_dataset('$A')\nX\npython a.py", "bash <<<'vllm serve a/b'",
		"f() { local a=$1; shift; \"$@\"; f f; }; f f \"$@\"", "for i in a b; do for j in $i $i; do A=\"$A $j\"; done; done; x && A+=\" y\"; vllm serve $A",
		"A=(x); x || A=(\"${A[@]}\" y); set -- $A; x && set -- \"$@\" z; case $1 in x*|[) vllm serve $1;; *) :;; esac", "vllm serve $(basename $(dirname $A) .x)",
		"[[ ! ($A == b || -z c) ]] && cat <<E | tee a.sh\nvllm serve $A\nE\nexec a.sh; uvicorn a:b",
		"f() { f | f & }; f", "$($($(", "((((", "echo {1..999999999}", "A=${A}${A}", "${A[$((1))]}", "$'\\xff'\x00`a`",
	} {
		f.Add(seed, "org/m")
	}
	f.Fuzz(func(t *testing.T, source, value string) {
		in := deployment(shell(vllmImage, source, corev1.EnvVar{Name: "A", Value: value}, corev1.EnvVar{Name: "MODEL", Value: "$(A)/m"}))
		check(t, in)
	})
}

// FuzzPython reads any text as Python code.
func FuzzPython(f *testing.F) {
	for _, seed := range []string{
		"from vllm import LLM\nllm = LLM(model=os.environ['A'], revision=\"x\")", "import a.b as c, d; X = 'org/m'; AutoModel.from_pretrained(X, token='t')",
		"pipeline('text-generation', model=f'org/{x}')", "LLM('''org/m''' \"x\" # c\n)", "LLM(((((",
		"LLM(a=1, b=[1, (2), {3: 4}], c=os.getenv('A', 'b'))", "x = (\n'a'\n'b')\nLLM(x)",
		"\"\\", "'\\'", "r'\\", "f'{", "LLM('$(A)')", "import\nfrom\nimport ,", ")))]", "é = 'ü'; LLM(é)", "x = x = 'a'; LLM(x", "os.environ[", "LLM(os.environ.get(",
	} {
		f.Add(seed, "org/m")
	}
	f.Fuzz(func(t *testing.T, code, value string) {
		for _, in := range []Input{
			deployment(withGPU(withCommand(plain, "python", "-c", code), "1")),
			job(withCommand(plain, "python3", "-u", "-c", code)),
		} {
			in.Template.Spec.Containers[0].Env = env("A=" + value)
			check(t, in)
		}
	})
}

func FuzzContainer(f *testing.F) {
	for _, seed := range []string{
		`{"spec":{"containers":[{"name":"a","image":"vllm/vllm-openai:v0.11.0","args":["--model","$(M)","--lora-modules","a=b"],"env":[{"name":"M","value":"org/m"}]}]}}`,
		`{"metadata":{"annotations":{"model.k8saibom.dev/name":"a","model.k8saibom.dev/signed":"true"}},"spec":{"containers":[{"image":"nvcr.io/nim/a/b:1.2","envFrom":[{"secretRef":{"name":"s"}}],"resources":{"limits":{"nvidia.com/gpu":"2"}}}]}}`,
		`{"spec":{"initContainers":[{"command":["sh","-c","aws s3 cp s3://b/m /models"],"restartPolicy":"Always"}],"containers":[{"command":["tini","--","lm_eval"],"args":["--model_args","pretrained=x","--tasks=a,b"],"volumeMounts":[{"name":"v","mountPath":"/models"}]}],"volumes":[{"name":"v","image":{"reference":"a/b:c"}}]}}`,
		`{"spec":{"containers":[{"env":[{"name":"OPENAI_API_KEY","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}},{"name":"OPENAI_BASE_URL","value":"https://x.openai.azure.com"},{"name":"MODEL_NAME","value":"gpt"}]}]}}`,
		`{"spec":{"containers":[{"image":"ollama/ollama","args":["run","llama3"]},{"command":["vllm","serve","--port","1","m"]},{"command":["python3","-m","vllm.entrypoints.x"],"args":["--speculative-config","{\"model\":\"d\"}"]}]}}`,
		`{"metadata":{"labels":{"hf.co/model":"a--b","ai.gke.io/inference-server":"Fast-1","app.kubernetes.io/managed-by":"adk-cli"}},"spec":{"containers":[{"image":"team/gemma-server:1","resources":{"limits":{"nvidia.com/gpu":"1"}}}]}}`,
		`{"spec":{"containers":[{"command":["vllm","serve"],"livenessProbe":{"httpGet":{"path":"/v2/models/m/ready","port":1}}},{"image":"tensorflow-serving/resnet"},{"image":"llamacpp-llama3-8b-it","readinessProbe":{"httpGet":{"path":"/v1/models/","port":1}}}]}}`,
		`{"spec":{"initContainers":[{"command":["sh","-c","cd /models; hf download org/m --local-dir x; git clone https://huggingface.co/o/n.git"],"volumeMounts":[{"name":"v","mountPath":"/models","subPath":"a"}]}],"containers":[{"command":["vllm","serve","/models/x","--tokenizer","/hub/models--o--n/snapshots/$(S)"],"volumeMounts":[{"name":"v","mountPath":"/models"}]}],"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}]}}`,
		`{"spec":{"containers":[{"name":"rag-ui","env":[{"name":"LLM_URL","value":"http://u:p@$(H):1/v1?a#b"},{"name":"X","value":"https://m/v1/chat/completions"},{"name":"EMBEDDING_MODEL","value":"openai/text-embedding-3-small"},{"name":"USE_AZURE_OPENAI","value":"1"},{"name":"A__B","value":"azure/gpt-4"},{"name":"GEMMA_ENDPOINT","value":"grpc://x:1"}]},{"command":["train_esm2","--max-steps","1"],"resources":{"limits":{"nvidia.com/gpu":"1"}}},{"command":["torchserve","--models","a=b.mar,c=org/d@e"]}]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var template corev1.PodTemplateSpec
		if json.Unmarshal(data, &template) != nil {
			return
		}
		in := deployment()
		in.Template = &template
		in.Annotations = template.Labels
		for _, c := range template.Spec.Containers {
			in.Running = append(in.Running, RunningImage{c.Name, c.Image, c.WorkingDir})
		}
		check(t, in)
	})
}

// check holds a report to what is true of every report.
func check(t *testing.T, in Input) {
	template := in.Template.DeepCopy()
	began := time.Now()
	report := PodWorkload(in)
	if took := time.Since(began); took > fuzzTime {
		t.Errorf("it took %v", took)
	}
	if again := PodWorkload(in); !reflect.DeepEqual(report, again) {
		t.Errorf("two looks at the same workload differ:\n%v\n%v", report, again)
	}
	if !reflect.DeepEqual(template, in.Template) {
		t.Error("the template, which is shared with the cache, was changed")
	}
	if len(report.Properties) > maxNotes {
		t.Errorf("%d notes", len(report.Properties))
	}
	for _, f := range report.Findings {
		if len(f.Evidence) == 0 || len(f.Evidence) > maxEvidence+1 {
			t.Errorf("%s has %d places of evidence", f.Name, len(f.Evidence))
		}
		if f.Type == evidence.TypeModel && f.Confidence == evidence.Unresolved && property(f, evidence.PropIdentityUnresolved) == "" {
			t.Errorf("%s does not say what it lacks", f.Name)
		}
		if f.Type == evidence.TypeModel && f.Name == "" {
			t.Error("a model without a name")
		}
	}
}

func BenchmarkPodWorkload(b *testing.B) {
	c := withGPU(withCommand(vllmImage, "vllm", "serve", "meta-llama/Llama-3.1-8B-Instruct"), "1")
	c.Args = []string{"--served-model-name", "llama-3.1-8b", "--max-model-len=8192", "--gpu-memory-utilization=0.92", "--port=8000"}
	c.Env = append(env("HF_HOME=/models"), fromSecret("HF_TOKEN", "hf-token", "token"))
	c.VolumeMounts = []corev1.VolumeMount{{Name: "models", MountPath: "/models"}, {Name: "shm", MountPath: "/dev/shm"}}
	in := deployment(c)
	in.Template.Spec.Volumes = []corev1.Volume{pvc("models", "models")}
	in.Running = []RunningImage{{"c0", vllmImage, "docker.io/vllm/vllm-openai@" + digestA}}
	b.ReportAllocs()
	for b.Loop() {
		PodWorkload(in)
	}
}

func BenchmarkPodWorkloadScript(b *testing.B) {
	in := deployment(shell(vllmImage, "set -e\nexport M=${MODEL:-org/m}\npip install foo\nexec vllm serve $M \\\n --port 8000 \\\n --tensor-parallel-size 8", env("MODEL=org/m")...))
	b.ReportAllocs()
	for b.Loop() {
		PodWorkload(in)
	}
}
