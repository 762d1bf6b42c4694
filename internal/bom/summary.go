// SPDX-License-Identifier: Apache-2.0

package bom

import (
	"cmp"
	"slices"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// RuntimeSummary names what a workload runs. It is zero where nothing is known.
type RuntimeSummary struct {
	Name       string
	Version    string
	Confidence evidence.Confidence
}

// ModelSummary names one model, however many findings name it.
type ModelSummary struct {
	// Identity is the model as written, or the reference that could not be resolved.
	Identity string
	// Source and Confidence are those of the most certain finding.
	Source     evidence.Source
	Confidence evidence.Confidence
	// Signed says that the workload's owner declares the model as signed.
	Signed bool
}

// Summary is a report in short.
type Summary struct {
	// Runtime is the runtime or framework that the workload is there for: one of the report's
	// category, a runtime rather than a framework, the most certain.
	Runtime RuntimeSummary
	// Models names each model once, what is served first, then what is called, then what
	// belongs to these, each by identity. Tokenizers and data are no models.
	Models []ModelSummary
	// Confidence is the lowest of the resolved runtime and model findings: Unresolved where
	// all of them are unresolved. Where there are none it is that of the services that are
	// called, and empty where there are none of those either.
	Confidence evidence.Confidence
}

// Summarize sums a report up. Give it a normalised report, see Normalize: a summary is shown
// as widely as a document and must hold no more than that.
func Summarize(r evidence.Report) Summary {
	runtimes := ofType(r.Findings, evidence.TypeRuntime, evidence.TypeFramework)
	models := ofType(r.Findings, evidence.TypeModel)
	known := append(slices.Clone(runtimes), models...)
	if len(known) == 0 {
		// An agent may be known by nothing but the hosted API that it calls.
		known = ofType(r.Findings, evidence.TypeService)
	}
	return Summary{
		Runtime:    summarizeRuntime(runtimes, r.Category),
		Models:     summarizeModels(models),
		Confidence: lowestConfidence(known),
	}
}

// summarizeRuntime picks a finding of the workload's own category, so that a vector store
// beside a server does not stand for it; then a runtime, the most certain, the first by name.
// Only among findings of the same name does one that knows its version come first.
func summarizeRuntime(runtimes []evidence.Finding, category evidence.Category) RuntimeSummary {
	if len(runtimes) == 0 {
		return RuntimeSummary{}
	}
	best := slices.MinFunc(runtimes, func(a, b evidence.Finding) int {
		return cmp.Or(
			cmp.Compare(misfit(a, category), misfit(b, category)),
			cmp.Compare(rank(runtimeTypes, a.Type), rank(runtimeTypes, b.Type)),
			cmp.Compare(certainty(a.Confidence), certainty(b.Confidence)),
			cmp.Compare(a.Name, b.Name),
			-cmp.Compare(min(len(a.Version), 1), min(len(b.Version), 1)),
			cmp.Compare(a.Version, b.Version),
		)
	})
	return RuntimeSummary{Name: best.Name, Version: best.Version, Confidence: best.Confidence}
}

// runtimeTypes are the types that a summary names as the runtime, in this order.
var runtimeTypes = []evidence.Type{evidence.TypeRuntime, evidence.TypeFramework}

// misfit is 0 for what the workload's category is about and 1 for what only stands beside it.
func misfit(f evidence.Finding, category evidence.Category) int {
	if f.Category == category {
		return 0
	}
	return 1
}

// modelRoles orders the models of a summary: what the workload is there for comes first.
var modelRoles = []evidence.Role{
	evidence.RoleServed, evidence.RoleCalled, evidence.RoleDraft, evidence.RoleAdapter, evidence.RoleOutput,
}

func summarizeModels(models []evidence.Finding) []ModelSummary {
	byIdentity := map[string]ModelSummary{}
	roles := map[string]int{}
	for _, f := range models {
		if f.Role == evidence.RoleTokenizer {
			continue
		}
		next := ModelSummary{Identity: f.Name, Source: sourceOf(f), Confidence: f.Confidence}
		signed := slices.Contains(f.Properties, evidence.Property{Name: evidence.PropIdentitySigned, Value: "true"})
		best, known := byIdentity[f.Name]
		if known && compareModels(best, next) <= 0 {
			next.Source, next.Confidence = best.Source, best.Confidence
		}
		next.Signed = best.Signed || signed
		byIdentity[f.Name] = next
		role := rank(modelRoles, f.Role)
		if known {
			role = min(role, roles[f.Name])
		}
		roles[f.Name] = role
	}
	var list []ModelSummary
	for _, m := range byIdentity {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b ModelSummary) int {
		return cmp.Or(cmp.Compare(roles[a.Identity], roles[b.Identity]), cmp.Compare(a.Identity, b.Identity))
	})
	return list
}

// compareModels puts the more certain of two findings of a model first, then the one that was
// read at the more direct place.
func compareModels(a, b ModelSummary) int {
	return cmp.Or(
		cmp.Compare(certainty(a.Confidence), certainty(b.Confidence)),
		cmp.Compare(rank(directness, a.Source), rank(directness, b.Source)),
		cmp.Compare(a.Source, b.Source),
	)
}

func lowestConfidence(findings []evidence.Finding) evidence.Confidence {
	var lowest evidence.Confidence
	for _, f := range findings {
		switch {
		case lowest == "":
			lowest = f.Confidence
		case f.Confidence == evidence.Unresolved:
		case lowest == evidence.Unresolved || certainty(f.Confidence) > certainty(lowest):
			lowest = f.Confidence
		}
	}
	return lowest
}

func ofType(findings []evidence.Finding, types ...evidence.Type) []evidence.Finding {
	var list []evidence.Finding
	for _, f := range findings {
		if slices.Contains(types, f.Type) {
			list = append(list, f)
		}
	}
	return list
}
