// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	"k8s.io/utils/clock"

	"github.com/k8s-aibom/k8s-aibom/internal/health"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

func TestEachCandidateIsReadOnceBeforeAndOnceAfterTheWatchBegins(t *testing.T) {
	inWorld(t, []kinds.Kind{dgd}, func(g *WithT, w *world) {
		for _, k := range candidates {
			g.Expect(w.gets[k.CRD()]).To(Or(Equal(1), Equal(2)), "%s: at the start, and once the watch has synced", k.Name())
			w.gets[k.CRD()] = 0
		}
		w.pass(24 * time.Hour)
		g.Expect(w.gets).To(HaveEach(0), "nothing is polled")
	})
}

func TestOnlyTheCandidatesNamesAreHeeded(t *testing.T) {
	inWorld(t, nil, func(g *WithT, w *world) {
		clear(w.gets)
		for _, name := range []string{"widgets.example.com", "nimservices.example.com", ""} {
			w.watcher.Changed(name)
		}
		w.settle()
		g.Expect(w.gets).To(BeEmpty(), "no unrelated CRD is ever read")
		w.tells(lws)
		g.Expect(w.gets).To(Equal(map[string]int{lws.CRD(): 1}), "a candidate is, alone")
	})
}

func TestAnAbsentKindHasNoHealthNoEventAndNoSweep(t *testing.T) {
	inWorld(t, nil, func(g *WithT, w *world) {
		g.Expect(w.health.Statuses()).To(BeEmpty(), "absence is no failure")
		g.Expect(w.health.Undecided()).To(BeFalse(), "but a verdict")
		g.Expect(w.settled).To(HaveLen(len(candidates)), "which the roll-up waits for")
		w.allows(dgd, false)
		w.allows(dgd, true)
		g.Expect(w.health.Statuses()).To(BeEmpty(), "whatever the configuration says")
		g.Expect(w.acted).To(BeEmpty(), "nothing is done")
		g.Expect(w.log.all).To(BeEmpty(), "nothing is told")
	})
}

func TestAKindInstalledLateIsToldAsStarted(t *testing.T) {
	inWorld(t, []kinds.Kind{lws}, func(g *WithT, w *world) {
		w.running(lws).syncs()
		w.installs(dgd)
		g.Expect(w.tracked[dgd.Name()]).To(BeTrue(), "it is tracked first")
		g.Expect(w.events(dgd)).To(BeEmpty(), "nothing is told before the sync")
		w.running(dgd).syncs()
		g.Expect(w.events(dgd)).To(Equal([]health.TransitionType{health.WatchStarted}))
		g.Expect(w.events(lws)).To(Equal([]health.TransitionType{health.WatchRecovered}), "one that was there is told as before")
	})
}

func TestARunnerThatStopsBeforeItsSyncIsNotToldOf(t *testing.T) {
	inWorld(t, nil, func(g *WithT, w *world) {
		w.installs(dgd)
		g.Expect(w.running(dgd)).NotTo(BeNil())
		w.deletes(dgd)
		g.Expect(w.running(dgd)).To(BeNil(), "it is stopped")
		g.Expect(w.events(dgd)).To(Equal([]health.TransitionType{health.WatchDisabled}), "neither started nor recovered")
	})
}

func TestAReadThatFailsIsRetriedAloneWithBackoff(t *testing.T) {
	inWorld(t, []kinds.Kind{dgd}, func(g *WithT, w *world) {
		w.running(dgd).syncs()
		w.failReads(lws, errForbidden)
		w.installs(lws)
		g.Expect(w.status(health.CRDDiscovery).Phase).To(Equal(health.PhaseUnhealthy), "it is told")
		g.Expect(w.status(health.CRDDiscovery).LastError).To(Equal(errForbidden.Error()), "verbatim")
		w.installs(nim)
		g.Expect(w.running(nim)).NotTo(BeNil(), "another kind does not wait for it")
		clear(w.gets)
		for _, wait := range []time.Duration{5, 10, 20, 40} {
			w.pass(wait * time.Second)
		}
		g.Expect(w.gets).To(Equal(map[string]int{lws.CRD(): 4}), "it alone is tried again, with backoff")
		g.Expect(w.running(lws)).To(BeNil(), "a failure is never taken for readiness")
		g.Expect(w.phase(dgd)).To(Equal(health.PhaseHealthy), "what runs goes on")
		w.failReads(lws, nil)
		w.pass(80 * time.Second)
		g.Expect(w.running(lws)).NotTo(BeNil(), "the retry finds it")
		g.Expect(w.log.of(health.CRDDiscovery)).To(Equal([]health.TransitionType{health.WatchUnhealthy, health.WatchRecovered}), "one episode")
		g.Expect(w.sweeps).To(BeEmpty(), "nothing is swept on an error")
	})
}

func TestAReadThatHangsDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, w := NewWithT(t), newWorld(dgd)
		w.hanging[dgd.CRD()] = true
		w.start()
		w.installs(lws)
		g.Expect(w.running(lws)).NotTo(BeNil(), "while one read hangs another kind starts")
		g.Expect(w.settled).NotTo(HaveKey(dgd.Name()), "nothing is known of the one that hangs")
		w.pass(DefaultProbeTimeout)
		g.Expect(w.status(health.CRDDiscovery).LastError).To(ContainSubstring("no answer within 10s"), "a read has its deadline")
		g.Expect(w.settled).NotTo(HaveKey(dgd.Name()), "and tells nothing")
		w.pass(DefaultCacheSyncTimeout + DefaultBackoffMax)
		g.Expect(w.settled).To(HaveKey(dgd.Name()), "the roll-up does not wait for ever")
		w.hanging[dgd.CRD()] = false
		w.pass(DefaultProbeTimeout + DefaultBackoffMax)
		w.running(dgd).syncs()
		g.Expect(w.events(dgd)).To(Equal([]health.TransitionType{health.WatchRecovered}), "it was there at the start")
		g.Expect(w.status(health.CRDDiscovery).Phase).To(Equal(health.PhaseHealthy))
		g.Expect(w.stop()).To(Succeed())
	})
}

func TestDiscoveryThatLagsIsWaitedFor(t *testing.T) {
	inWorld(t, nil, func(g *WithT, w *world) {
		w.unmapped[dgd.GVK.Kind] = true
		w.installs(dgd)
		g.Expect(w.health.Statuses()).To(BeEmpty(), "a lag is no failure at first")
		w.pass(DefaultCacheSyncTimeout / 2)
		g.Expect(w.running(dgd)).To(BeNil())
		g.Expect(w.health.Statuses()).To(BeEmpty())
		w.pass(DefaultCacheSyncTimeout)
		g.Expect(w.phase(dgd)).To(Equal(health.PhaseUnhealthy), "a lag that lasts is")
		g.Expect(w.status(dgd.Name()).LastError).To(ContainSubstring("DynamoGraphDeployment"))
		w.unmapped[dgd.GVK.Kind] = false
		w.pass(DefaultBackoffMax)
		w.running(dgd).syncs()
		g.Expect(w.events(dgd)).To(Equal([]health.TransitionType{health.WatchUnhealthy, health.WatchStarted}))
	})
}

func TestALagOfAKindThatIsReadyLeavesNothingBehind(t *testing.T) {
	inWorld(t, nil, func(g *WithT, w *world) {
		w.failProbes(dgd, errConversion)
		w.installs(dgd)
		w.unmapped[dgd.GVK.Kind] = true
		w.tells(dgd)
		w.pass(longEnough)
		w.unmapped[dgd.GVK.Kind] = false
		w.failProbes(dgd, nil)
		w.pass(longEnough)
		w.running(dgd).syncs()
		g.Expect(w.phase(dgd)).To(Equal(health.PhaseHealthy), "nothing fails any more")
	})
}

