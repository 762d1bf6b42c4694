// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/k8s-aibom/k8s-aibom/internal/health"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// sweepTurn is how long one attempt at a sweep may keep the apply loop from other kinds. What
// it has deleted until then stays deleted.
const sweepTurn = 30 * time.Second

// act takes the actions that are to be taken, in their order. A sweep that fails is tried again
// later, and what follows it waits: nothing new starts beside what an old CRD left behind.
func (s *Supervisor) act(ctx context.Context, w *supervised) {
	for len(w.todo) > 0 && !w.waiting {
		if ctx.Err() != nil {
			return // the lease may be another's by now
		}
		if err := s.take(ctx, w, w.todo[0]); err != nil {
			if ctx.Err() == nil {
				s.Log.Error(err, "The AIBOMs of a disabled kind could not be deleted, trying on", "kind", w.kind.Key())
			}
			w.waiting = true
			w.retry++
			s.sendAfter(ctx, w.sweeping.next(), message{kind: w.kind.Name(), what: again, number: w.retry})
			return
		}
		w.todo = w.todo[1:]
	}
	if len(w.todo) == 0 {
		w.sweeping.reset()
	}
}

// take takes one action. Only a sweep fails.
func (s *Supervisor) take(ctx context.Context, w *supervised, a Action) error {
	name := w.kind.Name()
	switch a {
	case Stop:
		s.halt(w)
	case Track:
		s.Tracked.Add(w.kind)
	case Untrack:
		s.Tracked.Remove(w.kind)
	case FanOut:
		s.fanOutSoon()
	case StartFirst:
		s.Health.MarkStarting(name, w.firstSync())
		s.begin(ctx, w)
	case StartAgain:
		s.Health.MarkStarting(name, health.WatchRecovered)
		s.begin(ctx, w)
	case Degrade:
		s.Health.MarkStarting(name, health.WatchRecovered)
		s.fail(w, health.SourceCRD, w.problem)
	case DisableByConfig:
		w.entered = s.Health.MarkDisabled(name, health.ReasonConfig)
	case DisableByRemoval:
		w.away = true // the kind comes back as one that is installed after the start
		w.entered = s.Health.MarkDisabled(name, health.ReasonCRDRemoved)
	case SweepOnEntry:
		if !w.entered || s.Sweep == nil {
			return nil
		}
		ctx, cancel := context.WithTimeout(ctx, sweepTurn)
		defer cancel()
		if err := s.Sweep(ctx, w.kind); err != nil {
			return err
		}
		w.entered = false
	}
	return nil
}

// firstSync is how the first sync of a kind is told: one that was not there at the start is
// news.
func (w *supervised) firstSync() health.TransitionType {
	if w.away {
		return health.WatchStarted
	}
	return health.WatchRecovered
}

// begin starts a kind by the probe path: its watch runs once a probe has answered well.
func (s *Supervisor) begin(ctx context.Context, w *supervised) {
	s.Health.Clear(w.kind.Name(), health.SourceCRD)
	w.backoff.reset()
	s.probeAfter(ctx, w, 0)
}

// halt ends a kind's probes and its runner, and waits until the runner and everything that it
// started has ended.
func (s *Supervisor) halt(w *supervised) {
	if w.cancelProbe != nil {
		w.cancelProbe()
	}
	w.probe++ // an answer that is under way comes too late
	if w.runner == nil {
		return
	}
	w.stop()
	<-w.ended
	s.forget(w)
	s.Health.MarkStopped(w.kind.Name())
}

// probed acts on a probe's answer. While nothing runs a good answer starts the watch; while
// it runs a bad one only says that it is unhealthy: a stale view is better than none.
func (s *Supervisor) probed(ctx context.Context, w *supervised, err error) {
	switch {
	case w.runner == nil && err != nil:
		s.probeAfter(ctx, w, w.backoff.next())
	case w.runner == nil:
		s.start(ctx, w)
		fallthrough
	default:
		s.probeAfter(ctx, w, s.Paces.ProbeInterval)
	}
	// Health is told last: who sees it change finds everything done.
	if err != nil {
		s.fail(w, health.SourceProbe, err)
	} else if s.Health.Clear(w.kind.Name(), health.SourceProbe) {
		s.recovered(ctx, w)
	}
}

