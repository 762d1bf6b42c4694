// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"slices"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// rankRuntimes tells the runtime that a container is there for from what starts it, as
// accelerate does in accelerate launch -m axolotl.cli.train, and from what only its image is
// named after, as llm-d is where vLLM's command runs. These are reported as frameworks.
func (c *container) rankRuntimes() {
	var below []int
	for i, f := range c.runtimes {
		if f.Type == evidence.TypeRuntime && f.Name != c.ruled && slices.ContainsFunc(c.runtimes, func(other evidence.Finding) bool {
			return other.Name != f.Name && other.Type == evidence.TypeRuntime && other.Category == f.Category && c.outranks(other, f)
		}) {
			below = append(below, i)
		}
	}
	for _, i := range below {
		c.runtimes[i].Type = evidence.TypeFramework
	}
}

// outranks says whether a runtime rather than another is what the container is there for.
func (c *container) outranks(f, other evidence.Finding) bool {
	if mine, others := c.generality(f.Name), c.generality(other.Name); mine != others {
		return mine < others
	}
	return onlyImage(other.Evidence) && slices.ContainsFunc(f.Evidence, func(e evidence.Evidence) bool {
		return e.Source == evidence.SourceCommand || e.Source == evidence.SourceArgument
	})
}

func (c *container) generality(name string) int {
	for _, p := range c.products {
		if p.Name == name {
			return p.General
		}
	}
	return 0
}
