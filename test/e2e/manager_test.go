// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/k8s-aibom/k8s-aibom/internal/bom"
	"github.com/k8s-aibom/k8s-aibom/internal/controller"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/internal/ownership"
	"github.com/k8s-aibom/k8s-aibom/internal/settings"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

// manager is the process that serves the specs; those that need another one put it back.
var manager *harness.ManagerProcess

// startManager runs the real binary as its own ServiceAccount, as the shipped Deployment does.
func startManager(ctx context.Context, args ...string) {
	GinkgoHelper()
	manager = startManagerAs(ctx, harness.ManagerAccount, harness.ManagerOptions{Args: args})
}

func startManagerAs(ctx context.Context, account string, options harness.ManagerOptions) *harness.ManagerProcess {
	GinkgoHelper()
	options.Name, options.LeaderElect = account, true
	m, err := plane.StartManagerAs(ctx, account, options)
	Expect(err).NotTo(HaveOccurred())
	return m
}

func stopManager() {
	GinkgoHelper()
	Expect(manager.Stop()).To(Succeed(), "the manager ends with 0 on SIGTERM")
}

// withoutManager stops the manager for the rest of a spec or container.
func withoutManager() {
	GinkgoHelper()
	stopManager()
	DeferCleanup(func(ctx context.Context) { startManager(ctx) })
}

// startInProcess runs a manager inside the suite, as the manager's ServiceAccount and set up
// as the binary sets itself up, with scrape in the place of how workloads are read, until the
// end of the spec. The binary must not run meanwhile.
func startInProcess(ctx context.Context, scrape func(kinds.Kind) controller.ScrapeFunc) ctrl.Manager {
	GinkgoHelper()
	restConfig, _, err := plane.ServiceAccountConfig(ctx, harness.SystemNamespace, harness.ManagerAccount)
	Expect(err).NotTo(HaveOccurred())
	cacheOptions := controller.CacheOptions()
	// What is read must be what is watched: nothing may come to be cached on the quiet.
	cacheOptions.ReaderFailOnMissingInformer = true
	mgr, err := ctrl.NewManager(restConfig, ctrl.Options{
		Scheme:  harness.Scheme,
		Logger:  GinkgoLogr,
		Cache:   cacheOptions,
		Client:  client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: ptr.To(true)}},
		Metrics: metricsserver.Options{BindAddress: "0"},
		// Several managers run in this program one after the other.
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	Expect(err).NotTo(HaveOccurred())

	running, stop := context.WithCancel(context.Background())
	store := settings.NewStore()
	store.Apply(settings.Absent())
	tracked := ownership.NewTrackedKinds(kinds.BuiltIn()...)
	for _, k := range kinds.ThirdParty() {
		tracked.Settle(k) // nobody looks for them here
	}
	Expect(controller.SetupWorkloads(running, mgr, controller.Options{
		Rollup:   controller.NewRollup(mgr, tracked, clock.RealClock{}),
		Settings: store,
		Tool:     bom.Tool{Name: "k8s-aibom", Vendor: "k8s-aibom", Version: "dev"},
		Clock:    clock.RealClock{},
		Scrape:   scrape,
	})).To(Succeed())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(running) }()
	DeferCleanup(func() {
		stop()
		Eventually(ended).Should(Receive(Succeed()), "the manager in this program ends")
	})
	Eventually(mgr.Elected()).Should(BeClosed(), "the manager in this program works")
	return mgr
}

// requests are those that the manager made since the mark about the namespace or about
// nothing in a namespace, such as discovery. Two sorts are not counted: the renewals of the
// Lease, and watches, which begin anew every few minutes whatever happens.
func requests(since harness.Mark, namespace string) func() ([]string, error) {
	return countedRequests(since, "", namespace)
}

// requestsIn are the same without those that are about nothing in a namespace, which a
// starting manager needs for discovery.
func requestsIn(since harness.Mark, namespace string) func() ([]string, error) {
	return countedRequests(since, namespace)
}

func countedRequests(since harness.Mark, namespaces ...string) func() ([]string, error) {
	return func() ([]string, error) {
		all, err := plane.Requests(since, harness.Filter{User: harness.ManagerUser})
		var lines []string
		for _, e := range all {
			if e.ObjectRef.Resource == "leases" || e.Verb == "watch" || !slices.Contains(namespaces, e.ObjectRef.Namespace) {
				continue
			}
			lines = append(lines, e.Short())
		}
		return lines, err
	}
}

func mark() harness.Mark {
	GinkgoHelper()
	m, err := plane.Mark()
	Expect(err).NotTo(HaveOccurred())
	return m
}
