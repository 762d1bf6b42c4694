// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/k8s-aibom/k8s-aibom/internal/health"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	dgd = kindNamed("DynamoGraphDeployment")
	lws = kindNamed("LeaderWorkerSet")
	nim = kindNamed("NIMService")

	errConversion = errors.New("conversion webhook for nvidia.com/v1alpha1 failed: connection refused")
	errForbidden  = apierrors.NewForbidden(crdResource.GroupResource(), dgd.CRD(), errors.New("no right"))
)

func TestHealthyKindStartsAfterACleanProbe(t *testing.T) {
	inWorld(t, []kinds.Kind{dgd}, func(g *WithT, w *world) {
		r := w.running(dgd)
		g.Expect(r).NotTo(BeNil(), "the watch starts")
		g.Expect(w.probes[dgd.Name()]).To(Equal(1), "the probe comes first")
		g.Expect(w.phase(dgd)).To(Equal(health.PhaseStarting), "nothing is known before the sync")
		r.syncs()
		g.Expect(w.phase(dgd)).To(Equal(health.PhaseHealthy), "a synced watch is healthy")
		g.Expect(w.stop()).To(Succeed())
		g.Expect(r.ended()).To(BeTrue(), "Start waits for the runner's end")
	})
}

func TestFailingProbeBacksOffExponentiallyToItsCap(t *testing.T) {
	inWorld(t, nil, func(g *WithT, w *world) {
		w.failProbes(dgd, errConversion)
		w.installs(dgd)
		waits := []time.Duration{5, 10, 20, 40, 80, 160, 300, 300}
		for i, seconds := range waits {
			g.Expect(w.probes[dgd.Name()]).To(Equal(i+1), "probe %d is made", i+1)
			w.pass(seconds*time.Second - time.Nanosecond)
			g.Expect(w.probes[dgd.Name()]).To(Equal(i+1), "no probe before %ds have passed", seconds)
			w.pass(time.Nanosecond)
		}
		g.Expect(w.runnersOf(dgd)).To(BeEmpty(), "a kind that cannot be read is not watched")
		g.Expect(w.events(dgd)).To(Equal([]health.TransitionType{health.WatchUnhealthy}), "one transition, however many retries")
		g.Expect(w.status(dgd.Name()).LastError).To(Equal(errConversion.Error()), "the error is verbatim")
	})
}

func TestFailingSteadyStateProbeKeepsTheRunner(t *testing.T) {
	inWorld(t, []kinds.Kind{dgd}, func(g *WithT, w *world) {
		gone := types.NamespacedName{Namespace: "a", Name: "deleted-meanwhile"}
		w.sup.Reported = func(context.Context, kinds.Kind) []types.NamespacedName {
			return []types.NamespacedName{gone}
		}
		r := w.running(dgd)
		r.syncs()
		w.failProbes(dgd, errConversion)
		w.pass(DefaultProbeInterval)
		g.Expect(w.phase(dgd)).To(Equal(health.PhaseUnhealthy), "the probe tells")
		g.Expect(r.ended()).To(BeFalse(), "a stale view is better than none")
		resyncs := r.resyncCount()
		w.failProbes(dgd, nil)
		w.pass(DefaultProbeInterval)
		g.Expect(w.phase(dgd)).To(Equal(health.PhaseHealthy), "a clean probe clears")
		g.Expect(w.runnersOf(dgd)).To(HaveLen(1), "nothing was restarted")
		g.Expect(r.resyncCount()).To(Equal(resyncs+1), "what was put off is done")
		g.Expect(r.enqueued()).To(ContainElement(gone), "also for workloads that are gone meanwhile")
	})
}

func TestControllerErrorTearsDownAndGoesBackToProbing(t *testing.T) {
	inWorld(t, []kinds.Kind{dgd, lws}, func(g *WithT, w *world) {
		first, other := w.running(dgd), w.running(lws)
		other.syncs()
		first.ends(errors.New("timed out waiting for cache to be synced"))
		g.Expect(w.phase(dgd)).To(Equal(health.PhaseUnhealthy), "the timeout is recorded")
		probes := w.probes[dgd.Name()]
		w.pass(DefaultBackoffInitial)
		g.Expect(w.probes[dgd.Name()]).To(Equal(probes+1), "it is probed again")
		second := w.running(dgd)
		g.Expect(second).NotTo(Or(BeNil(), BeIdenticalTo(first)), "a new runner takes over")
		g.Expect(w.phase(dgd)).To(Equal(health.PhaseUnhealthy), "a clean probe does not clear a failed sync")
		second.syncs()
		g.Expect(w.phase(dgd)).To(Equal(health.PhaseHealthy), "the sync does")
		g.Expect(w.events(dgd)).To(Equal([]health.TransitionType{health.WatchUnhealthy, health.WatchRecovered}), "one episode")
		g.Expect(other.ended()).To(BeFalse(), "the other kind goes on")
		g.Expect(w.events(lws)).To(Equal([]health.TransitionType{health.WatchRecovered}), "and hears nothing of it")
	})
}

func TestEachSourceClearsOnlyItsOwnFailure(t *testing.T) {
	inWorld(t, []kinds.Kind{dgd}, func(g *WithT, w *world) {
		r := w.running(dgd)
		r.syncs()
		for range 3 {
			r.lists(errConversion)
			w.pass(DefaultProbeInterval)
		}
		g.Expect(w.phase(dgd)).To(Equal(health.PhaseUnhealthy), "clean probes do not hide a failing relist")
		r.lists(nil)
		g.Expect(w.phase(dgd)).To(Equal(health.PhaseHealthy), "a clean relist clears it")
		g.Expect(w.events(dgd)).To(Equal([]health.TransitionType{
			health.WatchRecovered, health.WatchUnhealthy, health.WatchRecovered,
		}), "no flapping")
	})
}

func TestBackoffStartsAnewAfterASync(t *testing.T) {
	inWorld(t, []kinds.Kind{dgd}, func(g *WithT, w *world) {
		for range 3 {
			r := w.running(dgd)
			r.syncs()
			g.Expect(w.phase(dgd)).To(Equal(health.PhaseHealthy), "it syncs")
			r.ends(errors.New("the controller failed"))
			g.Expect(w.phase(dgd)).To(Equal(health.PhaseUnhealthy), "it fails")
			w.pass(DefaultBackoffInitial)
		}
	})
}

func TestMessagesOfAnEndedRunnerAreIgnored(t *testing.T) {
	inWorld(t, []kinds.Kind{dgd}, func(g *WithT, w *world) {
		first := w.running(dgd)
		first.ends(errors.New("the controller failed"))
		w.pass(DefaultBackoffInitial)
		g.Expect(w.runnersOf(dgd)).To(HaveLen(2), "it runs again")
		first.syncs()
		g.Expect(w.phase(dgd)).To(Equal(health.PhaseUnhealthy), "the old runner has no say")
	})
}

func TestEnqueueReachesOnlyARunningKind(t *testing.T) {
	inWorld(t, []kinds.Kind{dgd}, func(g *WithT, w *world) {
		key := types.NamespacedName{Namespace: "a", Name: "b"}
		w.sup.Enqueue(dgd, key)
		w.sup.Enqueue(lws, key)
		w.sup.Resync()
		g.Expect(w.running(dgd).enqueued()).To(ConsistOf(key))
		g.Expect(w.running(dgd).resyncCount()).To(Equal(1))
		g.Expect(w.sup.Running()).To(ConsistOf(dgd))
	})
}