func TestAnUnservableCRDIsToldWithItsNewestProblem(t *testing.T) {
	inWorld(t, []kinds.Kind{dgd}, func(g *WithT, w *world) {
		w.running(dgd).syncs()
		w.serves(dgd, false)
		g.Expect(w.status(dgd.Name()).LastError).To(ContainSubstring("does not serve the version"))
		crd := w.crds[dgd.CRD()].DeepCopy()
		crd.Spec.Versions[0].Served = true
		crd.Status.AcceptedNames.Kind = "Other"
		w.changes(dgd, crd)
		g.Expect(w.status(dgd.Name()).LastError).To(ContainSubstring("is served as kind Other"))
		failures := w.status(dgd.Name()).ConsecutiveFailures
		w.tells(dgd)
		g.Expect(w.status(dgd.Name()).ConsecutiveFailures).To(Equal(failures), "what stays the same is no news")
		g.Expect(w.events(dgd)).To(Equal([]health.TransitionType{health.WatchRecovered, health.WatchUnhealthy}), "one episode")
	})
}

func TestACRDThatGoesWhileDiscoveryLagsIsForgotten(t *testing.T) {
	inWorld(t, nil, func(g *WithT, w *world) {
		w.unmapped[dgd.GVK.Kind] = true
		w.installs(dgd)
		w.pass(longEnough)
		g.Expect(w.phase(dgd)).To(Equal(health.PhaseUnhealthy))
		w.deletes(dgd)
		g.Expect(w.health.Statuses()).To(BeEmpty(), "it was never Ready: nothing is left to tell")
		g.Expect(w.sweeps).To(BeEmpty())
	})
}

func TestAWatchOfCRDsThatFailsIsToldAndHarmsNothing(t *testing.T) {
	inWorld(t, []kinds.Kind{dgd}, func(g *WithT, w *world) {
		w.running(dgd).syncs()
		w.watcher.Requested(errForbidden)
		w.watcher.Requested(errors.New("the watch was refused too"))
		w.settle()
		g.Expect(w.status(health.CRDDiscovery).Phase).To(Equal(health.PhaseUnhealthy))
		g.Expect(w.phase(dgd)).To(Equal(health.PhaseHealthy), "what runs goes on")
		w.watcher.Requested(nil)
		w.settle()
		g.Expect(w.log.of(health.CRDDiscovery)).To(Equal([]health.TransitionType{health.WatchUnhealthy, health.WatchRecovered}))
		g.Expect(w.acted).To(Equal([]string{"track", "run"}), "nothing was done on account of it")
	})
}

// deafCRDs never sync.
type deafCRDs struct{ CRDs }

func (deafCRDs) Watch(ctx context.Context, _ CRDWatcher) { <-ctx.Done() }

func TestAWatchOfCRDsThatNeverSyncsIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, w := NewWithT(t), newWorld(dgd)
		registry := health.NewRegistry(clock.RealClock{}, &transitions{})
		w.start()
		sup := New(Options{
			Kinds: candidates, CRDs: deafCRDs{w}, Mapper: mapper{w: w}, Prober: w, Runners: w, Tracked: newWorldTracker(),
			Health: registry, Clock: clock.RealClock{}, Log: logr.Discard(),
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- sup.Start(ctx) }()
		w.pass(DefaultCacheSyncTimeout)
		g.Expect(registry.DegradedMessage()).To(ContainSubstring("CRDDiscovery: CustomResourceDefinitions could not be listed within 2m0s"))
		cancel()
		g.Expect(<-ended).To(Succeed())
		g.Expect(w.stop()).To(Succeed())
	})
}

// lastMomentCRDs sync at the very moment at which that is overdue.
type lastMomentCRDs struct{ CRDs }

func (lastMomentCRDs) Watch(ctx context.Context, w CRDWatcher) {
	clock.RealClock{}.Sleep(DefaultCacheSyncTimeout)
	w.Synced()
	<-ctx.Done()
}

