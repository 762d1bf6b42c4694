// SPDX-License-Identifier: Apache-2.0

package health

import (
	"errors"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	clocktesting "k8s.io/utils/clock/testing"
)

const kind = "DynamoGraphDeployment"

var errDown = errors.New("conversion webhook failed: connection refused")

type recorder struct {
	transitions []Transition
	changes     []Status
	removed     []string
}

func (r *recorder) Changed(s Status)          { r.changes = append(r.changes, s) }
func (r *recorder) Removed(kind string)       { r.removed = append(r.removed, kind) }
func (r *recorder) Transitioned(t Transition) { r.transitions = append(r.transitions, t) }

func (r *recorder) types() []TransitionType {
	all := []TransitionType{}
	for _, t := range r.transitions {
		all = append(all, t.Type)
	}
	return all
}

func newRegistry() (*Registry, *recorder, *clocktesting.FakeClock) {
	out, clock := &recorder{}, clocktesting.NewFakeClock(time.Unix(1000, 0))
	return NewRegistry(clock, out), out, clock
}

func TestTransitionsAreToldExactlyOnce(t *testing.T) {
	for name, c := range map[string]struct {
		act   func(r *Registry)
		phase Phase
		want  []TransitionType
	}{
		"starting tells nothing": {func(*Registry) {}, PhaseStarting, []TransitionType{}},
		"the first sync": {func(r *Registry) { r.MarkSynced(kind); r.MarkSynced(kind) },
			PhaseHealthy, []TransitionType{WatchRecovered}},
		"many failures are one episode": {func(r *Registry) {
			r.Fail(kind, SourceProbe, errDown)
			r.Fail(kind, SourceRelist, errDown)
			r.Fail(kind, SourceProbe, errDown)
		}, PhaseUnhealthy, []TransitionType{WatchUnhealthy}},
		"one source does not clear another": {func(r *Registry) {
			r.MarkSynced(kind)
			r.Fail(kind, SourceRelist, errDown)
			r.Clear(kind, SourceProbe)
		}, PhaseUnhealthy, []TransitionType{WatchRecovered, WatchUnhealthy}},
		"a source clears its own": {func(r *Registry) {
			r.MarkSynced(kind)
			r.Fail(kind, SourceProbe, errDown)
			r.Clear(kind, SourceProbe)
		}, PhaseHealthy, []TransitionType{WatchRecovered, WatchUnhealthy, WatchRecovered}},
		"a clean probe before the sync is not health": {func(r *Registry) {
			r.Fail(kind, SourceProbe, errDown)
			r.Clear(kind, SourceProbe)
		}, PhaseUnhealthy, []TransitionType{WatchUnhealthy}},
		"a torn-down watch must sync again": {func(r *Registry) {
			r.MarkSynced(kind)
			r.MarkStopped(kind)
			r.Fail(kind, SourceSync, errDown)
			r.Clear(kind, SourceSync)
		}, PhaseUnhealthy, []TransitionType{WatchRecovered, WatchUnhealthy}},
		"disabling is told on entry": {func(r *Registry) {
			r.Fail(kind, SourceProbe, errDown)
			r.MarkDisabled(kind, "config")
			r.MarkDisabled(kind, "config")
		}, PhaseDisabled, []TransitionType{WatchUnhealthy, WatchDisabled}},
		"a disabled kind cannot fail": {func(r *Registry) {
			r.MarkDisabled(kind, "config")
			r.Fail(kind, SourceProbe, errDown)
			r.MarkSynced(kind)
		}, PhaseDisabled, []TransitionType{WatchDisabled}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r, out, _ := newRegistry()
			r.MarkStarting(kind, WatchRecovered)
			c.act(r)
			g.Expect(out.types()).To(Equal(c.want))
			g.Expect(r.Statuses()).To(HaveLen(1))
			g.Expect(r.Statuses()[0].Phase).To(Equal(c.phase))
			g.Expect(r.Healthy(kind)).To(Equal(c.phase == PhaseHealthy))
		})
	}
}

