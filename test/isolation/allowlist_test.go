// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"context"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/health"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
	"github.com/k8s-aibom/k8s-aibom/test/watched"
)

// allowlistLabel marks the specs that hold the allowlist of kinds.
const allowlistLabel = "design-006"

// onlyBuiltInAnd allows the built-in kinds and some third-party ones until the spec ends.
func onlyBuiltInAnd(ctx context.Context, some ...kinds.Kind) {
	GinkgoHelper()
	system.Inventory(ctx, append(kinds.BuiltIn(), some...)...)
	DeferCleanup(func(ctx context.Context) { system.Inventory(ctx) })
}

// aboutGraphs are the manager's requests about Dynamo graphs since a mark.
func aboutGraphs(since harness.Mark) func() (int, error) {
	return func() (int, error) {
		requests, err := system.Plane.Requests(since, harness.Filter{User: harness.ManagerUser, Resource: graph.Resource})
		return len(requests), err
	}
}

var _ = Describe("A kind that is taken out of the inventory", Label(label, allowlistLabel), func() {
	It("has no informer any more: nothing of it is listed, watched or probed", func(ctx context.Context) {
		s := newScene(ctx)
		s.PutAll(ctx, "llm")
		m := startManager(ctx)
		for _, k := range kinds.ThirdParty() {
			s.Documented(ctx, k.GVK.Kind, "llm")
		}
		onlyBuiltInAnd(ctx, watched.AllBut(graph)...)
		Eventually(s.AIBOMs(ctx)).ShouldNot(ContainElement("dynamographdeployment-llm"), "its AIBOMs are swept")
		Eventually(m.Events(ctx, graph, health.WatchDisabled)).Should(Equal(1), "it is told")
		Expect(m.Healthy(ctx, graph)()).To(BeZero(), "the gauge says that it is not watched")

		since, err := system.Plane.Mark()
		Expect(err).NotTo(HaveOccurred())
		s.Put(ctx, graph, "unseen")
		s.Deployed(ctx, "seen")
		Consistently(aboutGraphs(since)).Should(BeZero(), "no request is made about it")
		Expect(s.AIBOMs(ctx)()).NotTo(ContainElement("dynamographdeployment-unseen"))
		Expect(m.Events(ctx, graph, health.WatchUnhealthy)()).To(BeZero(), "that is no failure")
		expectNotDegraded(ctx)

		system.Inventory(ctx)
		s.Documented(ctx, graph.GVK.Kind, "unseen")
		m.ExpectHealthy(ctx, graph)
		Eventually(m.Events(ctx, graph, health.WatchRecovered)).Should(Equal(2), "it starts by the probe path, and is told as before")
		m.ExpectUndisturbed(ctx, watched.AllBut(graph)...)
	})

	It("while it fails degrades nothing any more, and is swept", func(ctx context.Context) {
		s := newScene(ctx)
		s.PutAll(ctx, "llm")
		m := startManager(ctx)
		for _, k := range kinds.ThirdParty() {
			s.Documented(ctx, k.GVK.Kind, "llm")
		}
		m.ExpectHealthy(ctx, graph)
		faults[1].bring(ctx, client.ObjectKey{Namespace: s.Namespace, Name: "llm"})
		m.ExpectUnhealthy(ctx, graph, probeInterval+slack, faults[1].causes...)

		onlyBuiltInAnd(ctx, watched.AllBut(graph)...)
		expectNotDegraded(ctx)
		Eventually(s.AIBOMs(ctx)).ShouldNot(ContainElement("dynamographdeployment-llm"), "its AIBOMs are swept")
		Eventually(m.Events(ctx, graph, health.WatchDisabled)).Should(Equal(1), "it is told")

		system.Inventory(ctx)
		m.ExpectUnhealthy(ctx, graph, probeTimeout+slack, faults[1].causes...)
		graphs.start()
		s.Documented(ctx, graph.GVK.Kind, "llm")
		m.ExpectHealthy(ctx, graph)
		m.ExpectUndisturbed(ctx, watched.AllBut(graph)...)
	})
})

var _ = Describe("An invalid configuration while a kind fails", Label(label, allowlistLabel), func() {
	It("is told beside the failure, and each is taken back alone", func(ctx context.Context) {
		s := newScene(ctx)
		s.PutAll(ctx, "llm")
		m := startManager(ctx)
		s.Documented(ctx, graph.GVK.Kind, "llm")
		m.ExpectHealthy(ctx, graph)
		invalid := func(yes bool) {
			GinkgoHelper()
			config := &v1beta1.AIBOMControllerConfig{}
			Expect(system.Admin.Get(ctx, client.ObjectKey{Name: v1beta1.ConfigName}, config)).To(Succeed())
			before := config.DeepCopy()
			config.Spec.Discovery.WorkloadKinds = nil
			if yes {
				config.Spec.Discovery.WorkloadKinds = []string{"apps/Deploymant"}
			}
			Expect(system.Admin.Patch(ctx, config, client.MergeFrom(before))).To(Succeed())
		}
		DeferCleanup(func(ctx context.Context) { system.Inventory(ctx) })
		const config, kind = "the last valid one stays in force", "DynamoGraphDeployment: "
		degradedBy := func(texts ...string) {
			GinkgoHelper()
			told := []types.GomegaMatcher{}
			for _, text := range []string{config, kind} {
				if slices.Contains(texts, text) {
					told = append(told, ContainSubstring(text))
				} else {
					told = append(told, Not(ContainSubstring(text)))
				}
			}
			Eventually(system.Degraded(ctx)).WithTimeout(probeTimeout+slack).Should(And(
				HaveField("Status", metav1.ConditionTrue), HaveField("Message", And(told...)),
			), "the condition tells of %q and of nothing else", texts)
		}

		graphs.stop()
		degradedBy(kind)
		invalid(true)
		degradedBy(config, kind)
		graphs.start()
		degradedBy(config)
		graphs.stop()
		degradedBy(config, kind)
		invalid(false)
		degradedBy(kind)
		graphs.start()
		expectNotDegraded(ctx)
		s.Deployed(ctx, "all-the-time")
	})
})
