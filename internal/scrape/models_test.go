// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

const vllmImage = "vllm/vllm-openai:v0.11.0"

func TestModelsOnCommandLines(t *testing.T) {
	for name, test := range map[string]struct {
		container corev1.Container
		want      []string
	}{
		"--model x":             {withArgs(vllmImage, "--model", "org/m"), []string{"org/m served huggingface"}},
		"--model=x":             {withArgs(vllmImage, "--model=org/m"), []string{"org/m served huggingface"}},
		"--model-path":          {withCommand("lmsysorg/sglang:v0.4.6", "python3", "-m", "sglang.launch_server", "--model-path", "org/m"), []string{"org/m served huggingface"}},
		"--model_path":          {withCommand("lmsysorg/sglang:v0.4.6", "python3", "-m", "sglang.launch_server", "--model_path=org/m"), []string{"org/m served huggingface"}},
		"--model-id":            {withArgs("ghcr.io/huggingface/text-generation-inference:3.3.6", "--model-id", "org/m", "--revision", "abc"), []string{"org/m@abc served huggingface"}},
		"--model-repository":    {withArgs("nvcr.io/nvidia/tritonserver:25.03-py3", "tritonserver", "--model-repository=s3://bucket/models"), []string{"s3://bucket/models served object-store"}},
		"--model_base_path":     {withArgs("tensorflow/serving:2.19.0", "--model_name=bert", "--model_base_path=gs://b/bert"), []string{"gs://b/bert served object-store as=bert"}},
		"--model-name alone":    {withArgs("tensorflow/serving:2.19.0", "--model_name=bert"), []string{"bert served inferred"}},
		"vllm serve":            {withCommand(plain, "vllm", "serve", "org/m", "--port", "8000"), []string{"org/m served huggingface"}},
		"vllm serve, flags 1st": {withCommand(plain, "vllm", "serve", "--port", "8000", "org/m"), []string{"org/m served huggingface"}},
		"vllm's own entrypoint": {withArgs(vllmImage, "org/m", "--port", "8000"), []string{"org/m served huggingface"}},
		"what the image runs":   {withArgs(vllmImage, "/start.sh"), nil},
		"a script of the image": {withArgs(vllmImage, "scripts/start.sh"), nil},
		"an unresolved model":   {withArgs(vllmImage, "$(MODEL)"), []string{"$(MODEL) served unresolved=MODEL"}},
		"a path":                {withCommand(plain, "vllm", "serve", "/models/m"), []string{"/models/m served file"}},
		"several served names":  {withCommand(plain, "vllm", "serve", "org/m", "--served-model-name", "a", "b"), []string{"org/m served huggingface as=a,b"}},
		"served names only":     {withCommand(plain, "vllm", "serve", "--served-model-name", "a", "b"), []string{"a served inferred as=b"}},
		"sglang serve":          {withCommand(plain, "sglang", "serve", "org/m"), []string{"org/m served huggingface"}},
		"trtllm-serve":          {withCommand(plain, "trtllm-serve", "org/m"), []string{"org/m served huggingface"}},
		"trtllm-serve serve":    {withCommand(plain, "trtllm-serve", "serve", "org/m"), []string{"org/m served huggingface"}},
		"text-generation":       {withCommand(plain, "text-generation-launcher", "--model-id=org/m"), []string{"org/m served huggingface"}},
		"lmdeploy":              {withCommand(plain, "lmdeploy", "serve", "api_server", "org/m"), []string{"org/m served huggingface"}},
		"ollama run":            {withCommand("ollama/ollama:0.12.6", "ollama", "run", "llama3.2:1b"), []string{"llama3.2:1b served ollama"}},
		"ollama's entrypoint":   {withArgs("ollama/ollama:0.12.6", "run", "llama3.2"), []string{"llama3.2 served ollama"}},
		"ollama from the hub":   {withArgs("ollama/ollama:0.12.6", "run", "hf.co/org/m-GGUF"), []string{"hf.co/org/m-GGUF served huggingface"}},
		"llama.cpp -m":          {withArgs("ghcr.io/ggml-org/llama.cpp:server", "-m", "/models/m.gguf", "-a", "chat"), []string{"/models/m.gguf served file as=chat"}},
		"llama.cpp -hf":         {withArgs("ghcr.io/ggml-org/llama.cpp:server", "-hf", "org/m-GGUF:Q4_K_M"), []string{"org/m-GGUF:Q4_K_M served huggingface"}},
		"llama.cpp module":      {withCommand(plain, "python3", "-m", "llama_cpp.server", "--model", "/m.gguf"), []string{"/m.gguf served file"}},
		"KServe":                {withArgs("kserve/huggingfaceserver:v0.15.0", "--model_name=llama", "--model_id=org/m"), []string{"org/m served huggingface as=llama"}},
		"NIM's image":           {withArgs("nvcr.io/nim/meta/llama-3.1-8b-instruct:1.8.4"), []string{"meta/llama-3.1-8b-instruct served ngc inferred"}},
		"llama.cpp --model-url": {withArgs("ghcr.io/ggml-org/llama.cpp:server", "-mu", "https://huggingface.co/org/m/resolve/main/m.gguf"), []string{"https://huggingface.co/org/m/resolve/main/m.gguf served huggingface"}},
		"TorchServe":            {withCommand("pytorch/torchserve:0.12.0", "torchserve", "--start", "--models", "sq=x.mar", "y.mar", "--ncs"), []string{"sq served", "y.mar served"}},
		"TorchServe, all":       {withCommand("pytorch/torchserve:0.12.0", "torchserve", "--start", "--models", "all"), nil},
		"Triton":                {withArgs("nvcr.io/nvidia/tritonserver:25.03-py3", "tritonserver", "--load-model=resnet50", "--load-model=*", "--load-model", "bert"), []string{"resnet50 served", "bert served"}},
		"infinity":              {withEnv(withArgs("michaelf34/infinity:0.0.77", "v2"), "INFINITY_MODEL_ID=a/b;c/d;"), []string{"a/b served huggingface", "c/d served huggingface"}},
		"LocalAI":               {withEnv(withArgs("localai/localai:v2.26.0"), `PRELOAD_MODELS=[{"url": "https://example.com/m.yaml", "name": "chat"}, {"id": "phi"}]`), []string{"https://example.com/m.yaml served http as=chat", "phi served"}},
		"LocalAI's launcher":    {withCommand(plain, "local-ai", "run", "phi-4"), []string{"phi-4 served"}},
		"Python code":           {withCommand(plain, "python", "-c", "from vllm import LLM; LLM('org/m')"), []string{"org/m served huggingface inferred"}},
		"Python code, named":    {withCommand(plain, "python", "-c", "import sglang as sgl\nsgl.Engine(model_path=\"org/m\")"), []string{"org/m served huggingface inferred"}},
		"Python code, unknown":  {withCommand(plain, "python", "-c", "from vllm import LLM; LLM(model=sys.argv[1])", "x"), nil},
		"NIM's mirror":          {withArgs("mirror.example.com/nvcr.io/nim/meta/llama-3.1-8b-instruct:1.3.3"), []string{"meta/llama-3.1-8b-instruct served ngc inferred"}},
		"NIM's short mirror":    {withEnv(withArgs("artifactory.corp/nvcr-remote/nim/meta/llama-3.1-8b-instruct:1.3.3"), "NGC_API_KEY=x"), []string{"meta/llama-3.1-8b-instruct served ngc inferred"}},
		"NIM, a name for it":    {withEnv(withArgs("nvcr.io/nim/meta/llama-3.1-8b-instruct:1.8.4"), "NIM_SERVED_MODEL_NAME=llama"), []string{"meta/llama-3.1-8b-instruct served ngc inferred as=llama"}},
		"NIM, any model":        {withEnv(withArgs("nvcr.io/nim/nvidia/llm-nim:1.12.0"), "NIM_MODEL_NAME=hf://org/m"), []string{"hf://org/m served huggingface"}},
		"draft and tokenizer": {withArgs(vllmImage, "--model", "org/m", "--speculative-model", "org/d", "--tokenizer", "org/t"),
			[]string{"org/m served huggingface", "org/d draft huggingface", "org/t tokenizer huggingface"}},
		"speculative config": {withArgs(vllmImage, "--model", "org/m", "--speculative-config", `{"model": "org/d", "num_speculative_tokens": 5}`),
			[]string{"org/m served huggingface", "org/d draft huggingface"}},
		"LoRA modules": {withArgs(vllmImage, "--model", "org/m", "--lora-modules", "sql=org/sql", `{"name": "b", "path": "/lora/b"}`, "--port=1"),
			[]string{"org/m served huggingface", "org/sql adapter huggingface as=sql", "/lora/b adapter file as=b"}},
		"LoRA joined":   {withArgs(vllmImage, "--model=org/m", "--lora-modules=a=org/a", "b=org/b"), []string{"org/m served huggingface", "org/a adapter huggingface as=a", "org/b adapter huggingface as=b"}},
		"modelscope":    {withEnv(withArgs(vllmImage, "--model", "org/m"), "VLLM_USE_MODELSCOPE=True"), []string{"org/m served"}},
		"a bare name":   {withArgs(vllmImage, "--model", "gpt2"), []string{"gpt2 served"}},
		"still to fill": {withArgs(vllmImage, "--model", "<MODEL>"), []string{"<MODEL> served unresolved=<MODEL>"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			report := PodWorkload(deployment(test.container))
			g.Expect(report.Category).To(Equal(evidence.CategoryInference))
			g.Expect(lines(report, evidence.TypeModel)).To(Equal(test.want))
		})
	}
}

