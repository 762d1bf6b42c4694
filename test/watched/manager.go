// SPDX-License-Identifier: Apache-2.0

package watched

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
	"github.com/k8s-aibom/k8s-aibom/test/suite"
)

// The paces of the managers under test, much shorter than in production. A probe must be given
// more than the three seconds after which the API server gives up on a watch cache that is
// not up to date and reads from the storage.
const (
	ProbeInterval    = time.Second
	ProbeTimeout     = 5 * time.Second
	CacheSyncTimeout = 4 * time.Second
	BackoffInitial   = 500 * time.Millisecond
	BackoffMax       = 2 * time.Second

	// Slack is what a busy machine may add to any of them.
	Slack = 5 * time.Second
	// Patience is how long a workload of a kind that works may wait for its AIBOM.
	Patience = 10 * time.Second
)

// Manager is a manager under test with a Pod that bears its name.
type Manager struct {
	*harness.ManagerProcess
	system *System
	pod    *corev1.Pod
}

// Start runs the real binary as the ServiceAccount that ships, until the end of the spec or of
// the container whose BeforeAll calls it. Further args win over the paces.
func (s *System) Start(ctx context.Context, args ...string) *Manager {
	GinkgoHelper()
	_, kubeconfig, err := s.Plane.ServiceAccountConfig(ctx, harness.SystemNamespace, harness.ManagerAccount)
	Expect(err).NotTo(HaveOccurred())
	return s.StartBy(ctx, kubeconfig, args...)
}

// StartBy is Start with a way of its own to the API server.
func (s *System) StartBy(ctx context.Context, kubeconfig string, args ...string) *Manager {
	GinkgoHelper()
	s.managers++
	m := &Manager{system: s, pod: s.newPod(ctx, fmt.Sprintf("manager-%d", s.managers))}
	var err error
	m.ManagerProcess, err = s.Plane.StartManager(ctx, harness.ManagerOptions{
		Name: m.pod.Name, Namespace: harness.SystemNamespace, Kubeconfig: kubeconfig, InsecureMetrics: true,
		Args: append([]string{
			"--watch-probe-interval=" + ProbeInterval.String(),
			"--watch-probe-timeout=" + ProbeTimeout.String(),
			"--watch-cache-sync-timeout=" + CacheSyncTimeout.String(),
			"--watch-backoff-initial=" + BackoffInitial.String(),
			"--watch-backoff-max=" + BackoffMax.String(),
		}, args...),
	})
	Expect(err).NotTo(HaveOccurred(), "the manager is up and ready, whatever fails")
	DeferCleanup(func() {
		if CurrentSpecReport().Failed() {
			AddReportEntry("the manager's log", m.LogTail())
		}
		Expect(m.Stop()).To(Succeed(), "the manager has not ended by itself and ends with 0 on SIGTERM")
	})
	return m
}

// Proxy is that of the suites, for this control plane.
func (s *System) Proxy(ctx context.Context) (proxy *harness.Proxy, kubeconfig string) {
	GinkgoHelper()
	return suite.Proxy(ctx, s.Plane)
}

// newPod is the Pod that a manager runs in as far as the API server knows. No node takes it.
func (s *System) newPod(ctx context.Context, name string) *corev1.Pod {
	GinkgoHelper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: harness.SystemNamespace, Name: name},
		Spec: corev1.PodSpec{
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot:   ptr.To(true),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "manager", Image: "controller:latest",
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: ptr.To(false),
					Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
	Expect(s.Admin.Create(ctx, pod)).To(Succeed())
	return pod
}

// Metric reads one of the manager's metrics without, or of one kind. A sample that is not
// there is an error.
func (m *Manager) Metric(ctx context.Context, name string, of ...kinds.Kind) func() (float64, error) {
	return func() (float64, error) {
		samples, err := m.Samples(ctx, name)
		if err != nil {
			return 0, err
		}
		for _, sample := range samples {
			if len(of) == 0 || kindOfSample(sample) == of[0].Name() {
				return sample.GetGauge().GetValue() + sample.GetCounter().GetValue(), nil
			}
		}
		return 0, fmt.Errorf("no sample of %s for %v", name, of)
	}
}

// Entries are the kinds that health knows, with the gauge of each: 1 or 0.
func (m *Manager) Entries(ctx context.Context) func() (map[string]float64, error) {
	return func() (map[string]float64, error) {
		samples, err := m.Samples(ctx, "aibom_watch_healthy")
		entries := map[string]float64{}
		for _, sample := range samples {
			entries[kindOfSample(sample)] = sample.GetGauge().GetValue()
		}
		return entries, err
	}
}

func kindOfSample(sample *dto.Metric) string {
	for _, l := range sample.GetLabel() {
		if l.GetName() == "kind" {
			return l.GetValue()
		}
	}
	return ""
}

// Healthy reads the gauge of a kind's watch, 1 or 0.
func (m *Manager) Healthy(ctx context.Context, k kinds.Kind) func() (float64, error) {
	return m.Metric(ctx, "aibom_watch_healthy", k)
}
