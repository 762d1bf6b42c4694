// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"context"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/k8s-aibom/k8s-aibom/internal/health"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
	"github.com/k8s-aibom/k8s-aibom/test/watched"
)

var _ = Describe("A kind that the controller may not read", Label(label), func() {
	It("degrades alone until the right is given back, after the start and at a start", func(ctx context.Context) {
		s := newScene(ctx)
		s.PutAll(ctx, "llm")
		m := startManager(ctx)
		m.ExpectHealthy(ctx, kinds.ThirdParty()...)
		s.Documented(ctx, nimService.GVK.Kind, "llm")
		m.ExpectEvents(ctx, 0, 1, nimService)

		giveBack := forbid(ctx, nimService)
		m.ExpectUnhealthy(ctx, nimService, probeInterval+slack, "nimservices.apps.nvidia.com", "is forbidden")
		s.Deployed(ctx, "forbidden")
		s.Put(ctx, nimService, "late")
		m.ExpectEvents(ctx, 1, 1, nimService)
		m.ExpectUndisturbed(ctx, watched.AllBut(nimService)...)

		second := startManager(ctx)
		second.ExpectUnhealthy(ctx, nimService, probeTimeout+slack, "nimservices.apps.nvidia.com", "is forbidden")
		second.ExpectUndisturbed(ctx, watched.AllBut(nimService)...)
		s.Documented(ctx, nimService.GVK.Kind, "llm")

		giveBack(ctx)
		for _, each := range []*manager{m, second} {
			each.ExpectHealthy(ctx, nimService)
		}
		s.Documented(ctx, nimService.GVK.Kind, "late")
		expectNotDegraded(ctx)
		m.ExpectEvents(ctx, 1, 2, nimService)
		second.ExpectEvents(ctx, 1, 1, nimService)
	})
})

// forbid takes the manager's rights on a kind away. They are back when the spec ends, or when
// the returned function is called.
func forbid(ctx context.Context, k kinds.Kind) (giveBack func(context.Context)) {
	GinkgoHelper()
	return system.LimitRole(ctx, func(role *rbacv1.ClusterRole) {
		shipped := len(role.Rules)
		role.Rules = slices.DeleteFunc(role.Rules, func(r rbacv1.PolicyRule) bool {
			return slices.Contains(r.APIGroups, k.GVK.Group) && slices.Contains(r.Resources, k.Resource)
		})
		Expect(role.Rules).To(HaveLen(shipped-1), "the shipped role has a rule for %s", k.Key())
	})
}

var _ = Describe("An API server that accepts the requests for one kind and never answers", Label(label), func() {
	var s *scene
	var proxy *harness.Proxy
	var kubeconfig string
	hung := harness.Disturbance{Resource: schema.GroupResource{Group: workerSet.GVK.Group, Resource: workerSet.Resource}}
	cause := "no answer within " + probeTimeout.String()

	BeforeEach(func(ctx context.Context) {
		s = newScene(ctx)
		s.PutAll(ctx, "llm")
		proxy, kubeconfig = system.Proxy(ctx)
	})

	It("degrades that kind alone after the start", func(ctx context.Context) {
		m := system.StartBy(ctx, kubeconfig)
		m.ExpectHealthy(ctx, kinds.ThirdParty()...)
		s.Documented(ctx, workerSet.GVK.Kind, "llm")
		m.ExpectEvents(ctx, 0, 1, workerSet)

		proxy.Disturb(hung)
		m.ExpectUnhealthy(ctx, workerSet, probeInterval+probeTimeout+slack, cause)
		s.Deployed(ctx, "meanwhile")
		s.Put(ctx, workerSet, "late")
		m.ExpectEvents(ctx, 1, 1, workerSet)
		m.ExpectUndisturbed(ctx, watched.AllBut(workerSet)...)

		proxy.Disturb()
		m.ExpectHealthy(ctx, workerSet)
		s.Documented(ctx, workerSet.GVK.Kind, "late")
		expectNotDegraded(ctx)
		m.ExpectEvents(ctx, 1, 2, workerSet)
	})

	It("degrades that kind alone at the start", func(ctx context.Context) {
		proxy.Disturb(hung)
		m := system.StartBy(ctx, kubeconfig)
		s.Deployed(ctx, "meanwhile")
		m.ExpectUnhealthy(ctx, workerSet, probeTimeout+slack, cause)
		m.ExpectUndisturbed(ctx, watched.AllBut(workerSet)...)
		m.ExpectEvents(ctx, 1, 0, workerSet)

		proxy.Disturb()
		s.Documented(ctx, workerSet.GVK.Kind, "llm")
		m.ExpectHealthy(ctx, workerSet)
		m.ExpectEvents(ctx, 1, 1, workerSet)
	})

	It("is one episode when its watches are refused and its lists are not", func(ctx context.Context) {
		refused := harness.Disturbance{Resource: hung.Resource, Verbs: []string{"watch"}, Status: 403}
		m := system.StartBy(ctx, kubeconfig)
		m.ExpectHealthy(ctx, kinds.ThirdParty()...)
		m.ExpectEvents(ctx, 0, 1, workerSet)
		proxy.Disturb(refused)
		m.ExpectUnhealthy(ctx, workerSet, slack, "disturbed on purpose: watch leaderworkersets")
		m.ExpectUndisturbed(ctx, watched.AllBut(workerSet)...)
		Consistently(m.Events(ctx, workerSet, health.WatchRecovered), 3*probeInterval).Should(Equal(1),
			"neither lists nor probes that are answered make up for the watch")
		m.ExpectEvents(ctx, 1, 1, workerSet)
		proxy.Disturb()
		m.ExpectHealthy(ctx, workerSet)
		m.ExpectEvents(ctx, 1, 2, workerSet)
	})

	It("degrades that kind alone when its lists are refused", func(ctx context.Context) {
		m := system.StartBy(ctx, kubeconfig)
		m.ExpectHealthy(ctx, kinds.ThirdParty()...)
		proxy.Disturb(harness.Disturbance{Resource: hung.Resource, Verbs: []string{"list"}, Status: 500})
		m.ExpectUnhealthy(ctx, workerSet, probeInterval+slack, "disturbed on purpose: list leaderworkersets")
		m.ExpectUndisturbed(ctx, watched.AllBut(workerSet)...)
		proxy.Disturb()
		m.ExpectHealthy(ctx, workerSet)
	})
})
