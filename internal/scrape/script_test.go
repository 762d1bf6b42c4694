// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// scripted are the models of a container that runs the script, with the words behind it.
func scripted(script string, behind ...string) []string {
	c := shell(vllmImage, script)
	c.Args = behind
	return lines(PodWorkload(deployment(c)), evidence.TypeModel)
}

func TestWhatACommandSaysIsNotShown(t *testing.T) {
	for script, want := range map[string][]string{
		`vllm serve "$(curl -s -u admin:hunter2 https://internal/model)"`: {"$(…) served unresolved=a command's output"},
		`vllm serve $(PGPASSWORD=hunter2 psql -c model)`:                  {"$(…) served unresolved=a command's output"},
		"vllm serve `vault read -token hunter2`":                          {"$(…) served unresolved=a command's output"},
		`vllm serve "${MODEL:-$(vault read -token hunter2)}"`:             {"${MODEL:-$(…)} served unresolved=a command's output"},
		`vllm serve /m/$(echo ")" hunter2)/x`:                             {"/m/$(…)/x served unresolved=a command's output"},
		`vllm serve <(echo hunter2)`:                                      {"$(…) served unresolved=a command's output"},
		`vllm serve $(( $(echo hunter2) + 1 ))`:                           {"$(( $(…) + 1 )) served unresolved=an arithmetic expression"},
		`vllm serve "${DB_PASSWORD:-hunter2}"`:                            {"${DB_PASSWORD} served unresolved=DB_PASSWORD (a credential, which is not read)"},
		`PGPASSWORD=hunter2; vllm serve $PGPASSWORD`:                      {"$PGPASSWORD served unresolved=PGPASSWORD (a credential, which is not read)"},
		`export M=$(echo hunter2); vllm serve $M`:                         {"$M served unresolved=a command's output"},
	} {
		NewWithT(t).Expect(scripted(script)).To(Equal(want), script)
	}
	for text, want := range map[string]string{
		"$(curl -u a:hunter2 x)/m": "$(…)/m served unresolved=$(…)/m", "`cat x`": "$(…) served unresolved=$(…)",
		"$(a (b) hunter2) c": "$(…) c served unresolved=$(…) c", "$(open hunter2": "$(…) served unresolved=$(…)", "`open hunter2": "$(…) served unresolved=$(…)",
		"/models/$MODEL": "/models/$MODEL served unresolved=/models/$MODEL", "/models/${MODEL}": "/models/${MODEL} served unresolved=/models/${MODEL}",
		"org/{{ .Values.model }}": "org/{{ .Values.model }} served unresolved=org/{{ .Values.model }}", "org/<model>": "org/<model> served unresolved=org/<model>",
		"/a$": "/a$ served file",
	} {
		report := PodWorkload(deployment(withArgs(vllmImage, "--model", text)))
		NewWithT(t).Expect(lines(report, evidence.TypeModel)).To(Equal([]string{want}), text)
	}
}

func TestCredentialsInVariables(t *testing.T) {
	for name, want := range map[string]bool{
		"PGPASSWORD": true, "MYSQL_PWD": true, "DB_PASS": true, "DBPASS": true, "SSH_PASSPHRASE": true, "GIT_CREDENTIAL": true, "CREDENTIALS": true,
		"BASIC_AUTH": true, "GITHUB_PAT": true, "API_KEYS": true, "MYTOKEN": true, "dbPassword": true, "my-secret": true, "HF_TOKEN": true,
		"MODEL_REF": false, "TOKENIZER_REF": false, "MAX_TOKENS": false, "PATH": false, "AUTHOR": false, "KEYBOARD": false, "COMPAT": false, "OPENAI_MODEL": false,
	} {
		c := withEnv(withArgs(vllmImage, "--model", "$("+name+")"), name+"=hunter2")
		got := lines(PodWorkload(deployment(c)), evidence.TypeModel)[0]
		if hidden := got != "hunter2 served"; hidden != want {
			t.Errorf("%s gives %s", name, got)
		}
	}
}