func TestModelsInScripts(t *testing.T) {
	e := env("MODEL=org/m", "FLAGS=--model org/m --port 1", "EMPTY=")
	for script, want := range map[string][]string{
		"exec vllm serve org/m":                                 {"org/m served huggingface"},
		"vllm serve \\\n  org/m \\\n  --port 8000":              {"org/m served huggingface"},
		"vllm serve 'org/m' --served-model-name \"the model\"":  {"org/m served huggingface as=the model"},
		"cd /x && vllm serve $MODEL":                            {"org/m served huggingface"},
		"vllm serve \"${MODEL}\" | tee /log":                    {"org/m served huggingface"},
		"vllm serve $(MODEL)":                                   {"org/m served huggingface"},
		"vllm serve ${MODEL:-org/other}":                        {"org/m served huggingface"},
		"vllm serve ${UNSET:-org/m}":                            {"org/m served huggingface"},
		"vllm serve ${EMPTY:-org/m}":                            {"org/m served huggingface"},
		": ${UNSET:=org/m}; vllm serve $UNSET":                  {"org/m served huggingface"},
		"vllm serve ${MODEL##*/}":                               {"m served"},
		"M=org/m; vllm serve $M":                                {"org/m served huggingface"},
		"export M=org/m\nvllm serve \"$M\"":                     {"org/m served huggingface"},
		"python3 -m vllm.entrypoints.openai.api_server $FLAGS":  {"org/m served huggingface"},
		"(vllm serve org/m) &\nwait":                            {"org/m served huggingface"},
		"if true; then vllm serve org/m; fi":                    {"org/m served huggingface"},
		"set -e; bash -c 'vllm serve org/m'":                    {"org/m served huggingface"},
		"vllm serve $UNSET":                                     {"$UNSET served unresolved=UNSET"},
		"vllm serve $(cat /model)":                              {"$(…) served unresolved=a command's output"},
		"vllm serve ~/m":                                        {"~/m served file"},
		"vllm serve ~/$MODEL":                                   {"~/$MODEL served unresolved=HOME"},
		"if x; then M=a/b; fi; vllm serve $M":                   {"a/b served huggingface inferred"},
		"if x; then M=a/b; else M=c/d; fi; vllm serve $M":       {"$M served unresolved=M (set under a condition in the script)"},
		"[ -z \"$X\" ] && M=a/b; vllm serve $M":                 {"a/b served huggingface inferred"},
		"(M=a/b); vllm serve $M":                                {"$M served unresolved=M (set in a subshell of the script)"},
		"for MODEL in a/b c/d; do vllm serve $MODEL; done":      {"a/b served huggingface", "c/d served huggingface"},
		"for MODEL in /m/*; do vllm serve $MODEL; done":         {"$MODEL served unresolved=MODEL (set by a loop in the script)"},
		"read MODEL; vllm serve $MODEL":                         {"$MODEL served unresolved=MODEL (set by read in the script)"},
		"vllm serve $((1+1))":                                   {"$((1+1)) served unresolved=an arithmetic expression"},
		"vllm serve $(NOWHERE)":                                 {"$(NOWHERE) served unresolved=NOWHERE"},
		"vllm serve org/m --served-model-name $UNSET":           {"org/m served huggingface"},
		"hf download org/d && vllm serve org/m # vllm serve no": {"org/m served huggingface"},
	} {
		t.Run(script, func(t *testing.T) {
			g := NewWithT(t)
			report := PodWorkload(deployment(shell("example.com/serving:1", script, e...)))
			var models []string
			for _, f := range of(report, evidence.TypeModel) {
				if f.Evidence[0].Source == evidence.SourceCommand {
					models = append(models, line(f))
				}
			}
			g.Expect(models).To(Equal(want))
			g.Expect(of(report, evidence.TypeRuntime)[0].Evidence[0].Locator).To(Equal("spec.template.spec.containers[0].command[2]"))
		})
	}
}

