// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	testingclock "k8s.io/utils/clock/testing"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func closureOf(w *world, tracked *TrackedKinds) *Closure {
	return &Closure{Cached: cached{w}, Between: &Intermediates{
		Live: live{w}, Tracked: tracked, Clock: testingclock.NewFakePassiveClock(noon),
	}}
}

func topOf(o *object) Top { return Top{Kind: catalogued(o.GroupVersionKind()), Object: o} }

func podNames(pods []corev1.Pod) []string {
	names := []string{}
	for i := range pods {
		names = append(names, pods[i].Name)
	}
	slices.Sort(names)
	return names
}

func TestBelow(t *testing.T) {
	tracked := tracking(lwsGVK, dgdGVK, dcdGVK)
	dgd := made(dgdGVK, "graph", nil)
	dcd := made(dcdGVK, "component", dgd)
	lws := made(lwsGVK, "group", dcd)
	leaders := made(statefulSetGVK, "group", lws)
	leader := made(podGVK, "group-0", leaders)
	workers := made(statefulSetGVK, "group-0", leader)
	worker := made(podGVK, "group-0-1", workers)
	clique := made(cliqueGVK, "clique", dgd)
	decode := made(podGVK, "decode-0", clique)
	deployment := made(deploymentGVK, "frontend", dcd)
	replicas := made(ReplicaSetGVK, "frontend-1", deployment)
	frontend := made(podGVK, "frontend-1-a", replicas)
	cron := made(cronJobGVK, "nightly", nil)
	run := made(jobGVK, "nightly-1", cron)
	eval := made(podGVK, "nightly-1-x", run)
	other := made(podGVK, "other", made(statefulSetGVK, "other", nil))
	world := func() *world {
		return newWorld(dgd, dcd, lws, leaders, leader, workers, worker, clique, decode, deployment, replicas, frontend, cron, run, eval, other)
	}

	for name, c := range map[string]struct {
		top      *object
		allows   func(schema.GroupKind) bool
		owned    []string
		pods     []string
		requests []string
	}{
		"a graph": {
			top: dgd,
			owned: []string{
				"Deployment/frontend", "DynamoComponentDeployment/component", "LeaderWorkerSet/group", "StatefulSet/group", "StatefulSet/group-0",
			},
			pods: []string{"decode-0", "frontend-1-a", "group-0", "group-0-1"},
			requests: []string{
				"list DynamoComponentDeployment", "list LeaderWorkerSet", "list PodCliqueSet", "list PodCliqueScalingGroup", "list PodClique",
			},
		},
		"a group": {
			top: lws, owned: []string{"StatefulSet/group", "StatefulSet/group-0"}, pods: []string{"group-0", "group-0-1"},
		},
		"a CronJob": {top: cron, owned: []string{"Job/nightly-1"}, pods: []string{"nightly-1-x"}},
		"a Deployment": {
			top: deployment, pods: []string{"frontend-1-a"},
		},
		"a leader set whose owner is not tracked": {
			top: leaders, owned: []string{"StatefulSet/group-0"}, pods: []string{"group-0", "group-0-1"},
		},
		"kinds that are not allowed": {
			top: lws, allows: func(gk schema.GroupKind) bool { return gk.Kind == "LeaderWorkerSet" }, pods: []string{"group-0", "group-0-1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := world()
			if c.allows == nil {
				c.allows = all
			}
			found, err := closureOf(w, tracked).Below(t.Context(), topOf(c.top), tracked.Judge(c.allows))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(found.Owned).To(Equal(c.owned))
			g.Expect(podNames(found.Pods)).To(Equal(c.pods))
			g.Expect(w.requests).To(Equal(c.requests))
		})
	}
}

func TestWhatIsTooFarBelowIsNamedAsNotAbsorbed(t *testing.T) {
	g := NewWithT(t)
	tracked := tracking(lwsGVK)
	lws := made(lwsGVK, "group", nil)
	leaders := made(statefulSetGVK, "group", lws)
	workers := made(statefulSetGVK, "group-0", made(podGVK, "group-0", leaders))
	w := newWorld(lws, leaders, made(podGVK, "group-0", leaders), workers)
	top := topOf(lws)
	for hops, want := range map[int]Descendants{
		MaxHops - 3: {Owned: []string{"StatefulSet/group", "StatefulSet/group-0"}},
		MaxHops - 2: {Owned: []string{"StatefulSet/group"}, Beyond: []Ancestor{ancestorOf(workers)}},
		MaxHops:     {Beyond: []Ancestor{ancestorOf(leaders)}},
	} {
		top.Hops = hops
		found, err := closureOf(w, tracked).Below(t.Context(), top, tracked.Judge(all))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(found.Owned).To(Equal(want.Owned), "with %d owners above the top", hops)
		g.Expect(found.Beyond).To(Equal(want.Beyond), "with %d owners above the top", hops)
	}
}

