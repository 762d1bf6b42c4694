// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"context"
	"errors"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/clock"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// CRDs is how the supervisor learns of CustomResourceDefinitions.
type CRDs interface {
	// Get reads one whole CRD by name, from the API server and not from a cache.
	Get(ctx context.Context, name string) (*apiextensionsv1.CustomResourceDefinition, error)
	// Watch tells of the metadata of all CRDs until ctx is done, and returns when everything
	// that it started has ended.
	Watch(ctx context.Context, w CRDWatcher)
}

// CRDWatcher is told what a watch of CRDs comes to. Its functions may block until the
// supervisor has taken notice.
type CRDWatcher struct {
	// Changed is called with the name of each CRD that was created, changed or deleted. It
	// says no more than that the CRD is to be read.
	Changed func(name string)
	// Synced is called once, when the watch has seen all CRDs.
	Synced func()
	// Requested is called after every list or watch request.
	Requested func(error)
}

// discovery finds out which candidates are installed. Each candidate has a goroutine of its
// own, so that a read that fails or hangs delays no other; all that it learns goes to the
// apply loop as messages.
type discovery struct {
	crds   CRDs
	mapper meta.RESTMapper
	clock  clock.Clock
	paces  Paces
	jitter float64
	// send hands a message to the apply loop.
	send func(context.Context, message)
	// wake has a candidate looked at, by the name of its CRD. Wakes that come quickly are one.
	wake map[string]chan struct{}
}

func newDiscovery(candidates []kinds.Kind, o Options, send func(context.Context, message)) *discovery {
	d := &discovery{
		crds: o.CRDs, mapper: o.Mapper, clock: o.Clock, paces: o.Paces, jitter: o.Jitter,
		send: send, wake: map[string]chan struct{}{},
	}
	for _, k := range candidates {
		d.wake[k.CRD()] = make(chan struct{}, 1)
	}
	return d
}

// changed has the CRD's candidate looked at; CRDs of others are none of our business.
func (d *discovery) changed(name string) {
	wake, ours := d.wake[name]
	if !ours {
		return
	}
	select {
	case wake <- struct{}{}:
	default: // a look that has not begun yet will see this change too
	}
}

// watch follows the metadata of CRDs until ctx is done.
func (d *discovery) watch(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	synced := make(chan struct{})
	overdue := make(chan struct{})
	go func() {
		defer close(overdue)
		timer := d.clock.NewTimer(d.paces.CacheSyncTimeout)
		defer timer.Stop()
		select {
		case <-timer.C():
			err := fmt.Errorf("CustomResourceDefinitions could not be listed within %s", d.paces.CacheSyncTimeout)
			d.send(ctx, message{what: crdsUnsynced, err: err})
		case <-synced:
		case <-ctx.Done():
		}
	}()
	d.crds.Watch(ctx, CRDWatcher{
		Changed: d.changed,
		Synced: func() {
			close(synced)
			<-overdue // what is told of a sync that is overdue comes before what is told of the sync
			d.send(ctx, message{what: crdsSynced})
			for name := range d.wake {
				d.changed(name) // what happened before the watch began
			}
		},
		Requested: func(err error) { d.send(ctx, message{what: crdsRequested, err: err}) },
	})
	cancel()
	<-overdue
}

// follow looks at a candidate at once, then whenever it is woken, and again after a look that
// told nothing.
func (d *discovery) follow(ctx context.Context, k kinds.Kind) {
	again := newBackoff(d.paces.BackoffInitial, d.paces.BackoffMax, d.jitter)
	var since time.Time // when the first of the looks began that told nothing
	for {
		began := d.clock.Now()
		o := d.look(ctx, k)
		silent := o.Verdict == Unreadable
		switch {
		case !silent:
			since = time.Time{}
		case since.IsZero():
			since = began
		}
		overdue := silent && d.clock.Since(since) >= d.paces.CacheSyncTimeout
		d.send(ctx, message{kind: k.Name(), what: crdSeen, seen: o, overdue: overdue})

		var retry <-chan time.Time
		stop := func() {}
		if silent {
			timer := d.clock.NewTimer(again.next())
			retry, stop = timer.C(), func() { timer.Stop() }
		} else {
			again.reset()
		}
		select {
		case <-d.wake[k.CRD()]:
		case <-retry:
		case <-ctx.Done():
			stop()
			return
		}
		stop()
	}
}

// look is what one look at a candidate came to.
type look struct {
	Observation
	// lagging is true when the CRD is servable but the API server's discovery does not have
	// the kind yet.
	lagging bool
}

// look reads the candidate's CRD and, when that is servable, asks discovery for the kind,
// which a watch of it needs. It has a deadline of its own.
func (d *discovery) look(ctx context.Context, k kinds.Kind) look {
	ctx, cancel := context.WithTimeout(ctx, d.paces.ProbeTimeout)
	defer cancel()
	crd, err := d.crds.Get(ctx, k.CRD())
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %s: %w", d.paces.ProbeTimeout, err)
	}
	o := Observe(k, crd, err)
	if o.Verdict != Servable {
		return look{Observation: o}
	}
	mapping, err := d.mapper.RESTMapping(k.GVK.GroupKind(), k.GVK.Version)
	switch {
	case err == nil && mapping.Resource.Resource == k.Resource && mapping.Scope.Name() == meta.RESTScopeNameNamespace:
		return look{Observation: o}
	case err == nil:
		err = fmt.Errorf("the API server's discovery has %s as %s in the scope %s", k.Key(), mapping.Resource.Resource, mapping.Scope.Name())
		return look{Observation: Observation{Verdict: Unreadable, UID: o.UID, Problem: err}, lagging: true}
	case meta.IsNoMatchError(err):
		// The CRD's own state is told again once discovery has caught up.
		return look{Observation: Observation{Verdict: Unreadable, UID: o.UID, Problem: err}, lagging: true}
	default:
		return look{Observation: Observation{Verdict: Unreadable, UID: o.UID, Problem: fmt.Errorf("discovering %s: %w", k.Key(), err)}}
	}
}
