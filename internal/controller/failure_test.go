// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
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
