// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/k8s-aibom/k8s-aibom/internal/health"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	dgd    = kindNamed("DynamoGraphDeployment")
	lws    = kindNamed("LeaderWorkerSet")
	absent = kindNamed("NIMService")

	errConversion = errors.New("conversion webhook for nvidia.com/v1alpha1 failed: connection refused")
)

func healthOf(w *world, k kinds.Kind) health.Status {
	for _, s := range w.health.Statuses() {
		if s.Kind == k.Name() {
			return s
		}
	}
	return health.Status{}
}

func phaseOf(w *world, k kinds.Kind) func() health.Phase {
	return func() health.Phase { return healthOf(w, k).Phase }
}

// step moves the clock once the next probe of every kind is due.
func step(g *WithT, w *world, d time.Duration) {
	g.THelper()
	g.Eventually(w.clock.Waiters).Should(Equal(len(w.sup.Kinds)), "each kind's next probe is due")
	w.clock.Step(d)
}

func begun(g *WithT, w *world, k kinds.Kind) *fakeRunner {
	g.THelper()
	var r *fakeRunner
	g.Eventually(func() *fakeRunner { r = w.running(k); return r }).ShouldNot(BeNil(), "the watch of %s starts", k.Name())
	return r
}

func TestHealthyKindStartsAfterACleanProbe(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, dgd)
	stop := w.start()
	r := begun(g, w, dgd)
	g.Expect(w.probeCount(dgd)).To(Equal(1), "the probe comes first")
	g.Expect(phaseOf(w, dgd)()).To(Equal(health.PhaseStarting), "nothing is known before the sync")
	r.reports.Synced()
	g.Eventually(phaseOf(w, dgd)).Should(Equal(health.PhaseHealthy), "a synced watch is healthy")
	g.Expect(stop()).To(Succeed())
	g.Expect(r.ended()).To(BeTrue(), "Start waits for the runner's end")
}

func TestAbsentKindIsNotSupervised(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, dgd, absent)
	notInstalled := &meta.NoKindMatchError{GroupKind: absent.GVK.GroupKind()}
	w.failProbes(absent, fmt.Errorf("listing: %w", notInstalled))
	stop := w.start()
	r := begun(g, w, dgd)
	r.reports.Synced()
	g.Eventually(w.health.Undecided).Should(BeFalse(), "absence is a verdict")
	g.Expect(healthOf(w, absent)).To(BeZero(), "and no failure")
	g.Expect(w.probeCount(absent)).To(Equal(1), "absence is not probed again")
	g.Expect(stop()).To(Succeed())
}

func TestAKindThatCannotBeLookedUpAtFirstIsDismissedWhenItIsAbsent(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, absent)
	w.failProbes(absent, errors.New("the server is currently unable to handle the request"))
	stop := w.start()
	g.Eventually(phaseOf(w, absent)).Should(Equal(health.PhaseUnhealthy), "it is not known whether it is there")
	w.failProbes(absent, &meta.NoKindMatchError{GroupKind: absent.GVK.GroupKind()})
	step(g, w, DefaultBackoffInitial)
	g.Eventually(func() health.Status { return healthOf(w, absent) }).Should(BeZero(), "it is not there")
	g.Expect(stop()).To(Succeed())
}

func TestFailingProbeBacksOffExponentiallyToItsCap(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, dgd)
	w.failProbes(dgd, errConversion)
	stop := w.start()
	waits := []time.Duration{5, 10, 20, 40, 80, 160, 300, 300}
	for i, seconds := range waits {
		g.Eventually(func() int { return w.probeCount(dgd) }).Should(Equal(i+1), "probe %d is made", i+1)
		step(g, w, seconds*time.Second-time.Nanosecond)
		g.Expect(w.probeCount(dgd)).To(Equal(i+1), "no probe before %ds have passed", seconds)
		w.clock.Step(time.Nanosecond)
	}
	g.Eventually(func() int { return w.probeCount(dgd) }).Should(Equal(len(waits)+1), "the last one is made as well")
	g.Expect(w.runnersOf(dgd)).To(BeEmpty(), "a kind that cannot be read is not watched")
	g.Expect(w.log.of(dgd)).To(Equal([]health.TransitionType{health.WatchUnhealthy}), "one transition, however many retries")
	g.Expect(healthOf(w, dgd).LastError).To(Equal(errConversion.Error()), "the error is verbatim")
	g.Expect(stop()).To(Succeed(), "no failure reaches the manager")
}

