// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// chain makes objects of the given kinds, each owned by the one before it, the top first.
func chain(some ...schema.GroupVersionKind) []*object {
	var all []*object
	var above *object
	for i, gvk := range some {
		above = made(gvk, fmt.Sprintf("%d", i), above)
		all = append(all, above)
	}
	return all
}

func TestWalk(t *testing.T) {
	someone := func(change func(*metav1.OwnerReference)) []*object {
		objects := chain(lwsGVK, statefulSetGVK)
		change(&objects[1].OwnerReferences[0])
		return objects
	}
	for name, c := range map[string]struct {
		objects  []*object // the workload last
		failures map[string]error
		tracked  *TrackedKinds
		allows   func(schema.GroupKind) bool

		end      End
		by       string
		hops     int
		reason   string
		requests []string
	}{
		"no owner": {objects: chain(deploymentGVK), end: Root},
		"an owner that is not its controller": {
			objects: someone(func(r *metav1.OwnerReference) { r.Controller = nil }), end: Root,
		},
		"a cached tracked owner": {objects: chain(cronJobGVK, jobGVK), end: Absorbed, by: "CronJob/0", hops: 1},
		"a third-party owner": {
			objects: chain(lwsGVK, statefulSetGVK), end: Absorbed, by: "LeaderWorkerSet/0", hops: 1,
			requests: []string{"get LeaderWorkerSet 0"},
		},
		"a worker set below its leader's pod": {
			objects: chain(lwsGVK, statefulSetGVK, podGVK, statefulSetGVK), end: Absorbed, by: "StatefulSet/1", hops: 3,
			requests: []string{"get LeaderWorkerSet 0"},
		},
		"through kinds that are not tracked": {
			objects: chain(dgdGVK, cliqueGVK, podGVK, statefulSetGVK), end: Absorbed, by: "DynamoGraphDeployment/0", hops: 3,
			requests: []string{"get PodClique 1", "get DynamoGraphDeployment 0"},
		},
		"the nearest of several": {
			objects: chain(dgdGVK, dcdGVK, lwsGVK, statefulSetGVK), end: Absorbed, by: "LeaderWorkerSet/2", hops: 3,
			requests: []string{"get LeaderWorkerSet 2", "get DynamoComponentDeployment 1", "get DynamoGraphDeployment 0"},
		},
		"a kind whose CRD is absent": {
			objects: chain(lwsGVK, statefulSetGVK), tracked: tracking(), end: Unresolved, hops: 1, reason: "not installed",
		},
		"a kind that is not allowed": {
			objects: chain(dgdGVK, lwsGVK, statefulSetGVK), end: Absorbed, by: "DynamoGraphDeployment/0", hops: 2,
			allows:   func(gk schema.GroupKind) bool { return gk.Kind != "LeaderWorkerSet" },
			requests: []string{"get LeaderWorkerSet 1", "get DynamoGraphDeployment 0"},
		},
		"an owner of an unknown kind": {
			objects: chain(rolloutGVK, deploymentGVK), end: Root, hops: 1, requests: []string{"get Rollout 0"},
		},
		"an owner that may not be read": {
			objects: chain(rolloutGVK, deploymentGVK), failures: map[string]error{"Rollout": forbidden("Rollout")},
			end: Unresolved, hops: 1, reason: "may not be read", requests: []string{"get Rollout 0"},
		},
		"an owner whose kind does not exist": {
			objects: chain(rolloutGVK, statefulSetGVK), failures: map[string]error{"Rollout": noMatch(rolloutGVK)},
			end: Unresolved, hops: 1, reason: "kind does not exist", requests: []string{"get Rollout 0"},
		},
		"an owner that does not exist": {
			objects: someone(func(r *metav1.OwnerReference) { r.Name = "gone" }),
			end:     Unresolved, hops: 1, reason: "does not exist", requests: []string{"get LeaderWorkerSet gone"},
		},
		"an owner with another UID": {
			objects: someone(func(r *metav1.OwnerReference) { r.UID = "forged" }),
			end:     Unresolved, hops: 1, reason: "another object", requests: []string{"get LeaderWorkerSet 0"},
		},
		"a cached owner with another UID, which the API server is asked about": {
			objects: func() []*object {
				objects := chain(cronJobGVK, jobGVK)
				objects[1].OwnerReferences[0].UID = "forged"
				return objects
			}(),
			end: Unresolved, hops: 1, reason: "another object", requests: []string{"get CronJob 0"},
		},
		"an apiVersion that leads elsewhere": {
			objects: someone(func(r *metav1.OwnerReference) { r.APIVersion = "../v1" }),
			end:     Unresolved, hops: 1, reason: `"../v1" is no apiVersion`,
		},
		"an apiVersion whose version is none": {
			objects: someone(func(r *metav1.OwnerReference) { r.APIVersion = "example.com/v1%2f" }),
			end:     Unresolved, hops: 1, reason: "is no apiVersion",
		},
		"no apiVersion": {
			objects: someone(func(r *metav1.OwnerReference) { r.APIVersion = "a/b/c" }),
			end:     Unresolved, hops: 1, reason: `"a/b/c" is no apiVersion`,
		},
		"an apiVersion that leads out of the API": {
			objects: someone(func(r *metav1.OwnerReference) { r.APIVersion = "../version" }),
			end:     Unresolved, hops: 1, reason: `"../version" is no apiVersion`,
		},
		"a version that leads out of the API": {
			objects: someone(func(r *metav1.OwnerReference) { r.APIVersion = "apps/.." }),
			end:     Unresolved, hops: 1, reason: `"apps/.." is no apiVersion`,
		},
		"no name": {
			objects: someone(func(r *metav1.OwnerReference) { r.Name = "../x" }),
			end:     Unresolved, hops: 1, reason: `"../x" is no name`,
		},
		"an unreadable owner above a tracked one": {
			objects: chain(rolloutGVK, lwsGVK, statefulSetGVK), failures: map[string]error{"Rollout": forbidden("Rollout")},
			end: Absorbed, by: "LeaderWorkerSet/1", hops: 2, requests: []string{"get LeaderWorkerSet 1", "get Rollout 0"},
		},
		"six owners": {
			objects: chain(cronJobGVK, jobGVK, podGVK, jobGVK, podGVK, jobGVK, podGVK), end: Absorbed, by: "Job/5", hops: 6,
		},
		"seven owners": {
			objects: chain(cronJobGVK, jobGVK, podGVK, jobGVK, podGVK, jobGVK, podGVK, jobGVK),
			end:     Unresolved, hops: 6, reason: "longer than 6",
		},
		"its own owner": {
			objects: ring(jobGVK), end: Unresolved, hops: 6, reason: "ring",
		},
		"a ring": {
			objects: ring(jobGVK, podGVK, statefulSetGVK), end: Unresolved, hops: 6, reason: "ring",
		},
		"below a ring": {
			objects: func() []*object {
				objects := ring(jobGVK, podGVK)
				return append(objects, made(statefulSetGVK, "below", objects[1]))
			}(),
			end: Unresolved, hops: 6, reason: "longer than 6",
		},
		"a kind that nobody has looked for yet": {
			objects: chain(lwsGVK, statefulSetGVK), tracked: NewTrackedKinds(catalogued(statefulSetGVK)), end: Waiting, hops: 1,
		},
		"one above a tracked owner": {
			objects: chain(lwsGVK, statefulSetGVK, podGVK, statefulSetGVK), tracked: NewTrackedKinds(catalogued(statefulSetGVK)),
			end: Absorbed, by: "StatefulSet/1", hops: 3, requests: []string{"get LeaderWorkerSet 0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := newWorld(c.objects...)
			for kind, err := range c.failures {
				w.failures[kind] = err
			}
			tracked, allows := c.tracked, c.allows
			if tracked == nil {
				tracked = tracking(lwsGVK, dgdGVK, dcdGVK)
			}
			if allows == nil {
				allows = all
			}
			walker := Walker{Cached: cached{w}, Live: live{w}}
			result, err := walker.Walk(t.Context(), c.objects[len(c.objects)-1], tracked.Judge(allows))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(result.End).To(Equal(c.end))
			g.Expect(result.Hops).To(Equal(c.hops))
			g.Expect(result.Reason).To(ContainSubstring(c.reason))
			g.Expect(w.requests).To(Equal(c.requests))
			by := ""
			if result.By != (Ancestor{}) {
				g.Expect(result.By.Namespace).To(Equal(testNamespace))
				g.Expect(result.By.UID).To(BeEquivalentTo(result.By.GVK.Kind + "-" + result.By.Name))
				by = result.By.GVK.Kind + "/" + result.By.Name
			}
			g.Expect(by).To(Equal(c.by))
			if c.end == Unresolved || c.end == Waiting {
				g.Expect(result.At.Kind).NotTo(BeEmpty(), "it says where it ended")
			}
		})
	}
}