func TestWhatMayNotRunIsInferred(t *testing.T) {
	const certain, perhaps = "a/b served huggingface", "a/b served huggingface inferred"
	for script, want := range map[string][]string{
		"if x; then vllm serve a/b; else vllm serve c/d; fi":       {perhaps, "c/d served huggingface inferred"},
		"if x; then :; elif y; then vllm serve a/b; fi":            {perhaps},
		"case $X in a) vllm serve a/b;; esac":                      {perhaps},
		"while true; do vllm serve a/b; done":                      {perhaps},
		"false && vllm serve a/b":                                  nil,
		"if false; then vllm serve a/b; fi":                        nil,
		"! x && vllm serve a/b":                                    {perhaps},
		"[ -f x ] && vllm serve a/b":                               {perhaps},
		"x && [ -f x ] && vllm serve a/b":                          {perhaps},
		"grep -q x /y && vllm serve a/b":                           {perhaps},
		"true || vllm serve a/b":                                   nil,
		"x || vllm serve a/b":                                      {perhaps},
		"vllm serve a/b || exit 1":                                 {certain},
		"cd /x && vllm serve a/b":                                  {certain},
		"x || exit 1; vllm serve a/b":                              {certain},
		"if vllm serve a/b; then :; fi":                            {certain},
		"f() { vllm serve a/b; }":                                  {perhaps},
		"f() { vllm serve a/b; }; f":                               {certain},
		"f() { vllm serve a/b; }; if x; then f; fi":                {perhaps},
		"exit 0; vllm serve a/b":                                   nil,
		"exit 0; f() { vllm serve a/b; }; f":                       nil,
		"exec vllm serve a/b; vllm serve c/d":                      {certain},
		"exec > /log; vllm serve a/b":                              {certain},
		"(exit 0); vllm serve a/b":                                 {certain},
		"if x; then exit 0; fi; vllm serve a/b":                    {certain},
		"exec vllm serve a/b & vllm serve c/d":                     {certain, "c/d served huggingface"},
		"if x; then bash -c 'vllm serve a/b'; fi":                  {perhaps},
		"if x; then vllm serve --model=a/b; fi; vllm serve $M":     {perhaps, "$M served unresolved=M"},
		"if x; then M=a/b; fi; vllm serve ${M:-a/b}":               {perhaps},
		"x || M=a/b; vllm serve $M":                                {perhaps},
		"M=a/b || x; vllm serve $M":                                {certain},
		"if x; then vllm serve --tokenizer a/b --model c/d; fi; :": {"a/b tokenizer huggingface inferred", "c/d served huggingface inferred"},
	} {
		NewWithT(t).Expect(scripted(script)).To(Equal(want), script)
	}
}

func TestArgumentsOfScripts(t *testing.T) {
	for script, want := range map[string][]string{
		`exec vllm serve "$1"`:                          {"org/m served huggingface"},
		`exec vllm serve $1 --served-model-name ${2}`:   {"org/m served huggingface as=chat"},
		`exec vllm serve "$@"`:                          {"org/m served huggingface"},
		`exec vllm serve $*`:                            {"org/m served huggingface"},
		`exec vllm serve "$3"`:                          {"$3 served unresolved=3"},
		`exec "$0" serve x/y`:                           {"x/y served huggingface"},
		`shift 1; vllm serve x/y "$@"`:                  {"x/y served huggingface"},
		`set -- a/b c; vllm serve "$1"`:                 {"a/b served huggingface"},
		`set -- --model a/b "$@"; vllm serve "$@"`:      {"org/m served huggingface", "a/b served huggingface"},
		`if x; then shift; fi; vllm serve "$1"`:         {"$1 served unresolved=1 (set under a condition in the script)"},
		`f() { vllm serve "$1"; }; f`:                   {"$1 served unresolved=1"},
		`set -eu; vllm serve "$1"`:                      {"org/m served huggingface"},
		`A=(--model a/b); vllm serve "${A[@]}"`:         {"a/b served huggingface"},
		`A=(); A+=(a/b); vllm serve "${A[@]}" --port 1`: {"a/b served huggingface"},
		`eval "vllm serve $1"`:                          {"org/m served huggingface"},
		`C="vllm serve a/b"; eval $C --port 1`:          {"a/b served huggingface"},
	} {
		NewWithT(t).Expect(scripted(script, "vllm", "org/m", "chat")).To(Equal(want), script)
	}
	for _, script := range []string{
		`eval "$(cat /run)"`,
		`if x; then A+=(--model a/b); fi; vllm serve "${A[@]}"`, `(A=(a/b)); vllm serve "${A[@]}"`, `f() { vllm serve "$@"; }`,
	} {
		report := PodWorkload(deployment(shell(vllmImage, script)))
		NewWithT(t).Expect(notes(report)).To(ContainSubstring("command[2] was not read in full: "), script)
	}
}

