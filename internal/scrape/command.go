// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// readInvocations lists the programs that a container's command and args run. A shell with
// -c is looked into.
func readInvocations(p *pod, c *corev1.Container, at string, env *environment) []invocation {
	words := append(readWords(p, at+".command", evidence.SourceCommand, c.Command, env),
		readWords(p, at+".args", evidence.SourceArgument, c.Args, env)...)
	if len(words) == 0 {
		return nil
	}
	entrypoint := len(c.Command) == 0 && shellScript(words) < 0
	if program := entrypointOf(c.Image); entrypoint && program != "" {
		image := []evidence.Evidence{{Source: evidence.SourceImage, Locator: at + ".image"}}
		words = append([]word{{text: program, evidence: image}}, words...)
	}
	all := unfold(p, words, env, 0)
	walk(all, c.WorkingDir)
	for i := range all {
		all[i].entrypoint = entrypoint
		all[i].starts = startsOf(all[i].words)
		all[i].code = readPythonPrograms(all[i], env)
	}
	return all
}

// walk follows the cd of a script, to say where its programs run.
func walk(all []invocation, folder string) {
	for i := range all {
		all[i].folder = folder
		if words := all[i].words; words[0].text == "cd" && len(words) > 1 {
			switch to := words[1]; {
			case len(to.missing) > 0 || to.conditional:
				folder = ""
			case isLocalPath(to.text):
				folder = to.text
			case folder != "":
				folder = path.Join(folder, to.text)
			}
			if len(folder) > maxNameBytes {
				folder = "" // every cd in a script could make it longer
			}
		}
	}
}

// readHook lists the programs that run in the container once it has started.
func readHook(p *pod, c *corev1.Container, at string, env *environment) []invocation {
	if c.Lifecycle == nil || c.Lifecycle.PostStart == nil || c.Lifecycle.PostStart.Exec == nil {
		return nil
	}
	words := readWords(p, at+".lifecycle.postStart.exec.command", evidence.SourceCommand, c.Lifecycle.PostStart.Exec.Command, env)
	all := unfold(p, words, env, 0)
	for i := range all {
		all[i].starts = startsOf(all[i].words)
		all[i].code = readPythonPrograms(all[i], env)
	}
	return all
}

// entrypointOf is the program that an image of a known program runs with its arguments.
func entrypointOf(reference string) string {
	parsed := parseImage(reference)
	for _, e := range patterns.Entrypoints {
		if matchesAny(e.Images, parsed) {
			return e.Exec
		}
	}
	return ""
}

// readWords are the items of a command or of its arguments as Kubernetes hands them to the
// container.
func readWords(p *pod, at string, source evidence.Source, items []string, env *environment) []word {
	var words []word
	for i, item := range items {
		locator := fmt.Sprintf("%s[%d]", at, i)
		if len(item) > maxScriptBytes {
			p.note("%s was read up to its first %d bytes", locator, maxScriptBytes)
			item = clip(item, maxScriptBytes)
		}
		w := env.expand(word{
			text:     item,
			evidence: []evidence.Evidence{{Source: source, Locator: locator}},
		})
		if !p.afford(1, len(w.text)) {
			p.note("%s and later words were not read: the workload's commands are too long", locator)
			return words
		}
		words = append(words, w)
	}
	return words
}

// unfold looks through wrappers and shells at the programs that really run.
func unfold(p *pod, words []word, env *environment, depth int) []invocation {
	exportAssigned(p, words, env)
	words = unwrap(words)
	if len(words) == 0 {
		return nil
	}
	script, parameters := shellScript(words), []word(nil)
	if script >= 0 {
		parameters = words[script+1:]
	}
	if words[0].text == "eval" && depth > 0 && len(words) > 1 {
		words, script = []word{joined(words[1:])}, 0
		if len(words[0].missing) > 0 {
			p.note("%s was not read in full: it runs what is not known", words[0].evidence[0].Locator)
		}
	}
	if script < 0 {
		return []invocation{{words: words}}
	}
	at := words[script].evidence[0].Locator
	if depth == maxScriptDepth {
		p.note("%s was not read in full: shells within shells", at)
		return nil
	}
	if !p.affordScript(len(words[script].text)) {
		p.note("%s was not read in full: the workload's scripts are too long", at)
		return nil
	}
	commands, err := readScript(p, words[script], parameters, env)
	if err != nil {
		p.note("%s is not a shell script that can be read: %v", at, err)
	}
	var all []invocation
	for _, command := range commands {
		all = append(all, unfold(p, command, env, depth+1)...)
	}
	return all
}

