// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/k8s-aibom/k8s-aibom/internal/ownership"
	"github.com/k8s-aibom/k8s-aibom/internal/settings"
)

// askers is how many owners are asked for at a time.
const askers = 2

// RollupReconciler leads what happens to pods and ReplicaSets to the workloads above them. Its
// event handlers climb through the cache; only an owner that this does not hold becomes a
// request of its queue, and is read from the API server there.
type RollupReconciler struct {
	// Rollup knows who owns whom.
	Rollup *Rollup
	// Namespaces reads the labels of namespaces from the cache.
	Namespaces client.Reader
	// Settings hold the configuration.
	Settings *settings.Store
	// Retry is how long an owner is left alone whose kind nobody has looked for yet;
	// DefaultRetry when 0.
	Retry time.Duration
}

// SetupWithManager registers the controller.
func (r *RollupReconciler) SetupWithManager(mgr ctrl.Manager) error {
	ctl, err := controller.NewTyped("rollup", mgr, controller.TypedOptions[ownership.Ancestor]{
		Reconciler:              r,
		MaxConcurrentReconciles: askers,
		RateLimiter:             RateLimiter[ownership.Ancestor](),
		LogConstructor: func(owner *ownership.Ancestor) logr.Logger {
			logger := mgr.GetLogger().WithValues("controller", "rollup")
			if owner == nil {
				return logger
			}
			return logger.WithValues("kind", owner.GVK.Kind, "namespace", owner.Namespace, "name", owner.Name)
		},
	})
	if err != nil {
		return err
	}
	for _, s := range []source.TypedSource[ownership.Ancestor]{
		source.TypedFunc[ownership.Ancestor](r.takeQueue),
		source.TypedKind[client.Object](mgr.GetCache(), &corev1.Pod{}, r.handler(), podChanged()),
		// A pod may have been seen before its ReplicaSet was.
		source.TypedKind[client.Object](mgr.GetCache(), ownership.ReplicaSet(), r.handler(), ownerChanged()),
	} {
		if err := ctl.Watch(s); err != nil {
			return err
		}
	}
	return nil
}

func (r *RollupReconciler) takeQueue(_ context.Context, queue workqueue.TypedRateLimitingInterface[ownership.Ancestor]) error {
	r.Rollup.Queues.registerAsk(func(owner ownership.Ancestor) { queue.Add(owner) })
	return nil
}

// handler climbs from an object, and from what it was before where its owner changed.
func (r *RollupReconciler) handler() handler.TypedEventHandler[client.Object, ownership.Ancestor] {
	type queue = workqueue.TypedRateLimitingInterface[ownership.Ancestor]
	climb := func(ctx context.Context, object client.Object) { r.Rollup.passOn(ctx, object, r.Settings.Load()) }
	return handler.TypedFuncs[client.Object, ownership.Ancestor]{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, _ queue) { climb(ctx, e.Object) },
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, _ queue) { climb(ctx, e.Object) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, _ queue) {
			if ownerUID(e.ObjectOld) != ownerUID(e.ObjectNew) {
				climb(ctx, e.ObjectOld)
			}
			climb(ctx, e.ObjectNew)
		},
	}
}

func ownerUID(object client.Object) string {
	if owner := metav1.GetControllerOfNoCopy(object); owner != nil {
		return string(owner.UID)
	}
	return ""
}

// Reconcile asks for an owner, goes on to the nearest tracked one above it and has that
// looked at.
func (r *RollupReconciler) Reconcile(ctx context.Context, owner ownership.Ancestor) (ctrl.Result, error) {
	select {
	case <-r.Settings.Loaded():
	case <-ctx.Done():
		return ctrl.Result{}, ctx.Err()
	}
	config := r.Settings.Load()
	if there, err := r.optedIn(ctx, owner.Namespace, config); err != nil || !there {
		return ctrl.Result{}, err
	}
	found, err := r.Rollup.Walker.Nearest(ctx, below(owner), r.Rollup.judge(config))
	switch {
	case err != nil:
		return ctrl.Result{}, err
	case found.End == ownership.Waiting:
		return ctrl.Result{RequeueAfter: orDefault(r.Retry)}, nil
	case found.End == ownership.Absorbed:
		r.Rollup.Queues.enqueue(found.By)
	}
	return ctrl.Result{}, nil
}

// optedIn says whether anything in the namespace is reported: nobody else's owners are asked
// for.
func (r *RollupReconciler) optedIn(ctx context.Context, name string, config *settings.Snapshot) (bool, error) {
	ns := namespaceMetadata()
	if err := r.Namespaces.Get(ctx, client.ObjectKey{Name: name}, ns); err != nil {
		return false, client.IgnoreNotFound(fmt.Errorf("reading namespace %s: %w", name, err))
	}
	return config.NamespaceSelector.Matches(labels.Set(ns.Labels)), nil
}

// below is an object that the owner controls.
func below(owner ownership.Ancestor) client.Object {
	apiVersion, kind := owner.GVK.ToAPIVersionAndKind()
	object := &metav1.PartialObjectMetadata{}
	object.Namespace = owner.Namespace
	object.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: apiVersion, Kind: kind, Name: owner.Name, UID: owner.UID, Controller: ptr.To(true),
	}}
	return object
}
