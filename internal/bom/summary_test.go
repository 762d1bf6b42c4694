// SPDX-License-Identifier: Apache-2.0

package bom

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

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
			"among equals the one with a version, then by name",
			[]evidence.Finding{found(runtime, "a", "", inferred, image), found(runtime, "c", "1", inferred, image), found(runtime, "b", "2", inferred, image)},
			Summary{Runtime: RuntimeSummary{"b", "2", inferred}, Confidence: inferred},
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
