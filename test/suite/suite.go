// SPDX-License-Identifier: Apache-2.0

// Package suite is what the Ginkgo suites share that run the real manager on a control plane.
package suite

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

// Run runs the specs of a suite at the paces of a manager with production's intervals.
func Run(t *testing.T, name string) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(30 * time.Second)
	SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	// Longer than the second after which the manager tries again what is undecided.
	SetDefaultConsistentlyDuration(1200 * time.Millisecond)
	SetDefaultConsistentlyPollingInterval(200 * time.Millisecond)
	RunSpecs(t, name)
}

// Start starts a control plane and installs config/default. It ends with the node that calls it,
// a BeforeSuite or a spec, and leaves no goroutine behind.
func Start(ctx context.Context, options harness.Options) *harness.ControlPlane {
	GinkgoHelper()
	ctrl.SetLogger(GinkgoLogr)
	noLeaks := harness.LeakCheck()
	plane, err := harness.Start(ctx, options)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() {
		Expect(plane.Stop()).To(Succeed())
		Eventually(noLeaks).Should(Succeed(), "no goroutine outlives the suite")
	})
	Expect(plane.InstallDefault(ctx)).To(Succeed())
	return plane
}

// Proxy is a proxy that disturbs nothing yet, and a kubeconfig file by which a manager reaches
// the API server through it as the ServiceAccount that ships. It ends as the control plane does.
func Proxy(ctx context.Context, plane *harness.ControlPlane) (proxy *harness.Proxy, kubeconfig string) {
	GinkgoHelper()
	config, _, err := plane.ServiceAccountConfig(ctx, harness.SystemNamespace, harness.ManagerAccount)
	Expect(err).NotTo(HaveOccurred())
	proxy, err = harness.NewProxy(config)
	Expect(err).NotTo(HaveOccurred())
	Expect(proxy.Start()).To(Succeed())
	DeferCleanup(proxy.Stop)
	kubeconfig, err = plane.KubeconfigFor("through-the-proxy", proxy.Config(config))
	Expect(err).NotTo(HaveOccurred())
	return proxy, kubeconfig
}

// Settled asserts on requests that have come to rest. The API server writes a request to its
// audit log when it has answered it, which may be a moment after others see what it changed.
type Settled func() ([]string, error)

// Should holds the requests to a matcher, once and in a while.
func (requests Settled) Should(matcher types.GomegaMatcher, why ...any) {
	GinkgoHelper()
	Eventually(requests).Should(matcher, why...)
	Consistently(requests).Should(matcher, why...)
}
