// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// objectCase is an object of a third-party kind and what is to be found in it.
type objectCase struct {
	name string
	spec string
	// metadata is YAML for metadata; name: it is always called thing.
	metadata string
	running  []RunningImage
	// findings are all that are to be found, see describeFinding; properties the workload's.
	findings   []string
	properties []string
	// category is inference where empty.
	category evidence.Category
}

// kindNamed is a kind of the catalogue.
func kindNamed(t testing.TB, name string) kinds.Kind {
	t.Helper()
	for _, k := range kinds.ThirdParty() {
		if k.Name() == name {
			return k
		}
	}
	t.Fatalf("the catalogue has no third-party kind %s", name)
	return kinds.Kind{}
}

func readObject(t testing.TB, kind string, c objectCase) (evidence.Report, error) {
	t.Helper()
	object := map[string]any{"metadata": parseObject(t, []byte(c.metadata+"\nname: thing"))}
	for k, v := range parseObject(t, []byte(c.spec)) {
		object[k] = v
	}
	return Object(kindNamed(t, kind), ObjectInput{
		Workload: evidence.Workload{Kind: kind, Name: "thing"}, Object: object, Running: c.running,
	})
}

func testObjects(t *testing.T, kind string, cases []objectCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			report, err := readObject(t, kind, c)
			g.Expect(err).NotTo(HaveOccurred())
			if c.category == "" {
				c.category = evidence.CategoryInference
			}
			g.Expect(report.Category).To(Equal(c.category))
			g.Expect(describeFindings(report)).To(ConsistOf(c.findings))
			g.Expect(describeProperties(report.Properties)).To(ConsistOf(c.properties))
			g.Expect(undocumented(report)).To(BeEmpty(), "the taxonomy must name every property")
		})
	}
}

func describeFindings(r evidence.Report) []string {
	var all []string
	for _, f := range r.Findings {
		all = append(all, describeFinding(f))
	}
	return all
}

// describeFinding is a finding as
// type name@version role/origin (container) confidence at source:locator … | property=value ….
func describeFinding(f evidence.Finding) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s %s", f.Type, f.Name)
	if f.Version != "" {
		s.WriteString("@" + f.Version)
	}
	if f.Digest != "" {
		s.WriteString("#" + strings.TrimLeft(strings.TrimPrefix(f.Digest, "sha256:"), "0"))
	}
	if f.Role != "" {
		s.WriteString(" " + string(f.Role))
	}
	if f.Origin != "" {
		s.WriteString("/" + string(f.Origin))
	}
	if f.Quantity != 0 {
		fmt.Fprintf(&s, " x%d", f.Quantity)
	}
	if f.Container != "" {
		s.WriteString(" (" + f.Container + ")")
	}
	s.WriteString(" " + string(f.Confidence) + " at")
	for _, e := range f.Evidence {
		s.WriteString(" " + string(e.Source) + ":" + e.Locator)
	}
	if p := describeProperties(f.Properties); len(p) > 0 {
		s.WriteString(" | " + strings.Join(p, " "))
	}
	return s.String()
}

func describeProperties(properties []evidence.Property) []string {
	all := []string{}
	for _, p := range properties {
		all = append(all, strings.TrimPrefix(p.Name, evidence.Namespace)+"="+p.Value)
	}
	slices.Sort(all)
	return all
}

// undocumented are the properties that the taxonomy does not have.
func undocumented(r evidence.Report) []string {
	known := map[string]bool{}
	for _, term := range evidence.Taxonomy {
		known[term.Name] = true
	}
	all := slices.Clone(r.Properties)
	for _, f := range r.Findings {
		all = append(all, f.Properties...)
	}
	var unknown []string
	for _, p := range all {
		if !known[p.Name] {
			unknown = append(unknown, p.Name)
		}
	}
	return unknown
}

// digest is a manifest digest that describeFinding shows as its number.
func digest(n int) string { return fmt.Sprintf("sha256:%064d", n) }

