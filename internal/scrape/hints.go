// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"path"
	"slices"
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// recogniseHints looks for what suggests a product in a container where nothing shows one: a
// flag that only one product has and the name that somebody gave to an image of their own. A
// server's or training's name counts only beside an accelerator or a hub's token.
func (c *container) recogniseHints(invocations []invocation) {
	if len(c.products) > 0 {
		return
	}
	for _, inv := range invocations {
		for _, f := range inv.flags(false, nil) {
			if p, ok := index.flags[f.name]; ok {
				c.detect(p, strengthEnvironment, "", f.at...)
				return
			}
		}
	}
	if c.borrows(invocations) || isInfrastructure(c.image) {
		return
	}
	p := namedAfter(c.image)
	// A framework of agents needs no accelerator.
	if p == nil || (p.Category != evidence.CategoryAgent && !c.hasHubToken() && !c.accelerated) {
		return
	}
	if p.Category != evidence.CategoryTraining || trains(invocations) || len(invocations) == 0 {
		c.detect(p, strengthEnvironment, "", c.imageEvidence())
	}
}

// borrows says whether a Job overrides the image's entrypoint with something that is not known.
func (c *container) borrows(invocations []invocation) bool {
	return c.isJob() && len(invocations) > 0 && !invocations[0].entrypoint && len(c.products) == 0
}

// namedAfter is the product after which the last part of the image's path is named, be it as a
// whole or in one of its words.
func namedAfter(img image) *product {
	name := strings.ToLower(path.Base(img.path))
	if p, ok := index.names[name]; ok {
		return p
	}
	parts := words(name)
	for i := range parts {
		for n := min(3, len(parts)-i); n > 0; n-- {
			if p, ok := index.names[strings.Join(parts[i:i+n], "-")]; ok {
				return p
			}
		}
	}
	return nil
}

// words are the words of a name such as docs_embedder-v2.
func words(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return r == '-' || r == '_' || r == '.' || r == '/' || r == ' '
	})
}

// speaksOf says whether one of the names has one of the words.
func speaksOf(vocabulary map[string]bool, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(words(name), func(w string) bool { return vocabulary[w] })
	})
}

// retrieves says whether the container fills or asks a vector database for a language model:
// it has the database's address, and its own name or its program's says what it does with it.
func (c *container) retrieves(invocations []invocation) (evidence.Evidence, bool) {
	for _, name := range c.env.order {
		for _, prefix := range patterns.VectorStores {
			if strings.HasPrefix(name, prefix) && speaksOf(index.retrievalNames, append(c.programNames(invocations), c.name)...) {
				return c.env.variables[name].evidence[0], true
			}
		}
	}
	return evidence.Evidence{}, false
}

// programNames are the names of the image and of the scripts and programs that run in it.
func (c *container) programNames(invocations []invocation) []string {
	names := []string{path.Base(c.image.path)}
	for _, inv := range invocations {
		for i, w := range inv.words {
			if i == 0 || isScript(w.text) || inv.words[i-1].text == "-m" {
				names = append(names, path.Base(clip(w.text, maxNameBytes)))
			}
		}
	}
	return names
}

// addStore reports the vector database whose address the variable holds.
func (c *container) addStore(at evidence.Evidence) {
	for _, name := range c.env.order {
		v := c.env.variables[name]
		if v.evidence[0] != at {
			continue
		}
		f := evidence.Finding{
			Type: evidence.TypeData, Name: v.value, Role: evidence.RoleVectorStore, Container: c.name,
			Confidence: evidence.Declared, Evidence: v.evidence,
		}
		if !v.known() || v.value == "" || isPlaceholder(v.value) {
			first, _, _ := strings.Cut(name, "_")
			f.Name, f.Confidence = strings.ToLower(first), evidence.Inferred
		}
		c.stores = append(c.stores, f)
		return
	}
}

// readStores reports the vector databases whose address an agent's container has.
func (c *container) readStores() {
	if len(c.stores) > 0 || c.category() != evidence.CategoryAgent {
		return
	}
	for _, name := range c.env.order {
		v := c.env.variables[name]
		if beginsWith(patterns.VectorStores, name) && v.known() && strings.HasPrefix(v.value, "http") && len(c.stores) < maxServedNames {
			c.addStore(v.evidence[0])
		}
	}
}

// isFrontEnd says whether the container shows a chat to people.
func (c *container) isFrontEnd(invocations []invocation) bool {
	return speaksOf(index.frontEnds, append(c.programNames(invocations), c.name)...)
}

// addEndpoint reports the model server that the container asks, where it names no model.
func (c *container) addEndpoint() {
	for _, name := range c.env.order {
		v := c.env.variables[name]
		if index.endpoints[name] && strings.HasPrefix(v.value, "http") && hostOf(v.value) != "" {
			c.stores = append(c.stores, evidence.Finding{
				Type: evidence.TypeData, Name: v.value, Role: evidence.RoleEndpoint, Container: c.name,
				Confidence: evidence.Declared, Evidence: v.evidence,
			})
			return
		}
	}
}
