// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"path"
	"slices"
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// sharedEvidence is what the product has and others have as well, each as the product's field of that
// name: it counts only where something else makes the product likely.
type sharedEvidence struct {
	Images      []string `json:"images,omitempty"`
	BaseImages  []string `json:"baseImages,omitempty"`
	EnvPrefixes []string `json:"envPrefixes,omitempty"`
	Flags       []string `json:"flags,omitempty"`
	// Imports count where one of the product's Loaders is called.
	Imports []string `json:"imports,omitempty"`
}

// isLikely says whether what the product shares with others is the product's here: beside an accelerator
// or a hub's token, a flag for a model, one of the product's signs or its name, or a variable and an
// image that are both shared.
func (c *container) isLikely(p *product, invocations []invocation) bool {
	if c.isCapable() || slices.ContainsFunc(invocations, invocation.namesModel) {
		return true
	}
	if named, _ := productIn(path.Base(c.image.path)); named == p {
		return true
	}
	if slices.ContainsFunc(invocations, func(inv invocation) bool { return inv.hasSignOf(p) }) {
		return true
	}
	return matchesAny(p.Shared.Images, c.image) && c.hasVariable(p.Shared.EnvPrefixes)
}

// hasVariable says whether a variable begins with one of the prefixes.
func (c *container) hasVariable(prefixes []string) bool {
	return len(prefixes) > 0 && slices.ContainsFunc(c.env.order, func(name string) bool { return beginsWith(prefixes, name) })
}

// withoutOthers are the invocations without the programs that are more likely others of the same name.
func (c *container) withoutOthers(invocations []invocation) []invocation {
	for i := range invocations {
		inv := &invocations[i]
		inv.starts = slices.DeleteFunc(inv.starts, func(s start) bool {
			return s.program.Shared && !c.isLikely(s.product, invocations)
		})
	}
	return invocations
}

// namesModel says whether a flag is there that names a model which is served.
func (inv invocation) namesModel() bool {
	return slices.ContainsFunc(inv.flags(false, nil), func(f flag) bool {
		return patterns.ModelFlags[f.name] == evidence.RoleServed || index.servedNameFlags[f.name]
	})
}

// hasSignOf says whether one of the words is a sign of the product: the name of a flag, or the last part
// of a path.
func (inv invocation) hasSignOf(p *product) bool {
	words := inv.words
	if !inv.entrypoint {
		words = words[1:]
	}
	return len(p.Signs) > 0 && slices.ContainsFunc(words, func(w word) bool {
		text := clip(w.text, maxNameBytes)
		if name, _, _ := strings.Cut(text, "="); strings.HasPrefix(name, "-") {
			return slices.Contains(p.Signs, name)
		}
		return matchesGlob(p.Signs, path.Base(text))
	})
}

// isImportedBy says whether the code uses one of the product's modules.
func (p *product) isImportedBy(program pythonProgram) bool {
	loads := func() bool {
		return slices.ContainsFunc(program.calls, func(call pythonCall) bool { return slices.Contains(p.Loaders, call.name) })
	}
	return slices.ContainsFunc(program.imports, func(module string) bool {
		return matchesGlob(p.Imports, module) || (matchesGlob(p.Shared.Imports, module) && loads())
	})
}
