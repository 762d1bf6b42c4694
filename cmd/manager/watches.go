// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/controller"
	"github.com/k8s-aibom/k8s-aibom/internal/health"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/internal/settings"
	"github.com/k8s-aibom/k8s-aibom/internal/supervisor"
)

// newHealth makes the registry of watch health with its three outlets.
func newHealth(ctx context.Context, mgr ctrl.Manager, o options, condition *health.Condition) (*health.Registry, error) {
	outlet, err := health.NewMetrics(metrics.Registry)
	if err != nil {
		return nil, err
	}
	// The manager's client would begin to watch whatever it writes, to see its own writes.
	writer, err := client.New(mgr.GetConfig(), client.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
	})
	if err != nil {
		return nil, err
	}
	events := health.NewEvents(health.EventsOptions{
		Client:    writer,
		Regarding: ownPod(ctx, mgr.GetAPIReader(), o),
		Clock:     clock.RealClock{},
		Log:       mgr.GetLogger().WithName("health"),
	})
	if err := mgr.Add(events); err != nil {
		return nil, err
	}
	return health.NewRegistry(clock.RealClock{}, outlet, events, condition), nil
}

// ownPod refers to the controller's own Pod, with its UID where it can be read, so that
// kubectl describe shows the events. Outside a cluster there is no Pod and events are about
// the configuration.
func ownPod(ctx context.Context, reader client.Reader, o options) corev1.ObjectReference {
	if o.podName == "" || o.podNamespace == "" {
		return corev1.ObjectReference{
			APIVersion: v1beta1.GroupVersion.String(), Kind: "AIBOMControllerConfig", Name: v1beta1.ConfigName,
		}
	}
	ref := corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: o.podNamespace, Name: o.podName}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	pod := &corev1.Pod{}
	if err := reader.Get(ctx, client.ObjectKey{Namespace: o.podNamespace, Name: o.podName}, pod); err == nil {
		ref.UID = pod.UID
	}
	return ref
}

// addSupervisor adds the one runnable that watches third-party kinds, and what leads events
// to it from the manager's own cache. It is added whichever kinds are installed: one that is
// installed later is found.
func addSupervisor(mgr ctrl.Manager, o options, shared controller.Options, registry *health.Registry) error {
	crds, err := metadata.NewForConfigAndClient(metadata.ConfigFor(mgr.GetConfig()), mgr.GetHTTPClient())
	if err != nil {
		return err
	}
	log := mgr.GetLogger().WithName("watch")
	var s *supervisor.Supervisor
	fanout := controller.NewFanout(shared.Settings, controller.FanoutOptions{
		Reader:  mgr.GetAPIReader(),
		Kinds:   func() []kinds.Kind { return append(kinds.BuiltIn(), s.Running()...) },
		Enqueue: shared.Rollup.Queues.Enqueue,
		Clock:   clock.RealClock{},
		Log:     mgr.GetLogger().WithName("fanout"),
	})
	s = supervisor.New(supervisor.Options{
		Kinds:  kinds.ThirdParty(),
		CRDs:   supervisor.APICRDs{Reader: mgr.GetAPIReader(), Metadata: crds},
		Mapper: mgr.GetRESTMapper(),
		Prober: supervisor.APIProber{Reader: mgr.GetAPIReader()},
		Runners: &supervisor.Runners{
			Config:      mgr.GetConfig(),
			HTTPClient:  mgr.GetHTTPClient(),
			Scheme:      mgr.GetScheme(),
			Mapper:      mgr.GetRESTMapper(),
			Reconciler:  controller.ThirdPartyReconciler(mgr, shared, registry),
			RateLimiter: controller.RateLimiter[reconcile.Request],
			Log:         log,
		},
		Configured: shared.Settings.Loaded(),
		Allowed:    allowedBy(shared.Settings),
		Tracked:    shared.Rollup.Tracked,
		FanOut:     fanout.TriggerContext,
		Sweep:      controller.Sweep(mgr.GetAPIReader(), mgr.GetClient(), log),
		Reported:   controller.Reported(mgr.GetCache(), log),
		Health:     registry,
		Paces:      o.paces,
		Jitter:     0.1,
		Clock:      clock.RealClock{},
		Log:        mgr.GetLogger().WithName("supervisor"),
	})
	shared.Settings.Subscribe(func(_, _ *settings.Snapshot) { s.AllowedChanged() })
	for _, k := range kinds.ThirdParty() {
		shared.Rollup.Queues.Register(k, func(key types.NamespacedName) { s.Enqueue(k, key) })
	}
	events := &controller.ThirdPartyEvents{Cache: mgr.GetCache(), Settings: shared.Settings, Supervisor: s}
	for _, r := range []manager.Runnable{s, fanout, events} {
		if err := mgr.Add(r); err != nil {
			return err
		}
	}
	return nil
}

// allowedBy asks the configuration in force which kinds it allows, all by one snapshot.
func allowedBy(store *settings.Store) func() func(kinds.Kind) bool {
	return func() func(kinds.Kind) bool {
		allowed := store.Load().WorkloadKinds
		return func(k kinds.Kind) bool { return allowed.Allows(k.GVK.GroupKind()) }
	}
}
