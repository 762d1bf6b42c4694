// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"regexp"
	"slices"
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// managerLabel names the tool that made the object. See
// https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels
const managerLabel = "app.kubernetes.io/managed-by"

// ReadsLabel says whether a label of this name on a pod template is read. A cache that keeps no
// more than is read must keep these.
func ReadsLabel(name string) bool {
	return slices.Contains(patterns.ModelLabels, name) || slices.Contains(patterns.RuntimeLabels, name) || name == managerLabel
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
	if product := index.managers[labelOf(labels, managerLabel)]; product != nil {
		p.stateRuntime(product, labelEvidence(at, managerLabel))
	}
	for _, name := range patterns.ModelLabels {
		if value := labelOf(labels, name); value != "" && !isPlaceholder(value) {
			m := model{
				value: word{text: value, evidence: []evidence.Evidence{labelEvidence(at, name)}},
				role:  evidence.RoleServed, inferred: true,
			}
			if name == hubLabel {
				m.value.text, m.hub = strings.Replace(value, "--", "/", 1), evidence.OriginHuggingFace
			}
			p.labelled = append(p.labelled, m)
		}
	}
}

// hubLabel names a repository on Hugging Face with -- for the slash, which labels cannot have.
const hubLabel = "hf.co/model"

func labelOf(labels map[string]string, name string) string {
	return strings.TrimSpace(clip(labels[name], maxNameBytes))
}

func labelEvidence(at, name string) evidence.Evidence {
	return evidence.Evidence{Source: evidence.SourceLabel, Locator: at + "[" + name + "]"}
}

// runtimeName is what the name of a runtime looks like in a label.
var runtimeName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*([._-][A-Za-z0-9]+)*$`)

// readRuntimeLabel reads the name of a runtime: of one that is known, or of any other where no container
// shows what serves. That one stays as it is written, for a credential is known by its capitals.
func (p *pod) readRuntimeLabel(value string, at evidence.Evidence) {
	lower := strings.ToLower(value)
	known, ok := index.labels[lower]
	if !ok {
		known, ok = index.names[lower]
	}
	switch {
	case ok:
		p.stateRuntime(known, at)
	case runtimeName.MatchString(value) && !index.noRuntimes[lower] && !p.showsRuntime():
		p.stateRuntime(&product{Name: value, Type: evidence.TypeRuntime, Category: evidence.CategoryInference}, at)
	}
}

// showsRuntime says whether a container or another label shows a runtime or framework.
func (p *pod) showsRuntime() bool {
	return len(p.runtimes) > 0 || slices.ContainsFunc(p.containers, func(c *container) bool { return !c.init && len(c.runtimes) > 0 })
}

// stateRuntime supports the runtime that a container runs, and states it where no container
// shows one.
func (p *pod) stateRuntime(known *product, at evidence.Evidence) {
	if known.Type == "" {
		return
	}
	shown := false
	for _, c := range p.containers {
		for _, have := range c.products {
			shown = shown || !c.init
			if have.Name == known.Name {
				c.support(have.Name, "", []evidence.Evidence{at})
			}
		}
	}
	if shown {
		return
	}
	p.runtimes = append(p.runtimes, evidence.Finding{
		Type: known.Type, Name: known.Name, Category: known.Category,
		Confidence: evidence.Inferred, Evidence: []evidence.Evidence{at},
	})
	p.signals = append(p.signals, signal{known.Category, strengthEnvironment})
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
