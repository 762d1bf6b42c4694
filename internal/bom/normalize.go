// SPDX-License-Identifier: Apache-2.0

package bom

import (
	"slices"
	"strconv"
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

const (
	// maxFindings is the most findings, and so the most components and services, of a document.
	maxFindings = 512
	// maxEvidence is the most places that one finding names.
	maxEvidence = 16
	// maxProperties is the most properties of one finding, notes on cleaning aside.
	maxProperties = 64
	// maxWorkloadProperties is the same for the workload, which can own many objects.
	maxWorkloadProperties = 512
	// maxOwned is the most absorbed workloads that a document names.
	maxOwned = 512
	// maxNotes is the most notes on cleaning of one finding or of the workload.
	maxNotes = 64
)

// Normalize returns a copy of r as it may leave the controller: every string redacted,
// sanitised and cut at 1 KiB, findings of the same fact merged with their evidence united, the
// whole bounded to 512 findings of which the most important stay, and everything sorted. What
// was redacted, cut or dropped is noted in the properties of the taxonomy.
//
// The order of r's findings, evidence and properties does not matter, and normalising a
// normalised report changes nothing.
func Normalize(r evidence.Report) evidence.Report {
	n := notes{}
	w := r.Workload
	out := evidence.Report{
		Workload: evidence.Workload{
			APIVersion: n.clean("workload.apiVersion", w.APIVersion),
			Kind:       n.clean("workload.kind", w.Kind),
			Namespace:  n.clean("workload.namespace", w.Namespace),
			Name:       n.clean("workload.name", w.Name),
			UID:        n.clean("workload.uid", w.UID),
		},
		Category: evidence.Category(n.clean("category", string(r.Category))),
	}
	var dropped, unnamed int
	out.Findings, dropped = boundFindings(mergeFindings(r.Findings))
	out.Owned, unnamed = boundOwned(&n, r.Owned)
	properties := cleanProperties(&n, r.Properties)
	properties = countDropped(properties, evidence.PropComponentsDropped, dropped)
	properties = countDropped(properties, evidence.PropRollupDropped, unnamed)
	out.Properties = boundProperties(properties, n, maxWorkloadProperties)
	return out
}

// boundOwned cleans and sorts the absorbed workloads, cuts them at the bound and says how many
// were dropped.
func boundOwned(n *notes, owned []string) ([]string, int) {
	cleaned := make([]string, len(owned))
	for i := range owned {
		cleaned[i] = n.clean("rollup.owned", owned[i])
	}
	cleaned = sortedSet(cleaned, strings.Compare)
	dropped := max(0, len(cleaned)-maxOwned)
	return slices.Clip(cleaned[:len(cleaned)-dropped]), dropped
}

// boundFindings sorts the findings by importance, cuts them at the bound and says how many
// were dropped.
func boundFindings(findings []evidence.Finding) ([]evidence.Finding, int) {
	slices.SortFunc(findings, compareFindings)
	dropped := max(0, len(findings)-maxFindings)
	findings = findings[:len(findings)-dropped]
	for i := range findings {
		f := &findings[i]
		var n notes
		if len(f.Evidence) > maxEvidence {
			f.Evidence = f.Evidence[:maxEvidence]
			n.truncated("evidence")
		}
		f.Properties = boundProperties(f.Properties, n, maxProperties)
	}
	return slices.Clip(findings), dropped
}

// countDropped records the number of things dropped, on top of what was recorded before.
func countDropped(properties []evidence.Property, name string, dropped int) []evidence.Property {
	if dropped == 0 {
		return properties
	}
	kept := make([]evidence.Property, 0, len(properties)+1)
	for _, p := range properties {
		if p.Name != name {
			kept = append(kept, p)
			continue
		}
		if before, err := strconv.ParseInt(p.Value, 10, 32); err == nil && before > 0 {
			dropped += int(before)
		}
	}
	return append(kept, evidence.Property{Name: name, Value: strconv.Itoa(dropped)})
}

// isNote says whether a property is about the document rather than the workload; notes do not
// fall to the bound on properties.
func isNote(p evidence.Property) bool {
	switch p.Name {
	case evidence.PropRedactionApplied, evidence.PropValueTruncated, evidence.PropComponentsDropped, evidence.PropRollupDropped:
		return true
	}
	return false
}

// boundProperties sorts properties and notes, drops duplicates and cuts at the bound.
func boundProperties(properties []evidence.Property, n notes, bound int) []evidence.Property {
	var plain, about []evidence.Property
	for _, p := range properties {
		if isNote(p) {
			about = append(about, p)
		} else {
			plain = append(plain, p)
		}
	}
	plain = sortedSet(plain, compareProperties)
	if len(plain) > bound {
		plain = plain[:bound]
		n.truncated("properties")
	}
	about = sortedSet(append(about, n...), compareProperties)
	about = about[:min(len(about), maxNotes)]
	return sortedSet(append(plain, about...), compareProperties)
}

// sortedSet sorts items and drops duplicates; it is nil when nothing is left.
func sortedSet[T comparable](items []T, compare func(a, b T) int) []T {
	if len(items) == 0 {
		return nil
	}
	slices.SortFunc(items, compare)
	return slices.Clip(slices.Compact(items))
}

// notes are the properties that record what cleaning did.
type notes []evidence.Property

// clean cleans the value of a field and notes what was done.
func (n *notes) clean(field, value string) string {
	result := clean(value)
	for _, kind := range result.kinds {
		n.add(evidence.PropRedactionApplied, kind)
	}
	if result.truncated {
		n.truncated(field)
	}
	return result.text
}

func (n *notes) truncated(field string) {
	n.add(evidence.PropValueTruncated, cutAt(field, maxValue))
}

func (n *notes) add(name, value string) {
	*n = append(*n, evidence.Property{Name: name, Value: value})
}
