// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

const (
	// pageSize is how many objects one request lists.
	pageSize = 500
	// absence is how long a kind that nobody watches is taken for absent, for it costs
	// discovery requests to ask.
	absence = time.Minute
	// maxViews bounds for how many kinds in namespaces a view is kept.
	maxViews = 4096
)

// Intermediates lists objects of kinds that the manager's cache does not hold, as metadata
// only. Its methods are safe for concurrent use.
type Intermediates struct {
	// Live reads from the API server.
	Live client.Reader
	// Tracked knows which third-party kinds are present.
	Tracked *TrackedKinds
	// Clock says for how long an absence is remembered.
	Clock clock.PassiveClock
	// Timeout bounds one request; DefaultTimeout when 0.
	Timeout time.Duration

	mu     sync.Mutex
	absent map[schema.GroupVersionKind]time.Time
	told   map[schema.GroupVersionKind]bool
	views  map[place][]child
}

// listing is what is known of the intermediate objects of a namespace.
type listing struct {
	// byController are the objects by their controller's UID.
	byController map[types.UID][]child
	// err says what could not be listed; what was known of it before stands in for it.
	err error
	// blind is true when nothing was known of it before.
	blind bool
}

// in lists the objects of some kinds in a namespace. A kind that fails keeps its last known
// view: its outage must not take away what is known of the workloads above it. So does a tracked
// kind that is not served, for its CRD is there.
func (i *Intermediates) in(ctx context.Context, namespace string, some []schema.GroupVersionKind, judge Judge) listing {
	all := listing{byController: map[types.UID][]child{}}
	for _, gvk := range some {
		if !i.present(gvk) {
			continue
		}
		found, err := i.list(ctx, namespace, gvk)
		switch {
		case err == nil:
			i.learn(namespace, gvk, found)
		case judge(gvk.GroupKind()) != Tracked && (meta.IsNoMatchError(err) || apierrors.IsNotFound(err)):
			i.remember(gvk)
		case apierrors.IsForbidden(err):
			i.tell(ctx, gvk, err)
		default:
			var known bool
			found, known = i.lastKnown(namespace, gvk)
			all.blind = all.blind || !known
			all.err = errors.Join(all.err, fmt.Errorf("listing %s in namespace %s: %w", gvk.Kind, namespace, err))
		}
		byController(all.byController, found)
	}
	return all
}

// place is a kind in a namespace.
type place struct {
	namespace string
	gvk       schema.GroupVersionKind
}

// learn keeps a view for when the kind fails.
func (i *Intermediates) learn(namespace string, gvk schema.GroupVersionKind, view []child) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.views == nil || len(i.views) >= maxViews {
		i.views = map[place][]child{} // namespaces come and go
	}
	i.views[place{namespace, gvk}] = view
}

func (i *Intermediates) lastKnown(namespace string, gvk schema.GroupVersionKind) (view []child, known bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	view, known = i.views[place{namespace, gvk}]
	return view, known
}

// present says whether a kind is worth asking for.
func (i *Intermediates) present(gvk schema.GroupVersionKind) bool {
	if _, watched := kinds.For(gvk.GroupKind()); watched {
		return i.Tracked.Has(gvk.GroupKind())
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	since, absent := i.absent[gvk]
	return !absent || i.Clock.Since(since) >= absence
}

func (i *Intermediates) remember(gvk schema.GroupVersionKind) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.absent == nil {
		i.absent = map[schema.GroupVersionKind]time.Time{}
	}
	i.absent[gvk] = i.Clock.Now()
}

// seen says that an object of a kind was read. The kind is there then, and so are, as a rule,
// the others that the same project installs: what was remembered of them is forgotten, for
// whoever led here is about to have the workload above looked at.
func (i *Intermediates) seen(gvk schema.GroupVersionKind) {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	maps.DeleteFunc(i.absent, func(absent schema.GroupVersionKind, _ time.Time) bool { return absent.Group == gvk.Group })
}

// tell logs once that a kind may not be listed.
func (i *Intermediates) tell(ctx context.Context, gvk schema.GroupVersionKind, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.told[gvk] {
		return
	}
	if i.told == nil {
		i.told = map[schema.GroupVersionKind]bool{}
	}
	i.told[gvk] = true
	log.FromContext(ctx).Info("A kind that may stand between workloads and their pods may not be listed: what hangs below it is not rolled up",
		"kind", gvk.Kind, "apiVersion", gvk.GroupVersion().String(), "cause", err.Error())
}

// list reads all pages.
func (i *Intermediates) list(ctx context.Context, namespace string, gvk schema.GroupVersionKind) ([]child, error) {
	var all []child
	next := ""
	for {
		page, err := i.page(ctx, namespace, gvk, next)
		if err != nil {
			return nil, err
		}
		for _, c := range childrenIn(page, gvk) {
			all = append(all, child{gvk, identity(c.object)})
		}
		if next = page.GetContinue(); next == "" {
			return all, nil
		}
	}
}

// identity is what is read of an intermediate object.
func identity(o client.Object) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID(), OwnerReferences: o.GetOwnerReferences(),
	}}
}

func (i *Intermediates) page(ctx context.Context, namespace string, gvk schema.GroupVersionKind, from string) (*metav1.PartialObjectMetadataList, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(i.Timeout, DefaultTimeout))
	defer cancel()
	page := &metav1.PartialObjectMetadataList{}
	page.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	return page, i.Live.List(ctx, page, client.InNamespace(namespace), client.Limit(pageSize), client.Continue(from))
}
