// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/internal/ownership"
	"github.com/k8s-aibom/k8s-aibom/internal/settings"
)

// +kubebuilder:rbac:groups=grove.io,resources=podcliquesets;podcliquescalinggroups;podcliques,verbs=get;list

// maxTold bounds for how many kinds of owners it is remembered that the log names them:
// anybody can write any kind into a reference.
const maxTold = 256

// Rollup is what the reconcilers of all kinds share to find out who owns whom.
type Rollup struct {
	// Walker goes up.
	Walker ownership.Walker
	// Closure goes down.
	Closure *ownership.Closure
	// Tracked are the kinds that are there.
	Tracked *ownership.TrackedKinds
	// Queues lead to the workload above.
	Queues *Queues

	mu   sync.Mutex
	told map[schema.GroupVersionKind]bool
}

// NewRollup returns what all reconcilers of a manager share. The tracked kinds are those that
// somebody else keeps up to date.
func NewRollup(mgr ctrl.Manager, tracked *ownership.TrackedKinds, c clock.PassiveClock) *Rollup {
	live := &ownership.Impatient{Reader: mgr.GetAPIReader(), Clock: c}
	between := &ownership.Intermediates{Live: live, Tracked: tracked, Clock: c}
	return &Rollup{
		Walker:  ownership.Walker{Cached: mgr.GetClient(), Live: live, Between: between},
		Closure: &ownership.Closure{Cached: mgr.GetClient(), Between: between},
		Tracked: tracked,
		Queues:  &Queues{},
	}
}

// judge tracks the kinds that are there and that the configuration allows.
func (u *Rollup) judge(config *settings.Snapshot) ownership.Judge {
	return u.Tracked.Judge(config.WorkloadKinds.Allows)
}

// release has workloads looked at that a document which was just written does not name, although
// they hang below its workload: they may have been named before, and nothing happened to them. A
// document that stays as it is releases nobody, so that the members of a ring come to rest.
func (u *Rollup) release(beyond []ownership.Ancestor) {
	for _, workload := range beyond {
		u.Queues.enqueue(workload)
	}
}

// undecided says whether it is still unknown if a kind is there that may stand between the
// kind's workloads and their pods.
func (u *Rollup) undecided(k kinds.Kind) bool {
	for _, gvk := range k.Intermediates {
		if u.Tracked.Undecided(gvk.GroupKind()) {
			return true
		}
	}
	return false
}

// passOn leads from an object to the nearest tracked workload above it, without a request: an
// owner that only the API server knows is asked for elsewhere.
func (u *Rollup) passOn(ctx context.Context, object client.Object, config *settings.Snapshot) {
	climbed, err := u.Walker.Climb(ctx, object, u.judge(config), u.mayStandBetween)
	switch {
	case err != nil:
		log.FromContext(ctx).Error(err, "An owner could not be looked up", "below", client.ObjectKeyFromObject(object))
	case climbed.Tracked != nil:
		u.Queues.enqueue(*climbed.Tracked)
	case climbed.Beyond != nil:
		u.Queues.ask(*climbed.Beyond)
	}
}

// mayStandBetween says whether objects of a kind that is neither tracked nor cached may stand
// between a workload and its pods. All others cost nothing.
func (u *Rollup) mayStandBetween(gk schema.GroupKind) bool {
	if _, known := kinds.For(gk); known {
		return u.Tracked.Has(gk) // there, but not allowed
	}
	return kinds.MayStandBetween(gk)
}

// tell logs once for each kind of owner that it cannot be known who owns a workload.
func (u *Rollup) tell(ctx context.Context, at metav1.OwnerReference, reason string) {
	if !u.first(schema.FromAPIVersionAndKind(at.APIVersion, at.Kind)) {
		return
	}
	log.FromContext(ctx).Info("It cannot be known who owns the workload, so it is reported for itself; this is logged once for each kind of owner",
		"ownerAPIVersion", at.APIVersion, "ownerKind", at.Kind, "ownerName", at.Name, "reason", reason)
}

func (u *Rollup) first(gvk schema.GroupVersionKind) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.told[gvk] || len(u.told) >= maxTold {
		return false
	}
	if u.told == nil {
		u.told = map[schema.GroupVersionKind]bool{}
	}
	u.told[gvk] = true
	return true
}

// absorbers remember which workload each absorbed one of a kind belongs to, so that the
// document of the former follows when the latter leaves. The zero value is ready for use.
type absorbers struct {
	mu sync.Mutex
	by map[types.NamespacedName]ownership.Ancestor
}

// set notes an absorbed workload and returns the one that absorbed it before, if that was
// another.
func (a *absorbers) set(key types.NamespacedName, by ownership.Ancestor) (former ownership.Ancestor, left bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.by == nil {
		a.by = map[types.NamespacedName]ownership.Ancestor{}
	}
	former, known := a.by[key]
	a.by[key] = by
	return former, known && former != by
}

// drop forgets a workload that is not absorbed any more.
func (a *absorbers) drop(key types.NamespacedName) (former ownership.Ancestor, left bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	former, left = a.by[key]
	delete(a.by, key)
	return former, left
}

// absorbed notes that a workload belongs to another one, whose document follows.
func (r *WorkloadReconciler) absorbed(key types.NamespacedName, by ownership.Ancestor) {
	if former, left := r.absorbers.set(key, by); left {
		r.Rollup.Queues.enqueue(former)
	}
	r.Rollup.Queues.enqueue(by)
}

// notAbsorbed notes that a workload belongs to no other one (any more).
func (r *WorkloadReconciler) notAbsorbed(key types.NamespacedName) {
	if former, left := r.absorbers.drop(key); left {
		r.Rollup.Queues.enqueue(former)
	}
}
