// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	dto "github.com/prometheus/client_model/go"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

var (
	// manager is the process that serves the specs; those that stop it start another one.
	manager *harness.ManagerProcess
	// between stands between the manager and the API server, so that specs can disturb what the
	// manager asks for; kubeconfig leads through it.
	between    *harness.Proxy
	kubeconfig string
)

// disturb has the proxy disturb requests until the spec ends, or until it is called anew.
func disturb(some ...harness.Disturbance) {
	between.Disturb(some...)
	DeferCleanup(func() { between.Disturb() })
}

// startManager runs the real binary as the ServiceAccount that ships. It probes the
// third-party kinds once, at the start: probes read objects, and specs count reads.
func startManager(ctx context.Context) {
	GinkgoHelper()
	var err error
	manager, err = plane.StartManager(ctx, harness.ManagerOptions{
		Namespace: harness.SystemNamespace, Kubeconfig: kubeconfig, InsecureMetrics: true,
		Args: []string{
			"--watch-probe-interval=1h", "--watch-probe-timeout=5s",
			"--watch-backoff-initial=500ms", "--watch-backoff-max=1s",
		},
	})
	Expect(err).NotTo(HaveOccurred())
}

func stopManager() {
	GinkgoHelper()
	Expect(manager.Stop()).To(Succeed(), "the manager ends with 0 on SIGTERM")
}

// value is that of the sample with these labels, and 0 when there is none.
func value(some []*dto.Metric, labels map[string]string) float64 {
	for _, sample := range some {
		matching := 0
		for _, l := range sample.GetLabel() {
			if want, asked := labels[l.GetName()]; asked && want == l.GetValue() {
				matching++
			}
		}
		if matching == len(labels) {
			return sample.GetGauge().GetValue() + sample.GetCounter().GetValue()
		}
	}
	return 0
}

// outcomes counts the looks at workloads of a kind that ended in a way.
func outcomes(ctx context.Context, kind, outcome string) func() (float64, error) {
	return func() (float64, error) {
		some, err := manager.Samples(ctx, "aibom_workload_reconcile_outcomes_total")
		return value(some, map[string]string{"kind": kind, "outcome": outcome}), err
	}
}

// counted is how often looks at the kind have ended in that way so far.
func counted(ctx context.Context, kind, outcome string) float64 {
	GinkgoHelper()
	n, err := outcomes(ctx, kind, outcome)()
	Expect(err).NotTo(HaveOccurred())
	return n
}

// atRest is how often looks at the kind have ended in that way, once that does not move any more.
func atRest(ctx context.Context, kind, outcome string) float64 {
	GinkgoHelper()
	last := -1.0
	Eventually(func() (bool, error) {
		n, err := outcomes(ctx, kind, outcome)()
		same := n == last
		last = n
		return same, err
	}).WithPolling(time.Second).Should(BeTrue(), "nothing is going on")
	return last
}

// healthy reads the gauge of a kind's watch, 1 or 0.
func healthy(ctx context.Context, k kinds.Kind) func() (float64, error) {
	return func() (float64, error) {
		some, err := manager.Samples(ctx, "aibom_watch_healthy")
		return value(some, map[string]string{"kind": k.Name()}), err
	}
}

func mark() harness.Mark {
	GinkgoHelper()
	m, err := plane.Mark()
	Expect(err).NotTo(HaveOccurred())
	return m
}

// requests are those that the manager made since the mark about something in the namespace, and
// those about nothing in a namespace, such as discovery, but for watches, which begin anew every
// few minutes whatever happens.
func requests(since harness.Mark, namespace string) func() ([]string, error) {
	return requestsIn(since, "", namespace)
}

// requestsIn are those about something in one of the namespaces.
func requestsIn(since harness.Mark, namespaces ...string) func() ([]string, error) {
	return func() ([]string, error) {
		all, err := plane.Requests(since, harness.Filter{User: harness.ManagerUser})
		lines := []string{}
		for _, e := range all {
			if e.Verb != "watch" && slices.Contains(namespaces, e.ObjectRef.Namespace) {
				lines = append(lines, e.Short())
			}
		}
		return lines, err
	}
}