func TestEveryThirdPartyKindHasAReader(t *testing.T) {
	g := NewWithT(t)
	for _, k := range kinds.ThirdParty() {
		g.Expect(readers).To(HaveKey(k.GVK.GroupKind()))
	}
	g.Expect(readers).To(HaveLen(len(kinds.ThirdParty())))
	for _, k := range kinds.BuiltIn() {
		_, err := Object(k, ObjectInput{Object: map[string]any{"spec": map[string]any{}}})
		g.Expect(err).To(MatchError(k.Key() + " has no reader"))
	}
}

func TestObjectsOfAnotherShape(t *testing.T) {
	const template = "{spec: {containers: [{name: c, image: vllm/vllm-openai}]}}"
	for _, c := range []struct{ kind, spec, message string }{
		{"InferenceService", "{}", "spec is missing"},
		{"InferenceService", "spec: text", "spec is not an object"},
		{"InferenceService", "spec: {}", "spec.predictor is missing"},
		{"InferenceService", "spec: {predictor: [1]}", "spec.predictor is not an object"},
		{"DynamoGraphDeployment", "spec: {components: {frontend: {}}}", "spec.components is not a list"},
		{"NIMService", "spec: {}", "spec.image is missing"},
		{"LeaderWorkerSet", "spec: {}", "spec.leaderWorkerTemplate is missing"},
		{"LeaderWorkerSet", "spec: {leaderWorkerTemplate: {leaderTemplate: " + template + "}}", "spec.leaderWorkerTemplate.workerTemplate is missing"},
		{"LeaderWorkerSet", "spec: {leaderWorkerTemplate: {workerTemplate: {spec: {containers: 1}}}}", "spec.leaderWorkerTemplate.workerTemplate cannot be decoded"},
		{"DisaggregatedSet", "spec: {}", "spec.roles is missing"},
		{"DisaggregatedSet", "spec: {roles: 3}", "spec.roles is not a list"},
		{"DisaggregatedSet", "spec: {roles: [{name: a}, 2]}", "spec.roles[0].spec.leaderWorkerTemplate is missing\nspec.roles[1] is not an object"},
	} {
		t.Run(c.kind+" "+c.spec, func(t *testing.T) {
			_, err := readObject(t, c.kind, objectCase{spec: c.spec})
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(c.message)))
		})
	}
}

// TestKindsThatDeclare holds that a kind that is made for serving models is an AI workload
// even where nothing is known of its model, and that others must show it.
func TestKindsThatDeclare(t *testing.T) {
	nothing := "{spec: {containers: [{name: c, image: registry.k8s.io/pause:3.9}]}}"
	for kind, spec := range map[string]string{
		"InferenceService":          "spec: {predictor: {containers: [{name: c, image: registry.k8s.io/pause:3.9}]}}",
		"DynamoGraphDeployment":     "spec: {components: [{name: a, podTemplate: " + nothing + "}]}",
		"DynamoComponentDeployment": "spec: {podTemplate: " + nothing + "}",
		"NIMService":                "spec: {image: {repository: registry.k8s.io/pause, tag: \"3.9\"}}",
	} {
		report, err := readObject(t, kind, objectCase{spec: spec})
		g := NewWithT(t)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(report.Category).To(Equal(evidence.CategoryInference), kind)
	}
	for kind, spec := range map[string]string{
		"LeaderWorkerSet":  "spec: {leaderWorkerTemplate: {workerTemplate: " + nothing + "}}",
		"DisaggregatedSet": "spec: {roles: [{name: a, spec: {leaderWorkerTemplate: {workerTemplate: " + nothing + "}}}]}",
	} {
		report, err := readObject(t, kind, objectCase{spec: spec})
		g := NewWithT(t)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(report.Category).To(Equal(evidence.CategoryNone), kind)
		g.Expect(report.Findings).To(BeEmpty(), kind)
	}
}

