// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/zapr"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/bom"
	"github.com/k8s-aibom/k8s-aibom/internal/controller"
	"github.com/k8s-aibom/k8s-aibom/internal/health"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/internal/ownership"
	"github.com/k8s-aibom/k8s-aibom/internal/settings"
)

// leaseName names the Lease of leader election.
const leaseName = "k8s-aibom.k8saibom.dev"

// configTimeout bounds the reading of the configuration before the manager starts.
const configTimeout = 5 * time.Second

// newLogger makes the logger and a function that changes its level.
func newLogger(o options) (logr.Logger, func(string)) {
	level := zap.NewAtomicLevel()
	setLevel := func(name string) {
		if name == "" {
			name = o.logLevel
		}
		if v, ok := logLevels[name]; ok {
			level.SetLevel(zapcore.Level(-v))
		}
	}
	setLevel(o.logLevel)
	encoding := zap.NewProductionEncoderConfig()
	encoding.EncodeTime = zapcore.ISO8601TimeEncoder
	encoder := zapcore.NewJSONEncoder(encoding)
	if o.logFormat == "text" {
		encoder = zapcore.NewConsoleEncoder(encoding)
	}
	core := zapcore.NewCore(encoder, zapcore.Lock(os.Stderr), level)
	return zapr.NewLogger(zap.New(core)), setLevel
}

// useLogger has everything logged there, also what client-go tells by klog, such as a list or a
// watch that fails: it would write lines of its own form in between.
func useLogger(logger logr.Logger) {
	ctrl.SetLogger(logger)
	klog.SetLogger(logger.WithName("client-go"))
}

// configuredLogFormat is spec.logging.format of the configuration as it is now, and empty
// where that does not say or cannot be read: a log is needed in any case.
func configuredLogFormat(ctx context.Context, restConfig *rest.Config) string {
	ctx, cancel := context.WithTimeout(ctx, configTimeout)
	defer cancel()
	reader, err := client.New(restConfig, client.Options{Scheme: newScheme()})
	if err != nil {
		return ""
	}
	config := &v1beta1.AIBOMControllerConfig{}
	if err := reader.Get(ctx, client.ObjectKey{Name: v1beta1.ConfigName}, config); err != nil {
		return ""
	}
	return config.Spec.Logging.Format
}

// run builds the manager from the options and runs it until ctx is done.
func run(ctx context.Context, o options) error {
	restConfig, err := ctrl.GetConfig()
	formatFixed := o.logFormat != ""
	if err == nil && o.logFormat == "" {
		o.logFormat = configuredLogFormat(ctx, restConfig)
	}
	logger, setLevel := newLogger(o)
	useLogger(logger)
	if err != nil {
		return fmt.Errorf("finding the API server (use --kubeconfig outside a cluster): %w", err)
	}
	restConfig.UserAgent = "k8s-aibom/" + version
	mgr, err := ctrl.NewManager(restConfig, managerOptions(o, logger))
	if err != nil {
		return err
	}
	store := settings.NewStore()
	condition := health.NewCondition()
	registry, err := newHealth(ctx, mgr, o, condition)
	if err != nil {
		return err
	}
	schema, err := addSchemaCheck(mgr, o)
	if err != nil {
		return err
	}
	if err := (&controller.ConfigReconciler{
		Client:          mgr.GetClient(),
		Reader:          mgr.GetAPIReader(),
		Namespace:       o.podNamespace,
		Store:           store,
		Recorder:        mgr.GetEventRecorder("k8s-aibom"),
		LogLevel:        setLevel,
		LogFormat:       cmp.Or(o.logFormat, settings.DefaultLogFormat),
		LogFormatFixed:  formatFixed,
		Schema:          schema,
		DegradedSources: []func() []settings.DegradedReason{controller.ThirdPartyDegraded(registry), schema.Degraded},
		Undecided:       registry.Undecided,
		Triggers: []source.Source{
			source.Channel(condition.Changes, controller.EnqueueConfig()),
			source.Channel(schema.Changes, controller.EnqueueConfig()),
		},
	}).SetupWithManager(mgr); err != nil {
		return fmt.Errorf("setting up the controller of AIBOMControllerConfig: %w", err)
	}
	shared := controller.Options{
		Settings: store,
		Tool:     bom.Tool{Name: "k8s-aibom", Vendor: "k8s-aibom", Version: version},
		Clock:    clock.RealClock{},
		Rollup:   controller.NewRollup(mgr, ownership.NewTrackedKinds(kinds.BuiltIn()...), clock.RealClock{}),
	}
	if err := controller.SetupWorkloads(ctx, mgr, shared); err != nil {
		return err
	}
	if err := addSupervisor(mgr, o, shared, registry); err != nil {
		return err
	}
	if err := addProbes(mgr, o, store); err != nil {
		return err
	}
	logger.Info("Starting", "version", version, "pod", o.podName, "namespace", o.podNamespace)
	return mgr.Start(ctx)
}

// addSchemaCheck adds what compares the served CRDs with this program.
func addSchemaCheck(mgr ctrl.Manager, o options) (*controller.SchemaCheck, error) {
	client, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, err
	}
	check := controller.NewSchemaCheck(controller.ServedSchema(client.RESTClient()), o.schemaInterval,
		clock.RealClock{}, mgr.GetLogger().WithName("schema"))
	return check, mgr.Add(check)
}

// addProbes adds what /healthz and /readyz ask.
func addProbes(mgr ctrl.Manager, o options, store *settings.Store) error {
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	log := mgr.GetLogger().WithName("readyz")
	if err := mgr.AddReadyzCheck("informers", controller.OwnInformersSynced(mgr.GetCache(), log)); err != nil {
		return err
	}
	if !o.strictReadiness {
		return nil
	}
	return mgr.AddReadyzCheck("configuration", controller.ConfigurationValid(store, log))
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, v1beta1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			panic(err) // the types are compiled in: they register or the program is broken
		}
	}
	return scheme
}

func managerOptions(o options, logger logr.Logger) ctrl.Options {
	serving := metricsserver.Options{BindAddress: o.metricsAddress, SecureServing: o.metricsSecure, CertDir: o.metricsCertDir}
	if o.metricsSecure {
		serving.FilterProvider = filters.WithAuthenticationAndAuthorization
	}
	return ctrl.Options{
		Scheme: newScheme(),
		Logger: logger,
		Cache:  controller.CacheOptions(),
		Client: client.Options{Cache: &client.CacheOptions{
			// A reconcile right after a write must not act on the state before it.
			EnableReadYourWritesConsistency: ptr.To(true),
		}},
		Metrics:                       serving,
		HealthProbeBindAddress:        o.probeAddress,
		LeaderElection:                o.leaderElect,
		LeaderElectionID:              leaseName,
		LeaderElectionNamespace:       o.podNamespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &o.leaseDuration,
		RenewDeadline:                 ptr.To(o.leaseDuration * 2 / 3),
		RetryPeriod:                   ptr.To(o.leaseDuration / 8),
	}
}
