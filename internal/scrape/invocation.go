// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"path"
	"slices"
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// invocation is one program that a container runs, with its words; words[0] is the program,
// or the first argument where the image's own entrypoint runs.
type invocation struct {
	words []word
	// entrypoint is true when the program is the image's own, which the manifest does not
	// name. Many such entrypoints run their arguments, so these may name a program all the same.
	entrypoint bool
	// folder is where it runs, as far as that is known.
	folder string
	// starts are the known programs among the words, at most one of each product.
	starts []start
	// code is the Python code that it runs, as far as the command line holds it.
	code []pythonProgram
}

// start is a known program that an invocation runs; its own arguments begin at words[args].
type start struct {
	product *product
	program *program
	args    int
}

// maxGlobalFlags is how many words a download program may take before its subcommand.
const maxGlobalFlags = 8

// maxModuleParts is how many folders deep a module lies that is run as a script.
const maxModuleParts = 8

// startsOf recognises a program by its name and a Python module by -m, or by --module, as
// launchers have it.
func startsOf(words []word) []start {
	var all []start
	add := func(candidates []start, at int) {
		for _, s := range candidates {
			args, ok := subcommand(words, at, s.program.Sub)
			for begin := at + 1; !ok && s.program.Download && len(s.program.Sub) > 0 && begin < min(len(words), at+maxGlobalFlags); begin++ {
				args, ok = subcommand(words, begin, s.program.Sub) // aws --region x s3 cp
			}
			if ok && !slices.ContainsFunc(all, func(have start) bool { return have.product == s.product }) {
				all = append(all, start{s.product, s.program, args})
			}
		}
	}
	name := execName(words[0].text)
	add(index.execs[name], 1)
	for _, s := range index.execGlobs {
		if matchesSegment(s.program.Exec, name) || matchesSegment(s.program.Exec, words[0].text) {
			add([]start{s}, 1)
		}
	}
	modules, args := scriptModules(words)
	for _, module := range modules {
		add(modulesOf(module, 2), args)
	}
	for i := 0; i+1 < len(words); i++ {
		if words[i].text != "-m" && (words[i].text != "--module" || len(all) == 0) {
			continue
		}
		add(modulesOf(clip(words[i+1].text, maxNameBytes), 1), i+2)
	}
	return all
}

// modulesOf are the known programs that are the module or a parent of it of so many parts, be it below
// the folder in which many repositories keep their sources.
func modulesOf(module string, parts int) []start {
	var all []start
	module = strings.TrimPrefix(module, "src.")
	for strings.Count(module, ".") >= parts-1 && module != "" {
		all = append(all, index.modules[module]...)
		module = module[:max(strings.LastIndexByte(module, '.'), 0)]
	}
	return all
}

// scriptModules are the modules that a script may be which Python runs by its path, as in python3
// MaxText/train.py: all that the path ends in. Its arguments begin at words[args].
func scriptModules(words []word) (modules []string, args int) {
	if !strings.HasPrefix(path.Base(words[0].text), "python") {
		return nil, 0
	}
	for args = 1; args < len(words) && words[args].text == "-u"; args++ {
	}
	if args >= len(words) {
		return nil, 0
	}
	name, ok := strings.CutSuffix(clip(words[args].text, maxNameBytes), ".py")
	if !ok || strings.HasPrefix(name, "-") {
		return nil, 0
	}
	folders := strings.Split(path.Clean(name), "/")
	for folders = folders[max(0, len(folders)-maxModuleParts):]; len(folders) > 1; folders = folders[1:] {
		modules = append(modules, strings.Join(folders, "."))
	}
	return modules, args + 1
}

// execName is a program's name without its folder, and without the version that npx takes.
func execName(text string) string {
	name, _, _ := strings.Cut(path.Base(text), "@")
	return name
}

func subcommand(words []word, at int, sub []string) (args int, ok bool) {
	for _, s := range sub {
		if at >= len(words) || words[at].text != s {
			return 0, false
		}
		at++
	}
	return at, true
}

