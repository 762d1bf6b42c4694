// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
)

// inventoried is the AIBOM of a Deployment app with one model.
func inventoried(change func(*v1beta1.AIBOM)) []v1beta1.AIBOM {
	aibom := v1beta1.AIBOM{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "deployment-app"},
		Spec:       v1beta1.AIBOMSpec{WorkloadRef: v1beta1.WorkloadReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "app"}},
		Status: v1beta1.AIBOMStatus{
			Conditions: []metav1.Condition{{Type: v1beta1.ConditionReady, Status: metav1.ConditionTrue}},
			Summary: &v1beta1.AIBOMSummary{
				Workload: v1beta1.WorkloadSummary{Category: "inference"},
				Models:   []v1beta1.ModelSummary{{Identity: "org/model"}},
			},
		},
	}
	if change != nil {
		change(&aibom)
	}
	return []v1beta1.AIBOM{aibom}
}

func TestCompare(t *testing.T) {
	app := expectation{namespace: "ns", kind: "Deployment", name: "app", category: "inference", model: "org/model"}
	with := func(change func(*expectation)) []expectation {
		e := app
		change(&e)
		return []expectation{e}
	}
	for name, tc := range map[string]struct {
		expected []expectation
		aiboms   []v1beta1.AIBOM
		want     OmegaMatcher
	}{
		"as expected":     {[]expectation{app}, inventoried(nil), BeEmpty()},
		"none and none":   {with(func(e *expectation) { e.category = expectNone }), nil, BeEmpty()},
		"none but one":    {with(func(e *expectation) { e.category = expectNone }), inventoried(nil), ConsistOf(ContainSubstring("expected no AIBOM"))},
		"missing":         {[]expectation{app}, nil, ConsistOf("Deployment/app in namespace ns: expected category inference, seen no AIBOM")},
		"other namespace": {with(func(e *expectation) { e.namespace = "else" }), inventoried(nil), HaveLen(2)},
		"other kind":      {with(func(e *expectation) { e.kind = "StatefulSet" }), inventoried(nil), HaveLen(2)},
		"other category":  {with(func(e *expectation) { e.category = "agent" }), inventoried(nil), ConsistOf(ContainSubstring(`expected category agent, seen "inference"`))},
		"other model":     {with(func(e *expectation) { e.model = "x" }), inventoried(nil), ConsistOf(ContainSubstring("expected model x, seen [org/model]"))},
		"any model":       {with(func(e *expectation) { e.model = "" }), inventoried(nil), BeEmpty()},
		"unasked":         {nil, inventoried(nil), ConsistOf(ContainSubstring("expected nothing, seen AIBOM deployment-app"))},
		"no condition":    {[]expectation{app}, inventoried(func(a *v1beta1.AIBOM) { a.Status.Conditions = nil }), ConsistOf(ContainSubstring("no such condition"))},
		"no summary":      {[]expectation{app}, inventoried(func(a *v1beta1.AIBOM) { a.Status.Summary = nil }), ConsistOf(ContainSubstring(`seen ""`))},
		"not ready": {[]expectation{app}, inventoried(func(a *v1beta1.AIBOM) {
			a.Status.Conditions[0] = metav1.Condition{Type: v1beta1.ConditionReady, Status: metav1.ConditionFalse, Reason: "BuildFailed", Message: "why"}
		}), ConsistOf(ContainSubstring("seen False BuildFailed: why"))},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(compare(tc.expected, tc.aiboms)).To(tc.want)
		})
	}
}

func TestListExpectations(t *testing.T) {
	deployment := func(name, category string) client.Object {
		return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name,
			Annotations: map[string]string{expectAnnotation: category, expectModelAnnotation: "m"}}}
	}
	unmarked := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "unmarked"}}
	for name, tc := range map[string]struct {
		objects []client.Object
		want    []expectation
		problem string
	}{
		"marked ones": {[]client.Object{deployment("a", "agent"), deployment("b", expectNone), unmarked}, []expectation{
			{"ns", "Deployment", "a", "agent", "m"}, {"ns", "Deployment", "b", expectNone, "m"},
		}, ""},
		"nothing to be left out": {[]client.Object{deployment("a", "agent")}, nil, "expect=none"},
		"nothing to be found":    {[]client.Object{deployment("b", expectNone)}, nil, "with a category"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			reader := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(tc.objects...).Build()
			got, err := listExpectations(context.Background(), reader)
			if tc.problem != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.problem)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(tc.want))
		})
	}
}

func TestWriteDocuments(t *testing.T) {
	const minimal = `{"bomFormat":"CycloneDX","specVersion":"1.6"}`
	holding := func(data string, change func(*v1beta1.BOMDocument)) []v1beta1.AIBOM {
		sum := sha256.Sum256([]byte(data))
		document := &v1beta1.BOMDocument{
			SpecVersion: "1.6", SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data)),
			Inline: &v1beta1.InlineDocument{Data: data},
		}
		if change != nil {
			change(document)
		}
		return inventoried(func(a *v1beta1.AIBOM) { a.Status.BOMDocument = document })
	}
	for name, tc := range map[string]struct {
		aiboms  []v1beta1.AIBOM
		problem string
	}{
		"valid":       {holding(minimal, nil), ""},
		"no document": {inventoried(nil), "holds no document"},
		"not inline":  {holding(minimal, func(d *v1beta1.BOMDocument) { d.Inline = nil }), "holds no document"},
		"other hash":  {holding(minimal, func(d *v1beta1.BOMDocument) { d.SHA256 = "00" }), "states sha256 00"},
		"other size":  {holding(minimal, func(d *v1beta1.BOMDocument) { d.Size++ }), "bytes"},
		"invalid":     {holding(`{"bomFormat":"SPDX","specVersion":"1.6"}`, nil), "bomFormat"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			out := t.TempDir()
			paths, err := writeDocuments(out, tc.aiboms)
			if tc.problem != "" {
				g.Expect(err).To(MatchError(And(ContainSubstring("ns/deployment-app"), ContainSubstring(tc.problem))))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(paths).To(Equal([]string{filepath.Join(out, "ns", "deployment-app.cdx.json")}))
			g.Expect(os.ReadFile(paths[0])).To(BeEquivalentTo(minimal))
		})
	}
}
