// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/settings"
	"github.com/k8s-aibom/k8s-aibom/internal/sink"
)

const (
	// SinkSecretRole is the Role in the controller's namespace that lets it read the Secrets
	// of sinks. It is bound only where somebody decides so.
	SinkSecretRole = "k8s-aibom-sink-secrets"

	// DefaultSecretRetry is how long a Secret that could not be read is left alone.
	DefaultSecretRetry = 30 * time.Second

	// secretTimeout bounds one reading of a Secret.
	secretTimeout = 10 * time.Second

	// maxMessage is the bound of a condition's message (metav1.Condition), maxNote that of an
	// event's note (events.k8s.io/v1), both in the API's validation.
	maxMessage = 32768
	maxNote    = 1024

	actionLoadConfig = "LoadConfiguration"
)

var (
	configInvalid = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "aibom_config_invalid",
		Help: "1 while the AIBOMControllerConfig is invalid and an earlier configuration or the defaults are in force, else 0.",
	})
	configLoadErrors = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "aibom_config_load_errors_total",
		Help: "Attempts to load the AIBOMControllerConfig that found it invalid.",
	})
)

func init() { metrics.Registry.MustRegister(configInvalid, configLoadErrors) }

// ConfigReconciler brings the AIBOMControllerConfig named default into force and says in its
// status whether it is.
type ConfigReconciler struct {
	// Client patches the configuration's status.
	Client client.Client
	// Reader reads without a cache. Secrets, so that none is listed or watched. And the
	// configuration: shortly after its CRD was upgraded, a watch that began before still shows
	// objects without the new fields, and does not show them again.
	Reader client.Reader
	// Namespace is the controller's own; Secrets are read there only.
	Namespace string
	// Store is given every outcome.
	Store *settings.Store
	// Recorder tells of transitions to invalid and back.
	Recorder events.EventRecorder
	// LogLevel is called with error, info or debug, or with nothing where the configuration
	// does not say, after every load; nil when the level is
	// fixed.
	LogLevel func(string)
	// LogFormat is how the log is written since the start, json or text, and LogFormatFixed is
	// true where a flag said so. The status says when the configuration asks for another one;
	// empty where nobody can tell.
	LogFormat      string
	LogFormatFixed bool
	// Schema compares the served CRDs with this controller's types, whenever the configuration
	// has changed; nil for never. It is a DegradedSource as well.
	Schema *SchemaCheck
	// HTTPClient is shared by all HTTP sinks; SetupWithManager sets one when nil.
	HTTPClient *http.Client
	// SecretRetry is how long a Secret that could not be read is left alone;
	// DefaultSecretRetry when 0.
	SecretRetry time.Duration
	// DegradedSources add to the Degraded condition. Each is asked in every reconciliation.
	DegradedSources []func() []settings.DegradedReason
	// Undecided is true while it is not known yet which third-party watches fail; nil means
	// never. What an earlier run said of them stays until then.
	Undecided func() bool
	// Triggers start a reconciliation when a DegradedSource has something new to say.
	Triggers []source.Source

	// compared is the configuration that Schema was last asked for. Reconciliations come one
	// after the other.
	compared *configVersion
}

// configVersion tells apart what a user has written; its zero value is no configuration.
type configVersion struct {
	uid        types.UID
	generation int64
}

