// SPDX-License-Identifier: Apache-2.0

package bom

import (
	"slices"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// identity is what makes two findings the same fact. For an image neither its containers nor
// where it was read matters. For everything else they do: an auditor wants to see that two
// sources name a model.
type identity struct {
	Type                            evidence.Type
	Name, Version, Digest, Endpoint string
	Origin                          evidence.Origin
	Quantity                        int64
	Role                            evidence.Role
	Container                       string
	Confidence                      evidence.Confidence
	Source                          evidence.Source
}

// identityOf returns the identity of a cleaned finding.
func identityOf(f evidence.Finding) identity {
	id := identity{
		Type: f.Type, Name: f.Name, Version: f.Version, Digest: f.Digest, Endpoint: f.Endpoint,
		Origin: f.Origin, Quantity: f.Quantity,
	}
	if f.Type != evidence.TypeContainer {
		id.Role, id.Container, id.Confidence, id.Source = f.Role, f.Container, f.Confidence, sourceOf(f)
	}
	return id
}

// sourceOf is the most direct place where a finding was read; the evidence must be sorted.
func sourceOf(f evidence.Finding) evidence.Source {
	if len(f.Evidence) == 0 {
		return ""
	}
	return f.Evidence[0].Source
}

// mergeFindings cleans the findings and merges those of the same identity. The result is in
// no particular order, and its evidence and properties are not bounded yet.
func mergeFindings(findings []evidence.Finding) []evidence.Finding {
	groups := make(map[identity]*evidence.Finding, len(findings))
	for _, f := range findings {
		f = cleanFinding(f)
		id := identityOf(f)
		if into, ok := groups[id]; ok {
			mergeInto(into, f)
		} else {
			groups[id] = &f
		}
	}
	merged := make([]evidence.Finding, 0, len(groups))
	for _, f := range groups {
		if f.Type == evidence.TypeContainer {
			nameContainers(f)
		}
		f.Evidence = sortedSet(f.Evidence, compareEvidence)
		merged = append(merged, *f)
	}
	return merged
}

// mergeInto adds what f says to a finding of the same identity.
func mergeInto(into *evidence.Finding, f evidence.Finding) {
	into.Evidence = append(into.Evidence, f.Evidence...)
	into.Properties = append(into.Properties, f.Properties...)
	into.Category = max(into.Category, f.Category)
	if certainty(f.Confidence) < certainty(into.Confidence) ||
		certainty(f.Confidence) == certainty(into.Confidence) && f.Confidence < into.Confidence {
		into.Confidence = f.Confidence
	}
}

// nameContainers gives an image the first of its containers and the most telling of its
// roles. The properties name them all.
func nameContainers(f *evidence.Finding) {
	containers := valuesOf(f.Properties, evidence.PropContainerName)
	if len(containers) > 0 {
		f.Container = slices.Min(containers)
	}
	roles := valuesOf(f.Properties, evidence.PropIdentityRole)
	if len(roles) > 0 {
		f.Role = evidence.Role(slices.MinFunc(roles, compareRoles))
	}
}

// valuesOf returns the values of the properties of a name.
func valuesOf(properties []evidence.Property, name string) []string {
	var values []string
	for _, p := range properties {
		if p.Name == name {
			values = append(values, p.Value)
		}
	}
	return values
}

// cleanFinding returns a deep copy of f with every string clean, its evidence sorted and,
// for an image, its container and role among the properties, where merging unites them.
func cleanFinding(f evidence.Finding) evidence.Finding {
	var n notes
	out := evidence.Finding{
		Type:       evidence.Type(n.clean("type", string(f.Type))),
		Name:       n.clean("name", f.Name),
		Version:    n.clean("version", f.Version),
		Digest:     validDigest(f.Digest),
		Role:       evidence.Role(n.clean("role", string(f.Role))),
		Origin:     evidence.Origin(n.clean("origin", string(f.Origin))),
		Container:  n.clean("container", f.Container),
		Category:   evidence.Category(n.clean("category", string(f.Category))),
		Quantity:   f.Quantity,
		Endpoint:   n.clean("endpoint", f.Endpoint),
		Confidence: evidence.Confidence(n.clean("confidence", string(f.Confidence))),
	}
	places := make([]evidence.Evidence, 0, len(f.Evidence))
	for _, e := range f.Evidence {
		places = append(places, evidence.Evidence{
			Source:  evidence.Source(n.clean("evidence.source", string(e.Source))),
			Locator: n.clean("evidence.locator", e.Locator),
		})
	}
	out.Evidence = sortedSet(places, compareEvidence)
	out.Properties = cleanProperties(&n, f.Properties)
	if out.Type == evidence.TypeContainer {
		if out.Container != "" {
			out.Properties = append(out.Properties, evidence.Property{Name: evidence.PropContainerName, Value: out.Container})
		}
		if out.Role != "" {
			out.Properties = append(out.Properties, evidence.Property{Name: evidence.PropIdentityRole, Value: string(out.Role)})
		}
	}
	out.Properties = append(out.Properties, n...)
	return out
}

func cleanProperties(n *notes, properties []evidence.Property) []evidence.Property {
	out := make([]evidence.Property, 0, len(properties)+4)
	for _, p := range properties {
		name := n.clean("property name", p.Name)
		out = append(out, evidence.Property{Name: name, Value: n.clean(name, p.Value)})
	}
	return out
}
