// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/bom"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/internal/ownership"
	"github.com/k8s-aibom/k8s-aibom/internal/settings"
)

// concurrency is how many workloads of one kind are looked at at a time.
const concurrency = 4

// Options are what the reconcilers of all kinds share.
type Options struct {
	Settings *settings.Store
	Tool     bom.Tool
	Clock    clock.PassiveClock
	// Rollup finds out who owns whom.
	Rollup *Rollup
	// Scrape replaces how a kind is read; nil for the kind's own way.
	Scrape func(kinds.Kind) ScrapeFunc
}

// SetupWorkloads adds a reconciler for each built-in kind and the indexes that they need.
func SetupWorkloads(ctx context.Context, mgr ctrl.Manager, o Options) error {
	if err := ownership.AddIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	o.Settings.Subscribe(forgetSinks)
	events := &RollupReconciler{Rollup: o.Rollup, Namespaces: mgr.GetClient(), Settings: o.Settings}
	if err := events.SetupWithManager(mgr); err != nil {
		return fmt.Errorf("setting up the controller of the roll-up: %w", err)
	}
	read := ScrapeBuiltIn
	if o.Scrape != nil {
		read = o.Scrape
	}
	for _, k := range kinds.BuiltIn() {
		prototype, list, err := prototypes(k)
		if err != nil {
			return err
		}
		r := &WorkloadReconciler{
			Kind:      k,
			NewObject: func() client.Object { return prototype.DeepCopyObject().(client.Object) },
			NewList:   func() client.ObjectList { return list.DeepCopyObject().(client.ObjectList) },
			Scrape:    read(k),
			Workloads: mgr.GetClient(),
			Client:    mgr.GetClient(),
			Rollup:    o.Rollup,
			Settings:  o.Settings,
			Recorder:  mgr.GetEventRecorder(eventSource),
			Tool:      o.Tool,
			Clock:     o.Clock,
		}
		if err := r.SetupWithManager(mgr); err != nil {
			return fmt.Errorf("setting up the controller of %s: %w", k.Key(), err)
		}
	}
	return nil
}

// SetupWithManager registers the reconciler and what wakes it: the workload, its AIBOM, its
// namespace's labels, the configuration, and whoever leads to it through the queues, as its
// pods do.
func (r *WorkloadReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(r.NewObject(), builder.WithPredicates(workloadChanged())).
		Watches(&v1beta1.AIBOM{}, handler.EnqueueRequestsFromMapFunc(r.workloadsOfAIBOM)).
		Watches(namespaceMetadata(), handler.EnqueueRequestsFromMapFunc(r.workloadsOfNamespace),
			builder.WithPredicates(predicate.LabelChangedPredicate{})).
		WatchesRawSource(source.Func(r.configChanged)).
		WatchesRawSource(source.Func(r.takeQueue)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: concurrency,
			RateLimiter:             RateLimiter[reconcile.Request](),
		}).
		Complete(r)
}

// takeQueue lets others enqueue workloads of the kind.
func (r *WorkloadReconciler) takeQueue(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	r.Rollup.Queues.Register(r.Kind, func(key types.NamespacedName) {
		queue.Add(reconcile.Request{NamespacedName: key})
	})
	return nil
}

// workloadChanged ignores status updates: the generation moves with the spec, and the
// annotations and owners that are read do not move it.
func workloadChanged() predicate.Predicate {
	return predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}, ownerChanged())
}

// podChanged ignores pod events that change nothing of what the cache keeps of a pod, such
// as a readiness that comes and goes.
func podChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok1 := e.ObjectOld.(*corev1.Pod)
		after, ok2 := e.ObjectNew.(*corev1.Pod)
		return !ok1 || !ok2 || !equality.Semantic.DeepEqual(before.Status, after.Status) ||
			!equality.Semantic.DeepEqual(before.Spec, after.Spec) ||
			!equality.Semantic.DeepEqual(before.OwnerReferences, after.OwnerReferences)
	}}
}

// ownerChanged ignores events of objects whose owners stay the same.
func ownerChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return !equality.Semantic.DeepEqual(e.ObjectOld.GetOwnerReferences(), e.ObjectNew.GetOwnerReferences())
	}}
}

// workloadsOfAIBOM leads from an AIBOM to its workload.
func (r *WorkloadReconciler) workloadsOfAIBOM(_ context.Context, object client.Object) []reconcile.Request {
	aibom, ok := object.(*v1beta1.AIBOM)
	if !ok {
		return nil
	}
	var requests []reconcile.Request
	for _, name := range workloadNames(r.Kind, aibom) {
		requests = append(requests, reconcile.Request{
			NamespacedName: client.ObjectKey{Namespace: aibom.Namespace, Name: name},
		})
	}
	return requests
}

// workloadNames are the workloads of the kind that an AIBOM may be of: the one that it refers
// to, the one that controls it and the one that its name is made from. They are the same but
// for an AIBOM that somebody else made.
func workloadNames(k kinds.Kind, aibom *v1beta1.AIBOM) []string {
	var names []string
	add := func(apiVersion, kind, name string) {
		gk := schema.FromAPIVersionAndKind(apiVersion, kind).GroupKind()
		if gk == k.GVK.GroupKind() && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	ref := aibom.Spec.WorkloadRef
	add(ref.APIVersion, ref.Kind, ref.Name)
	if owner := metav1.GetControllerOfNoCopy(aibom); owner != nil {
		add(owner.APIVersion, owner.Kind, owner.Name)
	}
	if name, ok := strings.CutPrefix(aibom.Name, AIBOMName(k.GVK.Kind, "")); ok && name != "" {
		add(k.GVK.GroupVersion().String(), k.GVK.Kind, name)
	}
	return names
}

// workloadsOfNamespace lists the kind's workloads in a namespace that opted in or out.
func (r *WorkloadReconciler) workloadsOfNamespace(ctx context.Context, namespace client.Object) []reconcile.Request {
	return r.workloads(ctx, namespace.GetName())
}

// workloads lists the kind's workloads from the cache, in one namespace or, with an empty
// name, in all.
func (r *WorkloadReconciler) workloads(ctx context.Context, namespace string) []reconcile.Request {
	list := r.NewList()
	if err := r.Workloads.List(ctx, list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		log.FromContext(ctx).Error(err, "Workloads could not be listed", "kind", r.Kind.Key(), "namespace", namespace)
		return nil
	}
	var requests []reconcile.Request
	// The list is a list and the callback does not fail, so neither does this.
	_ = meta.EachListItem(list, func(item runtime.Object) error {
		if object, ok := item.(client.Object); ok {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)})
		}
		return nil
	})
	return requests
}

// configChanged enqueues every workload of the kind when another configuration comes into
// force. It asks the cache, not the API server; a change of workloadKinds alone is the
// Fanout's, which asks the API server.
func (r *WorkloadReconciler) configChanged(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	r.Settings.Subscribe(func(before, after *settings.Snapshot) {
		if ctx.Err() != nil || before.OnlyKindsDiffer(after) {
			return
		}
		for _, request := range r.workloads(ctx, metav1.NamespaceAll) {
			queue.Add(request)
		}
	})
	return nil
}
