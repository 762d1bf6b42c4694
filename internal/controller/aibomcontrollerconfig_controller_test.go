// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/settings"
)

func TestDegradedCondition(t *testing.T) {
	onDefaults := settings.DegradedReason{Reason: v1beta1.ReasonRunningOnDefaults, Message: "invalid"}
	watchA := settings.DegradedReason{Reason: v1beta1.ReasonThirdPartyWatchUnhealthy, Message: "a fails"}
	watchB := settings.DegradedReason{Reason: v1beta1.ReasonThirdPartyWatchUnhealthy, Message: "b fails"}
	unlisted := settings.DegradedReason{Reason: "Another", Message: "odd"}
	for _, c := range []struct {
		name    string
		causes  []settings.DegradedReason
		status  metav1.ConditionStatus
		reason  string
		message string
	}{
		{"nothing", nil, metav1.ConditionFalse, v1beta1.ReasonAsExpected, "the controller works as configured"},
		{"one", []settings.DegradedReason{watchA}, metav1.ConditionTrue, v1beta1.ReasonThirdPartyWatchUnhealthy, "ThirdPartyWatchUnhealthy: a fails"},
		{"all, in any order", []settings.DegradedReason{unlisted, watchB, onDefaults, watchA}, metav1.ConditionTrue, v1beta1.ReasonRunningOnDefaults,
			"RunningOnDefaults: invalid\nThirdPartyWatchUnhealthy: a fails\nThirdPartyWatchUnhealthy: b fails\nAnother: odd"},
		{"the same twice", []settings.DegradedReason{watchA, watchA}, metav1.ConditionTrue, v1beta1.ReasonThirdPartyWatchUnhealthy, "ThirdPartyWatchUnhealthy: a fails"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			got := degradedCondition(c.causes)
			g.Expect(got.Type).To(gomega.Equal("Degraded"))
			g.Expect(got.Status).To(gomega.Equal(c.status))
			g.Expect(got.Reason).To(gomega.Equal(c.reason))
			g.Expect(got.Message).To(gomega.Equal(c.message))
		})
	}
}

func TestTransition(t *testing.T) {
	condition := func(status metav1.ConditionStatus, message string) *metav1.Condition {
		return &metav1.Condition{Status: status, Message: message}
	}
	valid := condition(metav1.ConditionTrue, "in force")
	badA, badB := condition(metav1.ConditionFalse, "a"), condition(metav1.ConditionFalse, "b")
	for _, c := range []struct {
		name          string
		before, after *metav1.Condition
		want          string
	}{
		{"first look, valid", nil, valid, ""},
		{"first look, invalid", nil, badA, corev1.EventTypeWarning},
		{"stays valid", valid, valid, ""},
		{"becomes invalid", valid, badA, corev1.EventTypeWarning},
		{"stays invalid", badA, badA, ""},
		{"invalid in another way", badA, badB, corev1.EventTypeWarning},
		{"recovers", badB, valid, corev1.EventTypeNormal},
	} {
		t.Run(c.name, func(t *testing.T) {
			gomega.NewWithT(t).Expect(transition(c.before, c.after)).To(gomega.Equal(c.want))
		})
	}
}

func TestBounded(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(bounded("short", 20)).To(gomega.Equal("short"))
	for most := 20; most < 30; most++ {
		got := bounded(strings.Repeat("ü", 100), most)
		g.Expect(len(got)).To(gomega.BeNumerically("<=", most))
		g.Expect(utf8.ValidString(got)).To(gomega.BeTrue(), "%q", got)
		g.Expect(got).To(gomega.HaveSuffix("(cut)"))
	}
}

