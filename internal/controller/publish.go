// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/bom"
	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/internal/settings"
	"github.com/k8s-aibom/k8s-aibom/internal/sink"
)

// bomFormat is the only format of documents.
const bomFormat = "CycloneDX"

// hashPrefix names the algorithm of status.bomHash.
const hashPrefix = "sha256:"

// maxSummaryModels bounds the summary, so that it and an inline document together stay below
// what etcd takes.
const maxSummaryModels = 64

// target is what a workload's AIBOM shall say.
type target struct {
	workload client.Object
	input    bom.Input
	hash     string
	summary  *v1beta1.AIBOMSummary
	config   *settings.Snapshot
}

// isCurrent says whether the AIBOM says so already and nothing is outstanding. It spares
// building a document in order to find that nothing has changed.
func (t target) isCurrent(kind kinds.Kind, current *v1beta1.AIBOM) bool {
	if current == nil || current.Status.InputHash != t.hash || current.Status.BOMDocument == nil {
		return false
	}
	if !t.liesAsConfigured(current.Status.BOMDocument) {
		return false
	}
	wanted := current.DeepCopy()
	t.describe(kind, wanted)
	t.reportState(wanted, everySinkTookIt(t.config), metav1.Time{})
	wanted.Status.BOMHash = hashPrefix + current.Status.BOMDocument.SHA256
	wanted.Status.BOMDocument.Format = bomFormat
	wanted.Status.BOMDocument.SpecVersion = t.input.SpecVersion
	return equality.Semantic.DeepEqual(wanted, current)
}

// liesAsConfigured says whether a document would end where it is. Its hash is missing where
// somebody else changed it (see stripAIBOM).
func (t target) liesAsConfigured(document *v1beta1.BOMDocument) bool {
	small := document.Size <= int64(t.config.InlineThresholdBytes)
	switch {
	case document.SHA256 == "":
		return false
	case document.Inline != nil:
		return small
	case document.External != nil:
		return !small && slices.ContainsFunc(t.config.Sinks, func(s sink.Sink) bool {
			return s.Name() == document.External.Sink
		})
	default:
		return !small && len(t.config.Sinks) == 0
	}
}

// describe sets what the AIBOM says outside its status.
func (t target) describe(kind kinds.Kind, aibom *v1beta1.AIBOM) {
	apiVersion, name := kind.GVK.ToAPIVersionAndKind()
	aibom.Spec.WorkloadRef = v1beta1.WorkloadReference{APIVersion: apiVersion, Kind: name, Name: t.workload.GetName()}
	aibom.Spec.BOMFormat = bomFormat
	aibom.Spec.BOMSpecVersion = t.input.SpecVersion
	metav1.SetMetaDataLabel(&aibom.ObjectMeta, v1beta1.KindLabel, name)
	metav1.SetMetaDataLabel(&aibom.ObjectMeta, v1beta1.CategoryLabel, string(t.input.Report.Category))
}

// publish builds the document, delivers it and writes the AIBOM: one write to create it
// where it does not exist, one for its status, and one for its labels where those changed.
func (r *WorkloadReconciler) publish(ctx context.Context, t target, current *v1beta1.AIBOM) (outcome, error) {
	now := metav1.NewTime(r.Clock.Now().UTC()).Rfc3339Copy()
	firstSeen := now
	if current != nil && current.Status.InputHash == t.hash && current.Status.BOMDocument != nil {
		firstSeen = ptr.Deref(current.Status.BOMDocument.Timestamp, now)
	}
	document, err := bom.Build(t.input, firstSeen.Time)
	if err != nil {
		return outcomeFailed, r.recordFailure(ctx, t.workload, current, t.config, v1beta1.ReasonBuildFailed, err)
	}
	name := AIBOMName(r.Kind.GVK.Kind, t.workload.GetName())
	delivered := deliver(ctx, t.config, sink.Delivery{
		Namespace: t.workload.GetNamespace(), Name: name, SHA256: document.SHA256, Document: document.Bytes,
	})

	aibom, err := r.ensure(ctx, t, name, current)
	if err != nil {
		return outcomeFailed, err
	}
	before := aibom.DeepCopy()
	t.report(aibom, document, delivered, firstSeen, now)
	if equality.Semantic.DeepEqual(before.Status, aibom.Status) {
		return outcomeUnchanged, delivered.retry
	}
	aibom.Status.LastReconciled = &now
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Status().Patch(ctx, aibom, patch); err != nil {
		return outcomeFailed, fmt.Errorf("writing the status of AIBOM %s: %w", client.ObjectKeyFromObject(aibom), err)
	}
	return outcomeInventoried, delivered.retry
}

