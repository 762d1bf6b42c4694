// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

const testNamespace = "ml"

// object is an object of the world with its kind, of which only metadata matters here.
type object = metav1.PartialObjectMetadata

var (
	statefulSetGVK = gvkOf("apps/v1", "StatefulSet")
	jobGVK         = gvkOf("batch/v1", "Job")
	lwsGVK         = gvkOf("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")
	dgdGVK         = gvkOf("nvidia.com/v1beta1", "DynamoGraphDeployment")
	dcdGVK         = gvkOf("nvidia.com/v1beta1", "DynamoComponentDeployment")
	cliqueGVK      = gvkOf("grove.io/v1alpha1", "PodClique")
	rolloutGVK     = gvkOf("argoproj.io/v1alpha1", "Rollout")
)

func gvkOf(apiVersion, kind string) schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(apiVersion, kind)
}

func catalogued(gvk schema.GroupVersionKind) kinds.Kind {
	k, ok := kinds.For(gvk.GroupKind())
	if !ok {
		panic(gvk.Kind + " is not in the catalogue")
	}
	return k
}

// made is an object; its UID follows from its kind and name.
func made(gvk schema.GroupVersionKind, name string, owner *object) *object {
	o := &object{}
	o.SetGroupVersionKind(gvk)
	o.Namespace, o.Name, o.UID = testNamespace, name, types.UID(gvk.Kind+"-"+name)
	if owner != nil {
		o.OwnerReferences = []metav1.OwnerReference{refTo(owner)}
	}
	return o
}

func refTo(owner *object) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name, UID: owner.UID, Controller: ptr.To(true),
	}
}

// world is a cluster. As a cache it holds the cached kinds, with the indexes of AddIndexes;
// as an API server it counts what it is asked.
type world struct {
	objects  []*object
	indexes  map[schema.GroupVersionKind]map[string]client.IndexerFunc
	failures map[string]error // by kind
	pageSize int

	lookups  []string
	requests []string
}

func newWorld(objects ...*object) *world {
	w := &world{objects: objects, indexes: map[schema.GroupVersionKind]map[string]client.IndexerFunc{}, failures: map[string]error{}}
	if err := AddIndexes(context.Background(), w); err != nil {
		panic(err)
	}
	return w
}

// IndexField implements client.FieldIndexer.
func (w *world) IndexField(_ context.Context, o client.Object, field string, f client.IndexerFunc) error {
	gvk, err := apiutil.GVKForObject(o, clientgoscheme.Scheme)
	if err != nil {
		return err
	}
	if w.indexes[gvk] == nil {
		w.indexes[gvk] = map[string]client.IndexerFunc{}
	}
	w.indexes[gvk][field] = f
	return nil
}

func (w *world) find(gvk schema.GroupVersionKind, key client.ObjectKey) *object {
	for _, o := range w.objects {
		if o.GroupVersionKind().GroupKind() == gvk.GroupKind() && client.ObjectKeyFromObject(o) == key {
			return o
		}
	}
	return nil
}

func copyInto(to client.Object, from *object) {
	to.SetNamespace(from.Namespace)
	to.SetName(from.Name)
	to.SetUID(from.UID)
	to.SetOwnerReferences(from.OwnerReferences)
}

// cached is the world as the manager's cache shows it.
type cached struct{ *world }

func (c cached) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	gvk, err := apiutil.GVKForObject(o, clientgoscheme.Scheme)
	if err != nil {
		return err
	}
	if _, ok := cachedKindOf(gvk); !ok {
		return fmt.Errorf("%s is not cached", gvk.Kind)
	}
	found := c.find(gvk, key)
	if found == nil {
		return apierrors.NewNotFound(schema.GroupResource{Resource: gvk.Kind}, key.Name)
	}
	copyInto(o, found)
	return nil
}

func (c cached) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	gvk, err := apiutil.GVKForObject(list, clientgoscheme.Scheme)
	if err != nil {
		return err
	}
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	k, ok := cachedKindOf(gvk)
	if !ok {
		return fmt.Errorf("%s is not cached", gvk.Kind)
	}
	options := client.ListOptions{}
	options.ApplyOptions(opts)
	wanted := options.FieldSelector.Requirements()[0]
	c.lookups = append(c.lookups, gvk.Kind+" "+wanted.Field)
	var items []runtime.Object
	for _, o := range c.objects {
		if o.GroupVersionKind() != gvk || o.Namespace != options.Namespace {
			continue
		}
		typed := k.object()
		copyInto(typed, o)
		for _, value := range c.indexes[gvk][wanted.Field](typed) {
			if value == wanted.Value {
				items = append(items, typed)
			}
		}
	}
	return meta.SetList(list, items)
}

// live is the world as the API server shows it.
type live struct{ *world }

func (l live) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	gvk := o.GetObjectKind().GroupVersionKind()
	l.requests = append(l.requests, "get "+gvk.Kind+" "+key.Name)
	if err := l.failures[gvk.Kind]; err != nil {
		return err
	}
	found := l.find(gvk, key)
	if found == nil {
		return apierrors.NewNotFound(schema.GroupResource{Resource: gvk.Kind}, key.Name)
	}
	if found.GroupVersionKind() != gvk {
		return noMatch(gvk)
	}
	copyInto(o, found)
	return nil
}

func (l live) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	gvk := list.GetObjectKind().GroupVersionKind()
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	l.requests = append(l.requests, "list "+gvk.Kind)
	if err := l.failures[gvk.Kind]; err != nil {
		return err
	}
	options := client.ListOptions{}
	options.ApplyOptions(opts)
	from, _ := strconv.Atoi(options.Continue)
	var items []runtime.Object
	for _, o := range l.objects {
		if o.GroupVersionKind().GroupKind() == gvk.GroupKind() && o.Namespace == options.Namespace {
			items = append(items, o.DeepCopy())
		}
	}
	size := len(items)
	if l.pageSize > 0 {
		size = l.pageSize
	}
	end := min(from+size, len(items))
	list.SetContinue("")
	if end < len(items) {
		list.SetContinue(strconv.Itoa(end))
	}
	return meta.SetList(list, items[from:end])
}

func forbidden(kind string) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: kind}, "", nil)
}

func noMatch(gvk schema.GroupVersionKind) error {
	return fmt.Errorf("discovery: %w", &meta.NoKindMatchError{GroupKind: gvk.GroupKind(), SearchedVersions: []string{gvk.Version}})
}

// tracking judges by a set: the built-in kinds and those given.
func tracking(some ...schema.GroupVersionKind) *TrackedKinds {
	t := NewTrackedKinds(kinds.BuiltIn()...)
	for _, k := range kinds.ThirdParty() {
		t.Settle(k)
	}
	for _, gvk := range some {
		t.Add(catalogued(gvk))
	}
	return t
}

func all(schema.GroupKind) bool { return true }
