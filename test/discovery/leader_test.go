// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

var _ = Describe("Two replicas", Label(label, "A7"), func() {
	// A short lease, so that a hand-over need not wait a quarter of a minute.
	args := []string{"--leader-elect=true", "--leader-elect-lease-duration=4s"}

	It("of which the leader alone reads CRDs", func(ctx context.Context) {
		newScene(ctx)
		leader := system.Start(ctx, args...)
		install(ctx, graph)
		leader.ExpectHealthy(ctx, graph)
		since := mark()
		standby := system.Start(ctx, args...)
		Consistently(func() []harness.AuditEvent { return requests(since, harness.Filter{Resource: crds.Resource}) }).
			Should(BeEmpty(), "a standby asks nothing about CRDs")
		Expect(standby.Entries(ctx)()).To(BeEmpty())
		awaitLook(ctx, graph)
	})

	It("that hand over in the middle of a removal sweep once between them, and lose nothing", Label("A2-row-8"), func(ctx context.Context) {
		s := newScene(ctx)
		install(ctx, graph, workerSet)
		first := system.Start(ctx, args...)
		s.Deployed(ctx, "llm")
		s.Put(ctx, workerSet, "llm")
		s.Documented(ctx, workerSet.Name(), "llm")
		release := hold(ctx, s, graph, "held")
		s.Put(ctx, graph, "llm")
		for _, name := range []string{"held", "llm"} {
			s.Documented(ctx, graph.Name(), name)
		}
		second := system.Start(ctx, args...)
		since := mark()
		rest := []string{"deployment-llm", "leaderworkerset-llm"}

		terminating(ctx, graph)
		Eventually(s.AIBOMs(ctx)).Should(ConsistOf(rest), "the leader sweeps")
		first.ExpectToldSoFar(ctx, graph, recovered, disabled)
		Expect(first.Stop()).To(Succeed())
		second.ExpectHealthy(ctx, workerSet)
		s.Deployed(ctx, "after")
		Expect(second.History(ctx, graph)()).To(BeEmpty(), "the other one never saw the kind servable")
		release(ctx)
		remove(ctx, graph)
		Consistently(second.History(ctx, graph)).Should(BeEmpty(), "and has nothing to tell of its end")
		Expect(deletions(since, s)).To(Equal([]string{"dynamographdeployment-held", "dynamographdeployment-llm"}),
			"there was one sweep")
		Expect(s.AIBOMs(ctx)()).To(ConsistOf(append(rest, "deployment-after")), "nothing else is lost")

		install(ctx, graph)
		s.Put(ctx, graph, "llm")
		s.Documented(ctx, graph.Name(), "llm")
		second.ExpectHistory(ctx, graph, started)
	})

	It("of which the leader goes in the middle of its sweep delete nothing twice", Label("A2-row-8"), func(ctx context.Context) {
		s := newScene(ctx)
		proxy, kubeconfig := system.Proxy(ctx)
		install(ctx, graph, workerSet)
		first := system.StartBy(ctx, kubeconfig, args...)
		s.Put(ctx, workerSet, "llm")
		s.Documented(ctx, workerSet.Name(), "llm")
		release := hold(ctx, s, graph, "held")
		s.Documented(ctx, graph.Name(), "held")
		first.ExpectToldSoFar(ctx, graph, recovered)
		second := system.Start(ctx, args...)
		since := mark()

		proxy.Disturb(harness.Disturbance{
			Resource: schema.GroupResource{Group: v1beta1.GroupVersion.Group, Resource: "aiboms"}, Verbs: []string{"delete"},
		})
		terminating(ctx, graph)
		first.ExpectToldSoFar(ctx, graph, recovered, disabled)
		Expect(first.Stop()).To(Succeed())
		second.ExpectHealthy(ctx, workerSet)
		release(ctx)
		remove(ctx, graph)
		Consistently(second.History(ctx, graph)).Should(BeEmpty())
		Expect(deletions(since, s)).To(BeEmpty(), "who leads now never saw the kind servable: garbage collection sees to what is left")
		Expect(s.AIBOMs(ctx)()).To(ConsistOf("leaderworkerset-llm", "dynamographdeployment-held"))
	})
})