// ensure returns the AIBOM with its labels and spec as they should be, creating it where it
// does not exist.
func (r *WorkloadReconciler) ensure(ctx context.Context, t target, name string, current *v1beta1.AIBOM) (*v1beta1.AIBOM, error) {
	if current == nil {
		aibom := &v1beta1.AIBOM{}
		aibom.Namespace, aibom.Name = t.workload.GetNamespace(), name
		t.describe(r.Kind, aibom)
		aibom.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: aibom.Spec.WorkloadRef.APIVersion, Kind: aibom.Spec.WorkloadRef.Kind,
			Name: t.workload.GetName(), UID: t.workload.GetUID(), Controller: ptr.To(true),
			// true would need the right to update the workload's finalizers wherever
			// OwnerReferencesPermissionEnforcement is on.
			BlockOwnerDeletion: ptr.To(false),
		}}
		err := r.Client.Create(ctx, aibom)
		if apierrors.IsNotFound(err) {
			// Not an object that is gone, but the kind or the namespace: no race that was lost.
			return nil, fmt.Errorf("creating AIBOM %s (are the CRDs installed?): %s", client.ObjectKeyFromObject(aibom), err.Error())
		}
		if err != nil {
			return nil, fmt.Errorf("creating AIBOM %s: %w", client.ObjectKeyFromObject(aibom), err)
		}
		return aibom, nil
	}
	aibom := current.DeepCopy()
	t.describe(r.Kind, aibom)
	if equality.Semantic.DeepEqual(aibom, current) {
		return aibom, nil
	}
	patch := client.MergeFromWithOptions(current, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Patch(ctx, aibom, patch); err != nil {
		return nil, fmt.Errorf("updating AIBOM %s: %w", client.ObjectKeyFromObject(aibom), err)
	}
	stripped, err := stripAIBOM(aibom)
	if err != nil {
		return nil, err
	}
	return stripped.(*v1beta1.AIBOM), nil
}

// report sets the status for a good document.
func (t target) report(aibom *v1beta1.AIBOM, document bom.Document, d delivered, firstSeen, now metav1.Time) {
	t.reportState(aibom, d, now)
	aibom.Status.BOMHash = hashPrefix + document.SHA256
	aibom.Status.BOMDocument = &v1beta1.BOMDocument{
		Format: bomFormat, SpecVersion: document.SpecVersion,
		SHA256: document.SHA256, Size: int64(len(document.Bytes)), Timestamp: &firstSeen,
		Inline: d.inline, External: d.external, Truncated: d.truncation != "", TruncationReason: d.truncation,
	}
}

// reportState sets what the status says beside the document.
func (t target) reportState(aibom *v1beta1.AIBOM, d delivered, now metav1.Time) {
	status := &aibom.Status
	status.Summary = t.summary
	status.InputHash = t.hash
	status.ConsecutiveErrors = 0
	status.ObservedGeneration = aibom.Generation
	c := conditions{&status.Conditions, aibom.Generation, now}
	c.set(v1beta1.ConditionReady, true, v1beta1.ReasonDocumentCurrent, "The document describes the workload as it is.")
	c.set(v1beta1.ConditionSynced, true, v1beta1.ReasonDocumentCurrent, "The document was built from the newest inputs.")
	c.set(v1beta1.ConditionStale, false, v1beta1.ReasonDocumentCurrent, "The last attempt succeeded.")
	c.set(v1beta1.ConditionSinkFailed, d.failed(), d.reason, d.message)
}

// conditions sets conditions with the controller's clock.
type conditions struct {
	list       *[]metav1.Condition
	generation int64
	now        metav1.Time
}

func (c conditions) set(kind string, yes bool, reason, message string) {
	status := metav1.ConditionFalse
	if yes {
		status = metav1.ConditionTrue
	}
	meta.SetStatusCondition(c.list, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message,
		ObservedGeneration: c.generation, LastTransitionTime: c.now,
	})
}

// summaryOf is the report in short, as the API shows it.
func summaryOf(r evidence.Report) *v1beta1.AIBOMSummary {
	short := bom.Summarize(r)
	summary := &v1beta1.AIBOMSummary{
		Workload: v1beta1.WorkloadSummary{
			Kind: r.Workload.Kind, APIVersion: r.Workload.APIVersion, Name: r.Workload.Name,
			Namespace: r.Workload.Namespace, Category: string(r.Category),
		},
		Runtime: v1beta1.RuntimeSummary{
			Name: short.Runtime.Name, Version: short.Runtime.Version, Confidence: string(short.Runtime.Confidence),
		},
		Confidence: string(short.Confidence),
	}
	for i, m := range short.Models {
		if i == maxSummaryModels {
			break // the document has them all
		}
		summary.Models = append(summary.Models, v1beta1.ModelSummary{
			Identity: m.Identity, Source: string(m.Source), Confidence: string(m.Confidence), Signed: m.Signed,
		})
	}
	return summary
}
