// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"fmt"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// invocation is one program that a container runs, with its words; words[0] is the program,
// or the first argument where the image's own entrypoint runs.
type invocation struct {
	words []word
	// entrypoint is true when the program is the image's own, which the manifest does not name.
	entrypoint bool
}

// readInvocations lists the programs that a container's command and args run. A shell with
// -c is looked into.
func readInvocations(p *pod, c *corev1.Container, at string, env *environment) []invocation {
	var words []word
	size := 0
	add := func(field string, source evidence.Source, items []string) {
		for i, item := range items {
			locator := fmt.Sprintf("%s.%s[%d]", at, field, i)
			if len(words) == maxWords {
				p.note("%s and later words were not read: more than %d words", locator, maxWords)
				return
			}
			if len(item) > maxScriptBytes {
				p.note("%s was read up to its first %d bytes", locator, maxScriptBytes)
				item = clip(item, maxScriptBytes)
			}
			w := env.expand(word{
				text:     item,
				evidence: []evidence.Evidence{{Source: source, Locator: locator}},
			})
			if size += len(w.text); size > maxCommandBytes {
				p.note("%s and later words were not read: more than %d bytes", locator, maxCommandBytes)
				return
			}
			words = append(words, w)
		}
	}
	add("command", evidence.SourceCommand, c.Command)
	add("args", evidence.SourceArgument, c.Args)
	if len(words) == 0 {
		return nil
	}
	if len(c.Command) == 0 && shellScript(words) < 0 {
		return []invocation{{words: words, entrypoint: true}}
	}
	return unfold(p, words, env, 0)
}

// unfold looks through wrappers and shells at the programs that really run.
func unfold(p *pod, words []word, env *environment, depth int) []invocation {
	words = unwrap(words)
	if len(words) == 0 {
		return nil
	}
	script := shellScript(words)
	if script < 0 {
		return []invocation{{words: words}}
	}
	if depth == maxScriptDepth {
		p.note("%s was not read: shells within shells", words[script].evidence[0].Locator)
		return nil
	}
	commands, err := readScript(words[script], env)
	if err != nil {
		p.note("%s is not a shell script that can be parsed: %v", words[script].evidence[0].Locator, err)
		return nil
	}
	var all []invocation
	for _, command := range commands {
		all = append(all, unfold(p, command, env, depth+1)...)
	}
	return all
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
			if len(rest) == 0 || !set(w.Sub)[rest[0].text] {
				return words
			}
			rest = rest[1:]
		}
		rest = skipFlags(rest, w.ValueFlags)
		for range w.Words {
			if len(rest) > 0 {
				rest = rest[1:]
			}
		}
		for w.Exec == "env" && len(rest) > 0 && strings.Contains(rest[0].text, "=") {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			return nil
		}
		words = rest
	}
	return words
}

func skipFlags(words []word, valueFlags []string) []word {
	takesValue := set(valueFlags)
	for len(words) > 0 && strings.HasPrefix(words[0].text, "-") {
		flag := words[0].text
		words = words[1:]
		if flag == "--" {
			break
		}
		if takesValue[flag] && len(words) > 0 {
			words = words[1:]
		}
	}
	return words
}

// runs says whether the invocation starts the program, and where its own arguments begin.
func (inv invocation) runs(p *program) (args int, ok bool) {
	if inv.entrypoint {
		return 0, false
	}
	switch {
	case p.Exec != "":
		if path.Base(inv.words[0].text) != p.Exec {
			return 0, false
		}
		return inv.subcommand(1, p.Sub)
	case p.Module != "":
		for i := 0; i+1 < len(inv.words); i++ {
			module := inv.words[i+1].text
			if inv.words[i].text == "-m" && (module == p.Module || strings.HasPrefix(module, p.Module+".")) {
				return inv.subcommand(i+2, p.Sub)
			}
		}
	case p.Script != "":
		for i, w := range inv.words {
			if path.Base(w.text) == p.Script {
				return inv.subcommand(i+1, p.Sub)
			}
		}
	}
	return 0, false
}

func (inv invocation) subcommand(at int, sub []string) (args int, ok bool) {
	for _, s := range sub {
		if at >= len(inv.words) || inv.words[at].text != s {
			return 0, false
		}
		at++
	}
	return at, true
}

// positional is the first word from at on that is neither a flag nor, as far as can be told
// without knowing every flag, a flag's value.
func (inv invocation) positional(at int) (word, bool) {
	for i := at; i < len(inv.words); i++ {
		if strings.HasPrefix(inv.words[i].text, "-") {
			continue
		}
		previous := ""
		if i > at {
			previous = inv.words[i-1].text
		}
		if strings.HasPrefix(previous, "-") && !strings.Contains(previous, "=") {
			continue
		}
		return inv.words[i], true
	}
	return word{}, false
}

// flag is one --name value or --name=value of an invocation.
type flag struct {
	name  string
	value word
}

// flags lists the invocation's flags. Names are without dashes and in kebab case. With
// dashless, key=value words count as well.
func (inv invocation) flags(dashless bool, short map[string]string) []flag {
	var all []flag
	for i, w := range inv.words {
		name, value, joined := strings.Cut(w.text, "=")
		dashes := len(name) - len(strings.TrimLeft(name, "-"))
		if long, ok := short[name]; ok && dashes == 1 {
			name, dashes = "--"+long, 2
		}
		if dashes != 2 && !(dashes == 1 && len(name) > 2) && !(dashless && joined && dashes == 0) {
			continue
		}
		f := flag{name: flagName(name)}
		switch {
		case joined:
			f.value = word{text: value, evidence: w.evidence, missing: w.missing}
		case i+1 < len(inv.words) && !strings.HasPrefix(inv.words[i+1].text, "-"):
			next := inv.words[i+1]
			f.value = word{text: next.text, evidence: next.evidence, missing: next.missing}
		}
		all = append(all, f)
	}
	return all
}
