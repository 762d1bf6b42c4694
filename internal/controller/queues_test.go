// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/internal/ownership"
)

func kindOf(t *testing.T, group, kind string) kinds.Kind {
	t.Helper()
	k, ok := kinds.For(schema.GroupKind{Group: group, Kind: kind})
	NewWithT(t).Expect(ok).To(BeTrue())
	return k
}

func TestAFailingWorkloadIsTriedAgainWithinTwoMinutes(t *testing.T) {
	g := NewWithT(t)
	limiter := RateLimiter[reconcile.Request]()
	failing := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ml", Name: "failing"}}
	g.Expect(limiter.When(failing)).To(Equal(firstPause))
	for range 100 {
		g.Expect(limiter.When(failing)).To(BeNumerically("<=", MaxPause))
	}
	g.Expect(limiter.When(failing)).To(Equal(MaxPause))
	other := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ml", Name: "other"}}
	g.Expect(limiter.When(other)).To(Equal(firstPause), "nobody waits for what others do")
}

func TestQueuesLeadToTheNewestRegistrationOfAKind(t *testing.T) {
	g := NewWithT(t)
	var q Queues
	var got []string
	into := func(name string) func(types.NamespacedName) {
		return func(key types.NamespacedName) { got = append(got, name+" "+key.String()) }
	}
	job, set := kindOf(t, "batch", "Job"), kindOf(t, "apps", "StatefulSet")
	key := types.NamespacedName{Namespace: "ml", Name: "x"}
	q.Enqueue(job, key) // nobody is there yet
	q.Register(job, into("first"))
	q.Register(job, into("job"))
	q.Register(set, into("set"))
	q.Enqueue(job, key)
	q.enqueue(ownership.Ancestor{GVK: set.GVK, Namespace: "ml", Name: "y"})
	q.enqueue(ownership.Ancestor{GVK: schema.GroupVersionKind{Kind: "Node", Version: "v1"}, Name: "z"})
	g.Expect(got).To(Equal([]string{"job ml/x", "set ml/y"}))
}
