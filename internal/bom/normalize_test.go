// SPDX-License-Identifier: Apache-2.0

package bom

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

func model(name string, places ...evidence.Evidence) evidence.Finding {
	return evidence.Finding{
		Type: evidence.TypeModel, Name: name, Role: evidence.RoleServed, Container: "main",
		Confidence: evidence.Declared, Evidence: places,
	}
}

func normalFindings(findings ...evidence.Finding) []evidence.Finding {
	return Normalize(evidence.Report{Findings: findings}).Findings
}

func TestNormalizeMerges(t *testing.T) {
	argument := read(evidence.SourceArgument, "args[0]")
	other := read(evidence.SourceArgument, "args[1]")
	environment := read(evidence.SourceEnvironment, "env[0]")
	with := func(f evidence.Finding, change func(*evidence.Finding)) evidence.Finding {
		change(&f)
		return f
	}

	tests := []struct {
		name string
		in   []evidence.Finding
		want []evidence.Finding
	}{
		{
			"exact duplicates",
			[]evidence.Finding{model("m", argument), model("m", argument)},
			[]evidence.Finding{model("m", argument)},
		},
		{
			"another place of the same source",
			[]evidence.Finding{model("m", other), model("m", argument)},
			[]evidence.Finding{model("m", argument, other)},
		},
		{
			"another source stays another finding",
			[]evidence.Finding{model("m", environment), model("m", argument)},
			[]evidence.Finding{model("m", argument), model("m", environment)},
		},
		{
			"another container stays another finding",
			[]evidence.Finding{model("m", argument), with(model("m", argument), func(f *evidence.Finding) { f.Container = "b" })},
			[]evidence.Finding{with(model("m", argument), func(f *evidence.Finding) { f.Container = "b" }), model("m", argument)},
		},
		{
			"another role stays another finding, the served one first",
			[]evidence.Finding{with(model("m", argument), func(f *evidence.Finding) { f.Role = evidence.RoleDraft }), model("m", argument)},
			[]evidence.Finding{model("m", argument), with(model("m", argument), func(f *evidence.Finding) { f.Role = evidence.RoleDraft })},
		},
		{
			"a resolved variable keeps its places, the argument first",
			[]evidence.Finding{model("m", environment, argument)},
			[]evidence.Finding{model("m", argument, environment)},
		},
		{
			"properties unite",
			[]evidence.Finding{
				with(model("m", argument), func(f *evidence.Finding) { f.Properties = []evidence.Property{prop("b", "1"), prop("a", "2")} }),
				with(model("m", argument), func(f *evidence.Finding) { f.Properties = []evidence.Property{prop("a", "1"), prop("b", "1")} }),
			},
			[]evidence.Finding{with(model("m", argument), func(f *evidence.Finding) {
				f.Properties = []evidence.Property{prop("a", "1"), prop("a", "2"), prop("b", "1")}
			})},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			NewWithT(t).Expect(normalFindings(tt.in...)).To(Equal(tt.want))
		})
	}
}

func TestNormalizeMergesImages(t *testing.T) {
	g := NewWithT(t)
	image := func(container string, role evidence.Role, digest string, c evidence.Confidence) evidence.Finding {
		return evidence.Finding{
			Type: evidence.TypeContainer, Name: "vllm/vllm-openai", Version: "v1", Digest: digest, Role: role, Container: container,
			Confidence: c, Evidence: []evidence.Evidence{read(evidence.SourceImage, container+".image")},
		}
	}
	got := normalFindings(
		image("fetch", evidence.RoleInit, testDigest, evidence.Inferred),
		image("server", evidence.RoleMain, strings.ToUpper(testDigest), evidence.Declared),
		image("other", evidence.RoleMain, "", evidence.Declared),
	)
	g.Expect(got).To(Equal([]evidence.Finding{
		{
			Type: evidence.TypeContainer, Name: "vllm/vllm-openai", Version: "v1", Role: evidence.RoleMain, Container: "other",
			Confidence: evidence.Declared, Evidence: []evidence.Evidence{read(evidence.SourceImage, "other.image")},
			Properties: []evidence.Property{prop(evidence.PropContainerName, "other"), prop(evidence.PropIdentityRole, "main")},
		},
		{
			Type: evidence.TypeContainer, Name: "vllm/vllm-openai", Version: "v1", Digest: testDigest, Role: evidence.RoleMain, Container: "fetch",
			Confidence: evidence.Declared,
			Evidence:   []evidence.Evidence{read(evidence.SourceImage, "fetch.image"), read(evidence.SourceImage, "server.image")},
			Properties: []evidence.Property{
				prop(evidence.PropContainerName, "fetch"), prop(evidence.PropContainerName, "server"),
				prop(evidence.PropIdentityRole, "init"), prop(evidence.PropIdentityRole, "main"),
			},
		},
	}))
}

func TestNormalizeRecordsWhatItDoes(t *testing.T) {
	g := NewWithT(t)
	long := strings.Repeat("x", 2*maxValue)
	f := model("https://u:p@h/m", read(evidence.SourceArgument, long))
	f.Properties = []evidence.Property{prop(evidence.PropIdentityServedName, long)}
	r := Normalize(evidence.Report{
		Workload:   evidence.Workload{Name: long},
		Properties: []evidence.Property{prop(evidence.PropScrapeError, "Bearer abcdefgh12345")},
		Findings:   []evidence.Finding{f},
	})
	g.Expect(r.Properties).To(ConsistOf(
		prop(evidence.PropScrapeError, "Bearer REDACTED"),
		prop(evidence.PropRedactionApplied, "bearer-token"),
		prop(evidence.PropValueTruncated, "workload.name"),
	))
	g.Expect(r.Findings[0].Name).To(Equal("https://REDACTED@h/m"))
	g.Expect(r.Findings[0].Properties).To(ContainElements(
		prop(evidence.PropRedactionApplied, "url-userinfo"),
		prop(evidence.PropValueTruncated, "evidence.locator"),
		prop(evidence.PropValueTruncated, evidence.PropIdentityServedName),
	))
}