func TestSetConfigStatusChangesNothingTwice(t *testing.T) {
	g := gomega.NewWithT(t)
	config := &v1beta1.AIBOMControllerConfig{ObjectMeta: metav1.ObjectMeta{Generation: 4}}
	state := settings.State{Reason: v1beta1.ReasonConfigInvalid, Message: strings.Repeat("x", 2*maxMessage)}
	setConfigStatus(config, state, nil)
	g.Expect(config.Status.ObservedGeneration).To(gomega.BeNumerically("==", 4))
	for _, condition := range config.Status.Conditions {
		g.Expect(condition.ObservedGeneration).To(gomega.BeNumerically("==", 4))
		g.Expect(len(condition.Message)).To(gomega.BeNumerically("<=", maxMessage))
	}
	before := config.DeepCopy()
	setConfigStatus(config, state, nil)
	g.Expect(config).To(gomega.Equal(before))
}

// configWorld is a ConfigReconciler with an API that lives in memory and counts patches.
type configWorld struct {
	*ConfigReconciler
	g       *gomega.WithT
	api     client.Client
	patches int
	events  *events.FakeRecorder
	levels  []string
	secrets error // what reading a Secret fails with, nil to read it
}

func newConfigWorld(t *testing.T, objects ...client.Object) *configWorld {
	t.Helper()
	w := &configWorld{g: gomega.NewWithT(t), events: events.NewFakeRecorder(16)}
	scheme := runtime.NewScheme()
	w.g.Expect(v1beta1.AddToScheme(scheme)).To(gomega.Succeed())
	w.g.Expect(corev1.AddToScheme(scheme)).To(gomega.Succeed())
	w.api = fake.NewClientBuilder().WithScheme(scheme).
		WithObjects(objects...).WithStatusSubresource(&v1beta1.AIBOMControllerConfig{}).
		WithInterceptorFuncs(interceptor.Funcs{
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
				w.patches++
				return c.SubResource(sub).Patch(ctx, o, p, opts...)
			},
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				if _, secret := o.(*corev1.Secret); secret && w.secrets != nil {
					return w.secrets
				}
				return c.Get(ctx, key, o, opts...)
			},
		}).Build()
	w.ConfigReconciler = &ConfigReconciler{
		Client: w.api, Reader: w.api, Namespace: "aibom-system", Store: settings.NewStore(), Recorder: w.events,
		LogLevel: func(level string) { w.levels = append(w.levels, level) }, SecretRetry: 7 * time.Second,
	}
	return w
}

func (w *configWorld) reconcile(t *testing.T) ctrl.Result {
	t.Helper()
	result, err := w.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Name: v1beta1.ConfigName}})
	w.g.Expect(err).NotTo(gomega.HaveOccurred())
	return result
}

func (w *configWorld) change(t *testing.T, change func(*v1beta1.AIBOMControllerConfigSpec)) {
	t.Helper()
	config := &v1beta1.AIBOMControllerConfig{}
	w.g.Expect(w.api.Get(t.Context(), client.ObjectKey{Name: v1beta1.ConfigName}, config)).To(gomega.Succeed())
	change(&config.Spec)
	w.g.Expect(w.api.Update(t.Context(), config)).To(gomega.Succeed())
}

func (w *configWorld) condition(t *testing.T, name string) metav1.Condition {
	t.Helper()
	config := &v1beta1.AIBOMControllerConfig{}
	w.g.Expect(w.api.Get(t.Context(), client.ObjectKey{Name: v1beta1.ConfigName}, config)).To(gomega.Succeed())
	condition := meta.FindStatusCondition(config.Status.Conditions, name)
	w.g.Expect(condition).NotTo(gomega.BeNil(), "condition %s", name)
	return *condition
}

// valueOf is the value of a gauge or counter.
func valueOf(t *testing.T, metric prometheus.Metric) float64 {
	t.Helper()
	written := &dto.Metric{}
	if err := metric.Write(written); err != nil {
		t.Fatalf("reading a metric: %v", err)
	}
	return written.GetGauge().GetValue() + written.GetCounter().GetValue()
}

func configWith(change func(*v1beta1.AIBOMControllerConfigSpec)) *v1beta1.AIBOMControllerConfig {
	c := &v1beta1.AIBOMControllerConfig{ObjectMeta: metav1.ObjectMeta{Name: v1beta1.ConfigName, Generation: 1}}
	change(&c.Spec)
	return c
}

