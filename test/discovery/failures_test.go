// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"net/http"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/k8s-aibom/k8s-aibom/test/harness"
	"github.com/k8s-aibom/k8s-aibom/test/watched"
)

// crdDiscovery stands among the kinds for the discovery of their CRDs.
var crdDiscovery = watched.CRDDiscovery

// longGet is how long the slow read of one CRD takes.
const longGet = 30 * time.Second

var _ = Describe("A read of one CRD that fails", Label(label, "A7", "A2-row-11"), func() {
	// lateInstall installs LeaderWorkerSet, whose CRD can be read, and expects its AIBOM.
	lateInstall := func(ctx context.Context, s *scene, m *manager) {
		GinkgoHelper()
		install(ctx, workerSet)
		s.Put(ctx, workerSet, "llm")
		Eventually(s.Document(ctx, workerSet.Name(), "llm")).WithTimeout(watched.Patience).ShouldNot(BeEmpty(),
			"the other kind has its AIBOM within seconds")
		m.ExpectUndisturbed(ctx, workerSet)
		m.ExpectToldSoFar(ctx, workerSet, started)
	}

	It("because it is slow delays no other kind, and is acted on when it ends", func(ctx context.Context) {
		s := newScene(ctx)
		proxy, kubeconfig := system.Proxy(ctx)
		until := make(chan struct{})
		slow := time.AfterFunc(longGet, func() { close(until) })
		DeferCleanup(slow.Stop)
		proxy.Disturb(harness.Disturbance{Resource: crds, Name: graph.CRD(), Verbs: []string{"get"}, Until: until})
		m := system.StartBy(ctx, kubeconfig, "--watch-probe-timeout=1m")
		install(ctx, graph)
		s.Put(ctx, graph, "llm")
		lateInstall(ctx, s, m)
		Expect(until).NotTo(BeClosed(), "the read of the other CRD is still under way")
		Expect(m.Entries(ctx)()).To(Equal(map[string]float64{workerSet.Name(): 1}), "nothing has failed")
		Eventually(until).WithTimeout(longGet).Should(BeClosed(), "the slow read ends")
		s.Documented(ctx, graph.Name(), "llm")
		m.ExpectHealthy(ctx, graph)
		Expect(m.History(ctx, crdDiscovery)()).To(BeEmpty(), "slow is not failed")
	})

	It("because it takes too long is told as CRDDiscovery, and delays no other kind", func(ctx context.Context) {
		s := newScene(ctx)
		proxy, kubeconfig := system.Proxy(ctx)
		proxy.Disturb(harness.Disturbance{Resource: crds, Name: graph.CRD(), Verbs: []string{"get"}})
		m := system.StartBy(ctx, kubeconfig)
		lateInstall(ctx, s, m)
		m.ExpectUnhealthy(ctx, crdDiscovery, watched.ProbeTimeout+watched.Slack, "no answer within "+watched.ProbeTimeout.String())
		proxy.Disturb()
		m.ExpectHealthy(ctx, crdDiscovery)
		system.ExpectNotDegraded(ctx)
		m.ExpectHistory(ctx, crdDiscovery, unhealthy, recovered)
	})

	It("because it is forbidden freezes that kind only, and is retried", func(ctx context.Context) {
		s := newScene(ctx)
		proxy, kubeconfig := system.Proxy(ctx)
		install(ctx, graph)
		m := system.StartBy(ctx, kubeconfig)
		s.Put(ctx, graph, "llm")
		s.Documented(ctx, graph.Name(), "llm")
		m.ExpectToldSoFar(ctx, graph, recovered)
		since := mark()

		proxy.Disturb(harness.Disturbance{Resource: crds, Name: graph.CRD(), Verbs: []string{"get"}, Status: http.StatusForbidden})
		labelCRD(ctx, graph, "noticed")
		m.ExpectUnhealthy(ctx, crdDiscovery, watched.Slack, "disturbed on purpose: get customresourcedefinitions")
		lateInstall(ctx, s, m)
		m.ExpectUndisturbed(ctx, graph)
		s.Put(ctx, graph, "later")
		s.Documented(ctx, graph.Name(), "later")
		Expect(deletions(since, s)).To(BeEmpty(), "a refusal is no removal")

		proxy.Disturb()
		m.ExpectHealthy(ctx, crdDiscovery)
		system.ExpectNotDegraded(ctx)
		m.ExpectHistory(ctx, crdDiscovery, unhealthy, recovered)
		m.ExpectHistory(ctx, graph, recovered)
	})

	It("at the start is neither readiness nor removal, and the kind starts once it can be read", Label("A2-row-1"), func(ctx context.Context) {
		s := newScene(ctx)
		proxy, kubeconfig := system.Proxy(ctx)
		install(ctx, graph)
		earlier := system.Start(ctx)
		s.Put(ctx, graph, "llm")
		s.Documented(ctx, graph.Name(), "llm")
		Expect(earlier.Stop()).To(Succeed())
		since := mark()

		proxy.Disturb(harness.Disturbance{Resource: crds, Name: graph.CRD(), Verbs: []string{"get"}, Status: http.StatusForbidden})
		m := system.StartBy(ctx, kubeconfig)
		m.ExpectUnhealthy(ctx, crdDiscovery, watched.Slack, "disturbed on purpose")
		Expect(m.Entries(ctx)()).To(Equal(map[string]float64{crdDiscovery.Name(): 0}), "the kind has no entry yet")
		s.Deployed(ctx, "meanwhile")
		lateInstall(ctx, s, m)
		Expect(deletions(since, s)).To(BeEmpty(), "nothing is swept")
		proxy.Disturb()
		m.ExpectHealthy(ctx, graph, crdDiscovery)
		m.ExpectHistory(ctx, graph, recovered)
		system.ExpectNotDegraded(ctx)
	})
})

