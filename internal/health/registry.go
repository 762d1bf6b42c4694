// SPDX-License-Identifier: Apache-2.0

// Package health knows how the watch of each third-party kind fares, and tells it through
// three outlets: a condition, events and metrics.
package health

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
)

// Source is one of the things that can fail about a watch. Each clears only its own failure.
type Source string

const (
	// SourceSync is the first filling of the watch's cache, and the life of its controller.
	SourceSync Source = "sync"
	// SourceRelist is a list or watch request of the watch's informer.
	SourceRelist Source = "relist"
	// SourceProbe is the periodic probe.
	SourceProbe Source = "probe"
	// SourceCRD is the kind's CustomResourceDefinition, which cannot be served.
	SourceCRD Source = "crd"
)

// sources in the order in which their errors are told; others follow in that of their names.
var sources = []Source{SourceCRD, SourceSync, SourceRelist, SourceProbe}

// CRDDiscovery stands among the kinds for the discovery of their CustomResourceDefinitions.
// Its sources are the watch of CRDs and each CRD that cannot be read, by its name.
const CRDDiscovery = "CRDDiscovery"

// Reasons why a watch is disabled.
const (
	// ReasonConfig means that the configuration excludes the kind.
	ReasonConfig = "config"
	// ReasonCRDRemoved means that the kind's CustomResourceDefinition is gone.
	ReasonCRDRemoved = "crd-removed"
)

// Phase is what a watch is in.
type Phase string

const (
	// PhaseStarting means that the watch has neither synced nor failed yet.
	PhaseStarting Phase = "starting"
	// PhaseHealthy means that the watch has synced and nothing about it fails.
	PhaseHealthy Phase = "healthy"
	// PhaseUnhealthy means that something about the watch fails.
	PhaseUnhealthy Phase = "unhealthy"
	// PhaseDisabled means that there is no watch, on purpose.
	PhaseDisabled Phase = "disabled"
)

// Status is how one watch fares.
type Status struct {
	// Kind is the kind's name, for example LeaderWorkerSet.
	Kind string
	// Phase is what the watch is in.
	Phase Phase
	// Reason says why a disabled watch is disabled: ReasonConfig or ReasonCRDRemoved.
	Reason string
	// LastError is the newest error of everything that fails, verbatim but bounded.
	LastError string
	// Since is when Phase began.
	Since metav1.Time
	// ConsecutiveFailures counts failures since the watch was last healthy.
	ConsecutiveFailures int
}

// TransitionType is a change of a watch that is worth an event.
type TransitionType string

// The transitions; their names are the reasons of events.
const (
	WatchUnhealthy TransitionType = "WatchUnhealthy"
	// WatchStarted is the first sync of a kind that was installed after the start.
	WatchStarted TransitionType = "WatchStarted"
	// WatchRecovered is any other sync.
	WatchRecovered TransitionType = "WatchRecovered"
	WatchDisabled  TransitionType = "WatchDisabled"
)

// Transition tells of one change.
type Transition struct {
	Type   TransitionType
	Status Status
}

// Outlet is told of changes, in their order and never concurrently. It must return soon.
type Outlet interface {
	// Changed is called after every change of a status, also one within a phase.
	Changed(Status)
	// Removed is called when a kind is no longer known.
	Removed(kind string)
	// Transitioned is called after a change that is worth an event.
	Transitioned(Transition)
}

// maxErrorBytes bounds an error that is kept. Conversion errors name the webhook and the
// object and stay well below it.
const maxErrorBytes = 1024

// watch is what is known of one kind.
type watch struct {
	status   Status
	synced   bool
	failures map[Source]string
	// announce is how the next sync is told.
	announce TransitionType
}

// Registry holds the status of every kind. It is safe for concurrent use.
type Registry struct {
	clock   clock.PassiveClock
	outlets []Outlet

	mu      sync.Mutex
	watches map[string]*watch
	// undecided are the kinds of which nothing is known yet; nil before Expect.
	undecided map[string]bool
}

// NewRegistry returns an empty registry that tells the outlets of every change.
func NewRegistry(c clock.PassiveClock, outlets ...Outlet) *Registry {
	return &Registry{clock: c, outlets: outlets, watches: map[string]*watch{}}
}

// Expect names the kinds of which the first verdict is still to come: that they are absent,
// healthy, unhealthy or disabled.
func (r *Registry) Expect(kinds ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.undecided = map[string]bool{}
	for _, k := range kinds {
		r.undecided[k] = true
	}
}

// Undecided is true until every expected kind had its first verdict. Until then an earlier
// run's complaint cannot be taken back.
func (r *Registry) Undecided() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.undecided == nil || len(r.undecided) > 0
}

// MarkStarting registers a kind whose watch is about to start, or says so of one that is
// registered. Its next sync is told as announce. A kind that fails goes on failing until its
// sources clear.
func (r *Registry) MarkStarting(kind string, announce TransitionType) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w, known := r.watches[kind]
	if known && w.status.Phase != PhaseDisabled {
		w.announce = announce
		return
	}
	w = &watch{status: Status{Kind: kind}, failures: map[Source]string{}, announce: announce}
	r.watches[kind] = w
	r.enter(w, PhaseStarting)
}