func TestReconcileWithoutConfiguration(t *testing.T) {
	w := newConfigWorld(t)
	w.g.Expect(w.reconcile(t)).To(gomega.Equal(ctrl.Result{}))
	w.g.Expect(w.Store.Loaded()).To(gomega.BeClosed())
	w.g.Expect(w.Store.State().Ready).To(gomega.BeTrue())
	w.g.Expect(w.patches).To(gomega.BeZero())
	w.g.Expect(w.levels).To(gomega.Equal([]string{""}))
	w.g.Expect(valueOf(t, configInvalid)).To(gomega.BeZero())
}

func TestAnEarlierRunsComplaintStaysUntilThisOneKnowsBetter(t *testing.T) {
	w := newConfigWorld(t, configWith(func(*v1beta1.AIBOMControllerConfigSpec) {}))
	causes := []settings.DegradedReason{{Reason: v1beta1.ReasonThirdPartyWatchUnhealthy, Message: "A: down; B: down"}}
	undecided := false
	w.Undecided = func() bool { return undecided }
	w.DegradedSources = []func() []settings.DegradedReason{func() []settings.DegradedReason { return causes }}
	w.reconcile(t)
	before := w.condition(t, v1beta1.ConditionDegraded)

	causes, undecided = nil, true
	w.reconcile(t)
	w.g.Expect(w.condition(t, v1beta1.ConditionDegraded)).To(gomega.Equal(before), "nothing is known yet")
	undecided = false
	w.reconcile(t)
	w.g.Expect(w.condition(t, v1beta1.ConditionDegraded).Reason).To(gomega.Equal(v1beta1.ReasonAsExpected))
}

func TestReconcileFollowsTheConfiguration(t *testing.T) {
	w := newConfigWorld(t, configWith(func(s *v1beta1.AIBOMControllerConfigSpec) { s.Logging.Level = "debug" }))
	failures := valueOf(t, configLoadErrors)

	w.reconcile(t)
	w.g.Expect(w.condition(t, v1beta1.ConditionReady).Reason).To(gomega.Equal(v1beta1.ReasonConfigLoaded))
	w.g.Expect(w.condition(t, v1beta1.ConditionDegraded).Reason).To(gomega.Equal(v1beta1.ReasonAsExpected))
	w.g.Expect(w.levels).To(gomega.Equal([]string{"debug"}))
	w.g.Expect(w.events.Events).NotTo(gomega.Receive())
	w.reconcile(t)
	w.g.Expect(w.patches).To(gomega.Equal(1), "an unchanged status is not written")

	w.change(t, func(s *v1beta1.AIBOMControllerConfigSpec) { s.Discovery.WorkloadKinds = []string{"apps/Deploymnt"} })
	w.reconcile(t)
	w.reconcile(t)
	w.g.Expect(w.patches).To(gomega.Equal(2))
	w.g.Expect(w.condition(t, v1beta1.ConditionReady).Reason).To(gomega.Equal(v1beta1.ReasonConfigInvalid))
	w.g.Expect(w.condition(t, v1beta1.ConditionDegraded).Reason).To(gomega.Equal(v1beta1.ReasonRunningOnLastKnownGood))
	w.g.Expect(w.Store.Load().LogLevel).To(gomega.Equal("debug"))
	w.g.Expect(w.events.Events).To(gomega.Receive(gomega.And(gomega.HavePrefix("Warning ConfigInvalid"), gomega.ContainSubstring("apps/Deploymnt"))))
	w.g.Expect(w.events.Events).NotTo(gomega.Receive(), "one event for one transition")
	w.g.Expect(valueOf(t, configInvalid)).To(gomega.BeEquivalentTo(1))
	w.g.Expect(valueOf(t, configLoadErrors) - failures).To(gomega.BeEquivalentTo(2))

	w.change(t, func(s *v1beta1.AIBOMControllerConfigSpec) { s.Discovery.WorkloadKinds = nil })
	w.reconcile(t)
	w.g.Expect(w.condition(t, v1beta1.ConditionReady).Status).To(gomega.Equal(metav1.ConditionTrue))
	w.g.Expect(w.condition(t, v1beta1.ConditionDegraded).Status).To(gomega.Equal(metav1.ConditionFalse))
	w.g.Expect(w.events.Events).To(gomega.Receive(gomega.HavePrefix("Normal ConfigLoaded")))
	w.g.Expect(valueOf(t, configInvalid)).To(gomega.BeZero())
}

