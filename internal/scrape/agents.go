// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

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
