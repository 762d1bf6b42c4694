// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/k8s-aibom/k8s-aibom/internal/health"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// world is what a supervisor under test lives in: an API server that answers as told, and
// runners whose fate the test decides. It is used within a testing/synctest bubble, where time
// moves only when everything waits.
type world struct {
	log    *transitions
	health *health.Registry
	sup    *Supervisor
	stop   func() error
	// autoSync has every runner sync at once.
	autoSync bool
	// configured is closed once a configuration is in force; nil means that one is.
	configured chan struct{}

	mu        sync.Mutex
	uids      int
	crds      map[string]*apiextensionsv1.CustomResourceDefinition
	crdErrs   map[string]error
	hanging   map[string]bool
	gets      map[string]int
	unmapped  map[string]bool
	mistaken  map[string]bool
	watcher   CRDWatcher
	excluded  map[string]bool
	tracked   map[string]bool
	settled   map[string]bool
	acted     []string // tracks, sweeps and starts in their order
	sweeps    map[string]int
	sweepErrs map[string]error
	// sweepTries counts the sweeps that were begun; those of a kind in sweepHangs never end.
	sweepTries map[string]int
	sweepHangs map[string]bool
	fanOuts    int
	probeErrs  map[string]error
	probes     map[string]int
	runners    map[string][]*fakeRunner
	live       map[string]int
	mostLive   map[string]int
}

// inWorld runs a test in a bubble, in a world where some kinds are installed and watched. The
// supervisor is stopped at its end; the bubble fails the test when a goroutine is left.
func inWorld(t *testing.T, installed []kinds.Kind, test func(g *WithT, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(installed...)
		w.start()
		test(NewWithT(t), w)
		NewWithT(t).Expect(w.stop()).To(Succeed(), "nothing ever reaches the manager")
	})
}

// candidates are the kinds that the supervisor of a world looks for.
var candidates = []kinds.Kind{dgd, lws, nim}

func newWorld(installed ...kinds.Kind) *world {
	w := &world{
		crds: map[string]*apiextensionsv1.CustomResourceDefinition{}, crdErrs: map[string]error{},
		hanging: map[string]bool{}, gets: map[string]int{}, unmapped: map[string]bool{}, mistaken: map[string]bool{}, excluded: map[string]bool{},
		sweepErrs: map[string]error{}, sweepHangs: map[string]bool{}, probeErrs: map[string]error{}, mostLive: map[string]int{},
	}
	for _, k := range installed {
		w.set(k, w.servable(k))
	}
	return w
}

// start runs a supervisor that knows nothing yet, as after a restart of the process.
func (w *world) start() {
	w.mu.Lock()
	w.log = &transitions{}
	w.health = health.NewRegistry(clock.RealClock{}, w.log)
	w.tracked, w.settled, w.sweeps = map[string]bool{}, map[string]bool{}, map[string]int{}
	w.sweepTries = map[string]int{}
	w.acted, w.fanOuts = nil, 0
	w.probes, w.runners, w.live = map[string]int{}, map[string][]*fakeRunner{}, map[string]int{}
	w.sup = New(Options{
		Kinds: candidates, CRDs: w, Mapper: mapper{w: w}, Prober: w, Runners: w, Tracked: w,
		Configured: w.configured, Allowed: w.allowed, Sweep: w.sweep, FanOut: w.fanOut,
		Health: w.health, Clock: clock.RealClock{}, Log: logr.Discard(),
	})
	w.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.sup.Start(ctx) }()
	w.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	w.settle()
}

// pass lets time pass.
func (w *world) pass(d time.Duration) {
	w.order()
	<-time.After(d)
	w.settle()
}

// settle waits until everything waits.
func (w *world) settle() {
	synctest.Wait()
	w.order()
}

// order has what the test reads and writes come before what the world does next, and after
// what it did: tests do so without holding the lock, while everything waits.
func (w *world) order() {
	w.mu.Lock()
	defer w.mu.Unlock()
}

// servable is a CRD of the kind that can be served, under a UID of its own.
func (w *world) servable(k kinds.Kind) *apiextensionsv1.CustomResourceDefinition {
	w.uids++
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name, crd.UID = k.CRD(), types.UID(fmt.Sprint(w.uids))
	crd.Spec.Names.Kind, crd.Spec.Scope = k.GVK.Kind, apiextensionsv1.NamespaceScoped
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: k.GVK.Version, Served: true}}
	crd.Status.AcceptedNames.Kind = k.GVK.Kind
	crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{
		{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue},
	}
	return crd
}

// set is what the API server has under the name of the kind's CRD from now on.
func (w *world) set(k kinds.Kind, crd *apiextensionsv1.CustomResourceDefinition) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.crds[k.CRD()] = crd
}

// changes sets the CRD and has the watch of CRDs tell of it.
func (w *world) changes(k kinds.Kind, crd *apiextensionsv1.CustomResourceDefinition) {
	w.set(k, crd)
	w.tells(k)
}

func (w *world) tells(k kinds.Kind) {
	w.order()
	w.watcher.Changed(k.CRD())
	w.settle()
}

func (w *world) installs(k kinds.Kind) { w.changes(k, w.servable(k)) }
func (w *world) deletes(k kinds.Kind)  { w.changes(k, nil) }

