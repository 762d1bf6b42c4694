// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus/testutil"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/internal/settings"
)

// TestStaleFollowsTheThresholdInForce fails twice under one configuration and once under
// another: the number in force at the attempt is the one that counts.
func TestStaleFollowsTheThresholdInForce(t *testing.T) {
	g := NewWithT(t)
	scheme := runtime.NewScheme()
	g.Expect(v1beta1.AddToScheme(scheme)).To(Succeed())
	aibom := &v1beta1.AIBOM{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "deployment-llm"}}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(aibom).WithStatusSubresource(aibom).Build()
	r := &WorkloadReconciler{
		Client: c, Recorder: events.NewFakeRecorder(9), Clock: clocktesting.NewFakePassiveClock(time.Unix(0, 0)),
	}
	compiled := func(threshold int32) int {
		config, invalid := settings.Compile(t.Context(), v1beta1.AIBOMControllerConfigSpec{
			BOMGeneration: v1beta1.BOMGenerationSpec{StaleThresholdReconciles: ptr.To(threshold)},
		}, settings.Dependencies{})
		g.Expect(invalid).NotTo(HaveOccurred())
		return config.StaleThresholdReconciles
	}
	attempt := func(threshold int32, cause string) bool {
		current := &v1beta1.AIBOM{}
		g.Expect(c.Get(t.Context(), client.ObjectKeyFromObject(aibom), current)).To(Succeed())
		config := settings.Default()
		config.StaleThresholdReconciles = compiled(threshold)
		g.Expect(r.recordFailure(t.Context(), &appsv1.Deployment{}, current, config, v1beta1.ReasonScrapeFailed, errors.New(cause))).To(Succeed())
		g.Expect(c.Get(t.Context(), client.ObjectKeyFromObject(aibom), current)).To(Succeed())
		return meta.IsStatusConditionTrue(current.Status.Conditions, v1beta1.ConditionStale)
	}
	g.Expect(attempt(5, "first")).To(BeFalse())
	g.Expect(attempt(5, "second")).To(BeFalse())
	g.Expect(attempt(3, "third")).To(BeTrue(), "three attempts failed, and three are enough now")
	g.Expect(attempt(9, "third")).To(BeFalse(), "they are not any more, without another failure")
	g.Expect(attempt(2, "third")).To(BeTrue(), "and are again")
}

// TestOnlyAWriteThatCameTooLateIsALostRace tells it from a kind that is not served: that may
// last, so it has to be counted, logged and tried again with growing pauses.
func TestOnlyAWriteThatCameTooLateIsALostRace(t *testing.T) {
	aiboms := schema.GroupResource{Group: v1beta1.GroupVersion.Group, Resource: "aiboms"}
	notServed := apierrors.NewGenericServerResponse(http.StatusNotFound, "get", schema.GroupResource{}, "", "page not found", 0, true)
	for name, c := range map[string]struct {
		err  error
		lost bool
	}{
		"none":                   {nil, false},
		"another one":            {errors.New("etcd is away"), false},
		"somebody wrote first":   {apierrors.NewConflict(aiboms, "a", errors.New("modified")), true},
		"somebody created it":    {apierrors.NewAlreadyExists(aiboms, "a"), true},
		"somebody deleted it":    {apierrors.NewNotFound(aiboms, "a"), true},
		"the kind is not served": {notServed, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(lostRace(c.err)).To(Equal(c.lost))
			if c.err != nil {
				g.Expect(lostRace(fmt.Errorf("in other words: %w", c.err))).To(Equal(c.lost))
			}
		})
	}
}

// TestALookThatTheEndOfTheWatchCutsShortIsNoFailure stops the watch in the middle of a look, as
// the removal of a CRD does.
func TestALookThatTheEndOfTheWatchCutsShortIsNoFailure(t *testing.T) {
	g := NewWithT(t)
	scheme := runtime.NewScheme()
	g.Expect(appsv1.AddToScheme(scheme)).To(Succeed())
	workload := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "llm"}}
	ctx, stop := context.WithCancel(t.Context())
	store := settings.NewStore()
	store.Apply(settings.Absent())
	kind, known := kinds.For(schema.GroupKind{Group: "apps", Kind: "Deployment"})
	g.Expect(known).To(BeTrue())
	r := &WorkloadReconciler{
		Kind: kind, Settings: store, NewObject: func() client.Object { return &appsv1.Deployment{} },
		Workloads: fake.NewClientBuilder().WithScheme(scheme).WithObjects(workload).Build(),
		Client: fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, _ client.WithWatch, _ client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
				stop()
				return ctx.Err()
			},
		}).Build(),
	}
	failed := outcomes.WithLabelValues(kind.GVK.Kind, string(outcomeFailed))
	before := testutil.ToFloat64(failed)
	result, err := r.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(workload)})
	g.Expect(ctx.Err()).To(HaveOccurred(), "the look was cut short")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(result).To(BeZero())
	g.Expect(testutil.ToFloat64(failed)).To(Equal(before))
}
