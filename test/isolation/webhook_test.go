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

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/health"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

var _ = Describe("Third-party kinds that work", Label(label), func() {
	It("are inventoried side by side with Deployments", func(ctx context.Context) {
		s := newScene(ctx)
		s.putAll(ctx, "llm")
		m := startManager(ctx)
		s.deployed(ctx, "llm")
		for _, k := range kinds.ThirdParty() {
			s.documented(ctx, k.GVK.Kind, "llm")
		}
		m.expectUndisturbed(ctx, kinds.ThirdParty()...)
		expectNotDegraded(ctx)
		m.expectEvents(ctx, 0, 1, kinds.ThirdParty()...)
	})

	It("are watched once each, from caches of their own", func(ctx context.Context) {
		since, err := plane.Mark()
		Expect(err).NotTo(HaveOccurred())
		m := startManager(ctx)
		m.expectHealthy(ctx, kinds.ThirdParty()...)
		want := map[string]int{"namespaces": 1 + len(kinds.ThirdParty())} // the manager's own, and one in each cache
		for _, k := range kinds.ThirdParty() {
			want[k.Resource] = 1
		}
		watches := func() (map[string]int, error) {
			requests, err := plane.Requests(since, harness.Filter{User: managerUser, Verb: "watch"})
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
		leader.expectHealthy(ctx, kinds.ThirdParty()...)
		standby := startManager(ctx, "--leader-elect=true")
		Consistently(func() error { _, err := standby.healthy(ctx, graph)(); return err }).
			Should(MatchError(ContainSubstring("no sample")), "a standby watches nothing of third parties")
		Expect(leader.Stop()).To(Succeed())
		standby.expectHealthy(ctx, kinds.ThirdParty()...)
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
				s.putAll(ctx, "stored")
				stored = client.ObjectKey{Namespace: s.namespace, Name: "stored"}
				Eventually(read(ctx, stored)).Should(Succeed(), "the API server has read the graph once")
				f.bring(ctx, stored)
				m = startManager(ctx)
			})

			It("costs that kind only", func(ctx context.Context) {
				s.deployed(ctx, "llm")
				m.expectUnhealthy(ctx, graph, probeTimeout+slack, f.causes...)
				m.expectUndisturbed(ctx, allBut(graph)...)
				for _, k := range allBut(graph) {
					s.documented(ctx, k.GVK.Kind, "stored")
				}
				m.expectEvents(ctx, 1, 0, graph)
				warning, err := m.eventsOf(ctx, graph, health.WatchUnhealthy)
				Expect(err).NotTo(HaveOccurred())
				for _, cause := range f.causes {
					Expect(warning[0].Note).To(ContainSubstring(cause), "the event says why")
				}
				_, err = s.document(ctx, graph.GVK.Kind, "stored")()
				Expect(apierrors.IsNotFound(err)).To(BeTrue(), "what cannot be read has no AIBOM: %v", err)
			})

			It("starts by itself when the webhook is there", func(ctx context.Context) {
				f.lift(ctx, stored)
				s.documented(ctx, graph.GVK.Kind, "stored")
				m.expectHealthy(ctx, graph)
				expectNotDegraded(ctx)
				m.expectEvents(ctx, 1, 1, graph)
				m.expectUndisturbed(ctx, allBut(graph)...)
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
				s.putAll(ctx, "stored")
				leaving.putAll(ctx, "stored")
				stored = client.ObjectKey{Namespace: s.namespace, Name: "stored"}
				m = startManager(ctx)
				for _, k := range kinds.ThirdParty() {
					s.documented(ctx, k.GVK.Kind, "stored")
					leaving.documented(ctx, k.GVK.Kind, "stored")
				}
				m.expectUndisturbed(ctx, kinds.ThirdParty()...)
				m.expectEvents(ctx, 0, 1, graph)
				f.bring(ctx, stored)
			})

			It("costs that kind only, which keeps what it knew", func(ctx context.Context) {
				m.expectUnhealthy(ctx, graph, probeInterval+probeTimeout+slack, f.causes...)
				s.deployed(ctx, "llm")
				s.put(ctx, graph, "late")
				leaving.optOut(ctx)
				Eventually(leaving.aiboms(ctx)).Should(ConsistOf("dynamographdeployment-stored"),
					"the kinds that work clean up after the opt-out")
				m.expectEvents(ctx, 1, 1, graph)
				Expect(leaving.aiboms(ctx)()).To(ConsistOf("dynamographdeployment-stored"), "the kind that fails deletes nothing")
				s.documented(ctx, graph.GVK.Kind, "stored")
				m.expectUndisturbed(ctx, allBut(graph)...)
			})

			It("heals by itself and catches up when the webhook is back", func(ctx context.Context) {
				f.lift(ctx, stored)
				m.expectHealthy(ctx, graph)
				expectNotDegraded(ctx)
				s.documented(ctx, graph.GVK.Kind, "late")
				Eventually(leaving.aiboms(ctx)).Should(BeEmpty(), "the cleanup that was put off is done")
				m.expectEvents(ctx, 1, 2, graph)
				m.expectUndisturbed(ctx, allBut(graph)...)
			})
		})
	}

	It("is seen although the API server still lists the objects from memory", func(ctx context.Context) {
		s := newScene(ctx)
		stored := s.put(ctx, graph, "stored")
		m := startManager(ctx)
		s.documented(ctx, graph.GVK.Kind, "stored")
		graphs.stop()
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(graph.GVK.GroupVersion().WithKind(graph.GVK.Kind + "List"))
		Expect(admin.List(ctx, list, client.Limit(1))).To(Succeed(), "a list of one object tells nothing")
		Expect(list.Items).To(HaveLen(1))
		Expect(read(ctx, stored)()).To(MatchError(ContainSubstring(webhookFailed(graph))), "a read of it does")
		m.expectUnhealthy(ctx, graph, probeInterval+slack, webhookFailed(graph))
	})
})

