// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"cmp"
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

const (
	// MaxHops is how many owners are looked at above one object.
	MaxHops = 6
	// DefaultTimeout bounds one request, so that a kind whose conversion webhook hangs does
	// not keep the workers of other kinds.
	DefaultTimeout = 10 * time.Second
)

// Ancestor is an object by the words of the reference that led to it.
type Ancestor struct {
	GVK       schema.GroupVersionKind
	Namespace string
	Name      string
	UID       types.UID
}

// End says how a walk ended.
type End int

const (
	// Root is a workload that nothing tracked owns.
	Root End = iota
	// Absorbed is a workload that a tracked one owns.
	Absorbed
	// Unresolved is a workload of which it cannot be known who owns it. It counts as a root.
	Unresolved
	// Waiting is a workload below a kind of which it is not known yet whether it is tracked.
	Waiting
)

// Result is how a walk ended.
type Result struct {
	End End
	// By is the nearest tracked owner of an absorbed workload.
	By Ancestor
	// At is the reference at which an unresolved or waiting walk ended.
	At metav1.OwnerReference
	// Reason says why a walk is unresolved.
	Reason string
	// Hops is how many references were followed or tried.
	Hops int
}

// Walker goes from an object to its owners.
type Walker struct {
	// Cached reads the manager's cache: pods, ReplicaSets and the built-in workload kinds.
	Cached client.Reader
	// Live reads from the API server.
	Live client.Reader
	// Between is told of each kind that Live was found to have; nil when nobody needs to know.
	Between *Intermediates
	// Timeout bounds one request; DefaultTimeout when 0.
	Timeout time.Duration
}

// Walk follows the controller ownerReferences from a workload to the top: also beyond the
// nearest tracked owner, for in a ring of owners nobody would be reported. It costs no request
// to have no owner, or only such as the cache knows, and one for each other owner.
//
// An error is a failure to read that may pass; nothing is known then.
func (w Walker) Walk(ctx context.Context, workload client.Object, judge Judge) (Result, error) {
	return w.walk(ctx, workload, judge, false)
}

// Nearest is like Walk from an object to the nearest tracked owner, where it ends.
func (w Walker) Nearest(ctx context.Context, object client.Object, judge Judge) (Result, error) {
	return w.walk(ctx, object, judge, true)
}

func (w Walker) walk(ctx context.Context, start client.Object, judge Judge, nearest bool) (Result, error) {
	var result Result // the zero value is a root
	at := start
	for {
		reference := metav1.GetControllerOfNoCopy(at)
		if reference == nil {
			return result, nil
		}
		if result.Hops == MaxHops {
			return unresolved(*reference, result.Hops, fmt.Sprintf("the chain of owners is longer than %d", MaxHops)), nil
		}
		result.Hops++
		above, reason, err := w.follow(ctx, start.GetNamespace(), *reference, judge, &result)
		if err != nil {
			return Result{}, err
		}
		switch {
		case result.End == Waiting, result.End == Absorbed && nearest:
			return result, nil
		case reason != "" && result.End == Absorbed:
			return result, nil // a tracked owner is proven; who owns that one is its own matter
		case reason != "":
			return unresolved(*reference, result.Hops, reason), nil
		case above.GetUID() == start.GetUID():
			// It has no end: so every member of the ring sees it, and what hangs below.
			return unresolved(*reference, MaxHops, "the chain of owners is a ring"), nil
		}
		at = above
	}
}

// follow reads the owner that a reference names and notes in the result what it means for a
// workload that nothing tracked owns so far. The reason says why there is no such owner.
func (w Walker) follow(
	ctx context.Context, namespace string, reference metav1.OwnerReference, judge Judge, result *Result,
) (above client.Object, reason string, err error) {
	// An apiVersion that cannot be parsed gives an empty one.
	gvk := schema.FromAPIVersionAndKind(reference.APIVersion, reference.Kind)
	if !wellFormed(gvk.GroupVersion()) {
		return nil, fmt.Sprintf("%q is no apiVersion", reference.APIVersion), nil
	}
	owner := Ancestor{GVK: gvk, Namespace: namespace, Name: reference.Name, UID: reference.UID}
	verdict := judge(owner.GVK.GroupKind())
	if result.End == Root && verdict == Undecided {
		result.End, result.At = Waiting, reference
		return nil, "", nil
	}
	if verdict == NotInstalled {
		return nil, "the owner's kind is not installed", nil
	}
	above, reason, err = w.read(ctx, owner, verdict == Tracked && watchedAs(owner.GVK))
	if err == nil && reason == "" && result.End == Root && verdict == Tracked {
		result.End, result.By = Absorbed, owner
	}
	return above, reason, err
}

