// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"path"
	"slices"
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// isPlace says whether the path is one where any model may lie, such as /mnt/models,
// /data/model_repository or all of a claim: it names no model.
func isPlace(text string) bool {
	text = strings.TrimRight(text, "/")
	if claim, ok := strings.CutPrefix(text, "pvc://"); ok {
		return !strings.Contains(claim, "/")
	}
	return slices.Contains(patterns.ModelPaths, text) || (isLocalPath(text) && index.modelFolders[path.Base(text)])
}

func isLocalPath(text string) bool { return strings.HasPrefix(text, "/") }

// namePlaces takes the served name for the identity of what lies at a place that names no model,
// where the container names none otherwise.
func (p *pod) namePlaces() {
	for _, c := range p.containers {
		named := func(m model) bool {
			return !m.dataset && m.role == evidence.RoleServed && (len(m.value.missing) > 0 || !isPlace(m.value.text))
		}
		if c.init || len(c.servedNames) == 0 || slices.ContainsFunc(c.models, named) {
			continue
		}
		served := c.servedNames[0]
		if len(served.value.missing) > 0 || isPlaceholder(served.value.text) {
			continue
		}
		for i := range c.models {
			if m := &c.models[i]; !m.dataset && m.role == evidence.RoleServed {
				m.value.text, m.value.evidence = served.value.text, appendEvidence(served.value.evidence, m.value.evidence...)
				m.inferred, m.hub = true, evidence.OriginUnknown
				break
			}
		}
	}
}

// nameByName takes the served name for the identity where the product says that it is one, and
// the path that ends in it for the place where the model lies.
func (c *container) nameByName() {
	if !slices.ContainsFunc(c.products, func(p *product) bool { return p.Named }) {
		return
	}
	for i := range c.models {
		m := &c.models[i]
		if m.role != evidence.RoleServed || m.dataset || !isLocalPath(m.value.text) {
			continue
		}
		for _, served := range c.servedNames {
			if len(served.value.missing) == 0 && (served.value.text == path.Base(m.value.text) || isPlace(m.value.text)) {
				m.value.text, m.value.evidence = served.value.text, appendEvidence(served.value.evidence, m.value.evidence...)
				break
			}
		}
	}
}

// settlePlaces turns models that are only places into data, where the workload itself names a model
// otherwise: a folder of models always, a path in a variable beside a model that has a name, and a path
// that ends in the name of another model of the container, which is that model once more.
func settlePlaces(findings []evidence.Finding) {
	// A label says what people meant to run, which may be another thing than what lies there.
	stated := func(f evidence.Finding) bool {
		return isKnownModel(f) && f.Evidence[0].Source != evidence.SourceLabel
	}
	hasName := func(f evidence.Finding) bool { return stated(f) && !isPlace(f.Name) }
	apart := func(f evidence.Finding) bool { return stated(f) && f.Origin != evidence.OriginFile && !isPlace(f.Name) }
	hasNamed, hasApart := slices.ContainsFunc(findings, hasName), slices.ContainsFunc(findings, apart)
	onHub := lastOfHubNames(findings, stated)
	for i := range findings {
		f := &findings[i]
		if !isKnownModel(*f) || f.Role != evidence.RoleServed || (f.Origin != evidence.OriginFile && f.Origin != evidence.OriginVolume) {
			continue
		}
		fromVariable := f.Evidence[0].Source == evidence.SourceEnvironment
		again := isLocalPath(f.Name) && onHub[nameIn{f.Container, path.Base(f.Name)}]
		if again || (isPlace(f.Name) && hasNamed) || (fromVariable && isLocalPath(f.Name) && hasApart) {
			f.Type, f.Role, f.Properties = evidence.TypeData, evidence.RoleModelStore, nil
		}
	}
}

// nameIn is a name in a container.
type nameIn struct{ container, name string }

// lastOfHubNames are the last parts of the names that the served models have on a hub.
func lastOfHubNames(findings []evidence.Finding, stated func(evidence.Finding) bool) map[nameIn]bool {
	names := map[nameIn]bool{}
	for _, f := range findings {
		if stated(f) && f.Role == evidence.RoleServed && hubName.MatchString(f.Name) {
			names[nameIn{f.Container, path.Base(f.Name)}] = true
		}
	}
	return names
}
