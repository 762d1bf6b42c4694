// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"regexp"
	"slices"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// findings are those of all parts, each saying which part it is from, seen in the light of
// what the workload is for.
func (g *group) findings(category evidence.Category) []evidence.Finding {
	running, unclaimed := g.attribute()
	parts := make([][]evidence.Finding, len(g.parts))
	for i, p := range g.parts {
		parts[i] = g.findingsOf(p, category, running)
	}
	g.nameServed(parts, category)
	var all []evidence.Finding
	joined := slices.Concat(parts...)
	settlePlaces(joined)
	for i, p := range g.parts {
		own := joined[:len(parts[i])]
		joined = joined[len(parts[i]):]
		for _, f := range own {
			if f, ok := p.finish(f); ok {
				all = append(all, f)
			}
		}
	}
	return append(all, unclaimed...)
}

// findingsOf are what a part's own containers, annotations, volumes and fields say.
func (g *group) findingsOf(p *part, category evidence.Category, running map[*container][]RunningImage) []evidence.Finding {
	var all []evidence.Finding
	for _, c := range p.pod.containers {
		all = append(all, c.imageFindings(running[c])...)
		all = append(all, p.runtimes(c)...)
		all = append(all, c.services...)
		all = append(all, c.stores...)
		all = append(all, c.configs...)
		for _, m := range c.models {
			if !g.imagesNameNoModel || !onlyImage(m.value.evidence) {
				all = append(all, p.model(c, m, category))
			}
		}
	}
	all = slices.Concat(all, p.pod.runtimes, p.declared, p.pod.annotated)
	return slices.Concat(all, p.pod.labelledFindings(all), p.pod.volumes, p.pod.devices)
}

// model is a model of a container. Infrastructure asks others for the model that it names.
func (p *part) model(c *container, m model, category evidence.Category) evidence.Finding {
	f := m.finding(c, category)
	if f.Role == evidence.RoleServed && p.routes(c) {
		f.Role = evidence.RoleCalled
	}
	if f.Role == evidence.RoleServed && p.prepares() && m.fromVariable() {
		f.Type, f.Role = evidence.TypeData, evidence.RoleDownload
	}
	if f.Confidence != evidence.Unresolved && toBeReplaced.MatchString(f.Name) {
		f.Confidence, f.Origin = evidence.Unresolved, evidence.OriginUnknown
		f.Properties = append(slices.Clone(f.Properties), evidence.Property{Name: evidence.PropIdentityUnresolved, Value: f.Name})
	}
	return f
}

// prepares says whether the part is a transformer, which prepares what the predictor is asked:
// what is stored for it is no model that is served.
func (p *part) prepares() bool {
	return slices.Contains(p.properties, evidence.Property{Name: evidence.PropKServeComponent, Value: "transformer"})
}

