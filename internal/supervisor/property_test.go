// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/k8s-aibom/k8s-aibom/internal/health"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// sequences is how many random sequences are tried.
const sequences = 10_000

// longEnough is more than any retry or probe waits.
const longEnough = DefaultBackoffMax + DefaultProbeInterval

// step is one thing that happens to a kind, or to all.
type step struct {
	What string
	Kind kinds.Kind
}

// String shows a step where a sequence fails.
func (s step) String() string { return s.What + " " + s.Kind.Name() }

// happenings are all that can happen.
var happenings = []string{
	"install", "install unservable", "delete", "begin to delete", "recreate", "unserve", "serve", "touch",
	"allow", "exclude", "reads fail", "reads work", "outage", "outage ends",
	"informer fails", "informer works", "restart", "time",
}

// TestEverySequenceFollowsTheModel drives a supervisor of three kinds by random sequences and
// compares all that it does with the model. The sequence is drawn outside of the bubble, so
// that rapid can shorten one that fails; rapid prints it with its seed.
func TestEverySequenceFollowsTheModel(t *testing.T) {
	checks := flag.Lookup("rapid.checks")
	was := checks.Value.String()
	_ = checks.Value.Set(fmt.Sprint(sequences))
	defer func() { _ = checks.Value.Set(was) }()

	steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{rapid.SampledFrom(happenings).Draw(t, "what"), rapid.SampledFrom(candidates).Draw(t, "kind")}
	}), 1, 24)
	rapid.Check(t, func(rt *rapid.T) {
		sequence := steps.Draw(rt, "sequence")
		var problem error
		synctest.Test(t, func(*testing.T) { problem = follow(sequence) })
		if problem != nil {
			rt.Fatal(problem)
		}
	})
}

// follow runs a sequence and says where the supervisor leaves the model.
func follow(sequence []step) error {
	w := newWorld()
	w.autoSync = true
	models := map[string]*model{}
	for _, k := range candidates {
		models[k.Name()] = &model{allowed: true}
		models[k.Name()].look()
	}
	w.start()
	d := &driver{w: w, models: models}
	for i, s := range sequence {
		d.take(s)
		if err := d.compare(); err != nil {
			_ = w.stop()
			return fmt.Errorf("after step %d, %s: %w", i, s, err)
		}
	}
	// The faults stop: everything converges.
	d.take(step{What: "informer works"})
	for _, k := range candidates {
		d.take(step{"reads work", k})
		d.take(step{"outage ends", k})
		d.take(step{"allow", k})
	}
	for range 2 {
		d.take(step{What: "time"})
	}
	err := d.compare()
	for _, k := range candidates {
		m := models[k.Name()]
		if there := m.uid != 0 && m.servable && !m.deleting; err == nil && there != (w.phase(k) == health.PhaseHealthy) {
			err = fmt.Errorf("%s is %q at the end, servable: %v", k.Name(), w.phase(k), there)
		}
	}
	return errors.Join(err, w.stop())
}

// driver does to the world and to the models the same things.
type driver struct {
	w      *world
	models map[string]*model
	deaf   bool // the informer fails
	// readable are the kinds whose CRDs can be read again before long.
	readable []kinds.Kind
}

func (d *driver) take(s step) {
	w, k, m := d.w, s.Kind, d.models[s.Kind.Name()]
	switch s.What {
	case "install", "install unservable":
		if m.uid == 0 {
			crd := w.servable(k)
			m.uid, m.servable, m.deleting = w.uids, s.What == "install", false
			crd.Spec.Versions[0].Served = m.servable
			w.set(k, crd)
			d.changed(k)
		}
	case "delete":
		if m.uid != 0 {
			m.uid, m.deleting = 0, false
			w.set(k, nil)
			d.changed(k)
		}
	case "begin to delete":
		if m.uid != 0 && !m.deleting {
			crd := w.crds[k.CRD()].DeepCopy()
			now := metav1.Now()
			crd.DeletionTimestamp = &now
			m.deleting = true
			w.set(k, crd)
			d.changed(k)
		}
	case "recreate":
		if m.uid != 0 {
			w.set(k, w.servable(k))
			m.uid, m.servable, m.deleting = w.uids, true, false
			d.changed(k)
		}
	case "unserve", "serve":
		if m.uid != 0 {
			crd := w.crds[k.CRD()].DeepCopy()
			m.servable = s.What == "serve"
			crd.Spec.Versions[0].Served = m.servable
			w.set(k, crd)
			d.changed(k)
		}
	case "touch":
		d.changed(k)
	case "allow", "exclude":
		m.allow(s.What == "allow")
		w.allows(k, m.allowed)
	case "reads fail":
		m.unread = true
		w.failReads(k, errForbidden)
	case "reads work":
		d.readable = append(d.readable, k) // once the probes that are due are over
	case "outage":
		m.outage = true
		w.failProbes(k, errConversion)
	case "outage ends":
		m.outage = false
		w.failProbes(k, nil)
	case "informer fails":
		d.deaf = true
		w.watcher.Requested(errForbidden)
	case "informer works":
		d.deaf = false
		w.watcher.Requested(nil)
		for _, k := range candidates {
			if d.models[k.Name()].unnoticed {
				d.changed(k)
			}
		}
	case "restart":
		_ = w.stop()
		d.deaf = false
		w.start()
		for _, m := range d.models {
			m.restart()
		}
	case "time":
		d.time()
		for _, k := range d.readable {
			d.models[k.Name()].unread = false
			w.failReads(k, nil)
		}
		d.readable = nil
		d.time()
	}
	w.settle()
}