// wellFormed says whether there can be such a group and version. The API server takes anything
// in a reference, and discovery makes a path of it: another path than that of an API may give
// an answer for ever that is no answer.
func wellFormed(gv schema.GroupVersion) bool {
	return len(validation.IsDNS1035Label(gv.Version)) == 0 &&
		(gv.Group == "" || len(validation.IsDNS1123Subdomain(gv.Group)) == 0)
}

func unresolved(at metav1.OwnerReference, hops int, reason string) Result {
	return Result{End: Unresolved, At: at, Reason: reason, Hops: hops}
}

// watchedAs says whether a third-party kind is read in this version. A reference may name any
// other one, which need not exist.
func watchedAs(gvk schema.GroupVersionKind) bool {
	k, known := kinds.For(gvk.GroupKind())
	return known && k.ThirdParty && k.GVK == gvk
}

// read is the owner, from the cache where that has it, or the reason why there is none. A kind
// that is installed may not be served for a while: that says nothing about the owner.
func (w Walker) read(ctx context.Context, owner Ancestor, installed bool) (client.Object, string, error) {
	if len(content.IsPathSegmentName(owner.Name)) > 0 {
		return nil, fmt.Sprintf("%q is no name", owner.Name), nil
	}
	cached, err := w.fromCache(ctx, owner)
	if cached != nil || err != nil {
		return cached, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(w.Timeout, DefaultTimeout))
	defer cancel()
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(owner.GVK)
	err = w.Live.Get(ctx, client.ObjectKey{Namespace: owner.Namespace, Name: owner.Name}, object)
	switch {
	case installed && notServed(err):
		return nil, "", fmt.Errorf("reading the owner %s %s/%s, whose kind is installed and not served: %w",
			owner.GVK.Kind, owner.Namespace, owner.Name, err)
	case apierrors.IsNotFound(err):
		return nil, "the owner does not exist", nil
	case apierrors.IsForbidden(err):
		return nil, "the owner may not be read", nil
	case meta.IsNoMatchError(err):
		return nil, "the owner's kind does not exist", nil
	case err != nil:
		return nil, "", fmt.Errorf("reading the owner %s %s/%s: %w", owner.GVK.Kind, owner.Namespace, owner.Name, err)
	case object.UID != owner.UID:
		return nil, "the owner of that name is another object", nil
	}
	w.Between.seen(owner.GVK)
	return object, "", nil
}

// notServed says whether the API server does not serve the kind in the version that was asked
// for, as opposed to not having the object.
func notServed(err error) bool {
	return meta.IsNoMatchError(err) ||
		apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// fromCache is the owner if the cache holds it with the UID that is asked for. What it does
// not hold may exist all the same.
func (w Walker) fromCache(ctx context.Context, owner Ancestor) (client.Object, error) {
	k, ok := cachedKindOf(owner.GVK)
	if !ok {
		return nil, nil
	}
	object := k.object()
	key := client.ObjectKey{Namespace: owner.Namespace, Name: owner.Name}
	if err := w.Cached.Get(ctx, key, object, client.UnsafeDisableDeepCopy); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	if object.GetUID() != owner.UID {
		return nil, nil
	}
	return object, nil
}

// Climbed is where a climb through the cache ended: at a tracked owner, at one that is to be
// asked for beyond the cache, or, with neither, nowhere.
type Climbed struct {
	Tracked, Beyond *Ancestor
}

// Climb goes up to the nearest tracked owner through what the cache holds, and never makes a
// request. An owner of another kind ends the climb: beyond says whether it is worth asking
// the API server for.
func (w Walker) Climb(ctx context.Context, object client.Object, judge Judge, beyond func(schema.GroupKind) bool) (Climbed, error) {
	namespace := object.GetNamespace()
	for range MaxHops {
		reference := metav1.GetControllerOfNoCopy(object)
		if reference == nil {
			return Climbed{}, nil
		}
		gvk := schema.FromAPIVersionAndKind(reference.APIVersion, reference.Kind)
		owner := Ancestor{GVK: gvk, Namespace: namespace, Name: reference.Name, UID: reference.UID}
		switch judge(gvk.GroupKind()) {
		case Tracked:
			return Climbed{Tracked: &owner}, nil
		case Undecided:
			return Climbed{Beyond: &owner}, nil
		case NotInstalled:
			return Climbed{}, nil
		}
		if _, cached := cachedKindOf(gvk); !cached {
			if beyond(gvk.GroupKind()) {
				return Climbed{Beyond: &owner}, nil
			}
			return Climbed{}, nil
		}
		above, err := w.fromCache(ctx, owner)
		if above == nil || err != nil {
			return Climbed{}, err // not known (yet): its own event leads further
		}
		object = above
	}
	return Climbed{}, nil
}