var _ = Describe("The one watch of all CRDs, when it fails", Label(label, "A7", "A2-row-11"), func() {
	It("is told as CRDDiscovery and harms nothing that runs, and what was installed meanwhile is found", func(ctx context.Context) {
		s := newScene(ctx)
		proxy, kubeconfig := system.Proxy(ctx)
		install(ctx, graph)
		m := system.StartBy(ctx, kubeconfig)
		s.Put(ctx, graph, "llm")
		s.Documented(ctx, graph.Name(), "llm")
		m.ExpectToldSoFar(ctx, graph, recovered)
		since := mark()

		lists := harness.Disturbance{Resource: crds, Verbs: []string{"list"}, Status: http.StatusInternalServerError}
		watches := harness.Disturbance{Resource: crds, Verbs: []string{"watch"}, Status: http.StatusForbidden}
		proxy.Disturb(lists, watches)
		m.ExpectUnhealthy(ctx, crdDiscovery, watched.Slack+watched.Patience, "disturbed on purpose")
		install(ctx, workerSet)
		s.Put(ctx, workerSet, "llm")
		proxy.Disturb(watches)
		Consistently(m.Healthy(ctx, crdDiscovery), 3*watched.ProbeInterval).Should(BeZero(), "lists that are answered do not make up for the watch")
		s.Deployed(ctx, "meanwhile")
		s.Put(ctx, graph, "later")
		s.Documented(ctx, graph.Name(), "later")
		m.ExpectUndisturbed(ctx, graph)
		Expect(m.Probe(ctx, "/readyz")).To(Succeed(), "the controller stays ready")
		m.ExpectHistory(ctx, crdDiscovery, unhealthy)
		Expect(deletions(since, s)).To(BeEmpty(), "nothing is swept")

		proxy.Disturb()
		Eventually(m.Healthy(ctx, crdDiscovery)).WithTimeout(time.Minute).Should(Equal(1.0), "it recovers by itself")
		system.ExpectNotDegraded(ctx)
		s.Documented(ctx, workerSet.Name(), "llm")
		m.ExpectHealthy(ctx, workerSet)
		m.ExpectHistory(ctx, crdDiscovery, unhealthy, recovered)
		m.ExpectHistory(ctx, workerSet, started)
		m.ExpectHistory(ctx, graph, recovered)
		Expect(deletions(since, s)).To(BeEmpty())
	})

	It("does not take a CRD that it cannot see for removed, and acts on the removal afterwards", func(ctx context.Context) {
		s := newScene(ctx)
		proxy, kubeconfig := system.Proxy(ctx)
		install(ctx, graph, workerSet)
		m := system.StartBy(ctx, kubeconfig)
		s.Put(ctx, graph, "llm")
		s.Documented(ctx, graph.Name(), "llm")
		m.ExpectHealthy(ctx, graph, workerSet)
		proxy.Disturb(harness.Disturbance{Resource: crds, Verbs: []string{"list", "watch"}, Status: http.StatusInternalServerError})
		m.ExpectUnhealthy(ctx, crdDiscovery, watched.Slack+watched.Patience, "disturbed on purpose")
		remove(ctx, graph)
		Consistently(s.AIBOMs(ctx), 2*watched.ProbeInterval).Should(ConsistOf("dynamographdeployment-llm"), "nobody has heard of the removal")
		Expect(m.Events(ctx, graph, disabled)()).To(BeZero())
		proxy.Disturb()
		Eventually(s.AIBOMs(ctx)).WithTimeout(time.Minute).Should(BeEmpty(), "it is swept once that is seen")
		Eventually(m.Events(ctx, graph, disabled)).Should(Equal(1), "and told")
		m.ExpectHealthy(ctx, crdDiscovery)
		system.ExpectNotDegraded(ctx)
		m.ExpectUndisturbed(ctx, workerSet)
	})

	It("because the right is missing is told so, and the kinds that are there are served", func(ctx context.Context) {
		s := newScene(ctx)
		install(ctx, graph)
		giveBack := forbidWatchingCRDs(ctx)
		m := system.Start(ctx)
		m.ExpectUnhealthy(ctx, crdDiscovery, watched.Slack, "is forbidden")
		s.Put(ctx, graph, "llm")
		s.Documented(ctx, graph.Name(), "llm")
		m.ExpectUndisturbed(ctx, graph)
		giveBack(ctx)
		Eventually(m.Healthy(ctx, crdDiscovery)).WithTimeout(time.Minute).Should(Equal(1.0), "it recovers when the role is repaired")
		m.ExpectHistory(ctx, crdDiscovery, unhealthy, recovered)
		system.ExpectNotDegraded(ctx)
	})
})

// forbidWatchingCRDs leaves the manager the right to get CRDs only. The others are back when
// the spec ends, or when the returned function is called.
func forbidWatchingCRDs(ctx context.Context) (giveBack func(context.Context)) {
	GinkgoHelper()
	return system.LimitRole(ctx, func(role *rbacv1.ClusterRole) {
		i := slices.IndexFunc(role.Rules, func(r rbacv1.PolicyRule) bool { return slices.Contains(r.Resources, crds.Resource) })
		Expect(i).NotTo(Equal(-1), "the shipped role has a rule for CRDs")
		role.Rules[i].Verbs = []string{"get"}
	})
}
