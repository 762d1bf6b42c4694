// SPDX-License-Identifier: Apache-2.0

package watched

import (
	"context"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/health"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

// eventsAbout are the events about the manager's Pod that name a kind, in their order.
func (m *Manager) eventsAbout(ctx context.Context, k kinds.Kind) ([]eventsv1.Event, error) {
	list := &eventsv1.EventList{}
	err := m.system.Admin.List(ctx, list, client.InNamespace(harness.SystemNamespace))
	var some []eventsv1.Event
	for _, e := range list.Items {
		if e.Regarding.UID == m.pod.UID && strings.HasPrefix(e.Note, "The watch of "+k.Name()+" ") {
			some = append(some, e)
		}
	}
	slices.SortStableFunc(some, func(a, b eventsv1.Event) int { return a.EventTime.Compare(b.EventTime.Time) })
	return some, err
}

// EventsOf lists the events about a kind that have a reason.
func (m *Manager) EventsOf(ctx context.Context, k kinds.Kind, reason health.TransitionType) ([]eventsv1.Event, error) {
	all, err := m.eventsAbout(ctx, k)
	return slices.DeleteFunc(all, func(e eventsv1.Event) bool { return e.Reason != string(reason) }), err
}

// Events counts them.
func (m *Manager) Events(ctx context.Context, k kinds.Kind, reason health.TransitionType) func() (int, error) {
	return func() (int, error) {
		some, err := m.EventsOf(ctx, k, reason)
		return len(some), err
	}
}

// History is all that was told of a kind, in its order.
func (m *Manager) History(ctx context.Context, k kinds.Kind) func() ([]health.TransitionType, error) {
	return func() ([]health.TransitionType, error) {
		all, err := m.eventsAbout(ctx, k)
		reasons := []health.TransitionType{}
		for _, e := range all {
			reasons = append(reasons, health.TransitionType(e.Reason))
		}
		return reasons, err
	}
}

// ExpectHistory expects that exactly this was told of a kind, now and in a while.
func (m *Manager) ExpectHistory(ctx context.Context, k kinds.Kind, want ...health.TransitionType) {
	GinkgoHelper()
	m.ExpectToldSoFar(ctx, k, want...)
	Consistently(m.History(ctx, k)).Should(HaveExactElements(want), "nothing further is told of %s", k.Name())
}

// ExpectToldSoFar is ExpectHistory without waiting for what might follow.
func (m *Manager) ExpectToldSoFar(ctx context.Context, k kinds.Kind, want ...health.TransitionType) {
	GinkgoHelper()
	Eventually(m.History(ctx, k)).Should(HaveExactElements(want), "each transition of %s is one event", k.Name())
}

// ExpectHealthy expects that the gauge of each kind becomes 1.
func (m *Manager) ExpectHealthy(ctx context.Context, some ...kinds.Kind) {
	GinkgoHelper()
	for _, k := range some {
		Eventually(m.Healthy(ctx, k)).Should(Equal(1.0), "the watch of %s is healthy", k.Name())
	}
}

// ExpectUndisturbed expects that the kinds are healthy and that no failure was ever told of
// them.
func (m *Manager) ExpectUndisturbed(ctx context.Context, some ...kinds.Kind) {
	GinkgoHelper()
	m.ExpectHealthy(ctx, some...)
	for _, k := range some {
		Expect(m.Events(ctx, k, health.WatchUnhealthy)()).To(BeZero(), "nothing was ever wrong with %s", k.Name())
		Expect(m.Metric(ctx, "aibom_watch_errors_total", k)()).To(BeZero(), "no error of %s was counted", k.Name())
	}
}

// ExpectUnhealthy expects that, within a time, every outlet but readiness says that the kind
// fails, and why.
func (m *Manager) ExpectUnhealthy(ctx context.Context, k kinds.Kind, within time.Duration, causes ...string) {
	GinkgoHelper()
	message := []types.GomegaMatcher{ContainSubstring(k.Name() + ": ")}
	for _, cause := range causes {
		message = append(message, ContainSubstring(cause))
	}
	Eventually(m.system.Degraded(ctx)).WithTimeout(within).Should(And(
		HaveField("Status", metav1.ConditionTrue),
		HaveField("Reason", v1beta1.ReasonThirdPartyWatchUnhealthy),
		HaveField("Message", And(message...)),
	), "the configuration says what fails and why")
	// Another manager may have written the condition, before this one has looked for the kind.
	Eventually(m.Healthy(ctx, k)).Should(BeZero(), "the gauge of %s says so too", k.Name())
	Eventually(m.Metric(ctx, "aibom_watch_errors_total", k)).Should(BeNumerically(">=", 1), "the errors are counted")
	Expect(m.Probe(ctx, "/readyz")).To(Succeed(), "the controller stays ready")
}

// ExpectEvents expects exactly so many events of each of the kinds, now and in a while. The
// first Normal event is that of the first sync.
func (m *Manager) ExpectEvents(ctx context.Context, warnings, normals int, some ...kinds.Kind) {
	GinkgoHelper()
	type counts struct{ warnings, normals int }
	want := map[string]counts{}
	for _, k := range some {
		want[k.Name()] = counts{warnings, normals}
	}
	seen := func() (map[string]counts, error) {
		all := map[string]counts{}
		for _, k := range some {
			unhealthy, err := m.Events(ctx, k, health.WatchUnhealthy)()
			if err != nil {
				return nil, err
			}
			recovered, err := m.Events(ctx, k, health.WatchRecovered)()
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