// Each is how somebody writes a script that starts a server, and what a person reads in it.
func TestScriptsAsPeopleWriteThem(t *testing.T) {
	const model, perhaps = "org/m served huggingface", "org/m served huggingface inferred"
	for script, want := range map[string][]string{
		// What a condition adds
		`A="--model org/m"; if [ -n "$X" ]; then A="$A --enable-lora"; fi; exec vllm serve $A`:      {model},
		`A="--model org/m"; [ -n "$X" ] && A+=" --tokenizer a/t"; vllm serve $A`:                    {model, "a/t tokenizer huggingface inferred"},
		`A=(--model org/m); if x; then A+=(--tokenizer "$T"); fi; vllm serve "${A[@]}"`:             {model, "$T tokenizer unresolved=T"},
		`A=(--model org/m); if x; then A=("${A[@]}" --tokenizer a/t); fi; vllm serve "${A[@]}"`:     {model, "a/t tokenizer huggingface inferred"},
		`A=(--model org/m); if x; then A=(--model c/d); fi; vllm serve "${A[@]}"`:                   {"${A[@]} served unresolved=an expansion that is not evaluated"},
		`cmd=(vllm serve org/m); [[ -n $X ]] && cmd+=(-tp $X); exec "${cmd[@]}"`:                    {model},
		`C="vllm serve org/m"; if x; then C="$C --port 1"; fi; eval "$C"`:                           {perhaps},
		`C="vllm serve org/m"; if x; then C="$C -tp $TP"; fi; eval "$C"`:                            {perhaps},
		`A="--model org/m"; [ -f /x ] && A="$A --tokenizer a/t"; A="$A --port $P"; vllm serve $A`:   {model, "a/t tokenizer huggingface inferred"},
		`if x; then T="--tokenizer a/t"; fi; A="--model org/m $T"; vllm serve $A`:                   {perhaps, "a/t tokenizer huggingface inferred"},
		`set -- --model org/m; [ -n "$L" ] && set -- "$@" --enable-lora; exec vllm serve "$@"`:      {model},
		`set -- --model org/m; x && set -- --model c/d; exec vllm serve "$@"`:                       {"c/d served huggingface"},
		`set -- --model org/m; x || set -- --model c/d; exec vllm serve "$@"`:                       {"$@ served unresolved=@"},
		`A="org/m --port 1"; if x; then A="$A --quiet"; fi; A="$A --seed 1"; vllm serve $A`:         {model},
		`A="--model org/m --tensor-parallel-size $TP --served-model-name $(cat /n)"; vllm serve $A`: {model},
		`A="--model $M --tensor-parallel-size 2"; vllm serve $A`:                                    {"${M} served unresolved=M"},
		`A="--port 1 "; A+="--model org/m"; vllm serve $A`:                                          {model},
		// What a condition decides
		`if [ -z "$M" ]; then M=org/m; fi; vllm serve "$M"`:                                                                     {perhaps},
		`S=large; if [ "$S" = large ]; then M=org/m; else M=c/d; fi; vllm serve $M`:                                             {model},
		`S=large; case "$S" in small) M=c/d;; large|huge) M=org/m;; *) M=e/f;; esac; vllm serve $M`:                             {model},
		`S=large; if [[ $S == small && -n x ]]; then vllm serve c/d; elif [[ $S != large ]]; then :; else vllm serve org/m; fi`: {model},
		`case "$S" in small) M=c/d;; *) M=org/m;; esac; vllm serve $M`:                                                          {"$M served unresolved=M (set under a condition in the script)"},
		`if [ "$LWS_WORKER_INDEX" = 0 ]; then vllm serve org/m; else ray start; fi`:                                             {perhaps},
		`M=org/m; if [ -d /cache/m ]; then M=/cache/m; fi; vllm serve $M`:                                                       {perhaps},
		`M=/cache/m; if [ ! -d $M ]; then M=org/m; fi; vllm serve $M`:                                                           {perhaps},
		// Functions
		`b() { A=(--model org/m); }; s() { b; exec vllm serve "${A[@]}"; }; s`:              {model},
		`serve() { local m="$1"; shift; exec vllm serve "$m" "$@"; }; serve org/m --port 1`: {model},
		`retry() { until "$@"; do sleep 10; done; }; retry vllm serve org/m`:                {model},
		`run() { echo "+ $*"; exec "$@"; }; run vllm serve org/m`:                           {model},
		`main() { vllm serve "$1"; }; main "$@"`:                                            {"org/m served huggingface"},
		`M=org/m; f() { local M=c/d; }; f; vllm serve $M`:                                   {model},
		`f() { f; f; }; f; vllm serve org/m`:                                                {model},
		`f() { exit 0; }; f; vllm serve org/m`:                                              nil,
		// Loops
		`L="a/b c/d"; for m in $L; do vllm serve $m & done; wait`:             {"a/b served huggingface", "c/d served huggingface"},
		`for i in 1 2 3; do vllm serve org/m && break; sleep 1; done`:         {model},
		`U=https://h/m.gguf; F=/models/$(basename "$U" .gguf); vllm serve $F`: {"/models/m served file"},
		`vllm serve $(dirname /models/m/config.json)`:                         {"/models/m served file"},
		`vllm serve $(basename $M)`:                                           {"$(…) served unresolved=M"},
		// Wrappers
		`uv run --torch-backend auto --extra gpu vllm serve org/m`:         {model},
		`pixi run -e cuda vllm serve org/m`:                                {model},
		`conda run --name x vllm serve org/m`:                              {model},
		`LD_PRELOAD=/x taskset -c 0-15 vllm serve org/m`:                   {model},
		`opentelemetry-instrument --traces_exporter otlp vllm serve org/m`: {model},
		// Files that the script writes
		"cat > /run.sh <<'E'\n#!/bin/sh\nvllm serve org/m\nE\nchmod +x /run.sh; exec /run.sh":                    {model},
		"cat > t.py <<'E'\nLLM(\"org/m\")\nE\naccelerate launch t.py":                                            {perhaps},
		"cat <<'E' | tee /w/t.py\nfrom vllm import LLM\nLLM(\"org/m\")\nE\npython /w/t.py":                       {perhaps},
		"cat > server.py <<'E'\npipeline(\"text-generation\", model=\"org/m\")\nE\nuvicorn server:app":           {perhaps},
		"cat > server.py <<'E'\npipeline(\"text-generation\", model=\"org/m\")\nE\npython -m uvicorn server:app": {perhaps},
		`echo 'from vllm import LLM; llm = LLM("org/m")' > /tmp/a.py; python3 /tmp/a.py`:                         {perhaps},
	} {
		t.Run(script, func(t *testing.T) {
			NewWithT(t).Expect(scripted(script, "sh", "org/m")).To(Equal(want))
		})
	}
}