func TestStatusKeepsErrorSinceAndCount(t *testing.T) {
	g := NewWithT(t)
	r, _, clock := newRegistry()
	r.MarkStarting(kind, WatchRecovered)
	clock.Step(time.Minute)
	r.Fail(kind, SourceProbe, errDown)
	clock.Step(time.Minute)
	r.Fail(kind, SourceRelist, errors.New("other"))
	s := r.Statuses()[0]
	g.Expect(s.LastError).To(Equal("other; "+errDown.Error()), "every failing source is told")
	g.Expect(s.Since.Unix()).To(Equal(int64(1060)), "since the episode began")
	g.Expect(s.ConsecutiveFailures).To(Equal(2))
	r.Clear(kind, SourceRelist)
	g.Expect(r.Statuses()[0].LastError).To(Equal(errDown.Error()), "what works again is no longer told")
	r.MarkSynced(kind)
	r.Clear(kind, SourceProbe)
	g.Expect(r.Statuses()[0].ConsecutiveFailures).To(BeZero())
	g.Expect(r.Statuses()[0].LastError).To(BeEmpty())
}

func TestMarkDisabledIsTrueOnlyOnEntry(t *testing.T) {
	g := NewWithT(t)
	r, out, _ := newRegistry()
	reason := func() string { return r.Statuses()[0].Reason }
	g.Expect(r.MarkDisabled(kind, ReasonConfig)).To(BeTrue())
	g.Expect(r.MarkDisabled(kind, ReasonConfig)).To(BeFalse(), "it is disabled already")
	g.Expect(r.MarkDisabled(kind, ReasonCRDRemoved)).To(BeFalse(), "nobody misses what was not watched")
	g.Expect(reason()).To(Equal(ReasonCRDRemoved), "but the reason is the newest")
	g.Expect(r.MarkDisabled(kind, ReasonConfig)).To(BeTrue(), "its CRD is back, and now the configuration keeps it out")
	r.MarkStarting(kind, WatchRecovered)
	g.Expect(r.MarkDisabled(kind, ReasonCRDRemoved)).To(BeTrue(), "it was enabled in between")
	g.Expect(reason()).To(Equal(ReasonCRDRemoved))
	g.Expect(out.types()).To(HaveLen(3), "one event for each entry")
}

func TestTheFirstSyncOfAKindInstalledLateIsToldAsStarted(t *testing.T) {
	g := NewWithT(t)
	r, out, _ := newRegistry()
	r.MarkStarting(kind, WatchStarted)
	r.Fail(kind, SourceProbe, errDown)
	r.MarkSynced(kind)
	r.Clear(kind, SourceProbe)
	r.Fail(kind, SourceProbe, errDown)
	r.Clear(kind, SourceProbe)
	g.Expect(out.types()).To(Equal([]TransitionType{WatchUnhealthy, WatchStarted, WatchUnhealthy, WatchRecovered}), "the first one only")
}

func TestARegistryIsUndecidedUntilEveryKindHadItsVerdict(t *testing.T) {
	g := NewWithT(t)
	r, _, _ := newRegistry()
	g.Expect(r.Undecided()).To(BeTrue(), "nothing is expected yet")
	r.Expect("A", "B", "C")
	r.MarkStarting("A", WatchRecovered)
	g.Expect(r.Undecided()).To(BeTrue(), "starting is no verdict")
	r.MarkSynced("A")
	r.Remove("B")
	g.Expect(r.Undecided()).To(BeTrue(), "C is not known of")
	r.MarkStarting("C", WatchRecovered)
	r.Fail("C", SourceProbe, errDown)
	g.Expect(r.Undecided()).To(BeFalse())
}

func TestASyncDoesNotClearAFailingWatchRequest(t *testing.T) {
	g := NewWithT(t)
	r, out, _ := newRegistry()
	r.MarkStarting(kind, WatchRecovered)
	r.Fail(kind, SourceRelist, errDown)
	g.Expect(r.MarkSynced(kind)).To(BeFalse())
	g.Expect(r.Clear(kind, SourceRelist)).To(BeTrue())
	g.Expect(out.types()).To(Equal([]TransitionType{WatchUnhealthy, WatchRecovered}))
}

