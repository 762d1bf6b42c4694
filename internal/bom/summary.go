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
	// Runtime is the most certain runtime or, where there is none, framework.
	Runtime RuntimeSummary
	// Models names each model once, sorted by identity. Tokenizers and data are no models.
	Models []ModelSummary
	// Confidence is the lowest of the resolved runtime and model findings: Unresolved where
	// all of them are unresolved, empty where there are none.
	Confidence evidence.Confidence
}

// Summarize sums a report up. Give it a normalised report, see Normalize: a summary is shown
// as widely as a document and must hold no more than that.
func Summarize(r evidence.Report) Summary {
	runtimes := ofType(r.Findings, evidence.TypeRuntime)
	if len(runtimes) == 0 {
		runtimes = ofType(r.Findings, evidence.TypeFramework)
	}
	models := ofType(r.Findings, evidence.TypeModel)
	return Summary{
		Runtime:    summarizeRuntime(runtimes),
		Models:     summarizeModels(models),
		Confidence: lowestConfidence(append(runtimes, models...)),
	}
}

// summarizeRuntime picks the most certain finding; among equals one that knows its version,
// then the first by name.
func summarizeRuntime(runtimes []evidence.Finding) RuntimeSummary {
	if len(runtimes) == 0 {
		return RuntimeSummary{}
	}
	best := slices.MinFunc(runtimes, func(a, b evidence.Finding) int {
		return cmp.Or(
			cmp.Compare(certainty(a.Confidence), certainty(b.Confidence)),
			-cmp.Compare(min(len(a.Version), 1), min(len(b.Version), 1)),
			cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Version, b.Version),
		)
	})
	return RuntimeSummary{Name: best.Name, Version: best.Version, Confidence: best.Confidence}
}

func summarizeModels(models []evidence.Finding) []ModelSummary {
	byIdentity := map[string]ModelSummary{}
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
	}
	var list []ModelSummary
	for _, m := range byIdentity {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b ModelSummary) int { return cmp.Compare(a.Identity, b.Identity) })
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

func ofType(findings []evidence.Finding, t evidence.Type) []evidence.Finding {
	var list []evidence.Finding
	for _, f := range findings {
		if f.Type == t {
			list = append(list, f)
		}
	}
	return list
}
