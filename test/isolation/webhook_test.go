// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/internal/health"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
	"github.com/k8s-aibom/k8s-aibom/test/watched"
)

var _ = Describe("Third-party kinds that work", Label(label), func() {
	It("are inventoried side by side with Deployments", func(ctx context.Context) {
		s := newScene(ctx)
		s.PutAll(ctx, "llm")
		m := startManager(ctx)
		s.Deployed(ctx, "llm")
		for _, k := range kinds.ThirdParty() {
			s.Documented(ctx, k.GVK.Kind, "llm")
		}
		m.ExpectUndisturbed(ctx, kinds.ThirdParty()...)
		expectNotDegraded(ctx)
		m.ExpectEvents(ctx, 0, 1, kinds.ThirdParty()...)
	})

	It("are watched once each, from caches of their own", func(ctx context.Context) {
		since, err := system.Plane.Mark()
		Expect(err).NotTo(HaveOccurred())
		m := startManager(ctx)
		m.ExpectHealthy(ctx, kinds.ThirdParty()...)
		want := map[string]int{"namespaces": 1 + len(kinds.ThirdParty())} // the manager's own, and one in each cache
		for _, k := range kinds.ThirdParty() {
			want[k.Resource] = 1
		}
		watches := func() (map[string]int, error) {
			requests, err := system.Plane.Requests(since, harness.Filter{User: harness.ManagerUser, Verb: "watch"})
			seen := map[string]int{}
			for _, r := range requests {
				if _, asked := want[r.ObjectRef.Resource]; asked {
					seen[r.ObjectRef.Resource]++
				}
			}
			return seen, err
		}
		Eventually(watches).Should(Equal(want), "one watch of each kind, each with one of the namespaces")
		Consistently(watches).Should(Equal(want), "and no more")
	})

	It("are watched by the leader only", func(ctx context.Context) {
		leader := startManager(ctx, "--leader-elect=true")
		leader.ExpectHealthy(ctx, kinds.ThirdParty()...)
		standby := startManager(ctx, "--leader-elect=true")
		Consistently(func() error { _, err := standby.Healthy(ctx, graph)(); return err }).
			Should(MatchError(ContainSubstring("no sample")), "a standby watches nothing of third parties")
		Expect(leader.Stop()).To(Succeed())
		standby.ExpectHealthy(ctx, kinds.ThirdParty()...)
	})
})

var _ = Describe("A conversion webhook that is down at the start", Label(label), func() {
	for _, f := range faults {
		Context("because "+f.name, Ordered, func() {
			var s *scene
			var m *manager
			var stored types.NamespacedName

			BeforeAll(func(ctx context.Context) {
				s = newScene(ctx)
				s.PutAll(ctx, "stored")
				stored = client.ObjectKey{Namespace: s.Namespace, Name: "stored"}
				Eventually(read(ctx, stored)).Should(Succeed(), "the API server has read the graph once")
				f.bring(ctx, stored)
				m = startManager(ctx)
			})

			It("costs that kind only", func(ctx context.Context) {
				s.Deployed(ctx, "llm")
				m.ExpectUnhealthy(ctx, graph, probeTimeout+slack, f.causes...)
				m.ExpectUndisturbed(ctx, watched.AllBut(graph)...)
				for _, k := range watched.AllBut(graph) {
					s.Documented(ctx, k.GVK.Kind, "stored")
				}
				m.ExpectEvents(ctx, 1, 0, graph)
				warning, err := m.EventsOf(ctx, graph, health.WatchUnhealthy)
				Expect(err).NotTo(HaveOccurred())
				for _, cause := range f.causes {
					Expect(warning[0].Note).To(ContainSubstring(cause), "the event says why")
				}
				_, err = s.Document(ctx, graph.GVK.Kind, "stored")()
				Expect(apierrors.IsNotFound(err)).To(BeTrue(), "what cannot be read has no AIBOM: %v", err)
			})

			It("starts by itself when the webhook is there", func(ctx context.Context) {
				f.lift(ctx, stored)
				s.Documented(ctx, graph.GVK.Kind, "stored")
				m.ExpectHealthy(ctx, graph)
				expectNotDegraded(ctx)
				m.ExpectEvents(ctx, 1, 1, graph)
				m.ExpectUndisturbed(ctx, watched.AllBut(graph)...)
			})
		})
	}
})

