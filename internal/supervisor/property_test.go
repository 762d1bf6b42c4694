// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/k8s-aibom/k8s-aibom/internal/health"
)

// TestRandomFaultsStayWithTheirKind drives the supervisor with random faults of one kind
// beside a kind that has none.
func TestRandomFaultsStayWithTheirKind(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := NewWithT(rt)
		w := newWorld(t, dgd, lws)
		stop := w.start()
		defer func() { g.Expect(stop()).To(Succeed(), "nothing ever reaches the manager") }()

		steady := begun(g, w, lws)
		steady.reports.Synced()
		g.Eventually(phaseOf(w, lws)).Should(Equal(health.PhaseHealthy), "the kind without faults starts")

		g.Eventually(steady.resyncCount).Should(Equal(1), "its workloads are looked at once")

		fault := errors.New("fault")
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			r := w.running(dgd)
			switch rapid.SampledFrom([]string{"probe fails", "probe works", "list fails", "list works", "synced", "exit", "time"}).Draw(rt, "what") {
			case "probe fails":
				w.failProbes(dgd, fault)
			case "probe works":
				w.failProbes(dgd, nil)
			case "list fails":
				if r != nil {
					r.reports.Listed(fault)
				}
			case "list works":
				if r != nil {
					r.reports.Listed(nil)
				}
			case "synced":
				if r != nil {
					r.reports.Synced()
				}
			case "exit":
				if r != nil {
					r.end <- fault
					g.Eventually(r.ended).Should(BeTrue(), "the runner ends")
				}
			case "time":
				w.clock.Step(time.Duration(rapid.IntRange(1, 400).Draw(rt, "seconds")) * time.Second)
			}
		}

		// The faults stop: within a few paces the kind is healthy again.
		w.failProbes(dgd, nil)
		recovered := func() health.Phase {
			w.clock.Step(DefaultBackoffMax)
			if r := w.running(dgd); r != nil {
				r.reports.Listed(nil)
				r.reports.Synced()
			}
			return phaseOf(w, dgd)()
		}
		g.Eventually(recovered, "5s", "1ms").Should(Equal(health.PhaseHealthy), "the kind recovers when its faults stop")

		w.mu.Lock()
		most := w.mostLive[dgd.Name()]
		w.mu.Unlock()
		g.Expect(most).To(BeNumerically("<=", 1), "never two runners of one kind")
		g.Expect(steady.ended()).To(BeFalse(), "the other kind's runner goes on")
		g.Expect(steady.resyncCount()).To(Equal(1), "nothing is done for the other kind on account of this one")
		g.Expect(w.runnersOf(lws)).To(HaveLen(1), "nor is it started again")
		g.Expect(w.log.of(lws)).To(Equal([]health.TransitionType{health.WatchRecovered}), "the other kind hears nothing of it")
		g.Expect(alternates(w.log.of(dgd))).To(BeTrue(), "each transition is told once: %v", w.log.of(dgd))
	})
}

// alternates says whether no transition follows one of its own type.
func alternates(all []health.TransitionType) bool {
	for i := 1; i < len(all); i++ {
		if all[i] == all[i-1] {
			return false
		}
	}
	return true
}
