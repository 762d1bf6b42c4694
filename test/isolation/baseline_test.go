// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"context"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/k8s-aibom/k8s-aibom/test/harness"
	"github.com/k8s-aibom/k8s-aibom/test/watched"
)

// These specs hold nothing of this project. They show that what the others break would take
// everything down without isolation.
var _ = Describe("A manager with one cache for all kinds", Label(label), func() {
	var s *scene

	BeforeEach(func(ctx context.Context) {
		s = newScene(ctx)
		s.Put(ctx, graph, "stored")
		s.Deploy(ctx, "llm")
	})

	It("serves both kinds while the webhook is there", func() {
		shared := startShared()
		Eventually(shared.deployments.Load).Should(BeNumerically(">", 0), "Deployments are reconciled")
		Eventually(shared.graphs.Load).Should(BeNumerically(">", 0), "graphs are reconciled")
		shared.stop()
		Eventually(shared.ended).Should(Receive(BeNil()), "it ends when it is told to")
	})

	It("serves nothing and ends, and blames the wrong kind, when the webhook is down", func(ctx context.Context) {
		faults[0].bring(ctx, client.ObjectKey{Namespace: s.Namespace, Name: "stored"})
		shared := startShared()
		var end error
		Eventually(shared.ended).Should(Receive(&end), "the manager ends by itself")
		Expect(end).To(MatchError(And(
			ContainSubstring("timed out waiting for cache to be synced"),
			ContainSubstring("*v1.Deployment"),
			Not(ContainSubstring("Dynamo")),
			Not(ContainSubstring("conversion")),
		)), "it names a kind that nothing is wrong with")
		Expect(shared.deployments.Load()).To(BeZero(), "no Deployment was ever reconciled")
	})
})

// sharedManager is a plain controller-runtime manager with a controller of Deployments and
// one of graphs, on the one cache that managers have.
type sharedManager struct {
	deployments, graphs atomic.Int64
	ended               chan error
	stop                context.CancelFunc
}

func startShared() *sharedManager {
	GinkgoHelper()
	mgr, err := ctrl.NewManager(system.Plane.Config(), ctrl.Options{
		Scheme: harness.Scheme, Logger: GinkgoLogr, Metrics: metricsserver.Options{BindAddress: "0"},
	})
	Expect(err).NotTo(HaveOccurred())
	s := &sharedManager{ended: make(chan error, 1)}
	add := func(name string, object client.Object, calls *atomic.Int64, patience time.Duration) {
		Expect(ctrl.NewControllerManagedBy(mgr).Named(name).For(object).WithOptions(controller.Options{
			CacheSyncTimeout: patience, SkipNameValidation: ptr.To(true),
		}).Complete(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
			calls.Add(1)
			return reconcile.Result{}, nil
		}))).To(Succeed())
	}
	// The controller of graphs waits longer, so that it is certain which one gives up.
	add("deployments", &appsv1.Deployment{}, &s.deployments, 3*time.Second)
	add("graphs", watched.Empty(graph, graph.GVK.Version), &s.graphs, time.Minute)
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	DeferCleanup(stop)
	go func() { s.ended <- mgr.Start(ctx) }()
	return s
}