func TestModelsInVariablesOfScripts(t *testing.T) {
	for script, want := range map[string][]string{
		"export MODEL_ID=a/b; exec text-generation-launcher":           {"a/b served huggingface"},
		"MODEL_ID=a/b text-generation-launcher":                        {"a/b served huggingface"},
		"MODEL_ID=a/b; export MODEL_ID; text-generation-launcher":      {"a/b served huggingface"},
		"MODEL_ID=a/b; text-generation-launcher":                       nil,
		"export MODEL_ID=$(cat x); text-generation-launcher":           {"$(MODEL_ID) served unresolved=MODEL_ID (a command's output)"},
		"if x; then export MODEL_ID=a/b; fi; text-generation-launcher": {"a/b served huggingface inferred"},
		"export MODEL_ID=a/b; vllm serve $MODEL_ID":                    {"a/b served huggingface"},
		"env -i MODEL_ID=a/b text-generation-launcher":                 {"a/b served huggingface"},
		"export OTHER=a/b; text-generation-launcher":                   nil,
		"export MODEL_ID=a/b MODEL_ID=c/d; text-generation-launcher":   {"c/d served huggingface"},
	} {
		report := PodWorkload(deployment(shell(plain, script)))
		NewWithT(t).Expect(lines(report, evidence.TypeModel)).To(Equal(want), script)
	}
	for script, want := range map[string][]string{
		"export BASE_MODEL=c/d; text-generation-launcher":            {"c/d served huggingface"},
		"BASE_MODEL=c/d; text-generation-launcher":                   {"c/d served huggingface"},
		"if x; then BASE_MODEL=c/d; fi; text-generation-launcher":    {"a/b served huggingface", "c/d served huggingface inferred"},
		"export BASE_MODEL=${BASE_MODEL}x; text-generation-launcher": {"a/bx served huggingface"},
	} {
		report := PodWorkload(deployment(shell(plain, script, env("BASE_MODEL=a/b")...)))
		NewWithT(t).Expect(lines(report, evidence.TypeModel)).To(Equal(want), script)
	}
}

func TestPositionalBehindAFlagWithoutValue(t *testing.T) {
	for name, test := range map[string]struct {
		container corev1.Container
		want      string
	}{
		"enforce-eager":   {withCommand(plain, "vllm", "serve", "--enforce-eager", "org/m"), "org/m served huggingface"},
		"a family":        {withCommand(plain, "vllm", "serve", "--enable-lora", "--no-enable-prefix-caching", "org/m"), "org/m served huggingface"},
		"snake case":      {withCommand(plain, "vllm", "serve", "--trust_remote_code", "org/m", "--port", "1"), "org/m served huggingface"},
		"a value between": {withCommand(plain, "vllm", "serve", "--dtype", "half", "org/m"), "org/m served huggingface"},
		"ollama":          {withCommand("ollama/ollama:0.12.6", "ollama", "run", "--verbose", "llama3.2"), "llama3.2 served ollama"},
	} {
		report := PodWorkload(deployment(test.container))
		NewWithT(t).Expect(lines(report, evidence.TypeModel)).To(Equal([]string{test.want}), name)
	}
	in := deployment(withArgs(vllmImage, "--model=/models/m"))
	in.Template.Spec.InitContainers = []corev1.Container{withCommand(plain, "huggingface-cli", "download", "--resume-download", "org/m", "--local-dir", "/m")}
	NewWithT(t).Expect(lines(PodWorkload(in), evidence.TypeData)).To(Equal([]string{"org/m download huggingface"}))
}
