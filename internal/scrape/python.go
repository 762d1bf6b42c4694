// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"path"
	"slices"
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// readPythonPrograms reads the code of python -c among the invocation's words; scripts hand
// what a program reads from its standard input to it in this way as well.
func readPythonPrograms(inv invocation, env *environment) []pythonProgram {
	if !inv.isPython() {
		return nil
	}
	var all []pythonProgram
	for i, w := range inv.words[1:] {
		if inv.words[i].text == "-c" {
			all = append(all, readPythonCode(w, env))
		}
	}
	return all
}

// recogniseImports looks for the modules that Python code imports, and for what trains.
func (c *container) recogniseImports(inv invocation) {
	for _, program := range inv.code {
		for i := range patterns.Products {
			if p := &patterns.Products[i]; p.isImportedBy(program) {
				c.detect(p, strengthCommand, "", inv.words[0].evidence...)
			}
		}
		if slices.ContainsFunc(program.calls, func(call pythonCall) bool { return strings.HasSuffix(call.name, "Trainer") }) {
			c.signals = append(c.signals, signal{evidence.CategoryTraining, strengthCommand})
		}
	}
}

// pythonRule is a function that takes a model or dataset.
type pythonRule struct {
	// Call is the function's name.
	Call string `json:"call"`
	// Keys are the keywords that take it; Position is that of a positional argument, and -1
	// where only a keyword takes it.
	Keys     []string `json:"keys"`
	Position int      `json:"position"`
	// Role is what the thing is to the code.
	Role evidence.Role   `json:"role"`
	Hub  evidence.Origin `json:"hub,omitempty"`
	// Of are the objects whose function this is, and NotOf those whose function of that name is another.
	Of    []string `json:"of,omitempty"`
	NotOf []string `json:"notOf,omitempty"`
}

// isOf says whether the rule is about a function of that object.
func (r pythonRule) isOf(receiver string) bool {
	return (len(r.Of) == 0 || slices.Contains(r.Of, receiver)) && !slices.Contains(r.NotOf, receiver)
}

// loaderKeys are the keywords by which the loaders of products take a model.
var loaderKeys = []string{"model", "model_path", "model_id", "model_name", "model_name_or_path", "pretrained_model_name_or_path", "repo_id"}

// readPython reads the models and datasets that Python code names, and says whether all it does
// is to fetch them.
func (c *container) readPython(inv invocation) bool {
	fetched, used := false, false
	for _, program := range inv.code {
		for _, call := range program.calls {
			for _, m := range c.pythonModels(call) {
				c.addModel(m)
				fetched = fetched || m.role == evidence.RoleDownload
				used = used || m.role != evidence.RoleDownload
			}
		}
	}
	return fetched && !used
}

// pythonModels are what one call names.
func (c *container) pythonModels(call pythonCall) []model {
	var all []model
	for _, p := range c.products {
		if !slices.Contains(p.Loaders, call.name) {
			continue
		}
		if w, ok := call.argument(0, loaderKeys...); ok {
			return []model{{value: w, role: evidence.RoleServed, hub: p.Hub, inferred: true}}
		}
	}
	for _, rule := range index.pythonRules[call.name] {
		w, ok := call.argument(rule.Position, rule.Keys...)
		if !ok || isLiteralKind(rule, w) || !rule.isOf(call.receiver) {
			continue
		}
		m := model{value: w, role: rule.Role, hub: rule.Hub, inferred: true}
		m.dataset = rule.Role == evidence.RoleDataset || rule.Role == evidence.RoleDownload
		tokenizer := strings.Contains(call.receiver, "Tokenizer") || strings.Contains(call.receiver, "Processor")
		switch {
		case c.onlyFetches() && rule.Role != evidence.RoleOutput && rule.Role != evidence.RoleCalled:
			m.role, m.dataset = evidence.RoleDownload, true
		case tokenizer && rule.Role == evidence.RoleServed:
			m.role = evidence.RoleTokenizer
		}
		if to, ok := call.argument(-1, "local_dir"); ok && m.role == evidence.RoleDownload && len(to.missing) == 0 {
			m.into = []string{path.Clean(to.text)}
		}
		all = append(all, m)
	}
	return all
}

// isLiteralKind says whether the argument is no model but a kind of data that is built in, as in
// load_dataset("json", ...).
func isLiteralKind(rule pythonRule, w word) bool {
	return rule.Role == evidence.RoleDataset &&
		slices.Contains([]string{"json", "csv", "text", "parquet", "arrow", "imagefolder", "audiofolder", "pandas"}, w.text)
}

// onlyFetches says whether code that loads a model does so for the sake of having it: an init
// container's, and a Job's without an accelerator and without a known product.
func (c *container) onlyFetches() bool {
	return c.init || (c.isJob() && !c.accelerated && len(c.signals) == 0)
}

// loadsInPython says whether Python code loads a model of a hub to use it.
func (c *container) loadsInPython(invocations []invocation) bool {
	return slices.ContainsFunc(invocations, func(inv invocation) bool {
		return slices.ContainsFunc(inv.code, func(p pythonProgram) bool {
			return slices.ContainsFunc(p.calls, func(call pythonCall) bool {
				return slices.ContainsFunc(c.pythonModels(call), func(m model) bool {
					return m.role == evidence.RoleServed && m.hub == evidence.OriginHuggingFace && hubName.MatchString(m.value.text)
				})
			})
		})
	})
}

// fetchesInPython says whether the code fetches something.
func (c *container) fetchesInPython(inv invocation) bool {
	return slices.ContainsFunc(inv.code, func(p pythonProgram) bool {
		return slices.ContainsFunc(p.calls, func(call pythonCall) bool {
			return slices.ContainsFunc(c.pythonModels(call), func(m model) bool {
				return m.role == evidence.RoleDownload
			})
		})
	})
}
