// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
)

// Outcome is what came of one look at the configuration: made by Absent, Valid or Invalid.
type Outcome struct {
	snapshot *Snapshot
	err      *InvalidError
}

// Absent says that there is no configuration, which means the defaults.
func Absent() Outcome { return Outcome{} }

// Valid says that the configuration made this snapshot.
func Valid(s *Snapshot) Outcome { return Outcome{snapshot: s} }

// Invalid says that the configuration cannot come into force.
func Invalid(err *InvalidError) Outcome { return Outcome{err: err} }

// DegradedReason is one cause for which the controller works not as configured or not
// completely.
type DegradedReason struct {
	// Reason is one of the v1beta1 reasons of the Degraded condition.
	Reason string
	// Message says what is wrong, in a sentence.
	Message string
}

// State says whether the configuration is in force.
type State struct {
	// Ready is true when the snapshot in force is what the newest configuration asks for.
	Ready bool
	// Reason is the reason of the Ready condition.
	Reason string
	// Message names every failing field; it is never empty.
	Message string
	// Degraded says what is in force instead; empty when Ready.
	Degraded []DegradedReason
}

// Store holds the snapshot in force. Its methods are safe for concurrent use.
type Store struct {
	current  atomic.Pointer[Snapshot]
	loaded   chan struct{}
	applying sync.Mutex // serialises Apply, so that subscribers see changes in order

	mu          sync.Mutex // guards what follows
	state       State
	subscribers []func(old, new *Snapshot)

	good *Snapshot // the last valid snapshot, guarded by applying
}

// NewStore returns a Store with the defaults in force.
func NewStore() *Store {
	s := &Store{loaded: make(chan struct{})}
	s.current.Store(Default())
	s.state = stateOf(Absent(), nil)
	return s
}

// Load returns the snapshot in force, never nil.
func (s *Store) Load() *Snapshot { return s.current.Load() }

// Loaded is closed once Apply was called for the first time. Who acts on the configuration
// waits for it, so as not to act on defaults that were never meant.
func (s *Store) Loaded() <-chan struct{} { return s.loaded }

// State says what the last Apply came to.
func (s *Store) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.state
	state.Degraded = slices.Clone(state.Degraded)
	return state
}

// Subscribe has f called after every change of the snapshot in force, in the order of the
// changes and never concurrently. f must return soon and must not call Apply.
func (s *Store) Subscribe(f func(old, new *Snapshot)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subscribers = append(s.subscribers, f)
}

// Apply brings an outcome into force: a valid snapshot replaces the one in force, an absent
// configuration means the defaults, and an invalid one leaves the last valid snapshot in
// force, or the defaults when there was none since the configuration was last absent. It
// returns the new State.
func (s *Store) Apply(o Outcome) State {
	s.applying.Lock()
	defer s.applying.Unlock()

	next, state := decide(o, s.good)
	if o.err == nil {
		s.good = o.snapshot
	}
	old := s.current.Load()
	if next.Equal(old) {
		next = old
	}

	s.mu.Lock()
	s.state = state
	s.current.Store(next)
	subscribers := slices.Clone(s.subscribers)
	s.mu.Unlock()

	select {
	case <-s.loaded:
	default:
		close(s.loaded)
	}
	if next != old {
		for _, f := range subscribers {
			f(old, next)
		}
	}
	return s.State()
}

// decide says which snapshot an outcome brings into force, given the last valid one (nil
// when there is none), and in which state that is.
func decide(o Outcome, good *Snapshot) (*Snapshot, State) {
	switch {
	case o.snapshot != nil:
		return o.snapshot, stateOf(o, good)
	case o.err != nil && good != nil:
		return good, stateOf(o, good)
	default:
		return Default(), stateOf(o, good)
	}
}

func stateOf(o Outcome, good *Snapshot) State {
	switch {
	case o.snapshot != nil:
		return State{Ready: true, Reason: v1beta1.ReasonConfigLoaded, Message: "the configuration is in force" + o.snapshot.WorkloadKinds.notice()}
	case o.err == nil:
		return State{Ready: true, Reason: v1beta1.ReasonConfigLoaded, Message: "there is no configuration, so the defaults are in force"}
	}
	degraded := DegradedReason{v1beta1.ReasonRunningOnDefaults, "the configuration is invalid and no valid one was seen, so the defaults are in force"}
	if good != nil {
		degraded = DegradedReason{v1beta1.ReasonRunningOnLastKnownGood, "the configuration is invalid, so the last valid one stays in force"}
	}
	return State{Reason: o.err.Reason, Message: o.err.Error(), Degraded: []DegradedReason{degraded}}
}