// toBeReplaced is a name in capitals such as CHECKPOINT_PATH, which stands in a manifest for
// what whoever applies it shall put there.
var toBeReplaced = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$`)

// routes says whether the container is infrastructure.
func (p *part) routes(c *container) bool { return p.infrastructure || isInfrastructure(c.image) }

// runtimes are those of a container. In infrastructure, which often borrows the model
// server's image and environment, only a command shows one.
func (p *part) runtimes(c *container) []evidence.Finding {
	if !p.routes(c) {
		return c.runtimes
	}
	var all []evidence.Finding
	for _, f := range c.runtimes {
		f.Evidence = slices.DeleteFunc(slices.Clone(f.Evidence), func(e evidence.Evidence) bool {
			return e.Source == evidence.SourceImage || e.Source == evidence.SourceEnvironment
		})
		if len(f.Evidence) > 0 {
			f.Version = ""
			all = append(all, f)
		}
	}
	return all
}

// finish adds the part's properties and the real locators. Where the manifest names no image
// there is nothing to report but what pods say.
func (p *part) finish(f evidence.Finding) (evidence.Finding, bool) {
	if f.Type == evidence.TypeContainer && f.Name == "" {
		return f, false
	}
	f.Properties = slices.Concat(f.Properties, p.properties)
	f.Evidence = slices.Clone(f.Evidence)
	for i := range f.Evidence {
		f.Evidence[i].Locator = p.relocate(f.Evidence[i].Locator)
	}
	return f, true
}

// onlyImage says whether nothing but an image's path suggests the fact.
func onlyImage(places []evidence.Evidence) bool {
	return !slices.ContainsFunc(places, func(e evidence.Evidence) bool { return e.Source != evidence.SourceImage })
}

// nameServed adds each served name to the models of its own container or, where that has
// none, to the one model of the workload; where no model is known it is the identity.
func (g *group) nameServed(parts [][]evidence.Finding, category evidence.Category) {
	models := servedModels(slices.Concat(parts...))
	for i, p := range g.parts {
		for _, c := range p.pod.containers {
			for _, served := range c.servedNames {
				f := p.model(c, served, category)
				switch {
				case addServedName(parts[i], func(m evidence.Finding) bool { return m.Container == c.name }, f):
				case len(models) == 0:
					parts[i] = append(parts[i], f)
				case len(models) == 1:
					for _, findings := range parts {
						addServedName(findings, func(evidence.Finding) bool { return true }, f)
					}
				}
			}
		}
	}
}

// servedModels are the identities of the models that are served or called, as far as known.
func servedModels(findings []evidence.Finding) map[string]bool {
	identities := map[string]bool{}
	for _, f := range findings {
		if f.Type == evidence.TypeModel && f.Confidence != evidence.Unresolved &&
			(f.Role == evidence.RoleServed || f.Role == evidence.RoleCalled) {
			identities[f.Name] = true
		}
	}
	return identities
}

// addServedName adds a served name to the served models of the findings that apply, and says
// whether there is one.
func addServedName(findings []evidence.Finding, applies func(evidence.Finding) bool, served evidence.Finding) bool {
	attached := false
	for i := range findings {
		f := &findings[i]
		if f.Type != evidence.TypeModel || f.Role != evidence.RoleServed || f.Confidence == evidence.Unresolved || !applies(*f) {
			continue
		}
		attached = true
		if served.Confidence != evidence.Unresolved {
			f.Properties = append(slices.Clone(f.Properties), evidence.Property{
				Name: evidence.PropIdentityServedName, Value: served.Name,
			})
		}
	}
	return attached
}

// attribute says which containers the running images belong to. Several parts may hold
// containers of the same name: then the image decides, or that only one of them leaves its
// image to the cluster. What fits none of them is reported without a part.
func (g *group) attribute() (map[*container][]RunningImage, []evidence.Finding) {
	byName := map[string][]*container{}
	for _, p := range g.parts {
		for _, c := range p.pod.containers {
			byName[c.name] = append(byName[c.name], c)
		}
	}
	claimed := map[*container][]RunningImage{}
	var unclaimed []*container
	for _, r := range g.in.Running {
		owners := ownersOf(r, byName[r.Container])
		if owners == nil && len(byName[r.Container]) > 0 {
			owners = []*container{{name: r.Container}}
			unclaimed = append(unclaimed, owners...)
		}
		for _, c := range owners {
			claimed[c] = append(claimed[c], r)
		}
	}
	var rest []evidence.Finding
	for _, c := range unclaimed {
		for _, f := range c.imageFindings(claimed[c]) {
			if f.Name != "" {
				rest = append(rest, f)
			}
		}
	}
	return claimed, rest
}

// ownersOf are those of the containers of one name that may run the image.
func ownersOf(r RunningImage, candidates []*container) []*container {
	if len(candidates) == 1 {
		return candidates
	}
	same := slices.DeleteFunc(slices.Clone(candidates), func(c *container) bool { return c.reference != r.Image })
	if len(same) > 0 {
		return same
	}
	open := slices.DeleteFunc(slices.Clone(candidates), func(c *container) bool { return c.reference != "" })
	if len(open) == 1 {
		return open
	}
	return nil
}