func TestAWatchOfCRDsThatSyncsAtTheLastMomentIsHealthy(t *testing.T) {
	for range 50 { // which of the two comes first is chance
		synctest.Test(t, func(t *testing.T) {
			g, w := NewWithT(t), newWorld()
			registry := health.NewRegistry(clock.RealClock{}, &transitions{})
			w.start()
			sup := New(Options{
				Kinds: candidates, CRDs: lastMomentCRDs{w}, Mapper: mapper{w: w}, Prober: w, Runners: w, Tracked: newWorldTracker(),
				Health: registry, Clock: clock.RealClock{}, Log: logr.Discard(),
			})
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- sup.Start(ctx) }()
			w.pass(DefaultCacheSyncTimeout + time.Second)
			g.Expect(registry.DegradedMessage()).To(BeEmpty(), "what has synced is not overdue any more")
			cancel()
			g.Expect(<-ended).To(Succeed())
			g.Expect(w.stop()).To(Succeed())
		})
	}
}

// newWorldTracker takes notice of nothing.
func newWorldTracker() Tracker {
	w := newWorld()
	w.tracked, w.settled = map[string]bool{}, map[string]bool{}
	return w
}

func TestNothingIsDoneBeforeAConfigurationIsInForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, w := NewWithT(t), newWorld(dgd)
		configured := make(chan struct{})
		w.configured = configured
		w.start()
		w.pass(time.Minute)
		g.Expect(w.runnersOf(dgd)).To(BeEmpty(), "the configuration may exclude it")
		w.excluded[dgd.Name()] = true
		close(configured)
		w.settle()
		g.Expect(w.runnersOf(dgd)).To(BeEmpty(), "it does")
		g.Expect(w.status(dgd.Name())).To(And(HaveField("Phase", health.PhaseDisabled), HaveField("Reason", health.ReasonConfig)))
		g.Expect(w.stop()).To(Succeed())
	})
}

func TestASweepThatFailsIsTriedAgainBeforeAnythingStarts(t *testing.T) {
	inWorld(t, []kinds.Kind{dgd}, func(g *WithT, w *world) {
		w.running(dgd).syncs()
		w.sweepErrs[dgd.Name()] = errors.New("the API server is busy")
		w.installs(dgd) // under another UID
		g.Expect(w.running(dgd)).To(BeNil(), "the old runner is stopped and no new one started")
		w.pass(DefaultBackoffInitial)
		g.Expect(w.running(dgd)).To(BeNil(), "as long as the old documents are there")
		w.installs(lws)
		g.Expect(w.running(lws)).NotTo(BeNil(), "other kinds do not wait for that")
		w.sweepErrs[dgd.Name()] = nil
		w.pass(DefaultBackoffMax)
		g.Expect(w.running(dgd)).NotTo(BeNil())
		g.Expect(w.sweeps[dgd.Name()]).To(Equal(1), "it is swept once")
		w.running(dgd).syncs()
		g.Expect(w.events(dgd)).To(Equal([]health.TransitionType{health.WatchRecovered, health.WatchDisabled, health.WatchStarted}))
	})
}

func TestASweepThatFailsIsNotTriedMoreOftenForWhatHappensMeanwhile(t *testing.T) {
	inWorld(t, []kinds.Kind{dgd}, func(g *WithT, w *world) {
		w.running(dgd).syncs()
		w.sweepErrs[dgd.Name()] = errors.New("the API server is busy")
		w.deletes(dgd)
		for range 5 {
			w.tells(dgd)
			w.allows(lws, false)
			w.allows(lws, true)
		}
		g.Expect(w.sweepTries[dgd.Name()]).To(Equal(1), "an event that changes nothing sweeps nothing")
		for i, wait := range []time.Duration{5, 10, 20, 40} {
			w.pass(wait * time.Second)
			g.Expect(w.sweepTries[dgd.Name()]).To(Equal(i+2), "there is one retry after %ds", wait)
		}
	})
}