func ancestorOf(o *object) Ancestor {
	return Ancestor{GVK: o.GroupVersionKind(), Namespace: o.Namespace, Name: o.Name, UID: o.UID}
}

func TestNoPodCostsALookup(t *testing.T) {
	for name, top := range map[string]schema.GroupVersionKind{"StatefulSet": statefulSetGVK, "Job": jobGVK, "LeaderWorkerSet": lwsGVK} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			lookups := func(pods int) int {
				root := made(top, "root", nil)
				w := newWorld(root)
				for i := range pods {
					w.objects = append(w.objects, made(podGVK, fmt.Sprintf("pod-%d", i), root))
				}
				tracked := tracking(lwsGVK)
				found, err := closureOf(w, tracked).Below(t.Context(), topOf(root), tracked.Judge(all))
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(found.Pods).To(HaveLen(pods))
				return len(w.lookups)
			}
			g.Expect(lookups(100)).To(Equal(lookups(1)))
		})
	}
}

func TestAChildMustNameItsOwnerAndNotItsUIDAlone(t *testing.T) {
	cron := made(cronJobGVK, "nightly", nil)
	for name, change := range map[string]func(*object){
		"another name":    func(o *object) { o.OwnerReferences[0].Name = "other" },
		"another kind":    func(o *object) { o.OwnerReferences[0].Kind = "Job" },
		"another version": func(o *object) { o.OwnerReferences[0].APIVersion = "batch/v1beta1" },
		"no controller":   func(o *object) { o.OwnerReferences[0].Controller = nil },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			run := made(jobGVK, "run", cron)
			change(run)
			w := newWorld(cron, run)
			found, err := closureOf(w, tracking()).Below(t.Context(), topOf(cron), tracking().Judge(all))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(found).To(Equal(Descendants{}))
			walked, err := Walker{Cached: cached{w}, Live: live{w}}.Walk(t.Context(), run, tracking().Judge(all))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(walked.End).NotTo(Equal(Absorbed), "nor is it absorbed")
		})
	}
}

func TestIntermediatesAreListedPageByPage(t *testing.T) {
	g := NewWithT(t)
	dgd := made(dgdGVK, "graph", nil)
	w := newWorld(dgd)
	w.pageSize = 2
	for i := range 5 {
		w.objects = append(w.objects, made(dcdGVK, fmt.Sprintf("c%d", i), dgd))
	}
	tracked := tracking(dgdGVK, dcdGVK)
	found, err := closureOf(w, tracked).Below(t.Context(), topOf(dgd), tracked.Judge(all))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found.Owned).To(HaveLen(5))
	g.Expect(w.requests[:3]).To(HaveEach("list DynamoComponentDeployment"))
	g.Expect(w.requests).NotTo(ContainElement("list LeaderWorkerSet"), "its CRD is absent")
}

func TestIntermediatesThatAreAbsentOrForbidden(t *testing.T) {
	g := NewWithT(t)
	dcd := made(dcdGVK, "component", nil)
	frontend := made(deploymentGVK, "frontend", dcd)
	w := newWorld(dcd, frontend)
	for _, kind := range []string{"PodCliqueSet", "PodCliqueScalingGroup", "PodClique"} {
		w.failures[kind] = noMatch(cliqueGVK)
	}
	w.failures["LeaderWorkerSet"] = forbidden("LeaderWorkerSet")
	tracked := tracking(dcdGVK, lwsGVK)
	clock := testingclock.NewFakePassiveClock(noon)
	closure := closureOf(w, tracked)
	closure.Between.Clock = clock
	asked := func() []string {
		w.requests = nil
		found, err := closure.Below(t.Context(), topOf(dcd), tracked.Judge(all))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(found.Owned).To(Equal([]string{"Deployment/frontend"}), "the rest is found")
		return w.requests
	}
	everything := []string{"list LeaderWorkerSet", "list PodCliqueSet", "list PodCliqueScalingGroup", "list PodClique"}
	g.Expect(asked()).To(Equal(everything))
	g.Expect(asked()).To(Equal(everything[:1]), "an absent kind is not asked for again soon")
	clock.SetTime(noon.Add(absence))
	g.Expect(asked()).To(Equal(everything), "but after a while")
}

