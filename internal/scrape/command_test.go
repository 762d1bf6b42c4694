// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"strings"
	"testing"
)

func wordsOf(texts ...string) []word {
	var all []word
	for _, text := range texts {
		all = append(all, word{text: text})
	}
	return all
}

func textOf(words []word) string {
	var all []string
	for _, w := range words {
		all = append(all, w.text)
	}
	return strings.Join(all, "|")
}

func TestShellScript(t *testing.T) {
	for line, want := range map[string]string{
		"sh|-c|S": "S", "/bin/bash|-c|S|arg0": "S", "bash|-lc|S": "S", "bash|-euo|pipefail|-c|S": "S",
		"bash|-ceuo|pipefail|S": "S", "bash|-o|pipefail|-c|S": "S", "bash|-c|-o|pipefail|S": "S", "bash|+e|-c|S": "S",
		"sh|-c|--|S": "S", "bash|--norc|-c|S": "S", "busybox|sh|-c|S": "S", "sh|-xc|S": "S",
		"sh|-c": "", "sh": "", "bash|run.sh": "", "bash|run.sh|-c|S": "", "busybox|wget|-c|S": "", "python|-c|S": "", "|": "",
	} {
		words := wordsOf(strings.Split(line, "|")...)
		got := ""
		if i := shellScript(words); i >= 0 {
			got = words[i].text
		}
		if got != want {
			t.Errorf("%s runs %q, want %q", line, got, want)
		}
	}
}

func TestUnwrap(t *testing.T) {
	for line, want := range map[string]string{
		"mpirun|-np|2|--allow-run-as-root|-bind-to|none|-mca|pml|ob1|-x|A=b|python|train.py": "python|train.py",
		"mpirun|-n|16|--hostfile|/h|trtllm-llmapi-launch|trtllm-serve|serve|org/m":           "trtllm-serve|serve|org/m",
		"vllm|serve":                         "vllm|serve",
		"exec|vllm":                          "vllm",
		"/usr/bin/env|-u|X|A=b|C=d|vllm":     "vllm",
		"tini|-g|--|vllm":                    "vllm",
		"timeout|-k|5|10|vllm|serve":         "vllm|serve",
		"sudo|-u|user|nice|-n|5|vllm":        "vllm",
		"uv|run|--with|x|vllm|serve":         "vllm|serve",
		"uv|pip|install|x":                   "uv|pip|install|x",
		"conda|run|-n|env|--no-capture|vllm": "vllm",
		"gosu|user|vllm":                     "vllm",
		"timeout":                            "",
		"timeout|5":                          "",
		"exec":                               "",
		"uv":                                 "uv",
		"env|A=b":                            "",
	} {
		if got := textOf(unwrap(wordsOf(strings.Split(line, "|")...))); got != want {
			t.Errorf("%s runs %q, want %q", line, got, want)
		}
	}
}

func TestPositional(t *testing.T) {
	for line, want := range map[string]string{
		"m": "m", "--a|b|m": "m", "--a=b|m": "m", "-a|b|m": "m", "--a|--b|c": "", "m|--a|b": "m", "--a": "", "": "",
		"--served-model-name|a|b": "", "--lora-modules=a=b|c=d": "", "--lora-modules|a=b|c=d|--x=y|m": "m",
	} {
		got, _ := positional(wordsOf(strings.Split(line, "|")...))
		if got.text != want {
			t.Errorf("%s names %q, want %q", line, got.text, want)
		}
	}
}

func TestFlags(t *testing.T) {
	inv := invocation{words: wordsOf("prog", "--a", "1", "--b_c=2", "-d", "3", "-long", "4", "--e", "--f", "k=v", "--served-model-name", "x", "y")}
	var got []string
	for _, f := range inv.flags(true, map[string]string{"-d": "dee"}) {
		got = append(got, f.name+"="+textOf(f.values))
	}
	want := "a=1 b-c=2 dee=3 long=4 e= f=k=v k=v served-model-name=x|y"
	if strings.Join(got, " ") != want {
		t.Errorf("%s, want %s", strings.Join(got, " "), want)
	}
}

func TestInstalledPackages(t *testing.T) {
	for line, want := range map[string]string{
		"pip|install|a|-U|b==1": "a|b==1", "python|-m|pip|install|a": "a", "uv|pip|install|a": "a", "apt|install|a": "", "pip|list": "", "install|a": "",
	} {
		if got := textOf(invocation{words: wordsOf(strings.Split(line, "|")...)}.installedPackages()); got != want {
			t.Errorf("%s installs %q, want %q", line, got, want)
		}
	}
	for requirement, want := range map[string]string{
		"a": "a ", "a==1.2.3": "a 1.2.3", "a[x,y]==1.2": "a 1.2", "a>=1.2": "a ", "a~=1.2": "a ", "a ; python_version<'3'": "a ", "a@https://x": "a ", "a==1.2; x": "a ", "": " ",
	} {
		if got := packageName(requirement) + " " + packageVersion(requirement); got != want {
			t.Errorf("%s is %q, want %q", requirement, got, want)
		}
	}
}