func TestUnreadableScripts(t *testing.T) {
	for script, want := range map[string]string{
		"vllm serve 'org/m":         "is not a shell script that can be read: 1:12: reached EOF without closing quote `'`",
		strings.Repeat("( ", 15000): "nests more than 100 brackets",
	} {
		g := NewWithT(t)
		report := PodWorkload(deployment(shell(vllmImage, script)))
		g.Expect(notes(report)).To(ContainSubstring(want))
		g.Expect(names(report, evidence.TypeRuntime)).To(Equal([]string{"vllm"}), "the image still says what runs")
	}
}

func TestReferencesToVariables(t *testing.T) {
	g := NewWithT(t)
	c := withArgs(vllmImage, "--model=$(MODEL)", "--tokenizer=$(TOK)", "--speculative-model=$(DRAFT)", "--lora-path=$(LORA)", "--revision=$(REV)")
	c.Env = append(env("BASE=org", "MODEL=$(BASE)/m", "LATE=$(LATER)", "LATER=x"),
		fromSecret("TOK", "models", "tok"), fromConfigMap("DRAFT", "models", "draft"))
	c.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "more"}}}}
	report := PodWorkload(deployment(c))
	g.Expect(lines(report, evidence.TypeModel)).To(Equal([]string{
		"org/m served huggingface",
		"$(TOK) tokenizer unresolved=TOK (key tok of secret/models)",
		"$(DRAFT) draft unresolved=DRAFT (key draft of configMap/models)",
		"$(LORA) adapter unresolved=LORA (perhaps in configMap/more)",
	}))
	var locators []string
	for _, e := range of(report, evidence.TypeModel)[0].Evidence {
		locators = append(locators, e.Locator)
	}
	g.Expect(locators).To(Equal([]string{
		"spec.template.spec.containers[0].args[0]", "spec.template.spec.containers[0].env[1]", "spec.template.spec.containers[0].env[0]",
	}))
}

