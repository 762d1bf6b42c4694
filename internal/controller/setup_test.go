// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

func TestAnAIBOMLeadsToEveryWorkloadThatItMayBeOf(t *testing.T) {
	deployment, _ := kinds.For(schema.GroupKind{Group: "apps", Kind: "Deployment"})
	job, _ := kinds.For(schema.GroupKind{Group: "batch", Kind: "Job"})
	ref := func(name string) v1beta1.WorkloadReference {
		return v1beta1.WorkloadReference{APIVersion: "apps/v1", Kind: "Deployment", Name: name}
	}
	owner := func(name string) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: name, Controller: ptr.To(true)}}
	}
	for name, c := range map[string]struct {
		aibom metav1.ObjectMeta
		ref   v1beta1.WorkloadReference
		kind  kinds.Kind
		want  []string
	}{
		"its own":                   {metav1.ObjectMeta{Name: "deployment-a", OwnerReferences: owner("a")}, ref("a"), deployment, []string{"a"}},
		"one that says three names": {metav1.ObjectMeta{Name: "deployment-a", OwnerReferences: owner("b")}, ref("c"), deployment, []string{"c", "b", "a"}},
		"one without an owner":      {metav1.ObjectMeta{Name: "deployment-a"}, ref("c"), deployment, []string{"c", "a"}},
		"one of another kind":       {metav1.ObjectMeta{Name: "deployment-a", OwnerReferences: owner("a")}, ref("a"), job, nil},
		"one of another name":       {metav1.ObjectMeta{Name: "mine"}, ref("a"), deployment, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			aibom := &v1beta1.AIBOM{ObjectMeta: c.aibom, Spec: v1beta1.AIBOMSpec{WorkloadRef: c.ref}}
			NewWithT(t).Expect(workloadNames(c.kind, aibom)).To(Equal(c.want))
		})
	}
}
