// SPDX-License-Identifier: Apache-2.0

// Package discovery installs, changes and removes third-party CRDs under a manager that runs,
// on a real control plane and under the RBAC that ships, and holds it to what CRD discovery
// promises: what is installed is found without a restart, what is removed is cleaned up once,
// and whatever fails meanwhile deletes nothing.
package discovery

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/k8s-aibom/k8s-aibom/internal/health"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
	"github.com/k8s-aibom/k8s-aibom/test/watched"
)

// label marks the specs of this suite by the design that they hold.
const label = "design-004-v1.7"

// The kinds that specs install and remove.
var (
	graph     = watched.Graph
	component = watched.Component
	workerSet = watched.WorkerSet
)

// What is told of a watch, in short.
const (
	unhealthy = health.WatchUnhealthy
	started   = health.WatchStarted
	recovered = health.WatchRecovered
	disabled  = health.WatchDisabled
)

// crds is the resource that discovery reads.
var crds = schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}

type (
	manager = watched.Manager
	scene   = watched.Scene
)

var system *watched.System

func TestDiscovery(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(20 * time.Second)
	SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	SetDefaultConsistentlyDuration(watched.ProbeInterval)
	SetDefaultConsistentlyPollingInterval(200 * time.Millisecond)
	RunSpecs(t, "CRD discovery")
}

var _ = BeforeSuite(func(ctx context.Context) {
	system = watched.Install(ctx, harness.Options{})
})

// newScene is an opted-in namespace on a control plane without third-party CRDs. When the spec
// ends those that it installed are removed, and with them their objects; it comes before the
// managers, so that they have ended by then.
func newScene(ctx context.Context) *scene {
	GinkgoHelper()
	DeferCleanup(func(ctx context.Context) {
		for _, k := range kinds.ThirdParty() {
			Expect(system.Plane.DeleteCRD(ctx, k.CRD())).To(Succeed())
		}
		for _, k := range kinds.ThirdParty() {
			remove(ctx, k)
		}
	})
	return system.NewScene(ctx, nil)
}

// install installs the fixtures of some kinds and returns once the API server serves them.
func install(ctx context.Context, some ...kinds.Kind) {
	GinkgoHelper()
	for _, k := range some {
		crd, err := harness.ExternalCRD(k.CRD())
		Expect(err).NotTo(HaveOccurred())
		Expect(system.Plane.InstallCRDs(crd)).To(Succeed())
	}
	awaitServed(ctx, some...)
}

// installAllBut installs the fixtures of all kinds except some.
func installAllBut(ctx context.Context, some ...kinds.Kind) {
	GinkgoHelper()
	var except []string
	for _, k := range some {
		except = append(except, k.CRD())
	}
	rest, err := harness.ExternalCRDs(except...)
	Expect(err).NotTo(HaveOccurred())
	Expect(system.Plane.InstallCRDs(rest...)).To(Succeed())
	awaitServed(ctx, watched.AllBut(some...)...)
}

// awaitServed returns once the API server lists the kinds: a moment after they are in its
// discovery.
func awaitServed(ctx context.Context, some ...kinds.Kind) {
	GinkgoHelper()
	for _, k := range some {
		Eventually(listed(ctx, k)).Should(Succeed(), "%s is served", k.Name())
	}
}

// remove removes the CRD of a kind and returns once it is gone.
func remove(ctx context.Context, k kinds.Kind) {
	GinkgoHelper()
	Expect(system.Plane.RemoveCRD(ctx, k.CRD())).To(Succeed())
}