func TestExpandAsKubernetesDoes(t *testing.T) {
	e := &environment{variables: map[string]variable{"A": {value: "x"}}}
	for text, want := range map[string]string{
		"$(A)": "x", "$$(A)": "$(A)", "$(B)": "$(B)", "$A": "$A", "$(A": "$(A", "$()": "$()", "a$": "a$", "$$": "$",
		"$(A)$(A)-$(B)$$": "xx-$(B)$", "$($(A))": "$($(A))", "$(((": "$(((", "$($$A": "$($A",
	} {
		if got := e.expand(word{text: text}).text; got != want {
			t.Errorf("%s gives %s, want %s", text, got, want)
		}
	}
}

func TestModelsInVariables(t *testing.T) {
	for name, test := range map[string]struct {
		container corev1.Container
		want      []string
	}{
		"MODEL_ID":       {withEnv(withArgs("ghcr.io/huggingface/text-generation-inference:3.3.6"), "MODEL_ID=org/m"), []string{"org/m served huggingface"}},
		"storage URI":    {withEnv(withArgs("kserve/huggingfaceserver:v0.15.0"), "STORAGE_URI=hf://org/m"), []string{"hf://org/m served huggingface"}},
		"used in a flag": {withEnv(withArgs(vllmImage, "--model=$(MODEL_ID)"), "MODEL_ID=org/m"), []string{"org/m served huggingface"}},
		"both":           {withEnv(withArgs(vllmImage, "--model=org/m"), "MODEL_ID=org/m"), []string{"org/m served huggingface", "org/m served huggingface"}},
		"a secret's": {corev1.Container{Image: vllmImage, Env: []corev1.EnvVar{fromSecret("MODEL_ID", "s", "k")}},
			[]string{"$(MODEL_ID) served unresolved=MODEL_ID (key k of secret/s)"}},
		"roles": {withEnv(withArgs(vllmImage), "MODEL_ID=org/m", "DRAFT_MODEL=org/d", "LORA_PATH=/l", "TOKENIZER=org/t"),
			[]string{"org/m served huggingface", "org/d draft huggingface", "/l adapter file", "org/t tokenizer huggingface"}},
		"a name beside":  {withEnv(withArgs(vllmImage, "--model", "org/m"), "MODEL_NAME=chat"), []string{"org/m served huggingface as=chat"}},
		"a name alone":   {withEnv(withArgs("tensorflow/serving:2.19.0"), "MODEL_NAME=resnet"), []string{"resnet served inferred"}},
		"a called model": {withEnv(withArgs("langchain/langchain:0.1.0"), "HF_TOKEN=x", "OPENAI_MODEL=openai/gpt-4o"), []string{"openai/gpt-4o called"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(lines(PodWorkload(deployment(test.container)), evidence.TypeModel)).To(Equal(test.want))
		})
	}
}

