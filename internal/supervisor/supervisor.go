// SPDX-License-Identifier: Apache-2.0

// Package supervisor owns the lifecycle of every third-party watch. Each kind has a cache and
// a controller of its own (runner.go), so that whatever happens to one kind's API, or to the
// operator behind it, stays with that kind: its failures are recorded in the health registry,
// retried with backoff, and never returned to the manager.
//
// Discovery (discovery.go) looks at the candidates' CRDs. What a look means for the CRD's
// state (crdstate.go) and what a change of state or of the configuration leads to
// (transition.go) are pure functions. One goroutine, the apply loop (apply.go), acts: it alone
// changes runners, health and tracked kinds. Everything else sends it messages.
package supervisor

import (
	"context"
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
	// ProbeTimeout bounds one probe, and one read of a CRD, with all requests and retries.
	ProbeTimeout time.Duration
	// CacheSyncTimeout bounds the first filling of a kind's cache, and how long discovery may
	// lag behind a CRD that is Established.
	CacheSyncTimeout time.Duration
	// BackoffInitial and BackoffMax bound the time before what failed is tried again: a kind,
	// the read of a CRD, a sweep. It doubles with each failure.
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

// Tracker is told which third-party kinds are installed: workloads roll up into them.
type Tracker interface {
	// Add says that the kind is installed.
	Add(k kinds.Kind)
	// Remove says that it is not any more.
	Remove(k kinds.Kind)
	// Settle says that a look at the kind's CRD has told something, or that none has for long.
	Settle(k kinds.Kind)
}

// Options make a Supervisor.
type Options struct {
	// Kinds are the candidates.
	Kinds []kinds.Kind
	// CRDs tell which candidates are installed.
	CRDs CRDs
	// Mapper tells whether the API server's discovery has a kind.
	Mapper meta.RESTMapper
	// Prober asks the API server whether a kind can be read.
	Prober Prober
	// Runners make a kind's cache and controller.
	Runners RunnerFactory
	// Configured is closed once a configuration is in force. Nothing is done before it is; nil
	// means that one is.
	Configured <-chan struct{}
	// Allowed returns what the configuration in force says about kinds. It is asked once for
	// each message, so that one message is judged by one configuration; nil allows all.
	Allowed func() func(kinds.Kind) bool
	// Tracked is told which kinds are installed.
	Tracked Tracker
	// Sweep deletes all AIBOMs of a kind. It is called only while nothing runs that could make
	// one, and again until it succeeds.
	Sweep func(ctx context.Context, k kinds.Kind) error
	// FanOut has every workload looked at again. It comes back by itself for what it missed.
	FanOut func(ctx context.Context) error
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
	inbox   chan message
	reallow chan struct{} // holds a token when the configuration changed
	refan   chan struct{} // holds a token when a fan-out is due
	wg      sync.WaitGroup

	watches map[string]*supervised // by kinds.Kind.Name; only the apply loop touches it

	mu      sync.Mutex
	running map[string]supervisedRunner // what Enqueue and Resync reach
}

type supervisedRunner struct {
	kind   kinds.Kind
	runner Runner
}

// New returns a Supervisor; it does nothing before Start.
func New(o Options) *Supervisor {
	o.Paces = o.Paces.WithDefaults()
	if o.Allowed == nil {
		o.Allowed = func() func(kinds.Kind) bool { return func(kinds.Kind) bool { return true } }
	}
	s := &Supervisor{
		Options: o,
		inbox:   make(chan message),
		reallow: make(chan struct{}, 1),
		refan:   make(chan struct{}, 1),
		watches: map[string]*supervised{},
		running: map[string]supervisedRunner{},
	}
	for _, k := range o.Kinds {
		s.watches[k.Name()] = &supervised{
			kind: k, backoff: newBackoff(o.Paces.BackoffInitial, o.Paces.BackoffMax, o.Jitter),
			sweeping: newBackoff(o.Paces.BackoffInitial, o.Paces.BackoffMax, o.Jitter),
		}
	}
	return s
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
	d := newDiscovery(s.Kinds, s.Options, s.send)
	for _, k := range s.Kinds {
		s.wg.Go(func() { d.follow(ctx, k) })
	}
	s.wg.Go(func() { d.watch(ctx) })
	s.wg.Go(func() { s.fanOuts(ctx) })

	if s.Configured != nil {
		select {
		case <-s.Configured:
		case <-ctx.Done():
			return nil
		}
	}
	s.applyUntilDone(ctx)
	return nil
}

// AllowedChanged has the kinds that the configuration allows asked for again. Changes that
// come quickly are one.
func (s *Supervisor) AllowedChanged() {
	select {
	case s.reallow <- struct{}{}:
	default:
	}
}

// fanOutSoon has every workload looked at again, once for however many calls come while it is
// under way.
func (s *Supervisor) fanOutSoon() {
	select {
	case s.refan <- struct{}{}:
	default:
	}
}

// fanOuts runs the fan-outs, one at a time, until ctx is done.
func (s *Supervisor) fanOuts(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.refan:
		}
		if s.FanOut == nil {
			continue
		}
		if err := s.FanOut(ctx); err != nil && ctx.Err() == nil {
			s.Log.Error(err, "Not every workload could be looked at yet after a kind was installed or removed")
		}
	}
}

// Enqueue has one workload of a kind looked at, if the kind's watch runs.
func (s *Supervisor) Enqueue(k kinds.Kind, key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.running[k.Name()]; ok {
		r.runner.Enqueue(key)
	}
}

// Resync has every workload of every kind whose watch runs looked at.
func (s *Supervisor) Resync() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.running {
		r.runner.Resync()
	}
}

// Running lists the kinds whose watch runs, in no particular order.
func (s *Supervisor) Running() []kinds.Kind {
	s.mu.Lock()
	defer s.mu.Unlock()
	var some []kinds.Kind
	for _, r := range s.running {
		some = append(some, r.kind)
	}
	return some
}

func (s *Supervisor) setRunning(k kinds.Kind, r Runner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r == nil {
		delete(s.running, k.Name())
		return
	}
	s.running[k.Name()] = supervisedRunner{k, r}
}
