// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/internal/settings"
)

const (
	// fanoutPage is how many objects one request of a fan-out asks for.
	fanoutPage = 500
	// fanoutTimeout bounds one request of a fan-out.
	fanoutTimeout = 30 * time.Second
	// fanoutAttempts is how often a round begins a kind whose continue tokens expire.
	fanoutAttempts = 6
	// fanoutBackoffInitial is the pause after the first failure. It doubles with each, up to
	// fanoutBackoffMax.
	fanoutBackoffInitial = time.Second
	fanoutBackoffMax     = time.Minute
)

// FanoutOptions say what a Fanout lists and whom it tells.
type FanoutOptions struct {
	// Reader lists from the API server, not from a cache.
	Reader client.Reader
	// Kinds are the kinds that report at the moment: the built-in ones and those third-party
	// ones whose watch runs.
	Kinds func() []kinds.Kind
	// Enqueue has a workload looked at. It is called by several goroutines at a time.
	Enqueue func(kinds.Kind, types.NamespacedName)
	// Clock times the pauses between attempts.
	Clock clock.Clock
	// Log is told what a fan-out on a change of configuration could not do.
	Log logr.Logger
}

// Fanout has every workload of every reporting kind looked at, by listing them once, metadata
// only, from the API server. It is for changes that decide whether a kind is reported at all:
// whatever a cache has not seen yet must be covered as well.
type Fanout struct {
	options FanoutOptions
	// turn is held by the round that lists: one at a time.
	turn chan struct{}
	// due holds a change of the allowlist that no round has covered yet.
	due chan struct{}
	// behind holds a token when a round missed something.
	behind chan struct{}

	mu sync.Mutex
	// missed are the kinds, by name, whose last list failed.
	missed map[string]bool
}

// NewFanout returns a Fanout that notes changes of workloadKinds in the store from now on and
// acts on them once it was started.
func NewFanout(store *settings.Store, options FanoutOptions) *Fanout {
	f := &Fanout{
		options: options, turn: make(chan struct{}, 1), due: make(chan struct{}, 1), behind: make(chan struct{}, 1),
		missed: map[string]bool{},
	}
	store.Subscribe(f.changed)
	return f
}

// changed notes that the allowlist changed; changes that come while one is noted are one.
func (f *Fanout) changed(before, after *settings.Snapshot) {
	if before.WorkloadKinds.Equal(after.WorkloadKinds) {
		return
	}
	note(f.due)
}

// note leaves a token, if none is there.
func note(tokens chan struct{}) {
	select {
	case tokens <- struct{}{}:
	default:
	}
}

// NeedLeaderElection is true: who does not write need not look.
func (f *Fanout) NeedLeaderElection() bool { return true }

// Start fans out after changes of the allowlist until ctx is done. However many come while
// one fan-out runs, one more follows. It also comes back, with growing pauses, for the kinds
// that a fan-out missed, and for those only.
func (f *Fanout) Start(ctx context.Context) error {
	pause := fanoutBackoffInitial
	timer := f.options.Clock.NewTimer(pause)
	timer.Stop()
	defer timer.Stop()
	for {
		some := f.options.Kinds
		select {
		case <-ctx.Done():
			return nil
		case <-f.behind:
			timer.Reset(pause)
			continue
		case <-f.due:
			pause = fanoutBackoffInitial
		case <-timer.C():
			some, pause = f.behindhand, min(2*pause, fanoutBackoffMax)
		}
		err := f.round(ctx, some)
		switch {
		case err == nil:
			pause = fanoutBackoffInitial
		case ctx.Err() == nil:
			f.options.Log.Error(err, "Not every workload was looked at after a change of what is reported, trying on")
		}
	}
}

// behindhand are the reporting kinds that were missed.
func (f *Fanout) behindhand() []kinds.Kind {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.options.Kinds()), func(k kinds.Kind) bool { return !f.missed[k.Name()] })
}

// TriggerContext fans out once. It waits for its turn and gives up when ctx is done. A kind
// that fails holds up no other and is left to Start; one that the API server does not have is
// skipped. The error names every kind of which not all workloads were enqueued.
func (f *Fanout) TriggerContext(ctx context.Context) error { return f.round(ctx, f.options.Kinds) }

// round lists some kinds at the same time, so that a slow one holds up no other, and notes
// those that fail. Its error names each.
func (f *Fanout) round(ctx context.Context, some func() []kinds.Kind) error {
	if ctx.Err() != nil {
		return fmt.Errorf("the fan-out was cut short: %w", ctx.Err())
	}
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-ctx.Done():
		return fmt.Errorf("the fan-out was cut short: %w", ctx.Err())
	}
	listed := some()
	errs := make([]error, len(listed))
	var wg sync.WaitGroup
	for i, k := range listed {
		wg.Go(func() { errs[i] = f.list(ctx, k) })
	}
	wg.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, k := range listed {
		f.missed[k.Name()] = errs[i] != nil
	}
	err := errors.Join(errs...)
	if err != nil {
		note(f.behind)
	}
	return err
}

// list enqueues every workload of a kind. A continue token that expired begins the kind again.
func (f *Fanout) list(ctx context.Context, k kinds.Kind) error {
	var err error
	for range fanoutAttempts {
		if err = f.pages(ctx, k); !expired(err) {
			break
		}
	}
	switch {
	case err == nil, absent(err):
		return nil
	default:
		return fmt.Errorf("listing %s for the fan-out: %w", k.Key(), err)
	}
}

// pages lists a kind from its first page to its last.
func (f *Fanout) pages(ctx context.Context, k kinds.Kind) error {
	token := ""
	for {
		next, err := f.page(ctx, k, token)
		if err != nil || next == "" {
			return err
		}
		token = next
	}
}

// page enqueues the workloads of one page and returns the token of the next one.
func (f *Fanout) page(ctx context.Context, k kinds.Kind, token string) (next string, err error) {
	ctx, cancel := context.WithTimeout(ctx, fanoutTimeout)
	defer cancel()
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(k.GVK.GroupVersion().WithKind(k.GVK.Kind + "List"))
	if err := f.options.Reader.List(ctx, list, client.Limit(fanoutPage), client.Continue(token)); err != nil {
		return "", err
	}
	for i := range list.Items {
		f.options.Enqueue(k, client.ObjectKeyFromObject(&list.Items[i]))
	}
	return list.Continue, nil
}

// expired is true for the answer to a continue token that is too old.
func expired(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }

// absent is true when the API server has no such kind, or has it no more.
func absent(err error) bool { return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) }
