// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"context"
	"slices"

	"github.com/k8s-aibom/k8s-aibom/internal/health"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// supervised is the apply loop's knowledge of one candidate.
type supervised struct {
	kind kinds.Kind
	// situation is what was acted on last.
	situation Situation
	// looked is true once a look at the CRD has ended.
	looked bool
	// away is true once a look found that the CRD cannot be served: when it can later, it was
	// installed after the supervisor's start.
	away bool
	// todo are actions that are still to be taken, in their order. It holds any only while a
	// sweep fails.
	todo []Action
	// waiting is true while a sweep that failed waits for being tried again, and retry tells
	// the message that ends this from earlier ones.
	waiting bool
	retry   int
	// entered is true when the watch has just been disabled and is to be swept.
	entered bool
	// problem is why the CRD was not servable at the last look that told.
	problem error

	backoff  backoff // of the watch
	sweeping backoff // of sweeps that fail
	// runner is nil while nothing runs.
	runner Runner
	stop   context.CancelFunc
	// ended is closed when the runner and everything that it started has ended.
	ended chan struct{}
	// generation tells the messages of a runner from those of the one before it.
	generation int
	// probe tells the answer to the newest probe from answers to earlier ones.
	probe       int
	cancelProbe context.CancelFunc
}

// message is what discovery, probes and runners tell the apply loop.
type message struct {
	kind string
	what news
	// number is the runner's generation, or that of the probe or of the retry of a sweep.
	number int
	err    error
	// seen is the look of a crdSeen.
	seen look
	// overdue is true when looks have told nothing for too long.
	overdue bool
}

// news is what a message is about.
type news int

const (
	// crdSeen: a look at a candidate's CRD ended.
	crdSeen news = iota
	// crdsRequested: a list or watch request for CRDs ended, well when err is nil.
	crdsRequested
	// crdsSynced: the watch of CRDs has seen them all.
	crdsSynced
	// crdsUnsynced: it has not within the time for that.
	crdsUnsynced
	// probed: a probe ended, well when err is nil.
	probed
	// listed: a list or watch request of a runner's informer ended, well when err is nil.
	listed
	// synced: a runner's cache is filled.
	synced
	// exited: a runner has stopped and everything that it started has ended.
	exited
	// again: what failed to be swept is to be swept again.
	again
)

// What can fail about the discovery of CRDs, beside the read of one.
const (
	sourceCRDRequests health.Source = "crd-requests"
	sourceCRDSync     health.Source = "crd-sync"
)

// send hands a message to the apply loop, or drops it when nobody listens any more.
func (s *Supervisor) send(ctx context.Context, m message) {
	select {
	case s.inbox <- m:
	case <-ctx.Done():
	}
}

// applyUntilDone is the apply loop.
func (s *Supervisor) applyUntilDone(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-s.inbox:
			s.apply(ctx, m)
		case <-s.reallow:
			allowed := s.Allowed()
			for _, k := range s.Kinds {
				w := s.watches[k.Name()]
				s.allow(ctx, w, allowed(k))
			}
		}
	}
}

// apply acts on one message.
func (s *Supervisor) apply(ctx context.Context, m message) {
	switch m.what {
	case crdsRequested:
		s.discoveryFares(sourceCRDRequests, m.err)
		return
	case crdsSynced, crdsUnsynced:
		s.discoveryFares(sourceCRDSync, m.err)
		return
	}
	w := s.watches[m.kind]
	switch m.what {
	case crdSeen:
		s.observed(ctx, w, m.seen, m.overdue)
	case again:
		if m.number == w.retry {
			w.waiting = false
			s.act(ctx, w)
			s.allow(ctx, w, s.Allowed()(w.kind))
		}
	case probed:
		if m.number == w.probe {
			s.probed(ctx, w, m.err)
		}
	default:
		if m.number == w.generation && w.runner != nil {
			s.reported(ctx, w, m)
		}
	}
}