// +kubebuilder:rbac:groups=aibom.k8saibom.dev,resources=aibomcontrollerconfigs,verbs=get;list;watch
// +kubebuilder:rbac:groups=aibom.k8saibom.dev,resources=aibomcontrollerconfigs/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// SetupWithManager registers the reconciler. It runs once at start even when there is no
// configuration, so that the Store is told of that too.
func (r *ConfigReconciler) SetupWithManager(mgr ctrl.Manager) error {
	if r.HTTPClient == nil {
		r.HTTPClient = sink.DefaultClient()
	}
	b := ctrl.NewControllerManagedBy(mgr).
		Named("aibomcontrollerconfig").
		For(&v1beta1.AIBOMControllerConfig{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesRawSource(source.Func(enqueueConfig))
	for _, trigger := range r.Triggers {
		b = b.WatchesRawSource(trigger)
	}
	return b.Complete(r)
}

func enqueueConfig(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	queue.Add(reconcile.Request{NamespacedName: client.ObjectKey{Name: v1beta1.ConfigName}})
	return nil
}

// Reconcile loads the configuration and reports how that went.
func (r *ConfigReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	if req.Name != v1beta1.ConfigName {
		return ctrl.Result{}, nil
	}
	config := &v1beta1.AIBOMControllerConfig{}
	err := r.Reader.Get(ctx, req.NamespacedName, config)
	if client.IgnoreNotFound(err) == nil {
		r.compareSchema(ctx, config)
	}
	if apierrors.IsNotFound(err) {
		r.apply(settings.Absent(), nil)
		return ctrl.Result{}, nil
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("reading the configuration: %w", err)
	}

	snapshot, invalid := settings.Compile(ctx, config.Spec, settings.Dependencies{Secrets: r.readSecret, HTTPClient: r.HTTPClient})
	outcome := settings.Valid(snapshot)
	if invalid != nil {
		outcome = settings.Invalid(invalid)
	}
	state := r.apply(outcome, invalid)
	if err := r.report(ctx, config, state); err != nil {
		return ctrl.Result{}, err
	}
	if invalid != nil && invalid.Retry {
		return ctrl.Result{RequeueAfter: r.secretRetry()}, nil
	}
	return ctrl.Result{}, nil
}

// compareSchema looks at the served CRDs once for each configuration, and once where there is
// none: what a schema lacks matters when something is set.
func (r *ConfigReconciler) compareSchema(ctx context.Context, config *v1beta1.AIBOMControllerConfig) {
	version := configVersion{config.UID, config.Generation}
	if r.Schema == nil || (r.compared != nil && *r.compared == version) {
		return
	}
	r.compared = &version
	r.Schema.Check(ctx)
}

// apply brings the outcome into force, here and in the metrics.
func (r *ConfigReconciler) apply(outcome settings.Outcome, invalid *settings.InvalidError) settings.State {
	state := r.Store.Apply(outcome)
	configInvalid.Set(0)
	if invalid != nil {
		configInvalid.Set(1)
		configLoadErrors.Inc()
	}
	if r.LogLevel != nil {
		r.LogLevel(r.Store.Load().LogLevel)
	}
	return state
}

// report writes the status when it changed, and then tells of a transition.
func (r *ConfigReconciler) report(ctx context.Context, config *v1beta1.AIBOMControllerConfig, state settings.State) error {
	degraded := slices.Clone(state.Degraded)
	for _, source := range r.DegradedSources {
		degraded = append(degraded, source()...)
	}
	degraded = append(degraded, r.retained(config, degraded)...)
	if state.Ready {
		state.Message += r.logFormatNote(r.Store.Load().LogFormat)
	}
	updated := config.DeepCopy()
	setConfigStatus(updated, state, degraded)
	if equality.Semantic.DeepEqual(config.Status, updated.Status) {
		return nil
	}
	patch := client.MergeFromWithOptions(config, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Status().Patch(ctx, updated, patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("writing the configuration's status: %w", err)
	}
	before := meta.FindStatusCondition(config.Status.Conditions, v1beta1.ConditionReady)
	after := meta.FindStatusCondition(updated.Status.Conditions, v1beta1.ConditionReady)
	if eventType := transition(before, after); eventType != "" {
		r.Recorder.Eventf(updated, nil, eventType, after.Reason, actionLoadConfig, "%s", bounded(after.Message, maxNote))
	}
	return nil
}

// setConfigStatus computes the whole status; it changes nothing that is already so.
func setConfigStatus(config *v1beta1.AIBOMControllerConfig, state settings.State, degraded []settings.DegradedReason) {
	config.Status.ObservedGeneration = config.Generation
	for _, condition := range []metav1.Condition{readyCondition(state), degradedCondition(degraded)} {
		condition.ObservedGeneration = config.Generation
		condition.Message = bounded(condition.Message, maxMessage)
		meta.SetStatusCondition(&config.Status.Conditions, condition)
	}
}

// logFormatNote says that the log is not written as the configuration asks for; empty where
// it is.
func (r *ConfigReconciler) logFormatNote(asked string) string {
	if r.LogFormat == "" {
		return ""
	}
	if r.LogFormatFixed {
		if asked == "" || asked == r.LogFormat {
			return ""
		}
		return fmt.Sprintf("; spec.logging.format (%s) has no effect, because --log-format=%s wins over it", asked, r.LogFormat)
	}
	if asked == "" {
		asked = settings.DefaultLogFormat
	}
	if asked == r.LogFormat {
		return ""
	}
	return fmt.Sprintf("; spec.logging.format (%s) takes effect when the controller restarts, until then the log is written as %s", asked, r.LogFormat)
}

// retained is what an earlier run said of third-party watches, as long as this one cannot
// know better. It stands last in the message; see degradedPrecedence.
func (r *ConfigReconciler) retained(config *v1beta1.AIBOMControllerConfig, degraded []settings.DegradedReason) []settings.DegradedReason {
	reason := v1beta1.ReasonThirdPartyWatchUnhealthy
	known := slices.ContainsFunc(degraded, func(d settings.DegradedReason) bool { return d.Reason == reason })
	before := meta.FindStatusCondition(config.Status.Conditions, v1beta1.ConditionDegraded)
	if known || before == nil || before.Status != metav1.ConditionTrue || r.Undecided == nil || !r.Undecided() {
		return nil
	}
	_, message, found := strings.Cut(before.Message, reason+": ")
	if !found {
		return nil
	}
	return []settings.DegradedReason{{Reason: reason, Message: message}}
}

func readyCondition(state settings.State) metav1.Condition {
	status := metav1.ConditionFalse
	if state.Ready {
		status = metav1.ConditionTrue
	}
	return metav1.Condition{Type: v1beta1.ConditionReady, Status: status, Reason: state.Reason, Message: state.Message}
}

// degradedPrecedence decides which of several reasons the condition shows as its own.
var degradedPrecedence = []string{
	v1beta1.ReasonRunningOnDefaults,
	v1beta1.ReasonRunningOnLastKnownGood,
	v1beta1.ReasonSchemaPredatesController,
	v1beta1.ReasonThirdPartyWatchUnhealthy,
}

// degradedCondition states every cause in its message, in an order that does not depend on
// the order of the sources.
func degradedCondition(causes []settings.DegradedReason) metav1.Condition {
	if len(causes) == 0 {
		return metav1.Condition{
			Type: v1beta1.ConditionDegraded, Status: metav1.ConditionFalse,
			Reason: v1beta1.ReasonAsExpected, Message: "the controller works as configured",
		}
	}
	causes = slices.Clone(causes)
	slices.SortFunc(causes, func(a, b settings.DegradedReason) int {
		if d := precedence(a.Reason) - precedence(b.Reason); d != 0 {
			return d
		}
		return strings.Compare(a.Reason+a.Message, b.Reason+b.Message)
	})
	messages := make([]string, len(causes))
	for i, cause := range causes {
		messages[i] = cause.Reason + ": " + cause.Message
	}
	return metav1.Condition{
		Type: v1beta1.ConditionDegraded, Status: metav1.ConditionTrue,
		Reason: causes[0].Reason, Message: strings.Join(slices.Compact(messages), "\n"),
	}
}

// precedence is the place of a reason; one that is not listed comes last.
func precedence(reason string) int {
	if i := slices.Index(degradedPrecedence, reason); i >= 0 {
		return i
	}
	return len(degradedPrecedence)
}

// transition is the type of the event that a change of Ready deserves, empty for none. It is
// decided from the conditions, so that a restart repeats no event. A configuration that is
// invalid in another way than before is told again.
func transition(before, after *metav1.Condition) string {
	wasInvalid := before != nil && before.Status == metav1.ConditionFalse
	if after.Status != metav1.ConditionFalse {
		if wasInvalid {
			return corev1.EventTypeNormal
		}
		return ""
	}
	if wasInvalid && before.Message == after.Message {
		return ""
	}
	return corev1.EventTypeWarning
}

// bounded cuts a text at most bytes, at a character's end, and marks the cut.
func bounded(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const mark = " ... (cut)"
	cut := most - len(mark)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + mark
}

func (r *ConfigReconciler) secretRetry() time.Duration {
	if r.SecretRetry == 0 {
		return DefaultSecretRetry
	}
	return r.SecretRetry
}

// readSecret is a settings.SecretReader for the controller's own namespace.
func (r *ConfigReconciler) readSecret(ctx context.Context, name, key string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, secretTimeout)
	defer cancel()
	secret := &corev1.Secret{}
	err := r.Reader.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: name}, secret)
	switch {
	case apierrors.IsNotFound(err):
		return "", fmt.Errorf("the Secret %s/%s does not exist", r.Namespace, name)
	case apierrors.IsForbidden(err):
		return "", fmt.Errorf("the controller may not read the Secret %s/%s; bind the Role %s in the namespace %s to its ServiceAccount", r.Namespace, name, SinkSecretRole, r.Namespace)
	case err != nil:
		return "", fmt.Errorf("the Secret %s/%s could not be read: %w", r.Namespace, name, err)
	}
	value, ok := secret.Data[key]
	if !ok {
		return "", fmt.Errorf("the Secret %s/%s has no key %q", r.Namespace, name, key)
	}
	return string(value), nil
}