// exportAssigned keeps what env NAME=value sets for the program behind it.
func exportAssigned(p *pod, words []word, env *environment) {
	for i, w := range words {
		name, value, found := strings.Cut(w.text, "=")
		if i == 0 {
			if path.Base(w.text) != "env" {
				return
			}
			continue
		}
		if !found && !strings.HasPrefix(w.text, "-") {
			return
		}
		if found && p.matters(name) {
			env.export(name, variable{value: value, evidence: w.evidence, missing: joinMissing(w.missing)}, w.conditional)
		}
	}
}

// joined is the script that eval makes of its words.
func joined(words []word) word {
	script := words[0]
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.text
		script.evidence = appendEvidence(script.evidence, w.evidence...)
		script.missing = addMissing(script.missing, w.missing...)
	}
	script.text = clip(strings.Join(texts, " "), maxScriptBytes)
	return script
}

var shells = set([]string{"sh", "bash", "ash", "dash", "zsh", "ksh", "busybox"})

// shellScript is the position of the script in sh -c "script", and -1 where the words are
// not that.
func shellScript(words []word) int {
	if !shells[path.Base(words[0].text)] {
		return -1
	}
	for i := 1; i < len(words)-1; i++ {
		flag := words[i].text
		if flag == "sh" && i == 1 { // busybox sh
			continue
		}
		if !strings.HasPrefix(flag, "-") && !strings.HasPrefix(flag, "+") {
			if i > 1 && takesOption(words[i-1].text) {
				continue
			}
			return -1
		}
		if !strings.HasPrefix(flag, "-") || strings.HasPrefix(flag, "--") || !strings.ContainsRune(flag, 'c') {
			continue
		}
		script := i + 1
		for script < len(words)-1 && strings.HasPrefix(words[script].text, "-") {
			if takesOption(words[script].text) && script+2 < len(words) {
				script++ // bash -c -o pipefail
			}
			script++
		}
		if script < len(words)-1 && takesOption(flag) {
			script++ // bash -euo pipefail -c and bash -ceuo pipefail both occur
		}
		return script
	}
	return -1
}

// takesOption says whether a shell flag is followed by an option's name, as in -o pipefail.
func takesOption(flag string) bool {
	return len(flag) > 1 && (flag[0] == '-' || flag[0] == '+') && flag[1] != '-' && strings.HasSuffix(flag, "o")
}

// unwrap drops programs that only run the program that follows them.
func unwrap(words []word) []word {
	for len(words) > 0 {
		w, ok := index.wrappers[path.Base(words[0].text)]
		if !ok {
			return words
		}
		rest := words[1:]
		if len(w.Sub) > 0 {
			if len(rest) == 0 || !slices.Contains(w.Sub, rest[0].text) {
				return words
			}
			rest = rest[1:]
		}
		rest = skipFlags(rest, w.ValueFlags)
		rest = rest[min(w.Words, len(rest)):]
		for w.Exec == "env" && len(rest) > 0 && strings.Contains(rest[0].text, "=") {
			rest = rest[1:]
		}
		words = rest
	}
	return nil
}

func skipFlags(words []word, valueFlags []string) []word {
	for len(words) > 0 && strings.HasPrefix(words[0].text, "-") {
		flag := words[0].text
		words = words[1:]
		if flag == "--" {
			break
		}
		for _, f := range valueFlags {
			if f == flag && len(words) > 0 {
				words = words[1:]
			}
		}
	}
	return words
}
