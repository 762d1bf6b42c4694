// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"net/http"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

// managerUser is who the manager is to the API server.
var managerUser = harness.ServiceAccountUser(systemNamespace, managerAccount)

var (
	// manager is the process that serves the specs; those that stop it start another one.
	manager *harness.ManagerProcess
	// between stands between the manager and the API server.
	between    *harness.Proxy
	kubeconfig string
)

// startProxy has the manager reach the API server through a proxy, so that specs can disturb
// what it asks for.
func startProxy(ctx context.Context) {
	GinkgoHelper()
	config, _, err := plane.ServiceAccountConfig(ctx, systemNamespace, managerAccount)
	Expect(err).NotTo(HaveOccurred())
	between, err = harness.NewProxy(config)
	Expect(err).NotTo(HaveOccurred())
	Expect(between.Start()).To(Succeed())
	DeferCleanup(between.Stop)
	kubeconfig, err = plane.KubeconfigFor("through-the-proxy", between.Config(config))
	Expect(err).NotTo(HaveOccurred())
}

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
		Namespace: systemNamespace, Kubeconfig: kubeconfig, InsecureMetrics: true,
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

// samples reads the samples of one of the manager's metrics.
func samples(ctx context.Context, name string) ([]*dto.Metric, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, manager.MetricsURL, nil)
	if err != nil {
		return nil, err
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	return families[name].GetMetric(), err
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
		some, err := samples(ctx, "aibom_workload_reconcile_outcomes_total")
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
		some, err := samples(ctx, "aibom_watch_healthy")
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
		all, err := plane.Requests(since, harness.Filter{User: managerUser})
		lines := []string{}
		for _, e := range all {
			if e.Verb != "watch" && slices.Contains(namespaces, e.ObjectRef.Namespace) {
				lines = append(lines, line(e))
			}
		}
		return lines, err
	}
}

// line is a request in short, such as "patch aiboms/status deployment-llm".
func line(e harness.AuditEvent) string {
	resource := e.ObjectRef.Resource
	if resource == "" {
		return e.Verb + " " + e.RequestURI
	}
	if e.ObjectRef.Subresource != "" {
		resource += "/" + e.ObjectRef.Subresource
	}
	return e.Verb + " " + resource + " " + e.ObjectRef.Name
}

// settled asserts on requests that have come to rest: the API server writes a request to its
// audit log when it has answered it, which may be a moment after others see what it changed.
func settled(requests func() ([]string, error), matcher types.GomegaMatcher, why string) {
	GinkgoHelper()
	Eventually(requests).Should(matcher, why)
	Consistently(requests).Should(matcher, why)
}
