// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"context"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/internal/health"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

var _ = Describe("A kind that the controller may not read", Label(label), func() {
	It("degrades alone until the right is given back, after the start and at a start", func(ctx context.Context) {
		s := newScene(ctx)
		s.putAll(ctx, "llm")
		m := startManager(ctx)
		m.expectHealthy(ctx, kinds.ThirdParty()...)
		s.documented(ctx, nimService.GVK.Kind, "llm")
		m.expectEvents(ctx, 0, 1, nimService)

		giveBack := forbid(ctx, nimService)
		m.expectUnhealthy(ctx, nimService, probeInterval+slack, "nimservices.apps.nvidia.com", "is forbidden")
		s.deployed(ctx, "forbidden")
		s.put(ctx, nimService, "late")
		m.expectEvents(ctx, 1, 1, nimService)
		m.expectUndisturbed(ctx, allBut(nimService)...)

		second := startManager(ctx)
		second.expectUnhealthy(ctx, nimService, probeTimeout+slack, "nimservices.apps.nvidia.com", "is forbidden")
		second.expectUndisturbed(ctx, allBut(nimService)...)
		s.documented(ctx, nimService.GVK.Kind, "llm")

		giveBack(ctx)
		for _, each := range []*manager{m, second} {
			each.expectHealthy(ctx, nimService)
		}
		s.documented(ctx, nimService.GVK.Kind, "late")
		expectNotDegraded(ctx)
		m.expectEvents(ctx, 1, 2, nimService)
		second.expectEvents(ctx, 1, 1, nimService)
	})
})

// forbid takes the manager's rights on a kind away. They are back when the spec ends, or when
// the returned function is called.
func forbid(ctx context.Context, k kinds.Kind) (giveBack func(context.Context)) {
	GinkgoHelper()
	role := &rbacv1.ClusterRole{}
	Expect(admin.Get(ctx, client.ObjectKey{Name: managerRole}, role)).To(Succeed())
	before := role.DeepCopy()
	role.Rules = slices.DeleteFunc(role.Rules, func(r rbacv1.PolicyRule) bool {
		return slices.Contains(r.APIGroups, k.GVK.Group) && slices.Contains(r.Resources, k.Resource)
	})
	Expect(role.Rules).To(HaveLen(len(before.Rules)-1), "the shipped role has a rule for %s", k.Key())
	Expect(admin.Update(ctx, role)).To(Succeed())
	giveBack = func(ctx context.Context) {
		GinkgoHelper()
		Expect(admin.Patch(ctx, &rbacv1.ClusterRole{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
			ObjectMeta: metav1.ObjectMeta{Name: managerRole},
			Rules:      before.Rules,
		}, client.Merge)).To(Succeed())
	}
	DeferCleanup(giveBack)
	return giveBack
}

var _ = Describe("An API server that accepts the requests for one kind and never answers", Label(label), func() {
	var s *scene
	var proxy *harness.Proxy
	var kubeconfig string
	hung := harness.Disturbance{Resource: schema.GroupResource{Group: workerSet.GVK.Group, Resource: workerSet.Resource}}
	cause := "no answer within " + probeTimeout.String()

	BeforeEach(func(ctx context.Context) {
		s = newScene(ctx)
		s.putAll(ctx, "llm")
		config, _, err := plane.ServiceAccountConfig(ctx, systemNamespace, managerAccount)
		Expect(err).NotTo(HaveOccurred())
		proxy, err = harness.NewProxy(config)
		Expect(err).NotTo(HaveOccurred())
		Expect(proxy.Start()).To(Succeed())
		DeferCleanup(proxy.Stop)
		kubeconfig, err = plane.KubeconfigFor("through-the-proxy", proxy.Config(config))
		Expect(err).NotTo(HaveOccurred())
	})

	It("degrades that kind alone after the start", func(ctx context.Context) {
		m := startManagerBy(ctx, kubeconfig)
		m.expectHealthy(ctx, kinds.ThirdParty()...)
		s.documented(ctx, workerSet.GVK.Kind, "llm")
		m.expectEvents(ctx, 0, 1, workerSet)

		proxy.Disturb(hung)
		m.expectUnhealthy(ctx, workerSet, probeInterval+probeTimeout+slack, cause)
		s.deployed(ctx, "meanwhile")
		s.put(ctx, workerSet, "late")
		m.expectEvents(ctx, 1, 1, workerSet)
		m.expectUndisturbed(ctx, allBut(workerSet)...)

		proxy.Disturb()
		m.expectHealthy(ctx, workerSet)
		s.documented(ctx, workerSet.GVK.Kind, "late")
		expectNotDegraded(ctx)
		m.expectEvents(ctx, 1, 2, workerSet)
	})

	It("degrades that kind alone at the start", func(ctx context.Context) {
		proxy.Disturb(hung)
		m := startManagerBy(ctx, kubeconfig)
		s.deployed(ctx, "meanwhile")
		m.expectUnhealthy(ctx, workerSet, probeTimeout+slack, cause)
		m.expectUndisturbed(ctx, allBut(workerSet)...)
		m.expectEvents(ctx, 1, 0, workerSet)

		proxy.Disturb()
		s.documented(ctx, workerSet.GVK.Kind, "llm")
		m.expectHealthy(ctx, workerSet)
		m.expectEvents(ctx, 1, 1, workerSet)
	})

	It("is one episode when its watches are refused and its lists are not", func(ctx context.Context) {
		refused := harness.Disturbance{Resource: hung.Resource, Verbs: []string{"watch"}, Status: 403}
		m := startManagerBy(ctx, kubeconfig)
		m.expectHealthy(ctx, kinds.ThirdParty()...)
		m.expectEvents(ctx, 0, 1, workerSet)
		proxy.Disturb(refused)
		m.expectUnhealthy(ctx, workerSet, slack, "disturbed on purpose: watch leaderworkersets")
		m.expectUndisturbed(ctx, allBut(workerSet)...)
		Consistently(m.events(ctx, workerSet, health.WatchRecovered), 3*probeInterval).Should(Equal(1),
			"neither lists nor probes that are answered make up for the watch")
		m.expectEvents(ctx, 1, 1, workerSet)
		proxy.Disturb()
		m.expectHealthy(ctx, workerSet)
		m.expectEvents(ctx, 1, 2, workerSet)
	})

	It("degrades that kind alone when its lists are refused", func(ctx context.Context) {
		m := startManagerBy(ctx, kubeconfig)
		m.expectHealthy(ctx, kinds.ThirdParty()...)
		proxy.Disturb(harness.Disturbance{Resource: hung.Resource, Verbs: []string{"list"}, Status: 500})
		m.expectUnhealthy(ctx, workerSet, probeInterval+slack, "disturbed on purpose: list leaderworkersets")
		m.expectUndisturbed(ctx, allBut(workerSet)...)
		proxy.Disturb()
		m.expectHealthy(ctx, workerSet)
	})
})
