// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"regexp"
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// pythonImport is an import statement: its group is what follows from or import.
var pythonImport = regexp.MustCompile(`(?m)(?:^|;)[ \t]*(from|import)[ \t]+([A-Za-z0-9_., \t]+)`)

// loaders match the calls with which products load a model.
var loaders = func() map[string]*regexp.Regexp {
	all := map[string]*regexp.Regexp{}
	for i := range patterns.Products {
		if p := &patterns.Products[i]; len(p.Loaders) > 0 {
			all[p.Name] = pythonCall(p.Loaders)
		}
	}
	return all
}()

// pythonCode is the code of python -c.
func (inv invocation) pythonCode() []word {
	if !inv.isPython() {
		return nil
	}
	var code []word
	for i, w := range inv.words[1:] {
		if inv.words[i].text == "-c" {
			code = append(code, w)
		}
	}
	return code
}

// recogniseImports looks for the modules that the code of python -c imports.
func (c *container) recogniseImports(inv invocation) {
	for _, code := range inv.pythonCode() {
		for _, module := range importedModules(code.text) {
			for i := range patterns.Products {
				if p := &patterns.Products[i]; matchesGlob(p.Imports, module) {
					c.detect(p, strengthCommand, "", code.evidence...)
				}
			}
		}
	}
}

// importedModules are the top-level modules of import a.b as c, d and of from a.b import c.
func importedModules(code string) []string {
	var modules []string
	for _, m := range pythonImport.FindAllStringSubmatch(code, maxModels) {
		list := m[2]
		if m[1] == "from" {
			list, _, _ = strings.Cut(list, " import")
		}
		for item := range strings.SplitSeq(list, ",") {
			module, _, _ := strings.Cut(strings.TrimSpace(item), " ")
			module, _, _ = strings.Cut(module, ".")
			modules = append(modules, module)
		}
	}
	return modules
}

// readLoaders reads the models that the code of python -c loads with a recognised product.
func (c *container) readLoaders(inv invocation) {
	for _, code := range inv.pythonCode() {
		for _, p := range c.products {
			call := loaders[p.Name]
			if call == nil {
				continue
			}
			for _, m := range call.FindAllStringSubmatch(code.text, maxModels) {
				part := code
				part.text = m[1]
				c.addModel(model{value: part, role: evidence.RoleServed, hub: p.Hub, inferred: true})
			}
		}
	}
}