// TestStatusIsNeverRead holds that what a controller writes into the status changes nothing.
func TestStatusIsNeverRead(t *testing.T) {
	g := NewWithT(t)
	spec := "spec: {image: {repository: nvcr.io/nim/meta/llama, tag: \"1.0\"}}"
	without, err := readObject(t, "NIMService", objectCase{spec: spec})
	g.Expect(err).NotTo(HaveOccurred())
	with, err := readObject(t, "NIMService", objectCase{spec: spec +
		"\nstatus: {model: {name: other/model, clusterEndpoint: http://10.0.0.1:8000}, state: Ready}"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(with).To(Equal(without))
}

// TestAnnotationsOfObjects holds that annotations on the object win over those of its
// templates and over what is derived.
func TestAnnotationsOfObjects(t *testing.T) {
	testObjects(t, "NIMService", []objectCase{{
		name:     "declared by annotation",
		metadata: "annotations: {model.k8saibom.dev/name: org/tuned, model.k8saibom.dev/version: v2, other: x}",
		spec:     "spec: {image: {repository: nvcr.io/nim/meta/llama, tag: latest}}",
		findings: []string{
			"container nvcr.io/nim/meta/llama@latest main (thing-ctr) declared at image:spec.image",
			"runtime nim (thing-ctr) inferred at image:spec.image",
			"runtime nim declared at kind:kind",
			"model org/tuned@v2 served declared at annotation:metadata.annotations[model.k8saibom.dev/name]",
		},
	}})
	g := NewWithT(t)
	const spec = `
spec:
  leaderWorkerTemplate:
    workerTemplate:
      metadata: {annotations: {model.k8saibom.dev/name: org/template}}
      spec: {containers: [{name: c, image: vllm/vllm-openai}]}`
	const own = "annotation:spec.leaderWorkerTemplate.workerTemplate.metadata.annotations[model.k8saibom.dev/name]"
	report, err := readObject(t, "LeaderWorkerSet", objectCase{spec: spec})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(describeFindings(report)).To(ContainElement(
		"model org/template served declared at " + own + " | lws:role=leader lws:role=worker"))
	report, err = readObject(t, "LeaderWorkerSet", objectCase{spec: spec, metadata: "annotations: {model.k8saibom.dev/name: org/object}"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(describeFindings(report)).To(ContainElement(HavePrefix("model org/object served declared")))
	g.Expect(describeFindings(report)).NotTo(ContainElement(ContainSubstring("org/template")))
}

// TestBounds holds that an object that is made to be large is read up to a bound.
func TestBounds(t *testing.T) {
	g := NewWithT(t)
	var components strings.Builder
	for i := range 3 * maxTemplates {
		fmt.Fprintf(&components, "- {name: c%d, podTemplate: {spec: {containers: [{name: main, image: i}]}}}\n", i)
	}
	report, err := readObject(t, "DynamoGraphDeployment", objectCase{spec: "spec:\n  components:\n" + indent(components.String(), 2)})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(report.Findings).To(HaveLen(maxTemplates))
	g.Expect(describeProperties(report.Properties)).To(ContainElement(
		"scrape:error=spec.components[128] and later entries were not read: more than 128 entries"))
}

func indent(text string, by int) string {
	pad := strings.Repeat(" ", by)
	return pad + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+pad) + "\n"
}

// TestWhatCannotBeDecodedIsToldTheSameWayEveryTime has mistakes in a map, which the converter
// comes across in any order.
func TestWhatCannotBeDecodedIsToldTheSameWayEveryTime(t *testing.T) {
	g := NewWithT(t)
	object := map[string]any{"spec": map[string]any{"leaderWorkerTemplate": map[string]any{"workerTemplate": map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{"a": int64(1), "b": true, "c": "x", "d": []any{}, "e": map[string]any{}}},
		"spec":     map[string]any{"containers": []any{map[string]any{"name": "w", "image": "vllm/vllm-openai"}}},
	}}}}
	k, _ := kinds.For(schema.GroupKind{Group: "leaderworkerset.x-k8s.io", Kind: "LeaderWorkerSet"})
	_, first := Object(k, ObjectInput{Object: object})
	g.Expect(first).To(HaveOccurred())
	for range 50 {
		_, again := Object(k, ObjectInput{Object: object})
		g.Expect(again).To(MatchError(first.Error()))
	}
}