// serves makes the CRD serve the version that is read, or not.
func (w *world) serves(k kinds.Kind, yes bool) {
	crd := w.crds[k.CRD()].DeepCopy()
	crd.Spec.Versions[0].Served = yes
	w.changes(k, crd)
}

// allows changes the configuration.
func (w *world) allows(k kinds.Kind, yes bool) {
	w.mu.Lock()
	w.excluded[k.Name()] = !yes
	w.mu.Unlock()
	w.sup.AllowedChanged()
	w.settle()
}

// failReads has the reads of the kind's CRD fail; nil makes them succeed.
func (w *world) failReads(k kinds.Kind, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.crdErrs[k.CRD()] = err
}

// failProbes has the probes of the kind fail; nil makes them succeed.
func (w *world) failProbes(k kinds.Kind, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.probeErrs[k.Name()] = err
}

// Get implements CRDs.
func (w *world) Get(ctx context.Context, name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	w.mu.Lock()
	w.gets[name]++
	hangs, err, crd := w.hanging[name], w.crdErrs[name], w.crds[name]
	w.mu.Unlock()
	switch {
	case hangs:
		<-ctx.Done()
		return nil, ctx.Err()
	case err != nil:
		return nil, err
	case crd == nil:
		return nil, apierrors.NewNotFound(crdResource.GroupResource(), name)
	}
	return crd.DeepCopy(), nil
}

// Watch implements CRDs.
func (w *world) Watch(ctx context.Context, watcher CRDWatcher) {
	w.mu.Lock()
	w.watcher = watcher
	w.mu.Unlock()
	watcher.Requested(nil)
	watcher.Synced()
	<-ctx.Done()
}

// mapper is the API server's discovery: it has what is not said to lag.
type mapper struct {
	meta.RESTMapper
	w *world
}

func (m mapper) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	if m.w.unmapped[gk.Kind] {
		return nil, &meta.NoKindMatchError{GroupKind: gk, SearchedVersions: versions}
	}
	for _, k := range candidates {
		if k.GVK.GroupKind() == gk {
			resource := k.Resource
			if m.w.mistaken[gk.Kind] {
				resource = "others"
			}
			return &meta.RESTMapping{Resource: k.GVK.GroupVersion().WithResource(resource), Scope: meta.RESTScopeNamespace}, nil
		}
	}
	return nil, &meta.NoKindMatchError{GroupKind: gk, SearchedVersions: versions}
}

func (w *world) allowed() func(kinds.Kind) bool {
	return func(k kinds.Kind) bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return !w.excluded[k.Name()]
	}
}

// Add, Remove and Settle implement Tracker.
func (w *world) Add(k kinds.Kind)    { w.track(k, true) }
func (w *world) Remove(k kinds.Kind) { w.track(k, false) }
func (w *world) Settle(k kinds.Kind) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.settled[k.Name()] = true
}

func (w *world) track(k kinds.Kind, yes bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tracked[k.Name()] == yes {
		w.acted = append(w.acted, "tracked twice")
	}
	w.tracked[k.Name()] = yes
	w.acted = append(w.acted, map[bool]string{true: "track", false: "untrack"}[yes])
}

func (w *world) sweep(ctx context.Context, k kinds.Kind) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sweepTries[k.Name()]++
	if w.sweepHangs[k.Name()] {
		w.mu.Unlock()
		<-ctx.Done()
		w.mu.Lock()
		return ctx.Err()
	}
	if w.live[k.Name()] > 0 {
		w.acted = append(w.acted, "sweep beside a runner")
	}
	if err := w.sweepErrs[k.Name()]; err != nil {
		return err
	}
	w.acted = append(w.acted, "sweep")
	w.sweeps[k.Name()]++
	return nil
}

func (w *world) fanOut(context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fanOuts++
	return nil
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
	w.acted = append(w.acted, "run")
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

// status is what health knows of a kind, or of CRDDiscovery.
func (w *world) status(kind string) health.Status {
	for _, s := range w.health.Statuses() {
		if s.Kind == kind {
			return s
		}
	}
	return health.Status{}
}

func (w *world) phase(k kinds.Kind) health.Phase { return w.status(k.Name()).Phase }

// events are the transitions that were told of a kind.
func (w *world) events(k kinds.Kind) []health.TransitionType { return w.log.of(k.Name()) }

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
	if r.world.autoSync {
		r.reports.Synced()
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-r.end:
		return err
	}
}

// syncs reports that the runner's cache is filled.
func (r *fakeRunner) syncs() {
	r.reports.Synced()
	r.world.settle()
}

// lists reports how a request ended.
func (r *fakeRunner) lists(err error) {
	r.reports.Listed(err)
	r.world.settle()
}

// ends has the runner end by itself.
func (r *fakeRunner) ends(err error) {
	r.end <- err
	r.world.settle()
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

func (t *transitions) of(kind string) []health.TransitionType {
	t.mu.Lock()
	defer t.mu.Unlock()
	some := []health.TransitionType{}
	for _, tr := range t.all {
		if tr.Status.Kind == kind {
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
	panic("the catalogue has no " + name)
}