func (d *driver) time() {
	d.w.pass(longEnough)
	for _, m := range d.models {
		m.time()
	}
}

// changed tells of a change of the kind's CRD, if the informer can.
func (d *driver) changed(k kinds.Kind) {
	m := d.models[k.Name()]
	m.unnoticed = d.deaf
	if d.deaf {
		return
	}
	m.look()
	d.w.tells(k)
}

// compare says what differs between the supervisor and the models.
func (d *driver) compare() error {
	w := d.w
	var failing []string
	for _, k := range candidates {
		m, name := d.models[k.Name()], k.Name()
		type state struct {
			Phase   health.Phase
			Reason  string
			Events  []health.TransitionType
			Sweeps  int
			Running bool
			Tracked bool
			Settled bool
		}
		s := w.status(name)
		got := state{s.Phase, s.Reason, w.events(k), w.sweeps[name], w.running(k) != nil, w.tracked[name], w.settled[name]}
		want := state{m.phase(), m.why(), m.events, m.sweeps, m.runs, m.known != 0, m.settled}
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			return fmt.Errorf("%s is\n  %+v, want\n  %+v", name, got, want)
		}
		if w.mostLive[name] > 1 {
			return fmt.Errorf("%d runners of %s at once", w.mostLive[name], name)
		}
		if m.retry {
			failing = append(failing, name)
		}
	}
	for _, wrong := range []string{"sweep beside a runner", "tracked twice"} {
		if slices.Contains(w.acted, wrong) {
			return errors.New(wrong)
		}
	}
	discovery := w.status(health.CRDDiscovery).Phase
	if wantFailing := len(failing) > 0 || d.deaf; wantFailing != (discovery == health.PhaseUnhealthy) {
		return fmt.Errorf("CRDDiscovery is %q, failing: %v, informer failing: %v", discovery, failing, d.deaf)
	}
	if !alternates(w.log.of(health.CRDDiscovery)) {
		return fmt.Errorf("CRDDiscovery was told of as %v", w.log.of(health.CRDDiscovery))
	}
	if changes := slices.Contains(w.acted, "track") || slices.Contains(w.acted, "untrack"); changes != (w.fanOuts > 0) {
		return fmt.Errorf("%d fan-outs, tracked kinds changed: %v", w.fanOuts, changes)
	}
	return nil
}

// TestRandomFaultsStayWithTheirKind drives one kind's watch with random faults beside a kind
// that has none.
func TestRandomFaultsStayWithTheirKind(t *testing.T) {
	steps := rapid.SliceOfN(rapid.SampledFrom([]string{
		"probe fails", "probe works", "list fails", "list works", "synced", "exit", "time",
	}), 1, 25)
	rapid.Check(t, func(rt *rapid.T) {
		sequence := steps.Draw(rt, "steps")
		var problem error
		synctest.Test(t, func(*testing.T) { problem = faults(sequence) })
		if problem != nil {
			rt.Fatal(problem)
		}
	})
}

func faults(sequence []string) error {
	w := newWorld(dgd, lws)
	w.start()
	steady := w.running(lws)
	steady.syncs()
	resyncs := steady.resyncCount()
	fault := errors.New("fault")
	for _, what := range sequence {
		r := w.running(dgd)
		switch {
		case what == "probe fails":
			w.failProbes(dgd, fault)
		case what == "probe works":
			w.failProbes(dgd, nil)
		case what == "time":
			w.pass(3 * time.Minute)
		case r == nil:
		case what == "list fails":
			r.lists(fault)
		case what == "list works":
			r.lists(nil)
		case what == "synced":
			r.syncs()
		case what == "exit":
			r.ends(fault)
		}
	}
	w.failProbes(dgd, nil)
	w.pass(longEnough)
	if r := w.running(dgd); r != nil {
		r.lists(nil)
		r.syncs()
	}
	var errs []error
	expect := func(ok bool, what string) {
		if !ok {
			errs = append(errs, errors.New(what))
		}
	}
	expect(w.phase(dgd) == health.PhaseHealthy, "the kind recovers when its faults stop")
	expect(w.mostLive[dgd.Name()] <= 1, "never two runners of one kind")
	expect(alternates(w.events(dgd)), "each transition is told once")
	expect(!steady.ended() && len(w.runnersOf(lws)) == 1, "the other kind's runner goes on")
	expect(steady.resyncCount() == resyncs, "nothing is done for the other kind on account of this one")
	expect(len(w.events(lws)) == 1, "the other kind hears nothing of it")
	return errors.Join(append(errs, w.stop())...)
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