func TestFailingSteadyStateProbeKeepsTheRunner(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, dgd)
	gone := types.NamespacedName{Namespace: "a", Name: "deleted-meanwhile"}
	w.sup.Reported = func(context.Context, kinds.Kind) []types.NamespacedName {
		return []types.NamespacedName{gone}
	}
	stop := w.start()
	r := begun(g, w, dgd)
	r.reports.Synced()
	g.Eventually(phaseOf(w, dgd)).Should(Equal(health.PhaseHealthy), "it starts well")
	w.failProbes(dgd, errConversion)
	step(g, w, DefaultProbeInterval)
	g.Eventually(phaseOf(w, dgd)).Should(Equal(health.PhaseUnhealthy), "the probe tells")
	g.Expect(r.ended()).To(BeFalse(), "a stale view is better than none")
	resyncs := r.resyncCount()
	w.failProbes(dgd, nil)
	step(g, w, DefaultProbeInterval)
	g.Eventually(phaseOf(w, dgd)).Should(Equal(health.PhaseHealthy), "a clean probe clears")
	g.Expect(w.runnersOf(dgd)).To(HaveLen(1), "nothing was restarted")
	g.Eventually(r.resyncCount).Should(Equal(resyncs+1), "what was put off is done")
	g.Eventually(r.enqueued).Should(ContainElement(gone), "also for workloads that are gone meanwhile")
	g.Expect(stop()).To(Succeed())
}

func TestControllerErrorTearsDownAndGoesBackToProbing(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, dgd, lws)
	stop := w.start()
	first, other := begun(g, w, dgd), begun(g, w, lws)
	other.reports.Synced()
	g.Eventually(phaseOf(w, lws)).Should(Equal(health.PhaseHealthy), "the other kind is healthy")
	first.end <- errors.New("timed out waiting for cache to be synced")
	g.Eventually(phaseOf(w, dgd)).Should(Equal(health.PhaseUnhealthy), "the timeout is recorded")
	probes := w.probeCount(dgd)
	step(g, w, DefaultBackoffInitial)
	g.Eventually(func() int { return w.probeCount(dgd) }).Should(Equal(probes+1), "it is probed again")
	second := begun(g, w, dgd)
	g.Expect(second).NotTo(BeIdenticalTo(first), "a new runner takes over")
	g.Expect(phaseOf(w, dgd)()).To(Equal(health.PhaseUnhealthy), "a clean probe does not clear a failed sync")
	second.reports.Synced()
	g.Eventually(phaseOf(w, dgd)).Should(Equal(health.PhaseHealthy), "the sync does")
	g.Expect(w.log.of(dgd)).To(Equal([]health.TransitionType{health.WatchUnhealthy, health.WatchRecovered}), "one episode")
	g.Expect(other.ended()).To(BeFalse(), "the other kind goes on")
	g.Expect(w.log.of(lws)).To(Equal([]health.TransitionType{health.WatchRecovered}), "and hears nothing of it")
	g.Expect(stop()).To(Succeed())
}

func TestEachSourceClearsOnlyItsOwnFailure(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, dgd)
	stop := w.start()
	r := begun(g, w, dgd)
	r.reports.Synced()
	g.Eventually(phaseOf(w, dgd)).Should(Equal(health.PhaseHealthy), "it starts well")
	for range 3 {
		r.reports.Listed(errConversion)
		step(g, w, DefaultProbeInterval)
	}
	g.Eventually(phaseOf(w, dgd)).Should(Equal(health.PhaseUnhealthy), "clean probes do not hide a failing relist")
	r.reports.Listed(nil)
	g.Eventually(phaseOf(w, dgd)).Should(Equal(health.PhaseHealthy), "a clean relist clears it")
	g.Expect(w.log.of(dgd)).To(Equal([]health.TransitionType{
		health.WatchRecovered, health.WatchUnhealthy, health.WatchRecovered,
	}), "no flapping")
	g.Expect(stop()).To(Succeed())
}

func TestBackoffStartsAnewAfterASync(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, dgd)
	stop := w.start()
	for range 2 {
		r := begun(g, w, dgd)
		r.reports.Synced()
		g.Eventually(phaseOf(w, dgd)).Should(Equal(health.PhaseHealthy), "it syncs")
		r.end <- errors.New("the controller failed")
		g.Eventually(phaseOf(w, dgd)).Should(Equal(health.PhaseUnhealthy), "it fails")
		step(g, w, DefaultBackoffInitial)
	}
	begun(g, w, dgd)
	g.Expect(stop()).To(Succeed())
}

func TestMessagesOfAnEndedRunnerAreIgnored(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, dgd)
	stop := w.start()
	first := begun(g, w, dgd)
	first.end <- errors.New("the controller failed")
	g.Eventually(phaseOf(w, dgd)).Should(Equal(health.PhaseUnhealthy), "it fails")
	step(g, w, DefaultBackoffInitial)
	g.Eventually(func() int { return len(w.runnersOf(dgd)) }).Should(Equal(2), "it runs again")
	first.reports.Synced()
	g.Consistently(phaseOf(w, dgd), "50ms").Should(Equal(health.PhaseUnhealthy), "the old runner has no say")
	g.Expect(stop()).To(Succeed())
}

func TestEnqueueReachesOnlyARunningKind(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, dgd, lws)
	w.failProbes(lws, errConversion)
	stop := w.start()
	r := begun(g, w, dgd)
	key := types.NamespacedName{Namespace: "a", Name: "b"}
	w.sup.Enqueue(dgd, key)
	w.sup.Enqueue(lws, key)
	w.sup.Resync()
	r.mu.Lock()
	defer r.mu.Unlock()
	g.Expect(r.keys).To(ConsistOf(key))
	g.Expect(r.resyncs).To(Equal(1))
	go func() { _ = stop() }()
}
