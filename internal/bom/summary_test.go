// SPDX-License-Identifier: Apache-2.0

package bom

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// A sidecar's product must not stand for the workload, however much is known of it.
func TestSummaryNamesWhatTheWorkloadIsFor(t *testing.T) {
	product := func(kind evidence.Type, name, version string, category evidence.Category, c evidence.Confidence) evidence.Finding {
		return evidence.Finding{
			Type: kind, Name: name, Version: version, Category: category, Confidence: c,
			Evidence: []evidence.Evidence{read(evidence.SourceImage, name)},
		}
	}
	vllm := product(evidence.TypeRuntime, "vllm", "", evidence.CategoryInference, evidence.Inferred)
	qdrant := product(evidence.TypeRuntime, "qdrant", "1.9.0", evidence.CategoryVectorDB, evidence.Declared)
	langchain := product(evidence.TypeFramework, "langchain", "0.1.0", evidence.CategoryAgent, evidence.Inferred)
	for category, want := range map[evidence.Category]string{
		evidence.CategoryInference: "vllm",
		evidence.CategoryVectorDB:  "qdrant",
		evidence.CategoryAgent:     "langchain",
		evidence.CategoryTraining:  "qdrant", // nothing fits: a runtime, the most certain
	} {
		report := evidence.Report{Category: category, Findings: []evidence.Finding{qdrant, langchain, vllm}}
		NewWithT(t).Expect(Summarize(Normalize(report)).Runtime.Name).To(Equal(want), string(category))
	}
}

// An agent may be known by nothing but the key of the hosted API that it calls.
func TestSummaryOfACallerIsAsSureAsItsServices(t *testing.T) {
	report := evidence.Report{Category: evidence.CategoryAgent, Findings: []evidence.Finding{{
		Type: evidence.TypeService, Name: "openai", Confidence: evidence.Inferred,
		Evidence: []evidence.Evidence{read(evidence.SourceEnvironment, "x")},
	}}}
	NewWithT(t).Expect(Summarize(Normalize(report)).Confidence).To(Equal(evidence.Inferred))
}

func TestSummaryNamesServedModelsFirst(t *testing.T) {
	var findings []evidence.Finding
	for _, m := range []struct {
		name string
		role evidence.Role
	}{
		{"a", evidence.RoleOutput}, {"b", evidence.RoleAdapter}, {"c", evidence.RoleDraft}, {"d", evidence.RoleCalled},
		{"f", evidence.RoleServed}, {"e", evidence.RoleServed}, {"g", evidence.RoleDraft}, {"g", evidence.RoleServed},
	} {
		findings = append(findings, evidence.Finding{
			Type: evidence.TypeModel, Name: m.name, Role: m.role, Confidence: evidence.Declared,
			Evidence: []evidence.Evidence{read(evidence.SourceArgument, "x")},
		})
	}
	var names []string
	for _, m := range Summarize(Normalize(evidence.Report{Findings: findings})).Models {
		names = append(names, m.Identity)
	}
	NewWithT(t).Expect(names).To(Equal([]string{"e", "f", "g", "d", "c", "b", "a"}))
}

func TestSummarize(t *testing.T) {
	found := func(kind evidence.Type, name, version string, c evidence.Confidence, source evidence.Source) evidence.Finding {
		return evidence.Finding{
			Type: kind, Name: name, Version: version, Confidence: c, Role: evidence.RoleServed,
			Evidence: []evidence.Evidence{read(source, "x")},
		}
	}
	runtime, framework, mdl := evidence.TypeRuntime, evidence.TypeFramework, evidence.TypeModel
	image, argument, annotation := evidence.SourceImage, evidence.SourceArgument, evidence.SourceAnnotation
	declared, inferred, unresolved := evidence.Declared, evidence.Inferred, evidence.Unresolved
	signed := found(mdl, "m", "", inferred, annotation)
	signed.Properties = []evidence.Property{prop(evidence.PropIdentitySigned, "true")}
	tokenizer := found(mdl, "tok", "", declared, argument)
	tokenizer.Role = evidence.RoleTokenizer

	tests := []struct {
		name string
		in   []evidence.Finding
		want Summary
	}{
		{"nothing", nil, Summary{}},
		{
			"the most certain runtime",
			[]evidence.Finding{found(runtime, "a", "", inferred, image), found(runtime, "z", "1", declared, image), found(framework, "f", "", declared, image)},
			Summary{Runtime: RuntimeSummary{"z", "1", declared}, Confidence: inferred},
		},
		{
			"among equals the first by name, with or without a version",
			[]evidence.Finding{found(runtime, "c", "1", inferred, image), found(runtime, "a", "", inferred, image), found(runtime, "b", "2", inferred, image)},
			Summary{Runtime: RuntimeSummary{"a", "", inferred}, Confidence: inferred},
		},
		{
			"of one runtime the finding with a version",
			[]evidence.Finding{found(runtime, "a", "", inferred, image), found(runtime, "a", "2", inferred, argument)},
			Summary{Runtime: RuntimeSummary{"a", "2", inferred}, Confidence: inferred},
		},
		{
			"a framework where there is no runtime",
			[]evidence.Finding{found(framework, "langchain", "", inferred, image)},
			Summary{Runtime: RuntimeSummary{"langchain", "", inferred}, Confidence: inferred},
		},
		{
			"models are merged by identity and sorted",
			[]evidence.Finding{found(mdl, "z", "", declared, argument), signed, found(mdl, "m", "", declared, argument)},
			Summary{
				Models:     []ModelSummary{{"m", argument, declared, true}, {"z", argument, declared, false}},
				Confidence: inferred,
			},
		},
		{
			"of equally certain sources the most direct",
			[]evidence.Finding{found(mdl, "m", "", declared, argument), found(mdl, "m", "", declared, annotation)},
			Summary{Models: []ModelSummary{{"m", annotation, declared, false}}, Confidence: declared},
		},
		{
			"unresolved ones do not lower the confidence",
			[]evidence.Finding{found(runtime, "vllm", "", declared, image), found(mdl, "$(M)", "", unresolved, argument)},
			Summary{
				Runtime:    RuntimeSummary{"vllm", "", declared},
				Models:     []ModelSummary{{"$(M)", argument, unresolved, false}},
				Confidence: declared,
			},
		},
		{
			"all unresolved",
			[]evidence.Finding{found(mdl, "$(M)", "", unresolved, argument)},
			Summary{Models: []ModelSummary{{"$(M)", argument, unresolved, false}}, Confidence: unresolved},
		},
		{
			"data and tokenizers are no models",
			[]evidence.Finding{found(evidence.TypeData, "d", "", inferred, argument), tokenizer},
			Summary{Confidence: declared},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			NewWithT(t).Expect(Summarize(Normalize(evidence.Report{Findings: tt.in}))).To(Equal(tt.want))
		})
	}
}
