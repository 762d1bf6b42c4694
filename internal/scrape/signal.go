// SPDX-License-Identifier: Apache-2.0

package scrape

import "github.com/k8s-aibom/k8s-aibom/internal/evidence"

// strength orders signals: what a container is told to run says more than the image that it
// runs in, and either says more than what its environment suggests.
type strength int

const (
	strengthNone strength = iota
	strengthEnvironment
	strengthImage
	strengthCommand
)

// signal says what a container is for.
type signal struct {
	category evidence.Category
	strength strength
}

// precedence breaks ties: a job that evaluates or trains may well run a server for it, an
// agent may bring its vector store along.
var precedence = map[evidence.Category]int{
	evidence.CategoryEvaluation: 5,
	evidence.CategoryTraining:   4,
	evidence.CategoryInference:  3,
	evidence.CategoryAgent:      2,
	evidence.CategoryVectorDB:   1,
}

// category is what the container itself is for.
func (c *container) category() evidence.Category {
	var best signal
	for _, s := range c.signals {
		if s.strongerThan(best) {
			best = s
		}
	}
	return best.category
}

func (s signal) strongerThan(other signal) bool {
	if s.strength != other.strength {
		return s.strength > other.strength
	}
	return precedence[s.category] > precedence[other.category]
}
