// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// Runner is one kind's watch, from its start to its end.
type Runner interface {
	// Run watches and reconciles until ctx is done, and returns when everything that it
	// started has ended. An error says why it ended before: the cache did not sync within
	// the timeout, or the controller failed.
	Run(ctx context.Context, syncTimeout time.Duration) error
	// Enqueue has one workload looked at.
	Enqueue(key types.NamespacedName)
	// Resync has every workload that the watch knows looked at.
	Resync()
}

// Reports are how a runner tells what happens to it. They may block until the supervisor has
// taken notice.
type Reports struct {
	// Listed is called after every list or watch request of the kind's informer.
	Listed func(error)
	// Synced is called once, when the kind's cache is filled.
	Synced func()
}

// RunnerFactory makes runners.
type RunnerFactory interface {
	New(k kinds.Kind, r Reports) Runner
}

// ReconcilerFunc returns what a kind's watch calls for each workload. The reader reads the
// kind's own cache: the workloads and the metadata of namespaces.
type ReconcilerFunc func(k kinds.Kind, reader client.Reader) reconcile.Reconciler

// Runners makes the runners of production: for each kind a cache of its own, restricted to
// the kind and Namespaces, and an unmanaged controller with sources from that cache.
type Runners struct {
	Config     *rest.Config
	HTTPClient *http.Client
	Scheme     *runtime.Scheme
	Mapper     meta.RESTMapper
	Reconciler ReconcilerFunc
	// RateLimiter says when a workload that failed is tried again; nil for controller-runtime's.
	RateLimiter func() workqueue.TypedRateLimiter[reconcile.Request]
	Log         logr.Logger
}

// New implements RunnerFactory.
func (f *Runners) New(k kinds.Kind, r Reports) Runner {
	return &runner{factory: f, kind: k, reports: r, queued: make(chan struct{})}
}

type runner struct {
	factory *Runners
	kind    kinds.Kind
	reports Reports

	// queued is closed when the queue is there.
	queued chan struct{}

	mu    sync.Mutex
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
	cache cache.Cache
}

// object is an empty object of the kind.
func (r *runner) object() *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(r.kind.GVK)
	return u
}

func namespace() *metav1.PartialObjectMetadata {
	ns := &metav1.PartialObjectMetadata{}
	ns.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	return ns
}

// Run implements Runner.
func (r *runner) Run(ctx context.Context, syncTimeout time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c, err := r.newCache()
	if err != nil {
		return fmt.Errorf("making the cache: %w", err)
	}
	ctl, err := r.newController(c, syncTimeout)
	if err != nil {
		return fmt.Errorf("making the controller: %w", err)
	}

	results := make(chan error, 2)
	go func() { results <- c.Start(ctx) }()
	go func() { results <- ctl.Start(ctx) }()
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		// Who hears of the sync enqueues workloads: the queue must be there.
		select {
		case <-r.queued:
		case <-ctx.Done():
			return
		}
		if c.WaitForCacheSync(ctx) && r.kindSynced(ctx, c) {
			r.reports.Synced()
		}
	}()

	first := <-results
	stopped := ctx.Err() != nil
	cancel()
	second := <-results
	<-watching
	if stopped {
		return nil
	}
	return errors.Join(first, second)
}

// kindSynced says whether the kind's informer is filled. The cache alone may be synced before
// any informer was asked for.
func (r *runner) kindSynced(ctx context.Context, c cache.Cache) bool {
	informer, err := c.GetInformer(ctx, r.object())
	return err == nil && informer.HasSynced()
}

func (r *runner) newCache() (cache.Cache, error) {
	c, err := cache.New(r.factory.Config, cache.Options{
		HTTPClient:                  r.factory.HTTPClient,
		Scheme:                      r.factory.Scheme,
		Mapper:                      r.factory.Mapper,
		DefaultTransform:            strip,
		ByObject:                    map[client.Object]cache.ByObject{namespace(): {Transform: keepLabels}},
		ReaderFailOnMissingInformer: true,
		NewInformer:                 r.newInformer,
	})
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cache = c
	return c, nil
}

// strip drops what is not read of a workload.
func strip(object any) (any, error) {
	if u, ok := object.(*unstructured.Unstructured); ok {
		u.SetManagedFields(nil)
		unstructured.RemoveNestedField(u.Object, "status")
		unstructured.RemoveNestedField(u.Object, "metadata", "annotations", corev1.LastAppliedConfigAnnotation)
	}
	return object, nil
}

