// SPDX-License-Identifier: Apache-2.0

package health

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// reportingController names the author of events (events.k8s.io/v1).
	reportingController = "k8s-aibom"
	// actionWatch is what the controller was doing when the event happened.
	actionWatch = "Watch"
	// maxNoteBytes is the bound of an event's note (events.k8s.io/v1).
	maxNoteBytes = 1024
	// queueLength bounds the events that wait for an API server that does not answer.
	queueLength = 256
)

// Events is the outlet for events.k8s.io. It writes one Event object for each transition. A
// recorder would not do: it folds events that differ only in their note into one series, and
// the note names the kind.
type Events struct {
	client  client.Writer
	pod     corev1.ObjectReference
	clock   clock.PassiveClock
	log     logr.Logger
	backoff wait.Backoff
	timeout time.Duration
	queue   chan *eventsv1.Event
}

// EventsOptions make an Events.
type EventsOptions struct {
	// Client writes the events.
	Client client.Writer
	// Regarding is the object that events are about: the controller's Pod.
	Regarding corev1.ObjectReference
	// Clock gives an event its time.
	Clock clock.PassiveClock
	// Log is told of events that could not be written.
	Log logr.Logger
	// Backoff paces the attempts to write one event, which go on as long as the outlet runs; by
	// default they are up to half a minute apart.
	Backoff wait.Backoff
	// Timeout bounds one attempt; 10 seconds by default.
	Timeout time.Duration
}

// NewEvents returns an outlet that writes once it is started.
func NewEvents(o EventsOptions) *Events {
	if o.Backoff.Steps == 0 {
		o.Backoff = wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.1, Steps: 6, Cap: 30 * time.Second}
	}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	return &Events{
		client: o.Client, pod: o.Regarding, clock: o.Clock, log: o.Log, backoff: o.Backoff, timeout: o.Timeout,
		queue: make(chan *eventsv1.Event, queueLength),
	}
}

// NeedLeaderElection is true: only who watches has transitions to tell of.
func (e *Events) NeedLeaderElection() bool { return true }

// Start writes events until ctx is done.
func (e *Events) Start(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case event := <-e.queue:
			e.write(ctx, event)
		}
	}
}

// write writes one event, however long that takes: none is lost to an outage, and its name
// makes trying again harmless. Only one that the API server finds invalid is given up.
func (e *Events) write(ctx context.Context, event *eventsv1.Event) {
	backoff, told := e.backoff, false
	for {
		err := e.create(ctx, event)
		switch {
		case err == nil, apierrors.IsAlreadyExists(err), ctx.Err() != nil:
			return
		case apierrors.IsInvalid(err):
			e.log.Error(err, "An event is refused", "reason", event.Reason, "note", event.Note)
			return
		case !told:
			e.log.Error(err, "An event could not be written, trying on", "reason", event.Reason, "note", event.Note)
			told = true
		}
		timer := time.NewTimer(backoff.Step())
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

func (e *Events) create(ctx context.Context, event *eventsv1.Event) error {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	return e.client.Create(ctx, event)
}

// Changed does nothing: only transitions are events.
func (e *Events) Changed(Status) {}

// Removed does nothing.
func (e *Events) Removed(string) {}

// Transitioned queues an event. With an API server that takes none for long, the newest are
// dropped and logged.
func (e *Events) Transitioned(t Transition) {
	event := e.event(t)
	select {
	case e.queue <- event:
	default:
		e.log.Info("An event was dropped, too many are waiting", "reason", event.Reason, "note", event.Note)
	}
}

// disabledBecause explains the reasons of a disabled watch.
var disabledBecause = map[string]string{
	ReasonConfig:     "spec.discovery.workloadKinds of the configuration excludes the kind",
	ReasonCRDRemoved: "its CustomResourceDefinition was removed",
}

func (e *Events) event(t Transition) *eventsv1.Event {
	kind := corev1.EventTypeNormal
	var note string
	switch t.Type {
	case WatchUnhealthy:
		kind = corev1.EventTypeWarning
		note = fmt.Sprintf("The watch of %s fails: %s", t.Status.Kind, t.Status.LastError)
	case WatchDisabled:
		note = fmt.Sprintf("The watch of %s is disabled (%s): %s", t.Status.Kind, t.Status.Reason, disabledBecause[t.Status.Reason])
	case WatchStarted:
		note = fmt.Sprintf("The watch of %s has started: its CustomResourceDefinition was installed", t.Status.Kind)
	default:
		note = fmt.Sprintf("The watch of %s works", t.Status.Kind)
	}
	if len(note) > maxNoteBytes {
		note = bounded(note)
	}
	namespace := e.pod.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault // where events about cluster-scoped objects go
	}
	return &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: fmt.Sprintf("%.200s.%s", e.pod.Name, rand.String(12)),
		},
		EventTime:           metav1.NewMicroTime(e.clock.Now()),
		ReportingController: reportingController,
		ReportingInstance:   e.pod.Name,
		Action:              actionWatch,
		Reason:              string(t.Type),
		Regarding:           e.pod,
		Note:                note,
		Type:                kind,
	}
}