func TestUsersRules(t *testing.T) {
	g := NewWithT(t)
	c := withEnv(withArgs("registry.example.com/team/llm-server:v2.1.0", "--weights=org/a"), "OUR_MODEL_KEY=org/b")
	c.VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/srv/weights/x"}}
	in := deployment(c)
	in.Template.Spec.Volumes = []corev1.Volume{pvc("v", "claim")}
	in.Rules = Rules{
		RuntimeImages:    []ImagePattern{{Runtime: "our-runtime", Pattern: "team/llm-*"}},
		ModelEnvVarNames: []string{"OUR_MODEL_KEY"}, ModelArgFlags: []string{"--weights"}, ModelVolumePaths: []string{"/srv/weights"},
	}
	report := PodWorkload(in)
	g.Expect(report.Category).To(Equal(evidence.CategoryInference))
	g.Expect(lines(report, evidence.TypeRuntime)).To(Equal([]string{"our-runtime@2.1.0 inferred"}))
	g.Expect(lines(report, evidence.TypeModel)).To(Equal([]string{"org/a served", "org/b served"}))
	g.Expect(lines(report, evidence.TypeData)).To(Equal([]string{"persistentVolumeClaim/claim model-store volume inferred"}))

	in.Rules = Rules{RuntimeImages: []ImagePattern{{Runtime: "vllm", Pattern: "team/llm-server"}}, ModelArgFlags: []string{"weights"}}
	g.Expect(lines(PodWorkload(in), evidence.TypeModel)).To(Equal([]string{"org/a served huggingface"}), "a known runtime keeps its habits")
	g.Expect(PodWorkload(deployment(c)).Category).To(BeEmpty(), "without the rules nothing is known of it")
}

func TestAnnotations(t *testing.T) {
	declared := map[string]string{
		"model.k8saibom.dev/name": "org/m", "model.k8saibom.dev/version": "r1",
		"model.k8saibom.dev/source": "hf://org/m", "model.k8saibom.dev/signed": "true",
	}
	g := NewWithT(t)
	in := deployment(withArgs("example.com/opaque:1"))
	in.Annotations = declared
	report := PodWorkload(in)
	g.Expect(report.Category).To(Equal(evidence.CategoryInference))
	g.Expect(lines(report, evidence.TypeModel)).To(Equal([]string{"org/m@r1 served huggingface"}))
	g.Expect(property(of(report, evidence.TypeModel)[0], evidence.PropIdentitySigned)).To(Equal("true"))
	g.Expect(of(report, evidence.TypeModel)[0].Evidence[0].Locator).To(Equal("metadata.annotations[model.k8saibom.dev/name]"))

	in.Template.Annotations = map[string]string{"model.k8saibom.dev/name": "org/other"}
	g.Expect(lines(PodWorkload(in), evidence.TypeModel)).To(Equal([]string{"org/m@r1 served huggingface"}), "the workload's own win")
	in.Annotations = nil
	report = PodWorkload(in)
	g.Expect(lines(report, evidence.TypeModel)).To(Equal([]string{"org/other served"}))
	g.Expect(of(report, evidence.TypeModel)[0].Evidence[0].Locator).To(Equal("spec.template.metadata.annotations[model.k8saibom.dev/name]"))

	in.Template.Annotations = map[string]string{"model.k8saibom.dev/source": "s3://b/m"}
	g.Expect(lines(PodWorkload(in), evidence.TypeModel)).To(Equal([]string{"s3://b/m served object-store"}), "the source alone identifies it")

	both := deployment(withArgs(vllmImage, "--model", "org/m"))
	both.Annotations = declared
	g.Expect(of(PodWorkload(both), evidence.TypeModel)).To(HaveLen(2), "an auditor wants both sources")
}