// keepLabels keeps of a namespace what opting in is decided by, and whether it goes.
func keepLabels(object any) (any, error) {
	if m, ok := object.(*metav1.PartialObjectMetadata); ok {
		m.ObjectMeta = metav1.ObjectMeta{
			Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion, Labels: m.Labels,
			DeletionTimestamp: m.DeletionTimestamp,
		}
	}
	return object, nil
}

// newInformer has the requests of the kind's informer observed.
func (r *runner) newInformer(lw toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	if _, ok := object.(*unstructured.Unstructured); ok {
		lw = observe(lw, r.reports.Listed)
	}
	return toolscache.NewSharedIndexInformer(lw, object, resync, indexers)
}

func (r *runner) newController(c cache.Cache, syncTimeout time.Duration) (controller.Controller, error) {
	log := r.factory.Log.WithValues("kind", r.kind.Key())
	var limiter workqueue.TypedRateLimiter[reconcile.Request]
	if r.factory.RateLimiter != nil {
		limiter = r.factory.RateLimiter()
	}
	ctl, err := controller.NewUnmanaged("thirdparty-"+r.kind.Name(), controller.Options{
		Reconciler:         r.factory.Reconciler(r.kind, c),
		CacheSyncTimeout:   syncTimeout,
		RateLimiter:        limiter,
		SkipNameValidation: ptr.To(true), // the same kind may start many times
		RecoverPanic:       ptr.To(true),
		Logger:             log,
		LogConstructor: func(request *reconcile.Request) logr.Logger {
			if request == nil {
				return log
			}
			return log.WithValues("workload", request.NamespacedName)
		},
	})
	if err != nil {
		return nil, err
	}
	sources := []source.Source{
		source.Kind[client.Object](c, r.object(), &handler.EnqueueRequestForObject{}, changed()),
		source.Kind[client.Object](c, namespace(), handler.EnqueueRequestsFromMapFunc(r.workloadsOfNamespace),
			predicate.LabelChangedPredicate{}),
		source.Func(r.takeQueue),
	}
	for _, s := range sources {
		if err := ctl.Watch(s); err != nil {
			return nil, err
		}
	}
	return ctl, nil
}

// changed ignores status updates.
func changed() predicate.Predicate {
	owners := predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return !equality.Semantic.DeepEqual(e.ObjectOld.GetOwnerReferences(), e.ObjectNew.GetOwnerReferences())
	}}
	return predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}, owners)
}

// takeQueue keeps the controller's queue for Enqueue and Resync.
func (r *runner) takeQueue(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = queue
	close(r.queued)
	return nil
}

// Enqueue implements Runner.
func (r *runner) Enqueue(key types.NamespacedName) {
	r.mu.Lock()
	queue := r.queue
	r.mu.Unlock()
	if queue != nil {
		queue.Add(reconcile.Request{NamespacedName: key})
	}
}

// Resync implements Runner.
func (r *runner) Resync() {
	for _, request := range r.workloads(context.Background(), metav1.NamespaceAll) {
		r.Enqueue(request.NamespacedName)
	}
}

func (r *runner) workloadsOfNamespace(ctx context.Context, ns client.Object) []reconcile.Request {
	return r.workloads(ctx, ns.GetName())
}

// workloads lists what the kind's cache holds, in one namespace or, with an empty name, in
// all. A cache that is not filled yet has nothing to tell: its first list tells it all.
func (r *runner) workloads(ctx context.Context, in string) []reconcile.Request {
	r.mu.Lock()
	c := r.cache
	r.mu.Unlock()
	if c == nil {
		return nil
	}
	informer, err := c.GetInformer(ctx, r.object(), cache.BlockUntilSynced(false))
	if err != nil || !informer.HasSynced() {
		return nil
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(r.kind.GVK.GroupVersion().WithKind(r.kind.GVK.Kind + "List"))
	if err := c.List(ctx, list, client.InNamespace(in), client.UnsafeDisableDeepCopy); err != nil {
		r.factory.Log.Error(err, "Workloads could not be listed", "kind", r.kind.Key(), "namespace", in)
		return nil
	}
	requests := make([]reconcile.Request, 0, len(list.Items))
	for i := range list.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return requests
}