// ring makes objects each of which is owned by the one before it, and the first by the last.
func ring(some ...schema.GroupVersionKind) []*object {
	objects := chain(some...)
	objects[0].OwnerReferences = []metav1.OwnerReference{refTo(objects[len(objects)-1])}
	return objects
}

func TestAnyOtherFailureToReadIsAnError(t *testing.T) {
	down := errors.New("conversion webhook: connection refused")
	for name, objects := range map[string][]*object{
		"of the nearest owner":  chain(lwsGVK, statefulSetGVK),
		"above a tracked owner": chain(lwsGVK, statefulSetGVK, podGVK, statefulSetGVK),
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := newWorld(objects...)
			w.failures["LeaderWorkerSet"] = down
			_, err := Walker{Cached: cached{w}, Live: live{w}}.Walk(t.Context(), objects[len(objects)-1], tracking(lwsGVK).Judge(all))
			g.Expect(err).To(MatchError(down))
			g.Expect(err).To(MatchError(ContainSubstring("reading the owner LeaderWorkerSet ml/0")))
		})
	}
}

// TestAnInstalledKindThatIsNotServedReRootsNothing tells a kind that is away for a while from
// an owner that does not exist.
func TestAnInstalledKindThatIsNotServedReRootsNothing(t *testing.T) {
	notFound := apierrors.NewNotFound(schema.GroupResource{Resource: "leaderworkersets"}, "0")
	notServedNow := apierrors.NewGenericServerResponse(http.StatusNotFound, "get", schema.GroupResource{}, "0", "page not found", 0, true)
	noMatch := &meta.NoKindMatchError{GroupKind: lwsGVK.GroupKind(), SearchedVersions: []string{"v1"}}
	other := schema.GroupVersionKind{Group: lwsGVK.Group, Version: "v9", Kind: lwsGVK.Kind}
	for name, c := range map[string]struct {
		owner   schema.GroupVersionKind
		tracked *TrackedKinds
		err     error
		fails   bool
	}{
		"not served":                           {lwsGVK, tracking(lwsGVK), notServedNow, true},
		"not in discovery":                     {lwsGVK, tracking(lwsGVK), noMatch, true},
		"served, without the object":           {lwsGVK, tracking(lwsGVK), notFound, false},
		"not installed":                        {lwsGVK, tracking(), noMatch, false},
		"installed, in a version nobody reads": {other, tracking(lwsGVK), noMatch, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			objects := chain(c.owner, statefulSetGVK)
			w := newWorld(objects...)
			w.failures["LeaderWorkerSet"] = c.err
			result, err := Walker{Cached: cached{w}, Live: live{w}}.Walk(t.Context(), objects[1], c.tracked.Judge(all))
			if c.fails {
				g.Expect(err).To(MatchError(ContainSubstring("installed and not served")))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(result.End).To(Equal(Unresolved))
		})
	}
}

