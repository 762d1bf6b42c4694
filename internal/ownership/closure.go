// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// Top is the workload whose descendants are asked for.
type Top struct {
	// Kind is the workload's kind.
	Kind kinds.Kind
	// Object is the workload.
	Object client.Object
	// Hops is how many owners of its own were tried (Result.Hops): a descendant whose walk
	// would be longer than MaxHops is a root itself.
	Hops int
}

// Descendants are what a workload owns, directly or not.
type Descendants struct {
	// Pods are its pods, and those of the workloads that it absorbs.
	Pods []corev1.Pod
	// Owned are the workloads that it absorbs as Kind/name, sorted.
	Owned []string
	// Incomplete says which intermediate kinds could not be listed; what was known of them
	// before stands in for them.
	Incomplete error
	// Blind is true when nothing was known of one of them before.
	Blind bool
	// Beyond are the workloads below that are too far away to be absorbed, or in a ring with
	// this one: they are roots themselves.
	Beyond []Ancestor
}

// Closure finds descendants.
type Closure struct {
	// Cached reads the manager's cache with the indexes of AddIndexes.
	Cached client.Reader
	// Between lists the intermediate kinds, which that cache does not hold.
	Between *Intermediates
}

// Below finds all that a workload owns within its namespace: through the cache's indexes, and
// through live lists of the workload's intermediate kinds that are present. A kind without
// intermediates costs no request, and each pod costs no lookup of its own.
//
// It is the counterpart of Walk: it lists the workloads that are absorbed, and no others.
func (c *Closure) Below(ctx context.Context, top Top, judge Judge) (Descendants, error) {
	s := &search{
		ctx: ctx, cached: c.Cached, judge: judge,
		namespace: top.Object.GetNamespace(), hops: MaxHops - top.Hops,
		seen: map[types.UID]bool{top.Object.GetUID(): true},
	}
	between := c.Between.in(ctx, s.namespace, top.Kind.Intermediates, judge)
	s.between, s.found.Incomplete, s.found.Blind = between.byController, between.err, between.blind
	next := []node{{gvk: top.Kind.GVK, name: top.Object.GetName(), uid: top.Object.GetUID()}}
	for len(next) > 0 {
		n := next[0]
		children, err := s.children(n)
		if err != nil {
			return Descendants{}, err
		}
		next = next[1:]
		for _, child := range children {
			if found, ok := s.visit(n, child); ok {
				next = append(next, found)
			}
		}
	}
	slices.Sort(s.found.Owned)
	return s.found, nil
}

// node is an object on the way down.
type node struct {
	gvk  schema.GroupVersionKind
	name string
	uid  types.UID
	// depth counts from the nearest tracked owner, hops from the top.
	depth, hops int
}

// child is an object that may be owned by a node.
type child struct {
	gvk    schema.GroupVersionKind
	object client.Object
}

// search is one breadth-first search.
type search struct {
	ctx       context.Context
	cached    client.Reader
	judge     Judge
	namespace string
	// hops is how far below the top a workload may be to be absorbed.
	hops int
	// between are the objects of intermediate kinds by their controller's UID.
	between map[types.UID][]child
	// unusual are the objects in the index of the unusual; nil until they are read.
	unusual map[types.UID][]child
	seen    map[types.UID]bool
	found   Descendants
}

// visit takes notice of what a node owns. It is false where the search does not go on: what
// was seen already, what is too deep, and a workload that is no part of this one.
func (s *search) visit(owner node, c child) (node, bool) {
	uid := c.object.GetUID()
	if s.seen[uid] || !owns(owner, c.object) {
		return node{}, false
	}
	n := node{gvk: c.gvk, name: c.object.GetName(), uid: uid, depth: owner.depth + 1, hops: owner.hops + 1}
	if n.depth > MaxHops {
		return node{}, false
	}
	if s.judge(c.gvk.GroupKind()) == Tracked {
		if n.hops > s.hops {
			s.found.Beyond = append(s.found.Beyond, Ancestor{GVK: c.gvk, Namespace: s.namespace, Name: n.name, UID: uid})
			return node{}, false
		}
		n.depth = 0
		s.found.Owned = append(s.found.Owned, c.gvk.Kind+"/"+n.name)
	}
	s.seen[uid] = true
	if pod, ok := c.object.(*corev1.Pod); ok {
		s.found.Pods = append(s.found.Pods, *pod)
	}
	return n, true
}

// owns says whether the node is the one that the object's reference names, by more than its
// UID: the walk up believes no other reference either.
func owns(owner node, object client.Object) bool {
	reference := metav1.GetControllerOfNoCopy(object)
	if reference == nil || reference.UID != owner.uid || reference.Name != owner.name {
		return false
	}
	by := schema.FromAPIVersionAndKind(reference.APIVersion, reference.Kind)
	if _, cached := cachedKindOf(owner.gvk); cached {
		return by == owner.gvk
	}
	// The API server serves the others in several versions.
	return by.GroupKind() == owner.gvk.GroupKind()
}

// children are the objects whose controller has the node's UID.
func (s *search) children(n node) ([]child, error) {
	all := slices.Clone(s.between[n.uid])
	usual := cachedKinds
	if isPlain(n.gvk.GroupKind()) {
		if s.unusual == nil {
			if err := s.readUnusual(); err != nil {
				return nil, err
			}
		}
		all = append(all, s.unusual[n.uid]...)
		usual = usualBelow(n.gvk)
	}
	for _, k := range usual {
		found, err := s.list(k, ControllerUIDField, string(n.uid))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// usualBelow are the kinds whose objects a plain kind makes.
func usualBelow(gvk schema.GroupVersionKind) []cachedKind {
	switch gvk {
	case podGVK:
		return nil
	case deploymentGVK:
		return cachedKinds[:2] // pods and ReplicaSets
	default:
		return cachedKinds[:1]
	}
}

func (s *search) readUnusual() error {
	s.unusual = map[types.UID][]child{}
	for _, k := range cachedKinds {
		found, err := s.list(k, unusualField, unusual)
		if err != nil {
			return err
		}
		byController(s.unusual, found)
	}
	return nil
}

func byController(into map[types.UID][]child, all []child) {
	for _, c := range all {
		if owner := metav1.GetControllerOfNoCopy(c.object); owner != nil {
			into[owner.UID] = append(into[owner.UID], c)
		}
	}
}

// list reads an index of the cache.
func (s *search) list(k cachedKind, field, value string) ([]child, error) {
	list := k.list()
	err := s.cached.List(s.ctx, list, client.InNamespace(s.namespace), client.MatchingFields{field: value}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, fmt.Errorf("looking up %s in the cache: %w", k.gvk.Kind, err)
	}
	return childrenIn(list, k.gvk), nil
}

func childrenIn(list client.ObjectList, gvk schema.GroupVersionKind) []child {
	var all []child
	// The list is a list and the callback does not fail, so neither does this.
	_ = meta.EachListItem(list, func(item runtime.Object) error {
		if object, ok := item.(client.Object); ok {
			all = append(all, child{gvk, object})
		}
		return nil
	})
	return all
}