func TestAKindOfWhichAnObjectWasReadIsNotAbsentAnyMore(t *testing.T) {
	g := NewWithT(t)
	dgd := made(dgdGVK, "graph", nil)
	clique := made(cliqueGVK, "clique", dgd)
	pod := made(podGVK, "pod", clique)
	w := newWorld(dgd, clique, pod)
	grove := []string{"PodCliqueSet", "PodCliqueScalingGroup", "PodClique"}
	for _, kind := range grove {
		w.failures[kind] = noMatch(cliqueGVK)
	}
	tracked := tracking(dgdGVK)
	closure := closureOf(w, tracked)
	pods := func() []string {
		found, err := closure.Below(t.Context(), topOf(dgd), tracked.Judge(all))
		g.Expect(err).NotTo(HaveOccurred())
		return podNames(found.Pods)
	}
	g.Expect(pods()).To(BeEmpty(), "the kinds are absent")

	for _, kind := range grove {
		delete(w.failures, kind)
	}
	g.Expect(pods()).To(BeEmpty(), "which is remembered")
	walker := Walker{Cached: cached{w}, Live: live{w}, Between: closure.Between}
	result, err := walker.Nearest(t.Context(), pod, tracked.Judge(all))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(result.End).To(Equal(Absorbed))
	w.requests = nil
	g.Expect(pods()).To(Equal([]string{"pod"}), "a walk came past one of them")
	g.Expect(w.requests).To(ContainElements("list PodCliqueSet", "list PodCliqueScalingGroup", "list PodClique"), "and the others are installed with it")
}

func TestAnIntermediateKindThatFailsKeepsItsLastKnownView(t *testing.T) {
	g := NewWithT(t)
	dcd := made(dcdGVK, "component", nil)
	lws := made(lwsGVK, "group", dcd)
	w := newWorld(dcd, lws)
	tracked := tracking(dcdGVK, lwsGVK)
	closure, down := closureOf(w, tracked), errors.New("etcd is away")
	below := func() Descendants {
		found, err := closure.Below(t.Context(), topOf(dcd), tracked.Judge(all))
		g.Expect(err).NotTo(HaveOccurred())
		return found
	}

	w.failures["LeaderWorkerSet"] = down
	found := below()
	g.Expect(found.Incomplete).To(MatchError(down))
	g.Expect(found.Incomplete).To(MatchError(ContainSubstring("listing LeaderWorkerSet in namespace ml")))
	g.Expect(found.Blind).To(BeTrue(), "nothing is known of it")

	delete(w.failures, "LeaderWorkerSet")
	g.Expect(below()).To(And(HaveField("Owned", ConsistOf("LeaderWorkerSet/group")), HaveField("Incomplete", BeNil())))

	w.failures["LeaderWorkerSet"] = down
	found = below()
	g.Expect(found.Owned).To(ConsistOf("LeaderWorkerSet/group"), "what was known stands in")
	g.Expect(found.Incomplete).To(MatchError(down), "and it is asked for again")
	g.Expect(found.Blind).To(BeFalse())
}

// TestAnIntermediateKindThatIsNotServedKeepsItsLastKnownView tells a version that is not served
// for a while from a kind that is gone or that the configuration has given up.
func TestAnIntermediateKindThatIsNotServedKeepsItsLastKnownView(t *testing.T) {
	notServedNow := apierrors.NewGenericServerResponse(http.StatusNotFound, "list", schema.GroupResource{}, "", "page not found", 0, true)
	for name, cause := range map[string]error{"not served": notServedNow, "not in discovery": noMatch(lwsGVK)} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dcd := made(dcdGVK, "component", nil)
			w := newWorld(dcd, made(lwsGVK, "group", dcd))
			tracked := tracking(dcdGVK, lwsGVK)
			closure := closureOf(w, tracked)
			below := func(allows func(schema.GroupKind) bool) Descendants {
				found, err := closure.Below(t.Context(), topOf(dcd), tracked.Judge(allows))
				g.Expect(err).NotTo(HaveOccurred())
				return found
			}
			g.Expect(below(all).Owned).To(ConsistOf("LeaderWorkerSet/group"))

			w.failures["LeaderWorkerSet"] = cause
			found := below(all)
			g.Expect(found.Owned).To(ConsistOf("LeaderWorkerSet/group"), "what was known stands in")
			g.Expect(found.Incomplete).To(MatchError(ContainSubstring("listing LeaderWorkerSet in namespace ml")))

			found = below(func(gk schema.GroupKind) bool { return gk != lwsGVK.GroupKind() })
			g.Expect(found.Owned).To(BeEmpty(), "what hangs below a kind that is not allowed is reported for itself")
			g.Expect(found.Incomplete).NotTo(HaveOccurred())

			tracked.Remove(catalogued(lwsGVK))
			g.Expect(below(all).Owned).To(BeEmpty(), "and so it is below one that is gone")
		})
	}
}