// reported acts on what a kind's runner tells.
func (s *Supervisor) reported(ctx context.Context, w *supervised, m message) {
	name := w.kind.Name()
	switch {
	case m.what == synced:
		w.backoff.reset()
		if s.Health.MarkSynced(name) {
			s.recovered(ctx, w)
		}
	case m.what == exited:
		s.exited(ctx, w, m.err)
	case m.err != nil:
		s.fail(w, health.SourceRelist, m.err)
	case s.Health.Clear(name, health.SourceRelist):
		s.recovered(ctx, w)
	}
}

// exited acts on a runner's end, which nobody asked for: back to probing.
func (s *Supervisor) exited(ctx context.Context, w *supervised, err error) {
	if err == nil {
		err = errors.New("the watch ended without being told to")
	}
	s.forget(w)
	s.probeAfter(ctx, w, w.backoff.next())
	s.Health.MarkStopped(w.kind.Name())
	s.fail(w, health.SourceSync, err)
}

// recovered has everything of the kind looked at again: what was put off while it was
// unhealthy is done now.
func (s *Supervisor) recovered(ctx context.Context, w *supervised) {
	s.Log.Info("The watch of a third-party kind works", "kind", w.kind.Key())
	if w.runner == nil {
		return
	}
	w.runner.Resync()
	if s.Reported == nil {
		return
	}
	for _, key := range s.Reported(ctx, w.kind) {
		w.runner.Enqueue(key)
	}
}

// start runs the kind's cache and controller. It is called only while none runs.
func (s *Supervisor) start(ctx context.Context, w *supervised) {
	w.generation++
	generation, name := w.generation, w.kind.Name()
	runnerCtx, stop := context.WithCancel(ctx)
	w.stop = stop
	ended := make(chan struct{})
	w.ended = ended
	runner := s.Runners.New(w.kind, Reports{
		Listed: func(err error) { s.send(runnerCtx, message{kind: name, what: listed, number: generation, err: err}) },
		Synced: func() { s.send(runnerCtx, message{kind: name, what: synced, number: generation}) },
	})
	w.runner = runner
	s.setRunning(w.kind, runner)
	s.wg.Go(func() {
		err := runner.Run(runnerCtx, s.Paces.CacheSyncTimeout)
		stop()
		close(ended) // before the message: the apply loop may be waiting for it
		s.send(ctx, message{kind: name, what: exited, number: generation, err: err})
	})
}

// forget drops a runner that has ended.
func (s *Supervisor) forget(w *supervised) {
	w.stop()
	w.runner, w.stop, w.ended = nil, nil, nil
	s.setRunning(w.kind, nil)
}

// probeAfter probes the kind once after a while, in place of any probe that is due or under
// way.
func (s *Supervisor) probeAfter(ctx context.Context, w *supervised, wait time.Duration) {
	if w.cancelProbe != nil {
		w.cancelProbe()
	}
	w.probe++
	kind, number := w.kind, w.probe
	ctx, w.cancelProbe = context.WithCancel(ctx)
	s.after(ctx, wait, func() {
		err := s.askProber(ctx, kind)
		s.send(ctx, message{kind: kind.Name(), what: probed, number: number, err: err})
	})
}

// askProber asks the API server about the kind, within the probe's deadline.
func (s *Supervisor) askProber(ctx context.Context, k kinds.Kind) error {
	ctx, cancel := context.WithTimeout(ctx, s.Paces.ProbeTimeout)
	defer cancel()
	err := s.Prober.Probe(ctx, k)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %s: %w", s.Paces.ProbeTimeout, err)
	}
	return err
}

// sendAfter hands a message to the apply loop after a while.
func (s *Supervisor) sendAfter(ctx context.Context, wait time.Duration, m message) {
	s.after(ctx, wait, func() { s.send(ctx, m) })
}

// after calls f after a while, unless ctx is done before. The timer is there when after
// returns.
func (s *Supervisor) after(ctx context.Context, wait time.Duration, f func()) {
	if wait <= 0 {
		s.wg.Go(f)
		return
	}
	timer := s.Clock.NewTimer(wait)
	s.wg.Go(func() {
		defer timer.Stop()
		select {
		case <-timer.C():
			f()
		case <-ctx.Done():
		}
	})
}
