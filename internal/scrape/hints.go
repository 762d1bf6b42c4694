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
// server's or training's name counts only beside an accelerator or a hub's token, in a kind that is
// made for servers that span several pods, or with a model's name behind it.
func (c *container) recogniseHints(invocations []invocation) {
	if len(c.products) > 0 || isInfrastructure(c.image) {
		return
	}
	if c.recogniseFlags(invocations) || c.recogniseTraining(invocations) || c.borrows(invocations) || (!c.accelerated && c.benchmarks(invocations)) {
		return
	}
	p := c.namedAfter(path.Base(c.image.path), invocations)
	if p == nil {
		p = folderOf(c.image)
	}
	if p == nil {
		if p, at := c.serverInNames(invocations); p != nil {
			c.detect(p, strengthEnvironment, "", at)
		}
		return
	}
	// A framework of agents needs no accelerator.
	if p.Category != evidence.CategoryAgent && !c.isCapable() && !c.isGrouped(p) && modelBehind(p, c.image) == "" {
		return
	}
	if p.Category != evidence.CategoryTraining || c.trains(invocations) || len(invocations) == 0 {
		c.detect(p, strengthEnvironment, "", c.imageEvidence())
	}
}

// recogniseFlags looks for a flag that only one product has.
func (c *container) recogniseFlags(invocations []invocation) bool {
	for _, inv := range invocations {
		for _, f := range inv.flags(false, nil) {
			p, ok := index.flags[f.name]
			if shared := index.sharedFlags[f.name]; shared != nil && c.isLikely(shared, invocations) {
				p, ok = shared, true
			}
			if ok {
				c.detect(p, strengthEnvironment, "", f.at...)
				return true
			}
		}
	}
	return false
}

// isGrouped says whether the container is one of several that serve a model together, by their kind:
// that is enough for a server's name.
func (c *container) isGrouped(p *product) bool {
	kind := c.pod.in.Workload.Kind
	return p.Category == evidence.CategoryInference && (kind == "LeaderWorkerSet" || kind == "DisaggregatedSet")
}

// borrows says whether a Job overrides the image's entrypoint with something that is not known,
// or anything does with a program that does nothing, as what only fetches images to nodes does.
func (c *container) borrows(invocations []invocation) bool {
	return (c.isJob() || idles(invocations)) && len(invocations) > 0 && !invocations[0].entrypoint && len(c.products) == 0
}

// idle are programs that a container runs to stay there and do nothing.
var idle = set([]string{"sleep", "pause", "tail", "true", "echo", "cat", ":", "ls", "exit", "while", "date", "trap", "wait"})

func idles(invocations []invocation) bool {
	for _, inv := range invocations {
		if inv.entrypoint || !idle[path.Base(inv.words[0].text)] {
			return false
		}
	}
	return len(invocations) > 0
}

// namedAfter is the product after which something is named, unless a server's name has a word for
// something else beside it, or is a word that needs another sign.
func (c *container) namedAfter(name string, invocations []invocation) *product {
	p, common := productIn(name)
	if p == nil || p.Category != evidence.CategoryInference {
		return p
	}
	if hasOtherPurpose(name) || (common && !c.meansServer(name, invocations)) {
		return nil
	}
	return p
}

// stages say how far a build of a server is, not that it is something else.
var stages = set([]string{"dev", "test", "tests", "debug", "sample", "samples"})

// hasOtherPurpose says whether a name with that of a server is that of a program for something else.
func hasOtherPurpose(name string) bool {
	return slices.ContainsFunc(words(clip(name, maxNameBytes)), func(w string) bool {
		return index.forwarders[w] || (index.otherPurposes[w] && !stages[w])
	})
}

// productIn is the product after which something is named, be it as a whole or in one of its words, and
// whether that is a word of other meanings as well.
func productIn(name string) (p *product, common bool) {
	name = strings.ToLower(clip(name, maxNameBytes))
	if p, ok := index.names[name]; ok {
		return p, false // the whole name leaves no doubt
	}
	parts := words(name)
	for i := range parts {
		for n := min(3, len(parts)-i); n > 0; n-- {
			part := strings.Join(parts[i:i+n], "-")
			if p, ok := index.names[part]; ok {
				return p, index.commonNames[part] != nil
			}
		}
	}
	return nil, false
}

// meansServer says whether a name with a word that is both a server and something else means the
// server: it is nothing but that word, speaks of serving or of a family of models, or a model is named.
func (c *container) meansServer(name string, invocations []invocation) bool {
	name = strings.ToLower(clip(name, maxNameBytes))
	if index.commonNames[buildSuffixes.ReplaceAllString(name, "")] != nil {
		return true
	}
	if speaksOf(index.servingWords, name) || speaksOf(index.servingSubjects, name) || hasFamily(patterns.FamilyNames, name) {
		return true
	}
	return slices.ContainsFunc(invocations, invocation.namesModel) || slices.ContainsFunc(c.env.order, func(name string) bool {
		_, isModel := patterns.ModelEnv[name]
		return isModel || index.servedNameEnv[name]
	})
}

// words are the words of a name such as docs_embedder-v2.
func words(name string) []string {
	return strings.FieldsFunc(strings.ToLower(clip(name, maxNameBytes)), func(r rune) bool {
		return r == '-' || r == '_' || r == '.' || r == '/' || r == ' '
	})
}

// speaksOf says whether one of the names has one of the words.
func speaksOf(vocabulary map[string]bool, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(words(name), func(w string) bool { return vocabulary[w] })
	})
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
