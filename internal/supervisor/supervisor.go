// SPDX-License-Identifier: Apache-2.0

// Package supervisor owns the lifecycle of every third-party watch. Each kind has a cache and
// a controller of its own (runner.go), so that whatever happens to one kind's API, or to the
// operator behind it, stays with that kind: its failures are recorded in the health registry,
// retried with backoff, and never returned to the manager.
//
// One goroutine, the apply loop, changes runners and health. Everything else (probes,
// informers, runners) sends it messages.
package supervisor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/k8s-aibom/k8s-aibom/internal/health"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// Defaults of the paces.
const (
	DefaultProbeInterval    = 2 * time.Minute
	DefaultProbeTimeout     = 10 * time.Second
	DefaultCacheSyncTimeout = 2 * time.Minute
	DefaultBackoffInitial   = 5 * time.Second
	DefaultBackoffMax       = 5 * time.Minute
)

// Paces say how often and how long things are tried.
type Paces struct {
	// ProbeInterval is the time between two probes of a kind whose watch runs.
	ProbeInterval time.Duration
	// ProbeTimeout bounds one probe, with all its requests and their retries.
	ProbeTimeout time.Duration
	// CacheSyncTimeout bounds the first filling of a kind's cache.
	CacheSyncTimeout time.Duration
	// BackoffInitial and BackoffMax bound the time before a kind that failed is tried again.
	// It doubles with each failure.
	BackoffInitial, BackoffMax time.Duration
}

// WithDefaults fills in what is 0.
func (p Paces) WithDefaults() Paces {
	fill := func(d *time.Duration, otherwise time.Duration) {
		if *d == 0 {
			*d = otherwise
		}
	}
	fill(&p.ProbeInterval, DefaultProbeInterval)
	fill(&p.ProbeTimeout, DefaultProbeTimeout)
	fill(&p.CacheSyncTimeout, DefaultCacheSyncTimeout)
	fill(&p.BackoffInitial, DefaultBackoffInitial)
	fill(&p.BackoffMax, DefaultBackoffMax)
	return p
}

// Options make a Supervisor.
type Options struct {
	// Kinds are the candidates.
	Kinds []kinds.Kind
	// Prober asks the API server whether a kind can be read.
	Prober Prober
	// Runners make a kind's cache and controller.
	Runners RunnerFactory
	// Reported lists the workloads of a kind that something was written about. They are looked
	// at when the kind recovers, also those that are gone meanwhile; nil means none.
	Reported func(ctx context.Context, k kinds.Kind) []types.NamespacedName
	// Health is told how every watch fares.
	Health *health.Registry
	// Paces say how often things are tried; zeros mean the defaults.
	Paces Paces
	// Clock paces everything.
	Clock clock.Clock
	// Log is told of what happens.
	Log logr.Logger
	// Jitter is the share by which a backoff may be longer than computed, 0.1 for 10 %.
	Jitter float64
}

// Supervisor is the one runnable that owns all third-party watches.
type Supervisor struct {
	Options
	inbox chan message
	wg    sync.WaitGroup

	watches map[string]*supervised // by kinds.Kind.Name; only the apply loop touches it

	mu      sync.Mutex
	running map[string]Runner // what Enqueue and Resync reach
}

// supervised is the apply loop's knowledge of one kind.
type supervised struct {
	kind    kinds.Kind
	backoff backoff
	// runner is nil while nothing runs.
	runner Runner
	stop   context.CancelFunc
	// generation tells the messages of a runner from those of the one before it.
	generation int
	// probe tells the answer to the newest probe from answers to earlier ones.
	probe       int
	cancelProbe context.CancelFunc
}

// New returns a Supervisor; it does nothing before Start.
func New(o Options) *Supervisor {
	o.Paces = o.Paces.WithDefaults()
	return &Supervisor{
		Options: o,
		inbox:   make(chan message),
		watches: map[string]*supervised{},
		running: map[string]Runner{},
	}
}

// NeedLeaderElection is true: a standby watches nothing of third parties.
func (s *Supervisor) NeedLeaderElection() bool { return true }

// Start supervises until ctx is done. It then stops every watch, waits for all it started and
// returns nil: no failure of a third-party kind ever reaches the manager.
func (s *Supervisor) Start(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer s.wg.Wait()
	defer cancel()

	names := make([]string, 0, len(s.Kinds))
	for _, k := range s.Kinds {
		names = append(names, k.Name())
	}
	s.Health.Expect(names...)
	for _, k := range s.Kinds {
		w := &supervised{kind: k, backoff: newBackoff(s.Paces.BackoffInitial, s.Paces.BackoffMax, s.Jitter)}
		s.watches[k.Name()] = w
		s.probeAfter(ctx, w, 0)
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case m := <-s.inbox:
			s.apply(ctx, m)
		}
	}
}

// dismiss ends the supervision of a kind that the API server does not have. That is no
// failure, and nothing is said about it but in the log.
func (s *Supervisor) dismiss(w *supervised) {
	s.Log.Info("The kind is not installed, it is not watched", "kind", w.kind.Key(), "version", w.kind.GVK.Version)
	w.cancelProbe()
	delete(s.watches, w.kind.Name())
	s.Health.Remove(w.kind.Name())
}

