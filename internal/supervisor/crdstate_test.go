// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"errors"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestA1Classify is the whole table: every state and every observation, of the same CRD and of
// one that took its place.
func TestA1Classify(t *testing.T) {
	const same, other = "u1", "u2"
	unknown := CRDState{}
	ready, unservable, removed := CRDState{Ready, same}, CRDState{Unservable, same}, CRDState{Removed, same}
	cases := []struct {
		before CRDState
		o      Observation
		want   CRDState
	}{
		{unknown, Observation{Verdict: Unreadable}, unknown},
		{unknown, Observation{Verdict: Absent}, unknown},
		{unknown, Observation{Verdict: Terminating, UID: same}, unknown},
		{unknown, Observation{Verdict: NotServable, UID: same}, unknown},
		{unknown, Observation{Verdict: Servable, UID: same}, ready},

		{ready, Observation{Verdict: Unreadable}, ready},
		{ready, Observation{Verdict: Absent}, removed},
		{ready, Observation{Verdict: Terminating, UID: same}, removed},
		{ready, Observation{Verdict: Terminating, UID: other}, removed},
		{ready, Observation{Verdict: NotServable, UID: same}, unservable},
		{ready, Observation{Verdict: NotServable, UID: other}, removed},
		{ready, Observation{Verdict: Servable, UID: same}, ready},
		{ready, Observation{Verdict: Servable, UID: other}, CRDState{Ready, other}},

		{unservable, Observation{Verdict: Unreadable}, unservable},
		{unservable, Observation{Verdict: Absent}, removed},
		{unservable, Observation{Verdict: Terminating, UID: same}, removed},
		{unservable, Observation{Verdict: Terminating, UID: other}, removed},
		{unservable, Observation{Verdict: NotServable, UID: same}, unservable},
		{unservable, Observation{Verdict: NotServable, UID: other}, removed},
		{unservable, Observation{Verdict: Servable, UID: same}, ready},
		{unservable, Observation{Verdict: Servable, UID: other}, CRDState{Ready, other}},

		{removed, Observation{Verdict: Unreadable}, removed},
		{removed, Observation{Verdict: Absent}, removed},
		{removed, Observation{Verdict: Terminating, UID: same}, removed},
		{removed, Observation{Verdict: Terminating, UID: other}, removed},
		{removed, Observation{Verdict: NotServable, UID: same}, removed},
		{removed, Observation{Verdict: NotServable, UID: other}, removed},
		{removed, Observation{Verdict: Servable, UID: same}, ready},
		{removed, Observation{Verdict: Servable, UID: other}, CRDState{Ready, other}},
	}
	covered := map[string]bool{}
	for _, c := range cases {
		covered[fmt.Sprint(c.before.Phase, c.o.Verdict)] = true
		t.Run(fmt.Sprintf("%s sees %d of %q", c.before.Phase, c.o.Verdict, c.o.UID), func(t *testing.T) {
			NewWithT(t).Expect(Classify(c.before, c.o)).To(Equal(c.want))
		})
	}
	for phase := Unknown; phase <= Removed; phase++ {
		for v := Unreadable; v <= Servable; v++ {
			NewWithT(t).Expect(covered).To(HaveKey(fmt.Sprint(phase, v)), "the table has every pair")
		}
	}
}

func TestA1Observe(t *testing.T) {
	type change func(*apiextensionsv1.CustomResourceDefinition)
	now := metav1.Now()
	cases := []struct {
		name   string
		change change
		err    error
		want   Verdict
		says   string
	}{
		{name: "established, named, namespaced and served", want: Servable},
		{name: "not found", err: apierrors.NewNotFound(crdResource.GroupResource(), dgd.CRD()), want: Absent},
		{name: "forbidden", err: apierrors.NewForbidden(crdResource.GroupResource(), dgd.CRD(), nil), want: Unreadable, says: "forbidden"},
		{name: "no answer", err: errors.New("connection refused"), want: Unreadable, says: "connection refused"},
		{
			name: "being deleted and still served", want: Terminating, says: "being deleted",
			change: func(c *apiextensionsv1.CustomResourceDefinition) { c.DeletionTimestamp = &now },
		},
		{
			name: "without conditions", want: NotServable, says: "not Established",
			change: func(c *apiextensionsv1.CustomResourceDefinition) { c.Status.Conditions = nil },
		},
		{
			name: "with names that are not accepted", want: NotServable, says: "is already in use",
			change: func(c *apiextensionsv1.CustomResourceDefinition) {
				c.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{
					{Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionFalse, Message: `"DynamoGraphDeployment" is already in use`},
					{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionFalse, Message: "not all names are accepted"},
				}
			},
		},
		{
			name: "established under an earlier kind", want: NotServable, says: "served as kind Graph",
			change: func(c *apiextensionsv1.CustomResourceDefinition) { c.Status.AcceptedNames.Kind = "Graph" },
		},
		{
			name: "of another kind", want: NotServable, says: "is of kind Graph",
			change: func(c *apiextensionsv1.CustomResourceDefinition) { c.Spec.Names.Kind = "Graph" },
		},
		{
			name: "cluster-scoped", want: NotServable, says: "scope Cluster",
			change: func(c *apiextensionsv1.CustomResourceDefinition) { c.Spec.Scope = apiextensionsv1.ClusterScoped },
		},
		{
			name: "with the version not served", want: NotServable, says: "does not serve the version v1beta1",
			change: func(c *apiextensionsv1.CustomResourceDefinition) { c.Spec.Versions[0].Served = false },
		},
		{
			name: "without the version", want: NotServable, says: "does not serve the version v1beta1",
			change: func(c *apiextensionsv1.CustomResourceDefinition) { c.Spec.Versions[0].Name = "v2" },
		},
		{
			name: "with other stored versions", want: Servable,
			change: func(c *apiextensionsv1.CustomResourceDefinition) {
				c.Status.StoredVersions = []string{"v1alpha1", "v1beta1"}
			},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			crd := newWorld().servable(dgd)
			if c.change != nil {
				c.change(crd)
			}
			if c.err != nil {
				crd = nil
			}
			o := Observe(dgd, crd, c.err)
			g.Expect(o.Verdict).To(Equal(c.want))
			if c.want == Servable {
				g.Expect(o.Problem).NotTo(HaveOccurred())
				return
			}
			g.Expect(o.Problem).To(MatchError(ContainSubstring(c.says)), "the problem says what is wrong")
			g.Expect(o.Problem).To(MatchError(Or(ContainSubstring(dgd.CRD()), Equal("connection refused"))), "and names the CRD")
		})
	}
}