// Remove forgets a kind.
func (r *Registry) Remove(kind string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, known := r.watches[kind]
	if !known && !r.undecided[kind] {
		return
	}
	delete(r.watches, kind)
	delete(r.undecided, kind)
	for _, o := range r.outlets {
		o.Removed(kind)
	}
}

// MarkDisabled says that a kind has no watch on purpose, and why. It returns true only on
// entry: a kind that was disabled already stays so without a word, whatever the reason, but
// for one whose CRD was gone and is back while the configuration excludes it.
func (r *Registry) MarkDisabled(kind, reason string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	w, known := r.watches[kind]
	disabled := known && w.status.Phase == PhaseDisabled
	back := disabled && w.status.Reason == ReasonCRDRemoved && reason == ReasonConfig
	if disabled && !back {
		w.status.Reason = reason
		r.changed(w)
		return false
	}
	w = &watch{status: Status{Kind: kind, Reason: reason}, failures: map[Source]string{}}
	r.watches[kind] = w
	r.enter(w, PhaseDisabled)
	return true
}

// Fail records a failure of one source. The kind is unhealthy from now on.
func (r *Registry) Fail(kind string, source Source, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w, known := r.watches[kind]
	if !known || w.status.Phase == PhaseDisabled {
		return
	}
	w.failures[source] = bounded(err.Error())
	w.status.ConsecutiveFailures++
	w.status.LastError = w.errors()
	r.enter(w, PhaseUnhealthy)
}

// Clear says that a source works again. It returns true when that made the kind healthy.
func (r *Registry) Clear(kind string, source Source) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	w, known := r.watches[kind]
	if !known || w.status.Phase == PhaseDisabled {
		return false
	}
	delete(w.failures, source)
	return r.settle(w)
}

// MarkSynced says that the kind's cache is filled. It returns true when that made the kind
// healthy.
func (r *Registry) MarkSynced(kind string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	w, known := r.watches[kind]
	if !known || w.status.Phase == PhaseDisabled {
		return false
	}
	w.synced = true
	delete(w.failures, SourceSync)
	return r.settle(w)
}

// MarkStopped says that the kind's watch is torn down: it is not healthy before it synced
// again.
func (r *Registry) MarkStopped(kind string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w, known := r.watches[kind]; known {
		w.synced = false
	}
}

// settle enters PhaseHealthy when everything works.
func (r *Registry) settle(w *watch) bool {
	if len(w.failures) > 0 || !w.synced {
		if text := w.errors(); text != "" && text != w.status.LastError {
			w.status.LastError = text
			r.changed(w)
		}
		return false
	}
	if w.status.Phase == PhaseHealthy {
		return false
	}
	w.status.ConsecutiveFailures = 0
	w.status.LastError = ""
	r.enter(w, PhaseHealthy)
	return true
}

// enter changes the phase where it differs and tells the outlets.
func (r *Registry) enter(w *watch, phase Phase) {
	same := w.status.Phase == phase
	if phase != PhaseStarting {
		delete(r.undecided, w.status.Kind)
	}
	if !same {
		w.status.Phase = phase
		w.status.Since = metav1.NewTime(r.clock.Now())
	}
	r.changed(w)
	kind, worth := transitionTo[phase]
	if !worth || same {
		return
	}
	if phase == PhaseHealthy && w.announce != "" {
		kind, w.announce = w.announce, ""
	}
	for _, o := range r.outlets {
		o.Transitioned(Transition{Type: kind, Status: w.status})
	}
}

var transitionTo = map[Phase]TransitionType{
	PhaseUnhealthy: WatchUnhealthy,
	PhaseHealthy:   WatchRecovered,
	PhaseDisabled:  WatchDisabled,
}

func (r *Registry) changed(w *watch) {
	for _, o := range r.outlets {
		o.Changed(w.status)
	}
}

// errors joins what fails, each text once.
func (w *watch) errors() string {
	order := slices.Clone(sources)
	for _, s := range slices.Sorted(maps.Keys(w.failures)) {
		if !slices.Contains(sources, s) {
			order = append(order, s)
		}
	}
	var texts []string
	for _, s := range order {
		if text := w.failures[s]; text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "; ")
}

// Healthy says whether the kind's watch is healthy. It is the gate of every deletion: what an
// unhealthy watch shows may be out of date.
func (r *Registry) Healthy(kind string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	w, known := r.watches[kind]
	return known && w.status.Phase == PhaseHealthy
}

// Statuses lists every known kind, sorted by name.
func (r *Registry) Statuses() []Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Status
	for _, w := range r.watches {
		all = append(all, w.status)
	}
	slices.SortFunc(all, func(a, b Status) int { return strings.Compare(a.Kind, b.Kind) })
	return all
}

// DegradedMessage names every unhealthy kind and its error; it is empty when there is none.
func (r *Registry) DegradedMessage() string {
	var texts []string
	for _, s := range r.Statuses() {
		if s.Phase == PhaseUnhealthy {
			texts = append(texts, fmt.Sprintf("%s: %s", s.Kind, s.LastError))
		}
	}
	return strings.Join(texts, " | ")
}

// bounded cuts an error in its middle: the cause stands at its end, the object at its start.
func bounded(text string) string {
	if len(text) <= maxErrorBytes {
		return text
	}
	const mark = " ... "
	half := (maxErrorBytes - len(mark)) / 2
	return strings.ToValidUTF8(text[:half], "") + mark + strings.ToValidUTF8(text[len(text)-half:], "")
}