func TestTrainingAndEvaluation(t *testing.T) {
	g := NewWithT(t)
	report := PodWorkload(job(withCommand("pytorch/pytorch:2.8.0", "torchrun", "train.py", "--model_name_or_path", "org/m", "--dataset_name", "org/data", "--hub_model_id=org/new")))
	g.Expect(report.Category).To(Equal(evidence.CategoryTraining))
	g.Expect(lines(report, evidence.TypeModel)).To(Equal([]string{"org/m served huggingface", "org/new output huggingface"}))
	g.Expect(lines(report, evidence.TypeData)).To(Equal([]string{"org/data dataset huggingface"}))

	report = PodWorkload(job(shell(plain, "vllm serve org/m & lm_eval --model local-completions --model_args model=org/m,num_concurrent=1 --tasks hellaswag,arc_easy")))
	g.Expect(report.Category).To(Equal(evidence.CategoryEvaluation), "a server that an evaluation brings along is not its purpose")
	g.Expect(names(report, evidence.TypeRuntime)).To(ConsistOf("vllm", "lm-evaluation-harness"))
	g.Expect(names(report, evidence.TypeModel)).To(Equal([]string{"org/m", "org/m"}))
	g.Expect(names(report, evidence.TypeData)).To(Equal([]string{"hellaswag", "arc_easy"}))

	report = PodWorkload(job(withGPU(withEnv(withArgs("example.com/finetune:1"), "DATASET=org/data", "NEW_MODEL=org/new"), "1")))
	g.Expect(report.Category).To(Equal(evidence.CategoryTraining))
}

func TestInitContainers(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	in := deployment(withArgs(vllmImage, "--model", "/models/m"))
	in.Template.Spec.InitContainers = []corev1.Container{
		{Name: "hub", Image: plain, Command: []string{"hf", "download", "org/m", "--local-dir", "/models/m"}},
		{Name: "s3", Image: "amazon/aws-cli:2.0.0", Command: []string{"aws", "s3", "cp", "--recursive", "s3://bucket/m", "/models"}},
		{Name: "up", Image: "amazon/aws-cli:2.0.0", Command: []string{"aws", "s3", "cp", "/models", "s3://bucket/backup"}},
		shell("alpine:3.22", "wget -O /models/m.gguf https://example.com/m.gguf && git clone https://huggingface.co/org/clone"),
		withEnv(withArgs("example.com/fetch:1"), "MODEL_ID=org/env"),
		{Name: "runtime", Image: "ollama/ollama:0.12.6", Command: []string{"ollama", "serve"}},
		{Name: "proxy", Image: "qdrant/qdrant:v1.15.5", RestartPolicy: &always},
	}
	in.Template.Spec.InitContainers[3].Name, in.Template.Spec.InitContainers[4].Name = "wget", "env"
	g := NewWithT(t)
	report := PodWorkload(in)
	g.Expect(report.Category).To(Equal(evidence.CategoryInference))
	g.Expect(lines(report, evidence.TypeModel)).To(Equal([]string{"org/m served huggingface inferred"}))
	g.Expect(lines(report, evidence.TypeData)).To(Equal([]string{
		"org/m download huggingface", "s3://bucket/m download object-store inferred",
		"https://example.com/m.gguf download http inferred", "https://huggingface.co/org/clone download huggingface inferred",
		"org/env download inferred",
	}))
	g.Expect(names(report, evidence.TypeRuntime)).To(Equal([]string{"qdrant", "vllm"}), "a sidecar runs, an init container's program is over")
	roles := map[string]evidence.Role{}
	for _, f := range of(report, evidence.TypeContainer) {
		roles[f.Container] = f.Role
	}
	g.Expect(roles).To(HaveLen(8))
	g.Expect(roles).To(HaveKeyWithValue("hub", evidence.RoleInit))
	g.Expect(roles).To(HaveKeyWithValue("proxy", evidence.RoleMain))
}

func TestABorrowedImageIsNotARuntime(t *testing.T) {
	fetch := withCommand(vllmImage, "hf", "download", "org/m")
	for _, kind := range []string{"Job", "CronJob"} {
		in := job(fetch)
		in.Workload.Kind = kind
		NewWithT(t).Expect(PodWorkload(in).Category).To(BeEmpty(), kind)
	}
}