func TestReconcileAddsDegradedSources(t *testing.T) {
	w := newConfigWorld(t, configWith(func(s *v1beta1.AIBOMControllerConfigSpec) { s.Logging.Level = "loud" }))
	w.DegradedSources = append(w.DegradedSources, func() []settings.DegradedReason {
		return []settings.DegradedReason{{Reason: v1beta1.ReasonThirdPartyWatchUnhealthy, Message: "a watch fails"}}
	})
	w.reconcile(t)
	degraded := w.condition(t, v1beta1.ConditionDegraded)
	w.g.Expect(degraded.Reason).To(gomega.Equal(v1beta1.ReasonRunningOnDefaults))
	w.g.Expect(degraded.Message).To(gomega.ContainSubstring("ThirdPartyWatchUnhealthy: a watch fails"))

	w.change(t, func(s *v1beta1.AIBOMControllerConfigSpec) { s.Logging.Level = "" })
	w.reconcile(t)
	w.g.Expect(w.condition(t, v1beta1.ConditionReady).Status).To(gomega.Equal(metav1.ConditionTrue))
	w.g.Expect(w.condition(t, v1beta1.ConditionDegraded).Reason).To(gomega.Equal(v1beta1.ReasonThirdPartyWatchUnhealthy))
}

func TestReconcileWaitsForASecret(t *testing.T) {
	const token = "s3cr3t-t0ken-value"
	withSink := configWith(func(s *v1beta1.AIBOMControllerConfigSpec) {
		s.Sinks = []v1beta1.SinkSpec{{Name: "audit", HTTP: &v1beta1.HTTPSink{
			URL: "https://boms.example.com", BearerTokenSecretRef: &v1beta1.SecretKeyReference{Name: "audit", Key: "token"},
		}}}
	})
	w := newConfigWorld(t, withSink)
	expect := func(text string) {
		t.Helper()
		w.g.Expect(w.reconcile(t).RequeueAfter).To(gomega.Equal(7 * time.Second))
		ready := w.condition(t, v1beta1.ConditionReady)
		w.g.Expect(ready.Reason).To(gomega.Equal(v1beta1.ReasonSecretNotFound))
		w.g.Expect(ready.Message).To(gomega.ContainSubstring(text))
	}
	expect("the Secret aibom-system/audit does not exist")

	w.secrets = apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "audit", nil)
	expect("bind the Role " + SinkSecretRole)
	w.secrets = apierrors.NewInternalError(context.DeadlineExceeded)
	expect("could not be read")
	w.secrets = nil

	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "aibom-system", Name: "audit"}, Data: map[string][]byte{"other": []byte(token)}}
	w.g.Expect(w.api.Create(t.Context(), secret)).To(gomega.Succeed())
	expect(`has no key "token"`)

	secret.Data["token"] = []byte(token)
	w.g.Expect(w.api.Update(t.Context(), secret)).To(gomega.Succeed())
	w.g.Expect(w.reconcile(t)).To(gomega.Equal(ctrl.Result{}))
	w.g.Expect(w.condition(t, v1beta1.ConditionReady).Status).To(gomega.Equal(metav1.ConditionTrue))
	w.g.Expect(w.Store.Load().Sinks).To(gomega.HaveLen(1))
}

func TestReconcileIgnoresOtherNames(t *testing.T) {
	w := newConfigWorld(t)
	_, err := w.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Name: "other"}})
	w.g.Expect(err).NotTo(gomega.HaveOccurred())
	w.g.Expect(w.Store.Loaded()).NotTo(gomega.BeClosed())
}