func TestFlipsWhileASweepFailsCollapse(t *testing.T) {
	inWorld(t, []kinds.Kind{dgd}, func(g *WithT, w *world) {
		w.running(dgd).syncs()
		w.sweepErrs[dgd.Name()] = errors.New("the API server is busy")
		w.deletes(dgd)
		w.installs(dgd)
		for range 10 {
			w.allows(dgd, false)
			w.allows(dgd, true)
		}
		w.sweepErrs[dgd.Name()] = nil
		w.pass(DefaultBackoffMax)
		g.Expect(w.sweeps[dgd.Name()]).To(Equal(1), "what was removed is swept, and nothing else")
		g.Expect(w.runnersOf(dgd)).To(HaveLen(2), "the latest state is the one that holds")
		w.running(dgd).syncs()
		g.Expect(w.events(dgd)).To(Equal([]health.TransitionType{health.WatchRecovered, health.WatchDisabled, health.WatchStarted}))
		w.sweepErrs[dgd.Name()] = errors.New("the API server is busy")
		w.deletes(dgd)
		w.installs(dgd)
		w.allows(dgd, false)
		w.sweepErrs[dgd.Name()] = nil
		w.pass(DefaultBackoffMax)
		g.Expect(w.running(dgd)).To(BeNil(), "an exclusion that came meanwhile holds")
		g.Expect(w.status(dgd.Name()).Reason).To(Equal(health.ReasonConfig))
	})
}

func TestAKindThatIsAllowedAgainBeforeItsSweepSucceededIsNotSwept(t *testing.T) {
	inWorld(t, []kinds.Kind{dgd}, func(g *WithT, w *world) {
		w.running(dgd).syncs()
		w.sweepErrs[dgd.Name()] = errors.New("deletions are refused")
		w.allows(dgd, false)
		w.allows(dgd, true)
		g.Expect(w.running(dgd)).NotTo(BeNil(), "its AIBOMs are wanted: nothing waits for their deletion")
		w.running(dgd).syncs()
		w.sweepErrs[dgd.Name()] = nil
		w.pass(DefaultBackoffMax)
		g.Expect(w.sweeps).To(BeEmpty())
		g.Expect(w.events(dgd)).To(Equal([]health.TransitionType{health.WatchRecovered, health.WatchDisabled, health.WatchRecovered}))
		w.allows(dgd, false)
		g.Expect(w.sweeps[dgd.Name()]).To(Equal(1), "the next exclusion sweeps")
	})
}

func TestASweepThatHangsHoldsUpOtherKindsForABoundedTime(t *testing.T) {
	inWorld(t, []kinds.Kind{dgd}, func(g *WithT, w *world) {
		w.running(dgd).syncs()
		w.sweepHangs[dgd.Name()] = true
		w.deletes(dgd)
		w.installs(lws)
		w.pass(sweepTurn)
		g.Expect(w.running(lws)).NotTo(BeNil(), "another kind has its turn")
		w.sweepHangs[dgd.Name()] = false
		w.pass(DefaultBackoffInitial)
		g.Expect(w.sweeps[dgd.Name()]).To(Equal(1), "the sweep is tried again")
	})
}

func TestNothingIsSweptOnceShutdownHasBegun(t *testing.T) {
	inWorld(t, []kinds.Kind{dgd}, func(g *WithT, w *world) {
		w.running(dgd).syncs()
		w.sweepErrs[dgd.Name()] = errors.New("the API server is busy")
		w.deletes(dgd)
		w.sweepErrs[dgd.Name()] = nil
		g.Expect(w.stop()).To(Succeed())
		g.Expect(w.sweeps).To(BeEmpty(), "the lease may be another's")
	})
}

func TestFlipsThatComeWhileAnotherKindIsBusyCollapse(t *testing.T) {
	inWorld(t, []kinds.Kind{dgd, lws, nim}, func(g *WithT, w *world) {
		w.running(dgd).syncs()
		w.running(lws).syncs()
		w.sweepHangs[nim.Name()] = true
		w.deletes(nim) // its sweep keeps the supervisor for its whole turn
		for range 25 {
			w.allows(dgd, false)
			w.allows(lws, false)
			w.allows(dgd, true)
		}
		w.pass(sweepTurn)
		g.Expect(w.runnersOf(dgd)).To(HaveLen(1), "it is allowed now as it was before: nothing stopped")
		g.Expect(w.sweeps[dgd.Name()]).To(BeZero())
		g.Expect(w.running(lws)).To(BeNil(), "the latest state is the one that holds")
		g.Expect(w.sweeps[lws.Name()]).To(Equal(1))
	})
}