func TestUnknownKindsAreIgnored(t *testing.T) {
	g := NewWithT(t)
	r, out, _ := newRegistry()
	r.Fail(kind, SourceProbe, errDown)
	r.MarkStopped(kind)
	r.Remove(kind)
	g.Expect(r.Clear(kind, SourceProbe)).To(BeFalse())
	g.Expect(r.MarkSynced(kind)).To(BeFalse())
	g.Expect(out.changes).To(BeEmpty())
	g.Expect(out.removed).To(BeEmpty())
}

func TestDegradedMessageNamesEveryUnhealthyKind(t *testing.T) {
	g := NewWithT(t)
	r, _, _ := newRegistry()
	for _, k := range []string{"B", "A", "C"} {
		r.MarkStarting(k, WatchRecovered)
	}
	g.Expect(r.DegradedMessage()).To(BeEmpty())
	r.Fail("B", SourceProbe, errDown)
	r.Fail("A", SourceProbe, errors.New("forbidden"))
	g.Expect(r.DegradedMessage()).To(Equal("A: forbidden | B: " + errDown.Error()))
}

func TestErrorsAreBoundedWithBothEndsKept(t *testing.T) {
	g := NewWithT(t)
	r, _, _ := newRegistry()
	r.MarkStarting(kind, WatchRecovered)
	r.Fail(kind, SourceProbe, errors.New("START"+strings.Repeat("ü", 5000)+"END"))
	text := r.Statuses()[0].LastError
	g.Expect(len(text)).To(BeNumerically("<=", maxErrorBytes))
	g.Expect(text).To(And(HavePrefix("START"), HaveSuffix("END")))
}

func TestMetricsFollowTheStatus(t *testing.T) {
	g := NewWithT(t)
	m, err := NewMetrics(prometheus.NewRegistry())
	g.Expect(err).NotTo(HaveOccurred())
	r := NewRegistry(clocktesting.NewFakeClock(time.Unix(0, 0)), m)
	healthy := func() float64 { return testutil.ToFloat64(m.healthy.WithLabelValues(kind)) }
	failures := func() float64 { return testutil.ToFloat64(m.errors.WithLabelValues(kind)) }
	r.MarkStarting(kind, WatchRecovered)
	g.Expect(healthy()).To(BeZero())
	g.Expect(failures()).To(BeZero())
	r.MarkSynced(kind)
	g.Expect(healthy()).To(Equal(1.0))
	for range 3 {
		r.Fail(kind, SourceProbe, errDown)
	}
	g.Expect(healthy()).To(BeZero())
	g.Expect(failures()).To(Equal(3.0))
	r.Clear(kind, SourceProbe)
	r.Fail(kind, SourceProbe, errDown)
	g.Expect(failures()).To(Equal(4.0), "the counter goes on after a recovery")
	disabled := func() float64 { return testutil.ToFloat64(m.disabled.WithLabelValues(kind)) }
	g.Expect(disabled()).To(BeZero(), "what fails is not disabled")
	r.MarkDisabled(kind, ReasonConfig)
	g.Expect(healthy()).To(BeZero())
	g.Expect(disabled()).To(Equal(1.0), "an alert can leave it out")
	r.Remove(kind)
	g.Expect(testutil.CollectAndCount(m.healthy)).To(BeZero())
	g.Expect(testutil.CollectAndCount(m.disabled)).To(BeZero())
}

func TestConditionWakesOnlyForWhatItSays(t *testing.T) {
	g := NewWithT(t)
	c := NewCondition()
	woken := func() bool {
		select {
		case <-c.Changes:
			return true
		default:
			return false
		}
	}
	r := NewRegistry(clocktesting.NewFakeClock(time.Unix(0, 0)), c)
	r.MarkStarting(kind, WatchRecovered)
	r.MarkSynced(kind)
	g.Expect(woken()).To(BeTrue(), "the first verdict may take back an earlier run's complaint")
	r.MarkSynced(kind)
	g.Expect(woken()).To(BeFalse(), "nothing has changed")
	r.Fail(kind, SourceProbe, errDown)
	g.Expect(woken()).To(BeTrue())
	r.Fail(kind, SourceProbe, errDown)
	g.Expect(woken()).To(BeFalse(), "the same again is no news")
	r.Fail(kind, SourceProbe, errors.New("another"))
	g.Expect(woken()).To(BeTrue(), "another error is")
	r.Clear(kind, SourceProbe)
	g.Expect(woken()).To(BeTrue())
}