// message is what probes and runners tell the apply loop.
type message struct {
	kind string
	what news
	// number is the runner's generation or the probe's number.
	number int
	err    error
}

// news is what a message is about.
type news int

const (
	// probed: a probe ended, well when err is nil.
	probed news = iota
	// listed: a list or watch request of a runner's informer ended, well when err is nil.
	listed
	// synced: a runner's cache is filled.
	synced
	// exited: a runner has stopped and everything that it started has ended.
	exited
)

// send hands a message to the apply loop, or drops it when nobody listens any more.
func (s *Supervisor) send(ctx context.Context, m message) {
	select {
	case s.inbox <- m:
	case <-ctx.Done():
	}
}

// apply acts on one message.
func (s *Supervisor) apply(ctx context.Context, m message) {
	w, known := s.watches[m.kind]
	if !known {
		return
	}
	if m.what == probed {
		if m.number == w.probe {
			s.probed(ctx, w, m.err)
		}
		return
	}
	if m.number != w.generation || w.runner == nil {
		return
	}
	switch m.what {
	case listed:
		s.listed(ctx, w, m.err)
	case synced:
		w.backoff.reset()
		if s.Health.MarkSynced(w.kind.Name()) {
			s.recovered(ctx, w)
		}
	case exited:
		s.exited(ctx, w, m.err)
	}
}

// probed acts on a probe's answer. While nothing runs a good answer starts the watch; while
// it runs a bad one only says that it is unhealthy: a stale view is better than none. A kind
// that never ran and is not installed is left alone.
func (s *Supervisor) probed(ctx context.Context, w *supervised, err error) {
	if meta.IsNoMatchError(err) && w.generation == 0 {
		s.dismiss(w)
		return
	}
	s.Health.MarkStarting(w.kind.Name())
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

func (s *Supervisor) listed(ctx context.Context, w *supervised, err error) {
	if err != nil {
		s.fail(w, health.SourceRelist, err)
		return
	}
	if s.Health.Clear(w.kind.Name(), health.SourceRelist) {
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

func (s *Supervisor) fail(w *supervised, source health.Source, err error) {
	s.Log.Info("The watch of a third-party kind fails", "kind", w.kind.Key(), "source", string(source), "cause", err.Error())
	s.Health.Fail(w.kind.Name(), source, err)
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
	w.runner = s.Runners.New(w.kind, Reports{
		Listed: func(err error) { s.send(runnerCtx, message{kind: name, what: listed, number: generation, err: err}) },
		Synced: func() { s.send(runnerCtx, message{kind: name, what: synced, number: generation}) },
	})
	s.setRunning(name, w.runner)
	runner := w.runner
	s.wg.Go(func() {
		err := runner.Run(runnerCtx, s.Paces.CacheSyncTimeout)
		stop()
		s.send(ctx, message{kind: name, what: exited, number: generation, err: err})
	})
}

// forget drops a runner that has ended.
func (s *Supervisor) forget(w *supervised) {
	w.stop()
	w.runner, w.stop = nil, nil
	s.setRunning(w.kind.Name(), nil)
}

// probeAfter probes the kind once after a while, in place of any probe that is due or under
// way.
func (s *Supervisor) probeAfter(ctx context.Context, w *supervised, wait time.Duration) {
	if w.cancelProbe != nil {
		w.cancelProbe()
	}
	w.probe++
	kind, number := w.kind, w.probe
	ctx, cancel := context.WithCancel(ctx)
	due := func() bool { return true }
	w.cancelProbe = cancel
	if wait > 0 {
		timer := s.Clock.NewTimer(wait)
		w.cancelProbe = func() {
			cancel()
			timer.Stop()
		}
		due = func() bool {
			defer timer.Stop()
			select {
			case <-timer.C():
				return true
			case <-ctx.Done():
				return false
			}
		}
	}
	s.wg.Go(func() {
		defer cancel()
		if !due() {
			return
		}
		err := s.probe(ctx, kind)
		s.send(ctx, message{kind: kind.Name(), what: probed, number: number, err: err})
	})
}

// probe asks the API server about the kind, within the probe's deadline.
func (s *Supervisor) probe(ctx context.Context, k kinds.Kind) error {
	ctx, cancel := context.WithTimeout(ctx, s.Paces.ProbeTimeout)
	defer cancel()
	err := s.Prober.Probe(ctx, k)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %s: %w", s.Paces.ProbeTimeout, err)
	}
	return err
}

func (s *Supervisor) setRunning(name string, r Runner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r == nil {
		delete(s.running, name)
		return
	}
	s.running[name] = r
}

// Enqueue has one workload of a kind looked at, if the kind's watch runs.
func (s *Supervisor) Enqueue(k kinds.Kind, key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.running[k.Name()]; ok {
		r.Enqueue(key)
	}
}

// Resync has every workload of every kind whose watch runs looked at.
func (s *Supervisor) Resync() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.running {
		r.Resync()
	}
}
