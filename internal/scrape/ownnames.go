// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"path"
	"slices"
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// ownName is a name that the workload's owner gave to something, and where it stands.
type ownName struct {
	text string
	at   evidence.Evidence
}

// servingNames are the names that may say what a container serves which nothing else does: its own,
// its image's and its workload's. They count only where it runs beside an accelerator to stay, in a
// kind that people write themselves, and where no name says that it is there for something else.
func (c *container) servingNames(invocations []invocation) []ownName {
	kind := c.pod.in.Workload.Kind
	if (kind != "Deployment" && kind != "StatefulSet") || c.init || !c.accelerated || !mayServe(invocations) {
		return nil
	}
	names := []ownName{
		{path.Base(c.image.path), c.imageEvidence()},
		{c.name, evidence.Evidence{Source: evidence.SourceField, Locator: c.at + ".name"}},
	}
	if c.pod.hasOneAccelerated() {
		names = append(names, ownName{c.pod.in.Workload.Name, evidence.Evidence{Source: evidence.SourceField, Locator: "metadata.name"}})
	}
	for _, name := range append(c.programNames(invocations), c.name, c.pod.in.Workload.Name) {
		for _, other := range []map[string]bool{index.otherPurposes, index.forwarders, index.benchmarkNames, index.conversionNames} {
			if speaksOf(other, name) {
				return nil
			}
		}
		if nameBegins(name, patterns.TrainingScripts) {
			return nil
		}
	}
	return names
}

// hasOneAccelerated says whether one container of the pod and no more requests an accelerator.
func (p *pod) hasOneAccelerated() bool {
	count := 0
	for i := range p.spec.Containers {
		if len(accelerators(&p.spec.Containers[i])) > 0 {
			count++
		}
		if count > 1 {
			return false
		}
	}
	return count == 1
}

// webServers start applications that are written in Python.
var webServers = set([]string{"uvicorn", "gunicorn", "hypercorn", "fastapi", "flask"})

// mayServe says whether the image's own program runs, or one that is written in Python: what any
// other program does, its container's name does not say.
func mayServe(invocations []invocation) bool {
	return ownEntrypoint(invocations) || slices.ContainsFunc(invocations, func(inv invocation) bool {
		return webServers[path.Base(inv.words[0].text)] || (inv.isPython() && slices.ContainsFunc(inv.words[1:], func(w word) bool {
			return webServers[w.text] || strings.HasSuffix(w.text, ".py")
		}))
	})
}

// serverInNames is the server of which one of the names has the word.
func (c *container) serverInNames(invocations []invocation) (*product, evidence.Evidence) {
	for _, name := range c.servingNames(invocations) {
		if p := c.namedAfter(name.text, invocations); p != nil && p.Category == evidence.CategoryInference && p.Type != evidence.TypeFramework {
			return p, name.at
		}
	}
	return nil, evidence.Evidence{}
}

// servesByName says whether one of the names speaks of a family of models or of a server of them. The
// family in the name of an image that is called after nothing else is the model.
func (c *container) servesByName(invocations []invocation) bool {
	for _, name := range c.servingNames(invocations) {
		if !speaksOfServing(name.text) {
			continue
		}
		if family := familyOf(path.Base(c.image.path)); family != "" && !c.namesModel(evidence.RoleServed) && len(c.servedNames) == 0 {
			at := []evidence.Evidence{c.imageEvidence()}
			c.addModel(model{value: word{text: family, evidence: at}, role: evidence.RoleServed, inferred: true})
		}
		return true
	}
	return false
}

// speaksOfServing says whether a name has the word of a family of models, or words for a server of
// models. A family's name that is a word of its own elsewhere, as phi is, needs a server's word too.
func speaksOfServing(name string) bool {
	name = clip(name, maxNameBytes)
	if hasFamily(patterns.FamilyNames, name) {
		return true
	}
	parts := words(name)
	subject := slices.IndexFunc(parts, func(w string) bool { return index.servingSubjects[w] })
	if subject < 0 && !hasFamily(patterns.CommonFamilyNames, name) {
		return false
	}
	for i, w := range parts {
		if index.servingWords[w] && i != subject {
			return true
		}
	}
	return false
}

// hasFamily says whether the words of a name have the family's, perhaps with its generation.
func hasFamily(families []string, name string) bool {
	parts := words(name)
	for i := range parts {
		for n := 1; n <= min(2, len(parts)-i); n++ {
			if isFamily(families, strings.Join(parts[i:i+n], "-")) {
				return true
			}
		}
	}
	return false
}

func isFamily(families []string, name string) bool {
	return slices.Contains(families, name) || slices.Contains(families, strings.TrimRight(name, "0123456789"))
}

// familyOf is the family that an image's name begins with, where only words for a server follow it.
func familyOf(name string) string {
	name = strings.ToLower(clip(name, maxNameBytes))
	parts := strings.Split(buildSuffixes.ReplaceAllString(name, ""), "-")
	for len(parts) > 1 && (index.servingWords[parts[len(parts)-1]] || serverWords[parts[len(parts)-1]]) {
		parts = parts[:len(parts)-1]
	}
	if family := strings.Join(parts, "-"); isFamily(patterns.FamilyNames, family) {
		return family
	}
	return ""
}
