// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// rest is how long a kind is not asked for after a request for it timed out.
const rest = time.Minute

// Impatient reads from the API server, and fails at once for a kind of which a request has
// just timed out. Many workloads may hang below one kind that does not answer, and each would
// keep a worker from other workloads until its own request times out. When the rest is over
// one request finds out whether the kind answers again. It is safe for concurrent use.
type Impatient struct {
	client.Reader
	// Clock says when a rest is over.
	Clock clock.PassiveClock

	mu      sync.Mutex
	resting map[schema.GroupVersionKind]time.Time // until when
}

// Get implements client.Reader.
func (i *Impatient) Get(ctx context.Context, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
	return i.ask(ctx, object.GetObjectKind().GroupVersionKind(), func() error { return i.Reader.Get(ctx, key, object, opts...) })
}

// List implements client.Reader.
func (i *Impatient) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return i.ask(ctx, list.GetObjectKind().GroupVersionKind(), func() error { return i.Reader.List(ctx, list, opts...) })
}

func (i *Impatient) ask(ctx context.Context, gvk schema.GroupVersionKind, request func() error) error {
	if i.rests(gvk) {
		return fmt.Errorf("%s did not answer in time and is asked for again within %s", gvk.Kind, rest)
	}
	err := request()
	i.note(gvk, err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded))
	return err
}

// rests says whether the kind is left alone. Who finds its rest over prolongs it for others.
func (i *Impatient) rests(gvk schema.GroupVersionKind) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	until, resting := i.resting[gvk]
	if !resting {
		return false
	}
	now := i.Clock.Now()
	if now.Before(until) {
		return true
	}
	i.resting[gvk] = now.Add(rest)
	return false
}

func (i *Impatient) note(gvk schema.GroupVersionKind, late bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !late {
		delete(i.resting, gvk)
		return
	}
	if i.resting == nil {
		i.resting = map[schema.GroupVersionKind]time.Time{}
	}
	i.resting[gvk] = i.Clock.Now().Add(rest)
}
