// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/health"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

// The paces of the managers under test, much shorter than in production. A probe must be given
// more than the three seconds after which the API server gives up on a watch cache that is
// not up to date and reads from the storage.
const (
	probeInterval    = time.Second
	probeTimeout     = 5 * time.Second
	cacheSyncTimeout = 4 * time.Second
	backoffInitial   = 500 * time.Millisecond
	backoffMax       = 2 * time.Second

	// slack is what a busy machine may add to any of them.
	slack = 5 * time.Second
	// seconds is how long a workload of a kind that works may wait for its AIBOM.
	seconds = 10 * time.Second
)

// manager is a manager under test with a Pod that bears its name.
type manager struct {
	*harness.ManagerProcess
	pod *corev1.Pod
}

// managers counts those that were started, for names that tell their events apart.
var managers int

// startManager runs the real binary as the ServiceAccount that ships, until the end of the
// spec or of the container whose BeforeAll calls it. Further args win over the paces.
func startManager(ctx context.Context, args ...string) *manager {
	GinkgoHelper()
	_, kubeconfig, err := plane.ServiceAccountConfig(ctx, systemNamespace, managerAccount)
	Expect(err).NotTo(HaveOccurred())
	return startManagerBy(ctx, kubeconfig, args...)
}

func startManagerBy(ctx context.Context, kubeconfig string, args ...string) *manager {
	GinkgoHelper()
	managers++
	m := &manager{pod: newPod(ctx, fmt.Sprintf("manager-%d", managers))}
	var err error
	m.ManagerProcess, err = plane.StartManager(ctx, harness.ManagerOptions{
		Name: m.pod.Name, Namespace: systemNamespace, Kubeconfig: kubeconfig, InsecureMetrics: true,
		Args: append([]string{
			"--watch-probe-interval=" + probeInterval.String(),
			"--watch-probe-timeout=" + probeTimeout.String(),
			"--watch-cache-sync-timeout=" + cacheSyncTimeout.String(),
			"--watch-backoff-initial=" + backoffInitial.String(),
			"--watch-backoff-max=" + backoffMax.String(),
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

// newPod is the Pod that a manager runs in as far as the API server knows. No node takes it.
func newPod(ctx context.Context, name string) *corev1.Pod {
	GinkgoHelper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: systemNamespace, Name: name},
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
	Expect(admin.Create(ctx, pod)).To(Succeed())
	return pod
}

// metric reads one of the manager's metrics without, or of one kind.
func (m *manager) metric(ctx context.Context, name string, of ...kinds.Kind) func() (float64, error) {
	return func() (float64, error) {
		ctx, cancel := context.WithTimeout(ctx, seconds)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.MetricsURL, nil)
		if err != nil {
			return 0, err
		}
		request.Close = true
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return 0, err
		}
		defer response.Body.Close()
		parser := expfmt.NewTextParser(model.UTF8Validation)
		families, err := parser.TextToMetricFamilies(response.Body)
		if err != nil {
			return 0, err
		}
		for _, sample := range families[name].GetMetric() {
			if len(of) == 0 || labelled(sample, of[0].Name()) {
				return sample.GetGauge().GetValue() + sample.GetCounter().GetValue(), nil
			}
		}
		return 0, fmt.Errorf("no sample of %s for %v", name, of)
	}
}

func labelled(sample *dto.Metric, kind string) bool {
	for _, l := range sample.GetLabel() {
		if l.GetName() == "kind" && l.GetValue() == kind {
			return true
		}
	}
	return false
}

// healthy reads the gauge of a kind's watch, 1 or 0.
func (m *manager) healthy(ctx context.Context, k kinds.Kind) func() (float64, error) {
	return m.metric(ctx, "aibom_watch_healthy", k)
}

// events counts the events about the manager's Pod that have a reason and name a kind.
func (m *manager) events(ctx context.Context, k kinds.Kind, reason health.TransitionType) func() (int, error) {
	return func() (int, error) {
		some, err := m.eventsOf(ctx, k, reason)
		return len(some), err
	}
}

func (m *manager) eventsOf(ctx context.Context, k kinds.Kind, reason health.TransitionType) ([]eventsv1.Event, error) {
	list := &eventsv1.EventList{}
	err := admin.List(ctx, list, client.InNamespace(systemNamespace))
	var some []eventsv1.Event
	for _, e := range list.Items {
		if e.Regarding.UID == m.pod.UID && e.Reason == string(reason) && strings.Contains(e.Note, k.Name()+" ") {
			some = append(some, e)
		}
	}
	return some, err
}

// degraded reads the Degraded condition of the configuration.
func degraded(ctx context.Context) func() (metav1.Condition, error) {
	return func() (metav1.Condition, error) {
		config := &v1beta1.AIBOMControllerConfig{}
		if err := admin.Get(ctx, client.ObjectKey{Name: v1beta1.ConfigName}, config); err != nil {
			return metav1.Condition{}, err
		}
		return ptr.Deref(meta.FindStatusCondition(config.Status.Conditions, v1beta1.ConditionDegraded), metav1.Condition{}), nil
	}
}

// expectHealthy expects that the gauge of each kind becomes 1.
func (m *manager) expectHealthy(ctx context.Context, some ...kinds.Kind) {
	GinkgoHelper()
	for _, k := range some {
		Eventually(m.healthy(ctx, k)).Should(Equal(1.0), "the watch of %s is healthy", k.Name())
	}
}

// expectUndisturbed expects that the kinds are healthy and that no failure was ever told of
// them.
func (m *manager) expectUndisturbed(ctx context.Context, some ...kinds.Kind) {
	GinkgoHelper()
	m.expectHealthy(ctx, some...)
	for _, k := range some {
		Expect(m.events(ctx, k, health.WatchUnhealthy)()).To(BeZero(), "nothing was ever wrong with %s", k.Name())
		Expect(m.metric(ctx, "aibom_watch_errors_total", k)()).To(BeZero(), "no error of %s was counted", k.Name())
	}
}

// expectUnhealthy expects that, within a time, every outlet but readiness says that the kind
// fails, and why.
func (m *manager) expectUnhealthy(ctx context.Context, k kinds.Kind, within time.Duration, causes ...string) {
	GinkgoHelper()
	message := []types.GomegaMatcher{ContainSubstring(k.Name() + ": ")}
	for _, cause := range causes {
		message = append(message, ContainSubstring(cause))
	}
	Eventually(degraded(ctx)).WithTimeout(within).Should(And(
		HaveField("Status", metav1.ConditionTrue),
		HaveField("Reason", v1beta1.ReasonThirdPartyWatchUnhealthy),
		HaveField("Message", And(message...)),
	), "the configuration says what fails and why")
	Expect(m.healthy(ctx, k)()).To(BeZero(), "the gauge of %s says so too", k.Name())
	Expect(m.metric(ctx, "aibom_watch_errors_total", k)()).To(BeNumerically(">=", 1), "the errors are counted")
	Expect(m.Probe(ctx, "/readyz")).To(Succeed(), "the controller stays ready")
}

// expectNotDegraded expects that the condition is false.
func expectNotDegraded(ctx context.Context) {
	GinkgoHelper()
	Eventually(degraded(ctx)).Should(HaveField("Status", metav1.ConditionFalse), "nothing degrades the controller")
}

// expectEvents expects exactly so many events of each of the kinds, now and in a while. The
// first Normal event is that of the first sync.
func (m *manager) expectEvents(ctx context.Context, warnings, normals int, some ...kinds.Kind) {
	GinkgoHelper()
	type counts struct{ warnings, normals int }
	want := map[string]counts{}
	for _, k := range some {
		want[k.Name()] = counts{warnings, normals}
	}
	seen := func() (map[string]counts, error) {
		all := map[string]counts{}
		for _, k := range some {
			unhealthy, err := m.events(ctx, k, health.WatchUnhealthy)()
			if err != nil {
				return nil, err
			}
			recovered, err := m.events(ctx, k, health.WatchRecovered)()
			if err != nil {
				return nil, err
			}
			all[k.Name()] = counts{unhealthy, recovered}
		}
		return all, nil
	}
	Eventually(seen).Should(Equal(want), "each transition is one event")
	Consistently(seen).Should(Equal(want), "no further event comes")
}
