// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/bom"
	"github.com/k8s-aibom/k8s-aibom/internal/settings"
)

const (
	// eventSource names the controller in its events.
	eventSource = "k8s-aibom"
	// actionInventory is what it was doing.
	actionInventory = "Inventory"
)

// recordFailure says on the AIBOM that the newest attempt failed and keeps its document. A
// workload that has no AIBOM gets none: an event tells about it. Reading the same object
// again would fail again, so the failure is recorded and not returned.
func (r *WorkloadReconciler) recordFailure(
	ctx context.Context, workload client.Object, current *v1beta1.AIBOM, config *settings.Snapshot, reason string, cause error,
) error {
	message := bounded(bom.Redact(cause.Error()), maxMessage)
	if current == nil {
		log.FromContext(ctx).Info("The workload could not be inventoried", "reason", reason, "cause", message)
		r.Recorder.Eventf(workload, nil, corev1.EventTypeWarning, reason, actionInventory, "%s", bounded(message, maxNote))
		return nil
	}
	aibom := current.DeepCopy()
	now := metav1.NewTime(r.Clock.Now().UTC()).Rfc3339Copy()
	c := conditions{&aibom.Status.Conditions, aibom.Generation, now}
	c.set(v1beta1.ConditionReady, false, reason, message)
	c.set(v1beta1.ConditionSynced, false, reason, "The document was built from earlier inputs.")
	aibom.Status.ObservedGeneration = aibom.Generation
	if !equality.Semantic.DeepEqual(aibom.Status, current.Status) {
		aibom.Status.ConsecutiveErrors++
	}
	// The threshold may have changed without another failure.
	failures := int(aibom.Status.ConsecutiveErrors)
	stale := failures >= config.StaleThresholdReconciles
	if stale || meta.IsStatusConditionTrue(aibom.Status.Conditions, v1beta1.ConditionStale) {
		c.set(v1beta1.ConditionStale, stale, v1beta1.ReasonTooManyFailures, fmt.Sprintf("%d attempts in a row failed.", failures))
	}
	if equality.Semantic.DeepEqual(aibom.Status, current.Status) {
		return nil
	}
	aibom.Status.LastReconciled = &now
	patch := client.MergeFromWithOptions(current, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Status().Patch(ctx, aibom, patch); err != nil {
		return fmt.Errorf("writing the status of AIBOM %s: %w", client.ObjectKeyFromObject(aibom), err)
	}
	r.Recorder.Eventf(workload, nil, corev1.EventTypeWarning, reason, actionInventory, "%s", bounded(message, maxNote))
	return nil
}