// isPython says whether the program is a Python interpreter, whose -m is no flag of what it runs.
func (inv invocation) isPython() bool {
	return strings.HasPrefix(path.Base(inv.words[0].text), "python")
}

// positional is the first word that is neither a flag nor, as far as can be told without
// knowing every flag, a flag's value.
func positional(words []word) (word, bool) {
	flag, values := "", 0
	for _, w := range words {
		if strings.HasPrefix(w.text, "-") {
			name, _, joined := strings.Cut(w.text, "=")
			flag, values = flagName(name), 0
			if joined {
				values = 1
			}
			if !joined && matchesName(patterns.BooleanFlags, flag) {
				flag = ""
			}
			continue
		}
		if flag == "" || (values > 0 && !index.manyValueFlags[flag]) {
			return w, true
		}
		values++
	}
	return word{}, false
}

// matchesName says whether the name is one of the patterns, of which a trailing * stands for
// any ending.
func matchesName(patterns []string, name string) bool {
	for _, p := range patterns {
		if begin, open := strings.CutSuffix(p, "*"); p == name || (open && strings.HasPrefix(name, begin)) {
			return true
		}
	}
	return false
}

// artefact is the address that a program for copying copies from. A path before it makes it
// the address that is copied to, except where the program only ever downloads.
func artefact(words []word, downloads bool) (word, bool) {
	for _, w := range words {
		if !downloads && (strings.HasPrefix(w.text, "/") || strings.HasPrefix(w.text, ".")) {
			return word{}, false
		}
		if isArtefact(w.text) {
			return w, true
		}
	}
	return word{}, false
}

// flag is one --name value or --name=value of an invocation.
type flag struct {
	name string
	// at is where the flag stands.
	at []evidence.Evidence
	// values are the words up to the next flag, of which most flags take one only.
	values []word
}

// value is the first of the values, and empty where there is none.
func (f flag) value() word {
	if len(f.values) == 0 {
		return word{}
	}
	return f.values[0]
}

// flags lists the invocation's flags. Names are without dashes and in kebab case. With
// dashless, key=value words count as well. Where a flag and its value are one word, as in
// "--model org/m", which an entrypoint's script takes apart, they are read like --model=org/m.
func (inv invocation) flags(dashless bool, short map[string]string) []flag {
	var all []flag
	for i, w := range inv.words {
		name, value, joined := cutFlag(w.text)
		dashes := len(name) - len(strings.TrimLeft(name, "-"))
		if long, ok := short[name]; ok && dashes == 1 {
			name, dashes = "--"+long, 2
		}
		isFlag := dashes == 2 || (dashes == 1 && len(name) > 2) || (dashes == 0 && dashless && joined)
		if !isFlag {
			continue
		}
		f := flag{name: flagName(name), at: w.evidence}
		if joined {
			w.text = value
			f.values = []word{w}
		}
		if !joined || (dashes > 0 && index.manyValueFlags[f.name]) {
			f.values = append(f.values, untilFlag(inv.words[i+1:])...)
		}
		all = append(all, f)
	}
	return all
}

// cutFlag takes a word apart into the name of a flag and the value that is joined to it, if one is.
func cutFlag(text string) (name, value string, joined bool) {
	i := strings.IndexAny(text, "= ")
	if i < 0 || (text[i] == ' ' && !strings.HasPrefix(text, "-")) {
		return strings.Cut(text, "=")
	}
	if value = text[i+1:]; text[i] == ' ' {
		value, _, _ = strings.Cut(value, " -") // the flags behind it are not told apart
	}
	return text[:i], strings.TrimSpace(value), true
}

// untilFlag are the words before the next flag.
func untilFlag(words []word) []word {
	for i, w := range words {
		if strings.HasPrefix(w.text, "-") {
			return words[:i]
		}
	}
	return words
}
