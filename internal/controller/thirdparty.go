// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
	"github.com/k8s-aibom/k8s-aibom/internal/health"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/internal/scrape"
	"github.com/k8s-aibom/k8s-aibom/internal/settings"
	"github.com/k8s-aibom/k8s-aibom/internal/supervisor"
)

// +kubebuilder:rbac:groups=serving.kserve.io,resources=inferenceservices,verbs=get;list;watch
// +kubebuilder:rbac:groups=nvidia.com,resources=dynamographdeployments;dynamocomponentdeployments,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps.nvidia.com,resources=nimservices,verbs=get;list;watch
// +kubebuilder:rbac:groups=leaderworkerset.x-k8s.io,resources=leaderworkersets,verbs=get;list;watch
// +kubebuilder:rbac:groups=disaggregatedset.x-k8s.io,resources=disaggregatedsets,verbs=get;list;watch

// crdRetry is how long a CRD of the project's own that is not there is left alone, as
// controller-runtime does.
const crdRetry = 10 * time.Second

// ThirdPartyReconciler returns the reconcilers of third-party kinds: the same pipeline as that
// of the built-in kinds, on the kind's own cache, and with deletions only while the kind's
// watch is healthy.
func ThirdPartyReconciler(mgr ctrl.Manager, o Options, registry *health.Registry) supervisor.ReconcilerFunc {
	recorder := mgr.GetEventRecorder(eventSource)
	return func(k kinds.Kind, reader client.Reader) reconcile.Reconciler {
		return &WorkloadReconciler{
			Kind: k,
			NewObject: func() client.Object {
				u := &unstructured.Unstructured{}
				u.SetGroupVersionKind(k.GVK)
				return u
			},
			Scrape:    scrapeThirdParty(k),
			Workloads: reader,
			Client:    mgr.GetClient(),
			Rollup:    o.Rollup,
			MayDelete: func() bool { return registry.Healthy(k.Name()) },
			Settings:  o.Settings,
			Recorder:  recorder,
			Tool:      o.Tool,
			Clock:     o.Clock,
		}
	}
}

// scrapeThirdParty reads an object of a third-party kind.
func scrapeThirdParty(k kinds.Kind) ScrapeFunc {
	return func(object client.Object, running []scrape.RunningImage, rules scrape.Rules) (evidence.Report, error) {
		u, ok := object.(*unstructured.Unstructured)
		if !ok {
			return evidence.Report{}, fmt.Errorf("%T is not an unstructured object", object)
		}
		return scrape.Object(k, scrape.ObjectInput{
			Workload: workloadOf(k, object), Object: u.Object, Running: running, Rules: rules,
		})
	}
}

// ThirdPartyEvents leads what happens outside a third-party kind's own cache to its watch:
// an AIBOM that somebody changed or deleted, and another configuration. Its handlers live on
// the manager's cache for as long as the leader does, whichever watches come and go.
type ThirdPartyEvents struct {
	Cache      cache.Cache
	Settings   *settings.Store
	Supervisor *supervisor.Supervisor
}

// NeedLeaderElection is true, as of the supervisor.
func (e *ThirdPartyEvents) NeedLeaderElection() bool { return true }

// Start passes events on until ctx is done.
func (e *ThirdPartyEvents) Start(ctx context.Context) error {
	informer, there := e.aiboms(ctx)
	if !there {
		return nil // told to stop before the kind was there
	}
	registration, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, object any) { e.enqueue(object) },
		DeleteFunc: e.enqueue,
	})
	if err != nil {
		return fmt.Errorf("watching AIBOMs: %w", err)
	}
	e.Settings.Subscribe(func(before, after *settings.Snapshot) {
		if ctx.Err() == nil && !before.OnlyKindsDiffer(after) {
			e.Supervisor.Resync()
		}
	})
	<-ctx.Done()
	return informer.RemoveEventHandler(registration)
}

// aiboms is the informer of AIBOMs. Its CRD may be installed after the controller started.
func (e *ThirdPartyEvents) aiboms(ctx context.Context) (informer cache.Informer, there bool) {
	err := wait.PollUntilContextCancel(ctx, crdRetry, true, func(ctx context.Context) (bool, error) {
		var missing error
		informer, missing = e.Cache.GetInformer(ctx, &v1beta1.AIBOM{})
		return missing == nil, nil
	})
	return informer, err == nil
}

func (e *ThirdPartyEvents) enqueue(object any) {
	if tombstone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	aibom, ok := object.(*v1beta1.AIBOM)
	if !ok {
		return
	}
	for _, k := range kinds.ThirdParty() {
		for _, name := range workloadNames(k, aibom) {
			e.Supervisor.Enqueue(k, client.ObjectKey{Namespace: aibom.Namespace, Name: name})
		}
	}
}

// Reported lists the workloads of a kind that have an AIBOM, from the manager's cache.
func Reported(reader client.Reader, log logr.Logger) func(context.Context, kinds.Kind) []types.NamespacedName {
	return func(ctx context.Context, k kinds.Kind) []types.NamespacedName {
		list := &v1beta1.AIBOMList{}
		err := reader.List(ctx, list, client.MatchingLabels{v1beta1.KindLabel: k.GVK.Kind}, client.UnsafeDisableDeepCopy)
		if err != nil {
			log.Error(err, "AIBOMs could not be listed", "kind", k.Key())
			return nil
		}
		var keys []types.NamespacedName
		for i := range list.Items {
			for _, name := range workloadNames(k, &list.Items[i]) {
				keys = append(keys, types.NamespacedName{Namespace: list.Items[i].Namespace, Name: name})
			}
		}
		return keys
	}
}

// ThirdPartyDegraded says which third-party watches are unhealthy, for the Degraded
// condition.
func ThirdPartyDegraded(registry *health.Registry) func() []settings.DegradedReason {
	return func() []settings.DegradedReason {
		message := registry.DegradedMessage()
		if message == "" {
			return nil
		}
		return []settings.DegradedReason{{Reason: v1beta1.ReasonThirdPartyWatchUnhealthy, Message: message}}
	}
}

// EnqueueConfig leads any event to the configuration.
func EnqueueConfig() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: v1beta1.ConfigName}}}
	})
}