// observed acts on a look at a candidate's CRD.
func (s *Supervisor) observed(ctx context.Context, w *supervised, seen look, overdue bool) {
	var unread error
	if seen.Verdict == Unreadable && !seen.lagging {
		unread = seen.Problem
	}
	s.discoveryFares(health.Source(w.kind.CRD()), unread)

	before, allowed := w.situation, s.Allowed()(w.kind)
	after := Situation{Classify(before.CRD, seen.Observation), allowed}
	if seen.Verdict != Unreadable && seen.Verdict != Servable && !after.CRD.present() {
		w.away = true
	}
	told := problemText(w.problem)
	if seen.Verdict == NotServable {
		w.problem = seen.Problem
	}
	first := !w.looked
	w.looked = true
	s.move(ctx, w, after)
	switch {
	case after == before && after.CRD.Phase == Unservable && allowed && problemText(w.problem) != told:
		s.fail(w, health.SourceCRD, w.problem) // for another reason than before
	case overdue && seen.lagging:
		s.lags(w, seen.Problem)
	case after.CRD.Phase == Unknown && (first || seen.Verdict != Unreadable):
		s.Health.Remove(w.kind.Name()) // a verdict: there is nothing to tell of it
	}
	if seen.Verdict != Unreadable || overdue {
		// Workloads below the kind have waited for this, but do not wait for ever.
		s.Tracked.Settle(w.kind)
	}
	if first {
		s.Log.Info("Looked for a third-party kind", "kind", w.kind.Key(), "version", w.kind.GVK.Version,
			"crd", after.CRD.Phase.String(), "allowed", allowed, "problem", problemText(seen.Problem))
	}
}

func problemText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// allow brings a candidate to what the configuration says of it.
func (s *Supervisor) allow(ctx context.Context, w *supervised, allowed bool) {
	if allowed && w.sweepIsMoot() {
		w.todo, w.entered, w.waiting = w.todo[1:], false, false
		w.retry++
		w.sweeping.reset()
		s.act(ctx, w)
	}
	s.move(ctx, w, Situation{w.situation.CRD, allowed})
}

// sweepIsMoot is true while the sweep of an excluded kind fails: should the kind be allowed
// again, its AIBOMs are wanted. Those of a CRD that is gone never are.
func (w *supervised) sweepIsMoot() bool {
	return len(w.todo) > 0 && w.todo[0] == SweepOnEntry && !slices.Contains(w.todo, Track) && w.situation.CRD.present()
}

// move brings a candidate from one situation to another. While a sweep fails, what the
// configuration says is put off: only what it says at the end counts.
func (s *Supervisor) move(ctx context.Context, w *supervised, after Situation) {
	if len(w.todo) > 0 {
		after.Allowed = w.situation.Allowed
	}
	r := transition(w.situation, after)
	if len(r.actions) > 0 {
		s.Log.Info("A third-party kind changes", "kind", w.kind.Key(), "change", r.what,
			"crd", after.CRD.Phase.String(), "uid", after.CRD.UID, "allowed", after.Allowed)
	}
	w.situation = after
	if after.CRD.Phase == Unknown && !after.Allowed {
		s.Health.Remove(w.kind.Name()) // discovery may have been lagging
	}
	w.todo = append(w.todo, r.actions...)
	s.act(ctx, w)
}

// lags says that the API server's discovery does not have a kind whose CRD has been servable
// for long. Of a kind that is Ready already its probes and requests tell, and clear.
func (s *Supervisor) lags(w *supervised, err error) {
	if !w.situation.Allowed || w.situation.CRD.Phase == Ready {
		return
	}
	s.Health.MarkStarting(w.kind.Name(), w.firstSync())
	s.fail(w, health.SourceCRD, err)
}

// discoveryFares records how one part of CRD discovery fares. It is known to health from its
// first failure on: a discovery that works is nothing to tell of.
func (s *Supervisor) discoveryFares(source health.Source, err error) {
	if err == nil {
		s.Health.Clear(health.CRDDiscovery, source)
		return
	}
	s.Log.Info("The discovery of CustomResourceDefinitions fails", "source", string(source), "cause", err.Error())
	s.Health.MarkStarting(health.CRDDiscovery, health.WatchRecovered)
	s.Health.Fail(health.CRDDiscovery, source, err)
	s.Health.MarkSynced(health.CRDDiscovery) // healthy means that nothing fails
}

// fail records that something about a kind's watch fails.
func (s *Supervisor) fail(w *supervised, source health.Source, err error) {
	s.Log.Info("The watch of a third-party kind fails", "kind", w.kind.Key(), "source", string(source), "cause", err.Error())
	s.Health.Fail(w.kind.Name(), source, err)
}