func TestFlipsThatComeQuicklyEndInTheLatestState(t *testing.T) {
	inWorld(t, []kinds.Kind{dgd}, func(g *WithT, w *world) {
		w.running(dgd).syncs()
		for range 50 { // which of them the supervisor sees is chance
			w.mu.Lock()
			w.excluded[dgd.Name()] = !w.excluded[dgd.Name()]
			w.mu.Unlock()
			w.sup.AllowedChanged()
		}
		w.settle()
		g.Expect(w.running(dgd)).NotTo(BeNil(), "the latest state is the one that holds")
		w.set(lws, w.servable(lws))
		w.watcher.Changed(lws.CRD())
		w.set(lws, nil)
		w.tells(lws)
		g.Expect(w.running(lws)).To(BeNil(), "a CRD that came and went is gone")
		g.Expect(len(w.events(lws))).To(BeNumerically("<=", 1), "and may never have been seen")
	})
}

func TestAnExclusionFollowedByAnAdmission(t *testing.T) {
	inWorld(t, []kinds.Kind{dgd}, func(g *WithT, w *world) {
		w.running(dgd).syncs()
		w.failProbes(dgd, errConversion)
		w.pass(DefaultProbeInterval)
		g.Expect(w.health.DegradedMessage()).To(ContainSubstring(dgd.Name()))
		w.allows(dgd, false)
		g.Expect(w.running(dgd)).To(BeNil(), "its informer is gone")
		g.Expect(w.health.DegradedMessage()).To(BeEmpty(), "what is not watched does not fail")
		g.Expect(w.sweeps[dgd.Name()]).To(Equal(1))
		g.Expect(w.tracked[dgd.Name()]).To(BeTrue(), "its CRD is still there")
		w.failProbes(dgd, nil)
		w.allows(dgd, true)
		w.running(dgd).syncs()
		g.Expect(w.events(dgd)).To(Equal([]health.TransitionType{
			health.WatchRecovered, health.WatchUnhealthy, health.WatchDisabled, health.WatchRecovered,
		}))
	})
}

func TestAVersionThatIsNotServedForAWhile(t *testing.T) {
	inWorld(t, []kinds.Kind{dgd}, func(g *WithT, w *world) {
		w.running(dgd).syncs()
		w.serves(dgd, false)
		g.Expect(w.running(dgd)).To(BeNil(), "it is stopped")
		g.Expect(w.health.DegradedMessage()).To(ContainSubstring("does not serve the version v1beta1"), "and says why")
		g.Expect(w.tracked[dgd.Name()]).To(BeTrue(), "its CRD is there: nothing re-roots")
		probes := w.probes[dgd.Name()]
		w.pass(longEnough)
		g.Expect(w.probes[dgd.Name()]).To(Equal(probes), "what cannot be read is not probed")
		w.serves(dgd, true)
		w.running(dgd).syncs()
		g.Expect(w.events(dgd)).To(Equal([]health.TransitionType{
			health.WatchRecovered, health.WatchUnhealthy, health.WatchRecovered,
		}))
		g.Expect(w.sweeps).To(BeEmpty(), "nothing was deleted")
	})
}

func TestDiscoveryThatTakesTheKindForAnotherOneIsTold(t *testing.T) {
	inWorld(t, nil, func(g *WithT, w *world) {
		w.mistaken[dgd.GVK.Kind] = true
		w.installs(dgd)
		w.pass(longEnough)
		g.Expect(w.running(dgd)).To(BeNil(), "it would see nothing")
		g.Expect(w.status(dgd.Name()).LastError).To(ContainSubstring("as others"), "and say nothing")
		w.mistaken[dgd.GVK.Kind] = false
		w.pass(longEnough)
		g.Expect(w.running(dgd)).NotTo(BeNil())
	})
}
