// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"slices"
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// ReadsLabel says whether a label of this name on a pod template is read. A cache that keeps no
// more than is read must keep these.
func ReadsLabel(name string) bool {
	return slices.Contains(patterns.ModelLabels, name) || slices.Contains(patterns.RuntimeLabels, name)
}

// readLabels reads the labels of the pod template that name a runtime and a model. They say
// what people meant to run, so they count only where the workload itself does not say more.
func (p *pod) readLabels(labels map[string]string, at string) {
	if len(labels) == 0 {
		return
	}
	for _, name := range patterns.RuntimeLabels {
		if value := labelOf(labels, name); value != "" {
			p.readRuntimeLabel(value, labelEvidence(at, name))
		}
	}
	for _, name := range patterns.ModelLabels {
		if value := labelOf(labels, name); value != "" && !isPlaceholder(value) {
			p.labelled = append(p.labelled, model{
				value: word{text: value, evidence: []evidence.Evidence{labelEvidence(at, name)}},
				role:  evidence.RoleServed, inferred: true,
			})
		}
	}
}

func labelOf(labels map[string]string, name string) string {
	return strings.TrimSpace(clip(labels[name], maxNameBytes))
}

func labelEvidence(at, name string) evidence.Evidence {
	return evidence.Evidence{Source: evidence.SourceLabel, Locator: at + "[" + name + "]"}
}

// readRuntimeLabel supports the runtime that a container runs, and states it where no container
// shows one.
func (p *pod) readRuntimeLabel(value string, at evidence.Evidence) {
	product, ok := index.labels[strings.ToLower(value)]
	if !ok || product.Type == "" {
		return
	}
	shown := false
	for _, c := range p.containers {
		for _, have := range c.products {
			shown = shown || !c.init
			if have.Name == product.Name {
				c.support(have.Name, "", []evidence.Evidence{at})
			}
		}
	}
	if shown {
		return
	}
	p.runtimes = append(p.runtimes, evidence.Finding{
		Type: product.Type, Name: product.Name, Category: product.Category,
		Confidence: evidence.Inferred, Evidence: []evidence.Evidence{at},
	})
	p.signals = append(p.signals, signal{product.Category, strengthEnvironment})
}

// labelledFindings are the models that labels name, where no container names one but by a
// path.
func (p *pod) labelledFindings(models []evidence.Finding) []evidence.Finding {
	for _, f := range models {
		if isKnownModel(f) && f.Origin != evidence.OriginFile {
			return nil
		}
	}
	holder := &container{pod: p, env: &environment{}}
	var all []evidence.Finding
	for _, m := range p.labelled {
		all = append(all, m.finding(holder, evidence.CategoryNone))
	}
	return all
}

// isKnownModel says whether the finding is a model that is served or called and known.
func isKnownModel(f evidence.Finding) bool {
	return f.Type == evidence.TypeModel && f.Confidence != evidence.Unresolved &&
		(f.Role == evidence.RoleServed || f.Role == evidence.RoleCalled)
}
