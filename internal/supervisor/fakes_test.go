// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/k8s-aibom/k8s-aibom/internal/health"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// world is what a supervisor under test lives in: a clock that moves when told, an API server
// that answers probes as told, and runners whose fate the test decides.
type world struct {
	clock  *clocktesting.FakeClock
	health *health.Registry
	log    *transitions
	sup    *Supervisor

	mu        sync.Mutex
	probeErrs map[string]error
	probes    map[string]int
	runners   map[string][]*fakeRunner
	live      map[string]int
	mostLive  map[string]int
}

func newWorld(t testing.TB, some ...kinds.Kind) *world {
	t.Helper()
	w := &world{
		clock:     clocktesting.NewFakeClock(time.Unix(0, 0)),
		log:       &transitions{},
		probeErrs: map[string]error{}, probes: map[string]int{},
		runners: map[string][]*fakeRunner{}, live: map[string]int{}, mostLive: map[string]int{},
	}
	w.health = health.NewRegistry(w.clock, w.log)
	w.sup = New(Options{
		Kinds: some, Prober: w, Runners: w,
		Health: w.health, Clock: w.clock, Log: logr.Discard(),
	})
	return w
}

// start runs the supervisor; the returned function stops it and says what Start returned.
func (w *world) start() (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.sup.Start(ctx) }()
	return func() error {
		cancel()
		return <-ended
	}
}

func (w *world) failProbes(k kinds.Kind, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.probeErrs[k.Name()] = err
}

func (w *world) probeCount(k kinds.Kind) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.probes[k.Name()]
}

// Probe implements Prober.
func (w *world) Probe(_ context.Context, k kinds.Kind) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.probes[k.Name()]++
	return w.probeErrs[k.Name()]
}

// New implements RunnerFactory.
func (w *world) New(k kinds.Kind, r Reports) Runner {
	w.mu.Lock()
	defer w.mu.Unlock()
	runner := &fakeRunner{world: w, kind: k, reports: r, end: make(chan error, 1)}
	w.runners[k.Name()] = append(w.runners[k.Name()], runner)
	return runner
}

func (w *world) runnersOf(k kinds.Kind) []*fakeRunner {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]*fakeRunner{}, w.runners[k.Name()]...)
}

// running is the kind's runner that has not ended, or nil.
func (w *world) running(k kinds.Kind) *fakeRunner {
	for _, r := range w.runnersOf(k) {
		if !r.ended() {
			return r
		}
	}
	return nil
}

func (w *world) count(k kinds.Kind, delta int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.live[k.Name()] += delta
	w.mostLive[k.Name()] = max(w.mostLive[k.Name()], w.live[k.Name()])
}

// fakeRunner runs until it is told to end.
type fakeRunner struct {
	world   *world
	kind    kinds.Kind
	reports Reports
	end     chan error

	mu      sync.Mutex
	done    bool
	resyncs int
	keys    []types.NamespacedName
}

func (r *fakeRunner) Run(ctx context.Context, _ time.Duration) error {
	r.world.count(r.kind, 1)
	defer func() {
		r.mu.Lock()
		r.done = true
		r.mu.Unlock()
		r.world.count(r.kind, -1)
	}()
	select {
	case <-ctx.Done():
		return nil
	case err := <-r.end:
		return err
	}
}

func (r *fakeRunner) Enqueue(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keys = append(r.keys, key)
}

func (r *fakeRunner) Resync() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.resyncs++
}

func (r *fakeRunner) ended() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done
}

func (r *fakeRunner) enqueued() []types.NamespacedName {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]types.NamespacedName{}, r.keys...)
}

func (r *fakeRunner) resyncCount() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.resyncs
}

// transitions is a health outlet that remembers.
type transitions struct {
	mu  sync.Mutex
	all []health.Transition
}

func (t *transitions) Changed(health.Status) {}
func (t *transitions) Removed(string)        {}
func (t *transitions) Transitioned(tr health.Transition) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, tr)
}

func (t *transitions) of(k kinds.Kind) []health.TransitionType {
	t.mu.Lock()
	defer t.mu.Unlock()
	some := []health.TransitionType{}
	for _, tr := range t.all {
		if tr.Status.Kind == k.Name() {
			some = append(some, tr.Type)
		}
	}
	return some
}

func kindNamed(name string) kinds.Kind {
	for _, k := range kinds.ThirdParty() {
		if k.Name() == name {
			return k
		}
	}
	return kinds.Kind{GVK: schema.GroupVersionKind{Kind: name}}
}
