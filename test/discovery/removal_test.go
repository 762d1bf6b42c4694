// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/internal/health"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
	"github.com/k8s-aibom/k8s-aibom/test/watched"
)

// There is no garbage collector here, so an AIBOM that goes was swept.
var _ = Describe("A CRD that is removed while the controller runs", Label(label, "A7"), func() {
	It("has its kind disabled and its AIBOMs swept once, and degrades nothing", Label("A2-row-8"), func(ctx context.Context) {
		s := newScene(ctx)
		install(ctx, graph, workerSet)
		m := system.Start(ctx)
		s.Deployed(ctx, "llm")
		for _, name := range []string{"one", "two"} {
			s.Put(ctx, graph, name)
			s.Documented(ctx, graph.Name(), name)
		}
		s.Put(ctx, workerSet, "llm")
		s.Documented(ctx, workerSet.Name(), "llm")
		m.ExpectToldSoFar(ctx, graph, recovered)
		since := mark()

		remove(ctx, graph)
		Eventually(s.AIBOMs(ctx)).Should(ConsistOf("deployment-llm", "leaderworkerset-llm"), "the AIBOMs of the kind are swept, and no other")
		m.ExpectHistory(ctx, graph, recovered, disabled)
		expectReason(ctx, m, graph, health.ReasonCRDRemoved)
		Expect(m.Healthy(ctx, graph)()).To(BeZero(), "the gauge stays, at 0")
		Expect(deletions(since, s)).To(Equal([]string{"dynamographdeployment-one", "dynamographdeployment-two"}), "each was deleted by one request")
		system.ExpectNotDegraded(ctx)
		m.ExpectUndisturbed(ctx, workerSet)
		s.Deployed(ctx, "after")
	})

	It("ends the kind's watch as soon as it is being deleted, although its objects live on", Label("A2-row-8"), func(ctx context.Context) {
		s := newScene(ctx)
		install(ctx, graph)
		m := system.Start(ctx)
		release := hold(ctx, s, graph, "held")
		s.Documented(ctx, graph.Name(), "held")
		m.ExpectToldSoFar(ctx, graph, recovered)
		since := mark()

		terminating(ctx, graph)
		Eventually(s.AIBOMs(ctx)).Should(BeEmpty(), "its AIBOMs are swept")
		m.ExpectToldSoFar(ctx, graph, recovered, disabled)
		looked := looks(since, graph)
		quiet := mark()
		Consistently(func() []harness.AuditEvent { return requests(quiet, harness.Filter{Resource: graph.Resource}) }, 2*watched.ProbeInterval).
			Should(BeEmpty(), "neither watch nor probe of the kind goes on")

		release(ctx)
		remove(ctx, graph)
		Eventually(func() int { return looks(since, graph) }).Should(BeNumerically(">", looked), "the end of the deletion is seen")
		m.ExpectHistory(ctx, graph, recovered, disabled)
		Expect(deletions(since, s)).To(Equal([]string{"dynamographdeployment-held"}), "there is one sweep, not one for each look")
		system.ExpectNotDegraded(ctx)
	})

	It("has its kind disabled and swept also when it was not servable any more", Label("A2-row-5", "A2-row-8"), func(ctx context.Context) {
		s := newScene(ctx)
		install(ctx, graph)
		m := system.Start(ctx)
		s.Put(ctx, graph, "llm")
		s.Documented(ctx, graph.Name(), "llm")
		stopServing(ctx, m, graph)
		remove(ctx, graph)
		Eventually(s.AIBOMs(ctx)).Should(BeEmpty(), "its AIBOMs are swept")
		system.ExpectNotDegraded(ctx)
		m.ExpectHistory(ctx, graph, recovered, unhealthy, disabled)
	})

	It("is removed for good: nothing of it is told or swept by a controller that starts afterwards", Label("A2-row-1"), func(ctx context.Context) {
		s := newScene(ctx)
		install(ctx, graph)
		first := system.Start(ctx)
		release := hold(ctx, s, graph, "held")
		s.Documented(ctx, graph.Name(), "held")
		Expect(first.Stop()).To(Succeed())
		terminating(ctx, graph)
		since := mark()
		second := system.Start(ctx)
		s.Deployed(ctx, "llm")
		Consistently(second.Entries(ctx)).Should(BeEmpty(), "a CRD that was never seen servable is none to clean up after")
		release(ctx)
		remove(ctx, graph)
		Consistently(second.History(ctx, graph)).Should(BeEmpty())
		Expect(deletions(since, s)).To(BeEmpty(), "garbage collection sees to what is left")
	})

	// Workloads roll up into the workload that owns them, if that one's kind is installed.
	It("has what it owned reported as roots, and absorbed again once it is back", Label("A2-row-8", "A2-row-2"), func(ctx context.Context) {
		s := newScene(ctx)
		m := system.Start(ctx)
		install(ctx, workerSet)
		put := func() *unstructured.Unstructured {
			GinkgoHelper()
			owner := watched.Empty(workerSet, workerSet.GVK.Version)
			Expect(system.Admin.Get(ctx, s.Put(ctx, workerSet, "llm"), owner)).To(Succeed())
			return owner
		}
		set := ownedStatefulSet(s.Namespace, "llm-0", put())
		Expect(system.Admin.Create(ctx, set)).To(Succeed())
		s.Documented(ctx, workerSet.Name(), "llm")
		Consistently(s.AIBOMs(ctx)).Should(ConsistOf("leaderworkerset-llm"), "what the set owns is part of it")

		remove(ctx, workerSet)
		Eventually(s.AIBOMs(ctx)).Should(ConsistOf("statefulset-llm-0"), "without its owner's kind it is a root")
		m.ExpectToldSoFar(ctx, workerSet, started, disabled)

		install(ctx, workerSet)
		set.OwnerReferences[0].UID = put().GetUID()
		Expect(system.Admin.Update(ctx, set)).To(Succeed(), "its controller adopts it")
		Eventually(s.AIBOMs(ctx)).Should(ConsistOf("leaderworkerset-llm"), "it is part of its owner again")
		m.ExpectToldSoFar(ctx, workerSet, started, disabled, started)
	})
})

