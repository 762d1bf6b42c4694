// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Ratio is how many of some are right.
type Ratio struct {
	Right int `json:"right"`
	Of    int `json:"of"`
}

func (r *Ratio) count(right bool) {
	r.Of++
	if right {
		r.Right++
	}
}

// Percent is the ratio in percent, and 100 of nothing.
func (r Ratio) Percent() float64 {
	if r.Of == 0 {
		return 100
	}
	return 100 * float64(r.Right) / float64(r.Of)
}

// Miss is one thing that differs from a label.
type Miss struct {
	File string `json:"file"`
	// Field is what differs, one of the names of a dispute's fields.
	Field    string `json:"field"`
	Expected string `json:"expected"`
	Seen     string `json:"seen"`
	// Note is what the label says of the manifest's difficulty, or the reason of a dispute.
	Note string `json:"note,omitempty"`
}

// Score is the comparison of observations with labels.
type Score struct {
	// Detection, Category and Runtime are of the AI workloads; one without an AIBOM is a miss
	// in each.
	Detection Ratio `json:"detection"`
	Category  Ratio `json:"category"`
	Runtime   Ratio `json:"runtime"`
	// FalseAIBOMs are AIBOMs of what is no AI workload: Right counts those that there are, of
	// the workloads that should have none.
	FalseAIBOMs Ratio `json:"falseAIBOMs"`
	// A recall is of what labels name, a precision of what AIBOMs claim.
	ModelRecall      Ratio `json:"modelRecall"`
	ModelPrecision   Ratio `json:"modelPrecision"`
	DatasetRecall    Ratio `json:"datasetRecall"`
	DatasetPrecision Ratio `json:"datasetPrecision"`
	APIRecall        Ratio `json:"apiRecall"`
	APIPrecision     Ratio `json:"apiPrecision"`
	// Unresolved counts the references that AIBOMs show as not resolved. They are no claims and
	// so are not in the precision; one that a label names as well counts as found.
	Unresolved int `json:"unresolved"`

	Misses   []Miss `json:"misses"`
	Disputed []Miss `json:"disputed"`
	// Refused are the manifests that could not be looked at; they are in no other number.
	Refused []Miss `json:"refused"`
}

// scorer adds up a score.
type scorer struct {
	Score
	disputes map[[2]string]string
}

// Of compares observations with labels. A label without an observation is an error of the
// caller and scored as a workload without an AIBOM.
func Of(labels []Label, observations []Observation, disputes []Dispute) Score {
	s := scorer{disputes: map[[2]string]string{}}
	for _, d := range disputes {
		s.disputes[[2]string{d.File, d.Field}] = d.Reason
	}
	seen := map[string]Observation{}
	for _, o := range observations {
		seen[o.File] = o
	}
	for _, l := range labels {
		s.add(l, seen[l.File])
	}
	return s.Score
}

func (s *scorer) add(l Label, o Observation) {
	if o.Refused != "" {
		s.Refused = append(s.Refused, Miss{File: l.File, Field: "refused", Expected: l.Category, Seen: o.Refused})
		return
	}
	if !l.AI {
		if !s.disputed(l, FieldDetection, "no AIBOM", describe(o), !o.Found) {
			s.FalseAIBOMs.count(o.Found)
			s.miss(l, FieldDetection, "no AIBOM", describe(o), !o.Found)
			if o.Found {
				s.names(l, FieldModels, nil, o.Models, nil, Identity, &s.ModelRecall, &s.ModelPrecision)
			}
		}
		return
	}
	s.Unresolved += len(o.Unresolved)
	s.field(l, FieldDetection, "an AIBOM", describe(o), o.Found, &s.Detection)
	s.field(l, FieldCategory, l.Category, o.Category, o.Found && l.Category == o.Category, &s.Category)
	s.field(l, FieldRuntime, l.Runtime, o.Runtime, o.Found && Name(l.Runtime) == Name(o.Runtime), &s.Runtime)
	s.names(l, FieldModels, l.Models, o.Models, o.Unresolved, Identity, &s.ModelRecall, &s.ModelPrecision)
	s.names(l, FieldDatasets, l.Datasets, o.Datasets, nil, Identity, &s.DatasetRecall, &s.DatasetPrecision)
	s.names(l, FieldAPIs, l.ExternalAPIs, o.APIs, nil, Name, &s.APIRecall, &s.APIPrecision)
}

func describe(o Observation) string {
	if !o.Found {
		return "no AIBOM"
	}
	return strings.TrimSpace(fmt.Sprintf("an AIBOM: %s %s %s", o.Category, o.Runtime, strings.Join(o.Models, ", ")))
}

// field scores a field that is right or wrong.
func (s *scorer) field(l Label, field, expected, seen string, right bool, ratio *Ratio) {
	if s.disputed(l, field, expected, seen, right) {
		return
	}
	ratio.count(right)
	s.miss(l, field, expected, seen, right)
}

// names scores a list of names: which of the expected are seen, and which of those that are
// claimed are expected.
func (s *scorer) names(l Label, field string, expected, claimed, shown []string, as func(string) string, recall, precision *Ratio) {
	want, have, also := distinct(expected, as), distinct(claimed, as), distinct(shown, as)
	right := true
	for key := range want {
		right = right && (have[key] != "" || also[key] != "")
	}
	for key := range have {
		right = right && want[key] != ""
	}
	seen := list(have)
	if len(also) > 0 {
		seen += " (not resolved: " + list(also) + ")"
	}
	if s.disputed(l, field, list(want), seen, right) {
		return
	}
	for key := range want {
		recall.count(have[key] != "" || also[key] != "")
	}
	for key := range have {
		precision.count(want[key] != "")
	}
	s.miss(l, field, list(want), seen, right)
}

// disputed sets a label's field aside where it is disputed.
func (s *scorer) disputed(l Label, field, expected, seen string, right bool) bool {
	reason, ok := s.disputes[[2]string{l.File, field}]
	if ok && !right {
		s.Disputed = append(s.Disputed, Miss{File: l.File, Field: field, Expected: expected, Seen: seen, Note: reason})
	}
	return ok && !right
}

func (s *scorer) miss(l Label, field, expected, seen string, right bool) {
	if !right {
		s.Misses = append(s.Misses, Miss{File: l.File, Field: field, Expected: expected, Seen: seen, Note: l.Hard})
	}
}

func list(names map[string]string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Values(names)), ", ")
}