func TestNormalizeCleansEveryField(t *testing.T) {
	g := NewWithT(t)
	const leak = "hf_Zq7Zq7Zq7Zq7Zq7Zq7Zq7Zq7Zq7Zq7Zq7Zq7"
	r := evidence.Report{
		Workload:   evidence.Workload{APIVersion: leak, Kind: leak, Namespace: leak, Name: leak, UID: leak},
		Category:   leak,
		Properties: []evidence.Property{prop(leak, leak)},
	}
	for _, kind := range []evidence.Type{evidence.TypeModel, evidence.TypeContainer, evidence.TypeService, leak} {
		r.Findings = append(r.Findings, evidence.Finding{
			Type: kind, Name: leak, Version: leak, Digest: leak, Role: leak, Origin: leak, Container: leak, Endpoint: leak, Confidence: leak,
			Evidence: []evidence.Evidence{read(leak, leak)}, Properties: []evidence.Property{prop(leak, leak)},
		})
	}
	out := Normalize(r)
	g.Expect(fmt.Sprintf("%+v", out)).NotTo(ContainSubstring("Zq7"))
	g.Expect(fmt.Sprintf("%+v", Summarize(out))).NotTo(ContainSubstring("Zq7"))
	g.Expect(r.Workload.Name).To(Equal(leak), "the argument must stay as it was")
	g.Expect(r.Findings[0].Evidence[0].Locator).To(Equal(leak), "the argument must stay as it was")
}

func TestNormalizeBounds(t *testing.T) {
	t.Run("findings", func(t *testing.T) {
		g := NewWithT(t)
		var r evidence.Report
		for i := range maxFindings + 100 {
			r.Findings = append(r.Findings, evidence.Finding{Type: evidence.TypeData, Name: fmt.Sprintf("d%04d", i), Confidence: evidence.Declared})
		}
		r.Findings = append(r.Findings,
			evidence.Finding{Type: evidence.TypeContainer, Name: "init", Role: evidence.RoleInit},
			evidence.Finding{Type: evidence.TypeContainer, Name: "image", Role: evidence.RoleMain},
			evidence.Finding{Type: evidence.TypeRuntime, Name: "vllm", Confidence: evidence.Unresolved},
			model("served"),
		)
		out := Normalize(r)
		g.Expect(out.Findings).To(HaveLen(maxFindings))
		names := make([]string, 4)
		for i := range names {
			names[i] = out.Findings[i].Name
		}
		g.Expect(names).To(Equal([]string{"served", "vllm", "image", "d0000"}))
		g.Expect(out.Properties).To(ConsistOf(prop(evidence.PropComponentsDropped, "104")))
		g.Expect(Normalize(out)).To(Equal(out))

		out.Findings = append(out.Findings, evidence.Finding{Type: evidence.TypeDevice, Name: "late"})
		g.Expect(Normalize(out).Properties).To(ConsistOf(prop(evidence.PropComponentsDropped, "105")))
	})

	t.Run("evidence and properties", func(t *testing.T) {
		g := NewWithT(t)
		f := model("m")
		for i := range 1000 {
			f.Evidence = append(f.Evidence, read(evidence.SourceArgument, fmt.Sprintf("args[%04d]", i)))
			f.Properties = append(f.Properties, prop("k8s-aibom:x", fmt.Sprintf("%04d", i)), prop(evidence.PropRedactionApplied, fmt.Sprintf("%04d", i)))
		}
		got := normalFindings(f)[0]
		g.Expect(got.Evidence).To(HaveLen(maxEvidence))
		g.Expect(got.Properties).To(HaveLen(maxProperties + maxNotes))
		g.Expect(normalFindings(got)[0]).To(Equal(got))
	})

	t.Run("one image in very many containers", func(t *testing.T) {
		g := NewWithT(t)
		var findings []evidence.Finding
		for i := range 5000 {
			findings = append(findings, evidence.Finding{
				Type: evidence.TypeContainer, Name: "image", Container: fmt.Sprintf("c%04d", i), Role: evidence.RoleMain, Confidence: evidence.Declared,
				Properties: []evidence.Property{prop("k8s-aibom:a", fmt.Sprint(i%(maxProperties-1)))},
			})
		}
		got := normalFindings(findings...)
		g.Expect(got).To(HaveLen(1))
		g.Expect(got[0].Container).To(Equal("c0000"))
		g.Expect(got[0].Properties).To(ContainElement(prop(evidence.PropValueTruncated, "properties")))
		g.Expect(normalFindings(got...)).To(Equal(got))
	})

	t.Run("ten thousand findings and ten megabytes", func(t *testing.T) {
		g := NewWithT(t)
		r := evidence.Report{Findings: []evidence.Finding{model(strings.Repeat("https://u:p@h/", 10<<20/14))}}
		for i := range 10_000 {
			r.Findings = append(r.Findings, model(fmt.Sprintf("org/model-%d", i), read(evidence.SourceArgument, fmt.Sprintf("spec.template.spec.containers[%d].args[1]", i))))
		}
		doc, err := Build(Input{Report: r, SpecVersion: "1.6", Tool: testTool}, firstSeen)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(len(doc.Bytes)).To(BeNumerically("<", 2<<20))
	})
}
