// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/k8s-aibom/k8s-aibom/internal/health"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
	"github.com/k8s-aibom/k8s-aibom/test/watched"
)

// allow allows these kinds and the built-in ones until the spec ends.
func allow(ctx context.Context, some ...kinds.Kind) {
	GinkgoHelper()
	DeferCleanup(func(ctx context.Context) { system.Inventory(ctx) })
	system.Inventory(ctx, append(kinds.BuiltIn(), some...)...)
}

func filterOf(k kinds.Kind) harness.Filter { return harness.Filter{Resource: k.Resource} }

var _ = Describe("A kind that the configuration excludes", Label(label, "A7"), func() {
	It("is told as disabled when its CRD is installed, and what an earlier run wrote is swept once", Label("A2-row-3", "A2-row-10"), func(ctx context.Context) {
		s := newScene(ctx)
		install(ctx, graph)
		earlier := system.Start(ctx)
		s.Put(ctx, graph, "llm")
		s.Documented(ctx, graph.Name(), "llm")
		Expect(earlier.Stop()).To(Succeed())
		remove(ctx, graph) // nobody is there to sweep
		Expect(s.AIBOMs(ctx)()).To(ConsistOf("dynamographdeployment-llm"))

		allow(ctx, workerSet)
		m := system.Start(ctx)
		s.Deployed(ctx, "llm")
		Expect(m.Entries(ctx)()).To(BeEmpty())
		since := mark()
		install(ctx, graph)
		Eventually(s.AIBOMs(ctx)).Should(ConsistOf("deployment-llm"), "the AIBOM that an earlier run left is swept")
		m.ExpectToldSoFar(ctx, graph, disabled)
		expectReason(ctx, m, graph, health.ReasonConfig)
		s.Put(ctx, graph, "llm")
		awaitLook(ctx, graph)
		m.ExpectHistory(ctx, graph, disabled)
		Expect(s.AIBOMs(ctx)()).To(ConsistOf("deployment-llm"), "nothing of the kind is inventoried")
		Expect(requests(since, filterOf(graph))).To(BeEmpty(), "no runner and no probe was there")
		Expect(deletions(since, s)).To(Equal([]string{"dynamographdeployment-llm"}), "it was swept once")
		Expect(m.Healthy(ctx, graph)()).To(BeZero())
		system.ExpectNotDegraded(ctx)

		system.Inventory(ctx)
		s.Documented(ctx, graph.Name(), "llm")
		m.ExpectHistory(ctx, graph, disabled, recovered)
	})

	It("and that is never installed has no entry, no event and no sweep", Label("A2-row-1"), func(ctx context.Context) {
		s := newScene(ctx)
		allow(ctx, workerSet)
		m := system.Start(ctx)
		s.Deployed(ctx, "llm")
		since := mark()
		allow(ctx, component)
		allow(ctx, workerSet)
		s.Deployed(ctx, "after")
		Consistently(m.Entries(ctx)).Should(BeEmpty(), "health knows nothing of it")
		for _, k := range kinds.ThirdParty() {
			Expect(m.History(ctx, k)()).To(BeEmpty(), "nothing is told of %s", k.Name())
		}
		Expect(requests(since, harness.Filter{Verb: "delete", Resource: "aiboms"})).To(BeEmpty(), "nothing is swept")
		Expect(requests(since, filterOf(graph))).To(BeEmpty())
	})

	It("while its CRD is there is stopped and swept once, and starts again when it is allowed", Label("A2-row-7", "A2-row-10"), func(ctx context.Context) {
		s := newScene(ctx)
		install(ctx, graph, workerSet)
		m := system.Start(ctx)
		for _, k := range []kinds.Kind{graph, workerSet} {
			s.Put(ctx, k, "llm")
			s.Documented(ctx, k.Name(), "llm")
			m.ExpectToldSoFar(ctx, k, recovered)
		}
		since := mark()
		allow(ctx, workerSet)
		Eventually(s.AIBOMs(ctx)).Should(ConsistOf("leaderworkerset-llm"), "its AIBOMs are swept")
		m.ExpectToldSoFar(ctx, graph, recovered, disabled)
		expectReason(ctx, m, graph, health.ReasonConfig)
		awaitLook(ctx, graph)
		quiet := mark()
		m.ExpectHistory(ctx, graph, recovered, disabled)
		Expect(requests(quiet, filterOf(graph))).To(BeEmpty(), "nothing of the kind runs")
		Expect(deletions(since, s)).To(Equal([]string{"dynamographdeployment-llm"}), "it was swept once")

		system.Inventory(ctx)
		s.Documented(ctx, graph.Name(), "llm")
		m.ExpectHistory(ctx, graph, recovered, disabled, recovered)
		m.ExpectUndisturbed(ctx, workerSet)
	})

	It("while it cannot be served degrades nothing, and does when it is allowed", Label("A2-row-7", "A2-row-5"), func(ctx context.Context) {
		s := newScene(ctx)
		install(ctx, graph)
		m := system.Start(ctx)
		s.Put(ctx, graph, "llm")
		s.Documented(ctx, graph.Name(), "llm")
		stopServing(ctx, m, graph)
		allow(ctx, workerSet)
		system.ExpectNotDegraded(ctx)
		Eventually(s.AIBOMs(ctx)).Should(BeEmpty(), "what is excluded is swept")
		m.ExpectToldSoFar(ctx, graph, recovered, unhealthy, disabled)
		system.Inventory(ctx)
		m.ExpectUnhealthy(ctx, graph, watched.Slack, "does not serve the version v1beta1")
		serve(ctx, graph, true)
		s.Documented(ctx, graph.Name(), "llm")
		m.ExpectHistory(ctx, graph, recovered, unhealthy, disabled, unhealthy, recovered)
	})

	It("and whose CRD is removed is not told of twice, nor swept twice", Label("A2-row-7", "A2-row-8"), func(ctx context.Context) {
		s := newScene(ctx)
		install(ctx, graph)
		m := system.Start(ctx)
		s.Put(ctx, graph, "llm")
		s.Documented(ctx, graph.Name(), "llm")
		m.ExpectToldSoFar(ctx, graph, recovered)
		since := mark()
		allow(ctx, workerSet)
		Eventually(s.AIBOMs(ctx)).Should(BeEmpty(), "what is excluded is swept")
		remove(ctx, graph)
		Eventually(func() int { return looks(since, graph) }).Should(BeNumerically(">", 0), "the removal is seen")
		m.ExpectHistory(ctx, graph, recovered, disabled)
		Expect(deletions(since, s)).To(Equal([]string{"dynamographdeployment-llm"}))

		install(ctx, graph)
		m.ExpectHistory(ctx, graph, recovered, disabled, disabled)
		expectReason(ctx, m, graph, health.ReasonConfig)
		remove(ctx, graph)
		system.Inventory(ctx)
		install(ctx, graph)
		s.Put(ctx, graph, "llm")
		s.Documented(ctx, graph.Name(), "llm")
		Eventually(m.Events(ctx, graph, started)).Should(Equal(1), "it was installed after the start")
	})
})