var _ = Describe("A conversion webhook that dies after the start", Label(label), func() {
	for _, f := range faults {
		Context("because "+f.name, Ordered, func() {
			var s, leaving *scene
			var m *manager
			var stored types.NamespacedName

			BeforeAll(func(ctx context.Context) {
				s, leaving = newScene(ctx), newScene(ctx)
				s.PutAll(ctx, "stored")
				leaving.PutAll(ctx, "stored")
				stored = client.ObjectKey{Namespace: s.Namespace, Name: "stored"}
				m = startManager(ctx)
				for _, k := range kinds.ThirdParty() {
					s.Documented(ctx, k.GVK.Kind, "stored")
					leaving.Documented(ctx, k.GVK.Kind, "stored")
				}
				m.ExpectUndisturbed(ctx, kinds.ThirdParty()...)
				m.ExpectEvents(ctx, 0, 1, graph)
				f.bring(ctx, stored)
			})

			It("costs that kind only, which keeps what it knew", func(ctx context.Context) {
				m.ExpectUnhealthy(ctx, graph, probeInterval+probeTimeout+slack, f.causes...)
				s.Deployed(ctx, "llm")
				s.Put(ctx, graph, "late")
				leaving.OptOut(ctx)
				Eventually(leaving.AIBOMs(ctx)).Should(ConsistOf("dynamographdeployment-stored"),
					"the kinds that work clean up after the opt-out")
				m.ExpectEvents(ctx, 1, 1, graph)
				Expect(leaving.AIBOMs(ctx)()).To(ConsistOf("dynamographdeployment-stored"), "the kind that fails deletes nothing")
				s.Documented(ctx, graph.GVK.Kind, "stored")
				m.ExpectUndisturbed(ctx, watched.AllBut(graph)...)
			})

			It("heals by itself and catches up when the webhook is back", func(ctx context.Context) {
				f.lift(ctx, stored)
				m.ExpectHealthy(ctx, graph)
				expectNotDegraded(ctx)
				s.Documented(ctx, graph.GVK.Kind, "late")
				Eventually(leaving.AIBOMs(ctx)).Should(BeEmpty(), "the cleanup that was put off is done")
				m.ExpectEvents(ctx, 1, 2, graph)
				m.ExpectUndisturbed(ctx, watched.AllBut(graph)...)
			})
		})
	}

	It("is seen although the API server still lists the objects from memory", func(ctx context.Context) {
		s := newScene(ctx)
		stored := s.Put(ctx, graph, "stored")
		m := startManager(ctx)
		s.Documented(ctx, graph.GVK.Kind, "stored")
		graphs.stop()
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(graph.GVK.GroupVersion().WithKind(graph.GVK.Kind + "List"))
		Expect(system.Admin.List(ctx, list, client.Limit(1))).To(Succeed(), "a list of one object tells nothing")
		Expect(list.Items).To(HaveLen(1))
		Expect(read(ctx, stored)()).To(MatchError(ContainSubstring(webhookFailed(graph))), "a read of it does")
		m.ExpectUnhealthy(ctx, graph, probeInterval+slack, webhookFailed(graph))
	})
})

var _ = Describe("An operator that is uninstalled", Label(label), func() {
	for _, f := range faults[:2] {
		Context("so that "+f.name, func() {
			It("degrades a restarted controller until the objects that it left behind are gone", func(ctx context.Context) {
				s := newScene(ctx)
				s.PutAll(ctx, "left")
				first := startManager(ctx)
				s.Documented(ctx, graph.GVK.Kind, "left")
				f.bring(ctx, client.ObjectKey{Namespace: s.Namespace, Name: "left"})
				first.ExpectUnhealthy(ctx, graph, probeInterval+slack, f.causes...)
				Expect(first.Stop()).To(Succeed())

				second := startManager(ctx)
				s.Deployed(ctx, "llm")
				second.ExpectUnhealthy(ctx, graph, probeTimeout+slack, f.causes...)
				second.ExpectUndisturbed(ctx, watched.AllBut(graph)...)
				second.ExpectEvents(ctx, 1, 0, graph)
				s.Documented(ctx, graph.GVK.Kind, "left")

				s.RemoveAll(ctx, graph)
				second.ExpectHealthy(ctx, graph)
				expectNotDegraded(ctx)
				second.ExpectEvents(ctx, 1, 1, graph)
			})
		})
	}
})
