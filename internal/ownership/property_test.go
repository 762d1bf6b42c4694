// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// forest draws objects whose owners are drawn among them, so that there are trees, long chains
// and rings, and references that are wrong.
func forest(t *rapid.T) []*object {
	some := []schema.GroupVersionKind{
		podGVK, ReplicaSetGVK, deploymentGVK, statefulSetGVK, jobGVK, cronJobGVK, lwsGVK, dgdGVK, dcdGVK, cliqueGVK,
	}
	var objects []*object
	for i := range rapid.IntRange(1, 14).Draw(t, "size") {
		objects = append(objects, made(rapid.SampledFrom(some).Draw(t, "kind"), fmt.Sprintf("o%d", i), nil))
	}
	for _, o := range objects {
		if rapid.IntRange(0, 9).Draw(t, "owned") == 0 {
			continue
		}
		reference := refTo(rapid.SampledFrom(objects).Draw(t, "owner"))
		switch rapid.IntRange(0, 19).Draw(t, "wrong") {
		case 0:
			reference.UID = "forged"
		case 1:
			reference.Name = "gone"
		case 2:
			reference.APIVersion = "///"
		}
		o.OwnerReferences = []metav1.OwnerReference{reference}
	}
	return objects
}

// TestNothingDisappears draws ownership forests and holds that every workload of a tracked
// kind is reported, or absorbed by a chain of workloads that ends at a reported one, and that
// just that one names it.
func TestNothingDisappears(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		objects := forest(t)
		w := newWorld(objects...)
		tracked := tracking(lwsGVK, dgdGVK, dcdGVK)
		forbiddenKinds := rapid.SampledFrom([]string{"", "PodClique", "LeaderWorkerSet"}).Draw(t, "forbidden")
		w.failures[forbiddenKinds] = forbidden(forbiddenKinds)
		untracked := rapid.SampledFrom([]string{"", "StatefulSet", "LeaderWorkerSet", "Job"}).Draw(t, "not allowed")
		judge := tracked.Judge(func(gk schema.GroupKind) bool { return gk.Kind != untracked })
		walker := Walker{Cached: cached{w}, Live: live{w}}

		results := map[types.UID]Result{}
		for _, o := range objects {
			if judge(o.GroupVersionKind().GroupKind()) != Tracked || o.Kind == forbiddenKinds {
				continue // what may not be read is not watched either
			}
			result, err := walker.Walk(t.Context(), o, judge)
			if err != nil {
				t.Fatalf("%s: %v", o.Name, err)
			}
			results[o.UID] = result
		}
		want := map[types.UID][]string{}
		for _, o := range objects {
			if result, ok := results[o.UID]; ok && result.End == Absorbed {
				reporting := reporter(t, results, o.UID)
				want[reporting] = append(want[reporting], o.Kind+"/"+o.Name)
			}
		}
		for _, o := range objects {
			result, ok := results[o.UID]
			if !ok || result.End == Absorbed {
				continue
			}
			top := Top{Kind: kinds.Kind{GVK: o.GroupVersionKind()}, Object: o, Hops: result.Hops}
			// Everything that the cache does not hold may stand in between here.
			top.Kind.Intermediates = []schema.GroupVersionKind{lwsGVK, dgdGVK, dcdGVK, cliqueGVK}
			found, err := closureOf(w, tracked).Below(t.Context(), top, judge)
			if err != nil {
				t.Fatalf("%s: %v", o.Name, err)
			}
			slices.Sort(want[o.UID])
			if !slices.Equal(found.Owned, want[o.UID]) {
				t.Fatalf("%s/%s (%v) names %v, and %v are absorbed into it", o.Kind, o.Name, result, found.Owned, want[o.UID])
			}
		}
	})
}

// reporter follows an absorbed workload to the one that reports it.
func reporter(t *rapid.T, results map[types.UID]Result, uid types.UID) types.UID {
	for range results {
		result, ok := results[uid]
		if !ok {
			t.Fatalf("%s absorbs and is no workload", uid)
		}
		if result.End != Absorbed {
			return uid
		}
		uid = result.By.UID
	}
	t.Fatalf("the chain of absorbing workloads from %s does not end", uid)
	return ""
}