func TestARequestThatHangsEnds(t *testing.T) {
	g := NewWithT(t)
	objects := chain(lwsGVK, statefulSetGVK)
	w := newWorld(objects...)
	walker := Walker{Cached: cached{w}, Live: hanging{live{w}}, Timeout: time.Millisecond}
	_, err := walker.Walk(t.Context(), objects[1], tracking(lwsGVK).Judge(all))
	g.Expect(err).To(MatchError(context.DeadlineExceeded))
}

// hanging answers nothing.
type hanging struct{ live }

func (hanging) Get(ctx context.Context, _ client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestNearestEndsAtTheNearestTrackedOwner(t *testing.T) {
	g := NewWithT(t)
	objects := chain(dgdGVK, dcdGVK, cliqueGVK, podGVK)
	w := newWorld(objects...)
	result, err := Walker{Cached: cached{w}, Live: live{w}}.Nearest(t.Context(), objects[3], tracking(dgdGVK, dcdGVK).Judge(all))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(result.By.Name).To(Equal("1"))
	g.Expect(w.requests).To(Equal([]string{"get PodClique 2", "get DynamoComponentDeployment 1"}))
}

func TestClimb(t *testing.T) {
	noSets := func(gk schema.GroupKind) bool { return gk.Kind != "StatefulSet" }
	for name, c := range map[string]struct {
		objects         []*object // the pod last
		tracked         *TrackedKinds
		allows          func(schema.GroupKind) bool
		nearest, beyond string
	}{
		"no owner":           {objects: chain(podGVK)},
		"a tracked owner":    {objects: chain(statefulSetGVK, podGVK), nearest: "StatefulSet/0"},
		"through ReplicaSet": {objects: chain(deploymentGVK, ReplicaSetGVK, podGVK), nearest: "Deployment/0"},
		"a third-party owner, which is not asked for": {
			objects: chain(lwsGVK, statefulSetGVK, podGVK), allows: noSets, nearest: "LeaderWorkerSet/0",
		},
		"through pods": {
			objects: chain(lwsGVK, statefulSetGVK, podGVK, statefulSetGVK, podGVK), allows: noSets, nearest: "LeaderWorkerSet/0",
		},
		"a kind that may stand in between": {objects: chain(dgdGVK, cliqueGVK, podGVK), beyond: "PodClique/1"},
		"a kind that nobody has looked for yet": {
			objects: chain(lwsGVK, podGVK), tracked: NewTrackedKinds(), beyond: "LeaderWorkerSet/0",
		},
		"a foreign owner": {objects: chain(rolloutGVK, podGVK)},
		"a ReplicaSet that is not known yet": {
			objects: chain(deploymentGVK, ReplicaSetGVK, podGVK)[2:],
		},
		"a ReplicaSet with another UID": {
			objects: func() []*object {
				objects := chain(deploymentGVK, ReplicaSetGVK, podGVK)
				objects[2].OwnerReferences[0].UID = "forged"
				return objects
			}(),
		},
		"a ring": {objects: ring(podGVK, statefulSetGVK), allows: noSets},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := newWorld(c.objects...)
			tracked, allows := c.tracked, c.allows
			if tracked == nil {
				tracked = tracking(lwsGVK, dgdGVK)
			}
			if allows == nil {
				allows = all
			}
			between := func(gk schema.GroupKind) bool { return gk.Group == "grove.io" }
			climbed, err := Walker{Cached: cached{w}}.Climb(t.Context(), c.objects[len(c.objects)-1], tracked.Judge(allows), between)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(nameOf(climbed.Tracked)).To(Equal(c.nearest))
			g.Expect(nameOf(climbed.Beyond)).To(Equal(c.beyond))
		})
	}
}

func nameOf(a *Ancestor) string {
	if a == nil {
		return ""
	}
	return ptr.Deref(a, Ancestor{}).GVK.Kind + "/" + a.Name
}