var _ = Describe("A kind that is taken out of the inventory while it fails", Label(label), func() {
	It("keeps its AIBOMs until it works again", func(ctx context.Context) {
		s := newScene(ctx)
		s.putAll(ctx, "llm")
		m := startManager(ctx)
		for _, k := range kinds.ThirdParty() {
			s.documented(ctx, k.GVK.Kind, "llm")
		}
		m.expectHealthy(ctx, graph)
		faults[1].bring(ctx, client.ObjectKey{Namespace: s.namespace, Name: "llm"})
		m.expectUnhealthy(ctx, graph, probeInterval+slack, faults[1].causes...)

		inventory(ctx, inferenceService)
		DeferCleanup(func(ctx context.Context) { inventory(ctx, kinds.Catalogue...) })
		Eventually(s.aiboms(ctx)).Should(ConsistOf("inferenceservice-llm", "dynamographdeployment-llm"),
			"the kinds that work clean up")
		Consistently(s.aiboms(ctx)).Should(ContainElement("dynamographdeployment-llm"), "the kind that fails deletes nothing")

		graphs.start()
		Eventually(s.aiboms(ctx)).Should(ConsistOf("inferenceservice-llm"), "the cleanup that was put off is done")
	})
})

// inventory has only these kinds inventoried.
func inventory(ctx context.Context, some ...kinds.Kind) {
	GinkgoHelper()
	config := &v1beta1.AIBOMControllerConfig{}
	Expect(admin.Get(ctx, client.ObjectKey{Name: v1beta1.ConfigName}, config)).To(Succeed())
	before := config.DeepCopy()
	config.Spec.Discovery.WorkloadKinds = nil
	for _, k := range some {
		config.Spec.Discovery.WorkloadKinds = append(config.Spec.Discovery.WorkloadKinds, k.Key())
	}
	Expect(admin.Patch(ctx, config, client.MergeFrom(before))).To(Succeed())
}

var _ = Describe("An operator that is uninstalled", Label(label), func() {
	for _, f := range faults[:2] {
		Context("so that "+f.name, func() {
			It("degrades a restarted controller until the objects that it left behind are gone", func(ctx context.Context) {
				s := newScene(ctx)
				s.putAll(ctx, "left")
				first := startManager(ctx)
				s.documented(ctx, graph.GVK.Kind, "left")
				f.bring(ctx, client.ObjectKey{Namespace: s.namespace, Name: "left"})
				first.expectUnhealthy(ctx, graph, probeInterval+slack, f.causes...)
				Expect(first.Stop()).To(Succeed())

				second := startManager(ctx)
				s.deployed(ctx, "llm")
				second.expectUnhealthy(ctx, graph, probeTimeout+slack, f.causes...)
				second.expectUndisturbed(ctx, allBut(graph)...)
				second.expectEvents(ctx, 1, 0, graph)
				s.documented(ctx, graph.GVK.Kind, "left")

				s.removeAll(ctx, graph)
				second.expectHealthy(ctx, graph)
				expectNotDegraded(ctx)
				second.expectEvents(ctx, 1, 1, graph)
			})
		})
	}
})