// ownedStatefulSet serves a model and belongs to another workload.
func ownedStatefulSet(namespace, name string, owner *unstructured.Unstructured) *appsv1.StatefulSet {
	GinkgoHelper()
	labels := map[string]string{"app": name}
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, OwnerReferences: []metav1.OwnerReference{{
			APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID(),
			Controller: ptr.To(true),
		}}},
		Spec: appsv1.StatefulSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: watched.PodTemplate(labels), ServiceName: name,
		},
	}
}

// expectReason expects that the newest event that tells of a disabled watch says why.
func expectReason(ctx context.Context, m *manager, k kinds.Kind, reason string) {
	GinkgoHelper()
	told, err := m.EventsOf(ctx, k, disabled)
	Expect(err).NotTo(HaveOccurred())
	Expect(told).NotTo(BeEmpty())
	last := told[len(told)-1]
	Expect(last.Note).To(ContainSubstring("("+reason+")"), "the event says why")
	Expect(last.Type).To(Equal("Normal"))
}

var _ = Describe("A CRD that is deleted and created again", Label(label, "A7", "A2-row-9"), func() {
	It("is another one: the old one's AIBOMs are swept, and the kind starts anew", func(ctx context.Context) {
		s := newScene(ctx)
		install(ctx, graph)
		m := system.Start(ctx)
		s.Put(ctx, graph, "llm")
		s.Documented(ctx, graph.Name(), "llm")
		m.ExpectToldSoFar(ctx, graph, recovered)
		for range 2 {
			since := mark()
			remove(ctx, graph)
			install(ctx, graph)
			s.Put(ctx, graph, "llm")
			want := uid(ctx, s, graph, "llm")
			Eventually(owner(ctx, s, "dynamographdeployment-llm")).Should(Equal(want), "the new object has its AIBOM")
			m.ExpectHealthy(ctx, graph)
			Consistently(owner(ctx, s, "dynamographdeployment-llm")).Should(Equal(want), "and nobody sweeps that")
			Expect(deletions(since, s)).To(Equal([]string{"dynamographdeployment-llm"}), "the old one was swept, once")
		}
		m.ExpectHistory(ctx, graph, recovered, disabled, started, disabled, started)
		system.ExpectNotDegraded(ctx)
	})

	It("is noticed although no look saw it absent, and swept before the new one is watched", func(ctx context.Context) {
		s := newScene(ctx)
		proxy, kubeconfig := system.Proxy(ctx)
		install(ctx, graph)
		m := system.StartBy(ctx, kubeconfig, "--watch-probe-timeout=1m", "--watch-probe-interval=10m")
		s.Put(ctx, graph, "llm")
		s.Documented(ctx, graph.Name(), "llm")
		m.ExpectToldSoFar(ctx, graph, recovered)
		before := read(ctx, graph).UID
		since := mark()

		until := make(chan struct{})
		proxy.Disturb(harness.Disturbance{Resource: crds, Name: graph.CRD(), Verbs: []string{"get"}, Until: until})
		remove(ctx, graph)
		install(ctx, graph)
		Expect(read(ctx, graph).UID).NotTo(Equal(before), "it is another CRD")
		s.Put(ctx, graph, "llm")
		Expect(looks(since, graph)).To(BeZero(), "no look came through meanwhile")
		close(until)

		want := uid(ctx, s, graph, "llm")
		Eventually(owner(ctx, s, "dynamographdeployment-llm")).Should(Equal(want), "the new object has its AIBOM")
		m.ExpectHealthy(ctx, graph)
		Eventually(m.Events(ctx, graph, disabled)).Should(Equal(1), "the removal is told")
		Eventually(m.Events(ctx, graph, started)).Should(Equal(1), "and then the start")
		m.ExpectHistory(ctx, watched.CRDDiscovery)
		swept := requests(since, harness.Filter{Verb: "delete", Resource: "aiboms", Namespace: s.Namespace})
		Expect(swept).NotTo(BeEmpty(), "the old AIBOM was deleted")
		runners := runnersStarted(since)
		Expect(runners).To(HaveLen(1), "one new runner")
		Expect(runners[0].StageTimestamp).To(BeTemporally(">", swept[0].StageTimestamp), "which began after the sweep")
		system.ExpectNotDegraded(ctx)
	})

	It("is not started when it is not servable, and is when it comes back once more", func(ctx context.Context) {
		s := newScene(ctx)
		install(ctx, graph)
		m := system.Start(ctx)
		s.Put(ctx, graph, "llm")
		s.Documented(ctx, graph.Name(), "llm")
		m.ExpectToldSoFar(ctx, graph, recovered)
		remove(ctx, graph)
		create(ctx, graph, func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Scope = apiextensionsv1.ClusterScoped })
		Eventually(established(ctx, graph)).Should(BeTrue(), "it is served, cluster-wide")
		awaitLook(ctx, graph)
		m.ExpectHistory(ctx, graph, recovered, disabled)
		Expect(s.AIBOMs(ctx)()).To(BeEmpty())
		system.ExpectNotDegraded(ctx)

		remove(ctx, graph)
		install(ctx, graph)
		s.Put(ctx, graph, "llm")
		s.Documented(ctx, graph.Name(), "llm")
		m.ExpectHistory(ctx, graph, recovered, disabled, started)
	})
})

func uid(ctx context.Context, s *scene, k kinds.Kind, name string) string {
	GinkgoHelper()
	u := watched.Empty(k, k.GVK.Version)
	Expect(system.Admin.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: name}, u)).To(Succeed())
	return string(u.GetUID())
}
