// SPDX-License-Identifier: Apache-2.0

package health

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// writer answers creations with the errors that it was given, then takes them.
type writer struct {
	client.Writer
	mu     sync.Mutex
	errs   []error
	events []*eventsv1.Event
	tries  int
}

func (w *writer) Create(_ context.Context, object client.Object, _ ...client.CreateOption) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tries++
	if len(w.errs) > 0 {
		err := w.errs[0]
		w.errs = w.errs[1:]
		return err
	}
	w.events = append(w.events, object.(*eventsv1.Event))
	return nil
}

func (w *writer) written() []*eventsv1.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]*eventsv1.Event{}, w.events...)
}

func (w *writer) tried() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tries
}

func startEvents(t *testing.T, w *writer) *Events {
	t.Helper()
	e := NewEvents(EventsOptions{
		Client:    w,
		Regarding: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: "system", Name: "manager-0", UID: "u"},
		Clock:     clocktesting.NewFakePassiveClock(time.Unix(1000, 0)),
		Log:       logr.Discard(),
		Backoff:   wait.Backoff{Duration: time.Millisecond, Steps: 4},
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- e.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return e
}

func TestOneEventForEachTransition(t *testing.T) {
	g := NewWithT(t)
	w := &writer{}
	e := startEvents(t, w)
	s := Status{Kind: kind, LastError: errDown.Error(), Reason: "config"}
	for _, tt := range []TransitionType{WatchUnhealthy, WatchRecovered, WatchUnhealthy, WatchDisabled} {
		e.Transitioned(Transition{Type: tt, Status: s})
	}
	g.Eventually(w.written).Should(HaveLen(4), "no two are folded into one")
	names := map[string]bool{}
	for _, event := range w.written() {
		names[event.Name] = true
		g.Expect(event.Namespace).To(Equal("system"))
		g.Expect(event.Regarding.UID).To(BeEquivalentTo("u"))
		g.Expect(event.Note).To(ContainSubstring(kind))
		g.Expect(event.EventTime.Unix()).To(Equal(int64(1000)))
	}
	g.Expect(names).To(HaveLen(4))
	first, second, last := w.written()[0], w.written()[1], w.written()[3]
	g.Expect(first.Type).To(Equal(corev1.EventTypeWarning))
	g.Expect(first.Note).To(ContainSubstring(errDown.Error()))
	g.Expect(second.Type).To(Equal(corev1.EventTypeNormal))
	g.Expect(last.Note).To(ContainSubstring("config"))
}

func TestAnEventIsTriedAgainWhenTheServerFails(t *testing.T) {
	g := NewWithT(t)
	w := &writer{errs: []error{errors.New("connection refused"), apierrors.NewTooManyRequests("later", 1)}}
	startEvents(t, w).Transitioned(Transition{Type: WatchRecovered, Status: Status{Kind: kind}})
	g.Eventually(w.written).Should(HaveLen(1), "the third attempt is taken")
}

func TestAnEventOutlivesALongOutage(t *testing.T) {
	g := NewWithT(t)
	w := &writer{}
	for range 40 {
		w.errs = append(w.errs, apierrors.NewForbidden(schema.GroupResource{Resource: "events"}, "", nil))
	}
	e := startEvents(t, w)
	e.Transitioned(Transition{Type: WatchUnhealthy, Status: Status{Kind: kind}})
	e.Transitioned(Transition{Type: WatchRecovered, Status: Status{Kind: kind}})
	g.Eventually(w.written).Should(HaveLen(2), "both are written in the end")
	g.Expect(w.written()[0].Reason).To(Equal(string(WatchUnhealthy)), "in their order")
}

func TestAnInvalidEventHoldsUpNoOther(t *testing.T) {
	g := NewWithT(t)
	w := &writer{errs: []error{apierrors.NewInvalid(schema.GroupKind{Kind: "Event"}, "x", nil)}}
	e := startEvents(t, w)
	e.Transitioned(Transition{Type: WatchUnhealthy, Status: Status{Kind: kind}})
	e.Transitioned(Transition{Type: WatchRecovered, Status: Status{Kind: kind}})
	g.Eventually(w.written).Should(HaveLen(1), "the next one is written")
	g.Expect(w.tried()).To(Equal(2))
}

func TestANoteStaysWithinTheAPIsBound(t *testing.T) {
	g := NewWithT(t)
	w := &writer{}
	startEvents(t, w).Transitioned(Transition{Type: WatchUnhealthy, Status: Status{Kind: kind, LastError: strings.Repeat("x", 5000)}})
	g.Eventually(w.written).Should(HaveLen(1))
	g.Expect(len(w.written()[0].Note)).To(BeNumerically("<=", 1024))
}
