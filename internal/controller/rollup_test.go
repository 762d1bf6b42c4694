// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strconv"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/internal/ownership"
)

func TestAnAbsorbedWorkloadsFormerOwnerIsToldWhenItLeaves(t *testing.T) {
	g := NewWithT(t)
	cron, set := kindOf(t, "batch", "CronJob"), kindOf(t, "apps", "StatefulSet")
	var told []string
	r := &WorkloadReconciler{Rollup: &Rollup{Queues: &Queues{}}}
	for _, k := range []kinds.Kind{cron, set} {
		r.Rollup.Queues.Register(k, func(key types.NamespacedName) { told = append(told, k.Name()+" "+key.Name) })
	}
	take := func() []string {
		defer func() { told = nil }()
		return told
	}
	key := types.NamespacedName{Namespace: "ml", Name: "job"}
	a := ownership.Ancestor{GVK: cron.GVK, Namespace: "ml", Name: "a", UID: "1"}
	b := ownership.Ancestor{GVK: set.GVK, Namespace: "ml", Name: "b", UID: "2"}

	r.notAbsorbed(key)
	g.Expect(take()).To(BeEmpty(), "it never belonged to anybody")
	r.absorbed(key, a)
	g.Expect(take()).To(Equal([]string{"CronJob a"}))
	r.absorbed(key, a)
	g.Expect(take()).To(Equal([]string{"CronJob a"}), "its document follows whatever happens to it")
	r.absorbed(key, b)
	g.Expect(take()).To(Equal([]string{"CronJob a", "StatefulSet b"}))
	r.notAbsorbed(key)
	g.Expect(take()).To(Equal([]string{"StatefulSet b"}))
	g.Expect(r.absorbers.by).To(BeEmpty(), "nothing is remembered of what has left")
}

func TestWhatADocumentDoesNotNameAnyMoreIsLookedAt(t *testing.T) {
	g := NewWithT(t)
	set := kindOf(t, "apps", "StatefulSet")
	var told []string
	u := &Rollup{Queues: &Queues{}}
	u.Queues.Register(set, func(key types.NamespacedName) { told = append(told, key.String()) })
	u.release([]ownership.Ancestor{{GVK: set.GVK, Namespace: "ml", Name: "a"}, {GVK: set.GVK, Namespace: "ml", Name: "b"}})
	g.Expect(told).To(Equal([]string{"ml/a", "ml/b"}))
}

func TestWhatMayStandBetweenIsAskedFor(t *testing.T) {
	tracked := ownership.NewTrackedKinds(kinds.BuiltIn()...)
	for _, k := range kinds.ThirdParty() {
		tracked.Settle(k)
	}
	tracked.Add(kindOf(t, "leaderworkerset.x-k8s.io", "LeaderWorkerSet"))
	u := &Rollup{Tracked: tracked}
	for name, c := range map[string]struct {
		gk   schema.GroupKind
		want bool
	}{
		"Grove":                 {schema.GroupKind{Group: "grove.io", Kind: "PodClique"}, true},
		"a kind that is there":  {schema.GroupKind{Group: "leaderworkerset.x-k8s.io", Kind: "LeaderWorkerSet"}, true},
		"a kind that is absent": {schema.GroupKind{Group: "apps.nvidia.com", Kind: "NIMService"}, false},
		"a foreign kind":        {schema.GroupKind{Group: "argoproj.io", Kind: "Rollout"}, false},
		"a node":                {schema.GroupKind{Kind: "Node"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(u.mayStandBetween(c.gk)).To(Equal(c.want))
		})
	}
}

func TestKindsInBetweenThatNobodyLookedForYetAreWaitedFor(t *testing.T) {
	g := NewWithT(t)
	u := &Rollup{Tracked: ownership.NewTrackedKinds(kinds.BuiltIn()...)}
	set, group := kindOf(t, "disaggregatedset.x-k8s.io", "DisaggregatedSet"), kindOf(t, "leaderworkerset.x-k8s.io", "LeaderWorkerSet")
	g.Expect(u.undecided(set)).To(BeTrue())
	g.Expect(u.undecided(group)).To(BeFalse(), "nothing stands below it that would have to be looked for")
	u.Tracked.Settle(group)
	g.Expect(u.undecided(set)).To(BeFalse())
}

func TestTheLogNamesEachKindOfOwnerOnceAndNotWithoutEnd(t *testing.T) {
	g := NewWithT(t)
	u := &Rollup{}
	gvk := schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "Rollout"}
	g.Expect(u.first(gvk)).To(BeTrue())
	g.Expect(u.first(gvk)).To(BeFalse())
	for i := range 2 * maxTold {
		u.first(schema.GroupVersionKind{Version: "v1", Kind: strconv.Itoa(i)})
	}
	g.Expect(u.told).To(HaveLen(maxTold))
}

func TestAnotherOwnerIsAChangeOfTheWorkload(t *testing.T) {
	g := NewWithT(t)
	before := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "llm", Generation: 1}}
	after := before.DeepCopy()
	g.Expect(workloadChanged().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})).To(BeFalse())
	after.OwnerReferences = []metav1.OwnerReference{{Name: "group", UID: "1", Controller: ptr.To(true)}}
	g.Expect(workloadChanged().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})).To(BeTrue())
}

func TestWhatAnOwnerControlsLeadsToIt(t *testing.T) {
	g := NewWithT(t)
	owner := ownership.Ancestor{
		GVK: schema.GroupVersionKind{Group: "grove.io", Version: "v1alpha1", Kind: "PodClique"}, Namespace: "ml", Name: "c", UID: "1",
	}
	object := below(owner)
	g.Expect(object.GetNamespace()).To(Equal("ml"))
	reference := metav1.GetControllerOf(object)
	g.Expect(reference).NotTo(BeNil())
	g.Expect(reference.APIVersion).To(Equal("grove.io/v1alpha1"))
	g.Expect([]string{reference.Kind, reference.Name, string(reference.UID)}).To(Equal([]string{"PodClique", "c", "1"}))
}
