// SPDX-License-Identifier: Apache-2.0

// Package controller holds the reconcilers: one for each workload kind, which keeps the
// kind's AIBOMs, and one for the configuration.
package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/bom"
	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/internal/ownership"
	"github.com/k8s-aibom/k8s-aibom/internal/scrape"
	"github.com/k8s-aibom/k8s-aibom/internal/settings"
)

// DefaultRetry is how long a workload is left alone that cannot be decided on yet.
const DefaultRetry = time.Second

// WorkloadReconciler keeps the AIBOM of each workload of one kind. It reads from a cache
// only; the API server sees a request when something has to be written.
type WorkloadReconciler struct {
	// Kind is the kind.
	Kind kinds.Kind
	// NewObject returns an empty object of the kind, as the cache holds it.
	NewObject func() client.Object
	// NewList returns an empty list of the kind.
	NewList func() client.ObjectList
	// Scrape reads a workload.
	Scrape ScrapeFunc
	// Workloads reads the cache that holds the kind's workloads and the namespaces.
	Workloads client.Reader
	// Client reads AIBOMs and pods from the manager's cache, sees its own writes there, and
	// writes.
	Client client.Client
	// MayDelete says whether what Workloads shows is fit to delete AIBOMs by; nil means
	// always. What is put off meanwhile is done when the workload is looked at again.
	MayDelete func() bool
	// Rollup finds out who owns the workload and what it owns.
	Rollup *Rollup
	// Settings hold the configuration; nothing is done before it was loaded once.
	Settings *settings.Store
	// Recorder tells about workloads that cannot be read.
	Recorder events.EventRecorder
	// Tool is the program that signs documents as their maker.
	Tool bom.Tool
	// Clock gives the time for documents and conditions.
	Clock clock.PassiveClock
	// Retry is how long a workload is left alone when a write lost a race, or when nobody has
	// looked yet whether its owner's kind is there; DefaultRetry when 0.
	Retry time.Duration

	absorbers absorbers
}

// +kubebuilder:rbac:groups=apps,resources=deployments;statefulsets;daemonsets;replicasets,verbs=get;list;watch
// +kubebuilder:rbac:groups=batch,resources=jobs;cronjobs,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=pods;namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups=aibom.k8saibom.dev,resources=aiboms,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=aibom.k8saibom.dev,resources=aiboms/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile brings one workload's AIBOM up to date.
func (r *WorkloadReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	select {
	case <-r.Settings.Loaded():
	case <-ctx.Done():
		return ctrl.Result{}, nil
	}
	workload := r.NewObject()
	err := r.Workloads.Get(ctx, req.NamespacedName, workload)
	if apierrors.IsNotFound(err) {
		r.notAbsorbed(req.NamespacedName)
		return ctrl.Result{}, r.removeOrphan(ctx, req)
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("reading %s %s: %w", r.Kind.GVK.Kind, req, err)
	}
	if !workload.GetDeletionTimestamp().IsZero() {
		return ctrl.Result{}, nil // its AIBOM goes with it, by garbage collection
	}

	ended, err := r.reconcile(ctx, workload, r.Settings.Load())
	if cutShort(ctx, err) {
		return ctrl.Result{}, nil // whoever watches the kind next looks again
	}
	if lostRace(err) {
		log.FromContext(ctx).V(1).Info("Somebody else wrote first, looking again", "cause", err.Error())
		return ctrl.Result{RequeueAfter: orDefault(r.Retry)}, nil
	}
	if err != nil {
		ended = outcomeFailed
	}
	if ended == outcomeUndecided {
		return ctrl.Result{RequeueAfter: orDefault(r.Retry)}, nil
	}
	outcomes.WithLabelValues(r.Kind.GVK.Kind, string(ended)).Inc()
	return ctrl.Result{}, err
}

func orDefault(retry time.Duration) time.Duration {
	if retry > 0 {
		return retry
	}
	return DefaultRetry
}

// cutShort says whether the look failed because the kind's watch ends.
func cutShort(ctx context.Context, err error) bool { return err != nil && ctx.Err() != nil }

// lostRace says whether the write failed because the world had moved on meanwhile. What is
// not found is an AIBOM that somebody deleted; see ensure for a kind that is not there. One that
// is not served, such as an owner's, is no race either: that may last.
func lostRace(err error) bool {
	if apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) {
		return false
	}
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) ||
		apierrors.HasStatusCause(err, "NamespaceTerminating")
}

// reconcile is the pipeline: opted in, allowed, owned by nobody, read, AI, changed, built,
// written.
func (r *WorkloadReconciler) reconcile(ctx context.Context, workload client.Object, config *settings.Snapshot) (outcome, error) {
	current, err := r.currentAIBOM(ctx, workload)
	if err != nil {
		return outcomeFailed, err
	}
	namespace, err := r.namespace(ctx, workload.GetNamespace())
	if err != nil {
		return outcomeFailed, err
	}
	if namespace == nil {
		return outcomeUnchanged, nil
	}
	if !config.NamespaceSelector.Matches(labels.Set(namespace.Labels)) {
		r.notAbsorbed(client.ObjectKeyFromObject(workload))
		return outcomeNotOptedIn, r.remove(ctx, current)
	}
	if !config.WorkloadKinds.Allows(r.Kind.GVK.GroupKind()) {
		r.notAbsorbed(client.ObjectKeyFromObject(workload))
		// Its pods may have been seen before it was, and belong to what is above it.
		r.Rollup.passOn(ctx, workload, config)
		return outcomeKindNotAllowed, r.remove(ctx, current)
	}
	owned, err := r.Rollup.Walker.Walk(ctx, workload, r.Rollup.judge(config))
	switch {
	case err != nil:
		return outcomeFailed, err
	case owned.End == ownership.Absorbed:
		r.absorbed(client.ObjectKeyFromObject(workload), owned.By)
		return outcomeRolledUp, r.remove(ctx, current)
	case owned.End == ownership.Waiting, r.Rollup.undecided(r.Kind):
		return outcomeUndecided, nil
	}
	r.notAbsorbed(client.ObjectKeyFromObject(workload))
	ended, err := r.inventory(ctx, workload, current, config, owned.Hops)
	if owned.End == ownership.Unresolved {
		r.Rollup.tell(ctx, owned.At, owned.Reason)
		if ended == outcomeInventoried || ended == outcomeUnchanged {
			ended = outcomeRollupUnresolved
		}
	}
	return ended, err
}

// inventory is the pipeline for a workload that has an AIBOM of its own. hops is how many
// owners above it were tried.
func (r *WorkloadReconciler) inventory(
	ctx context.Context, workload client.Object, current *v1beta1.AIBOM, config *settings.Snapshot, hops int,
) (outcome, error) {
	if current != nil && !r.belongs(current, workload) {
		// It belongs to an earlier workload of this name, to nobody, or speaks of another
		// workload, which it can never unsay: its deletion leads back here.
		return outcomeUnchanged, r.remove(ctx, current)
	}

	below, err := r.Rollup.Closure.Below(ctx, ownership.Top{Kind: r.Kind, Object: workload, Hops: hops}, r.Rollup.judge(config))
	if err != nil {
		return outcomeFailed, err
	}
	if below.Blind && current != nil {
		// What the document knows of its descendants must not be lost to an outage.
		return outcomeFailed, below.Incomplete
	}
	report, err := r.Scrape(workload, runningImages(below.Pods), rulesOf(config))
	if err != nil {
		return outcomeFailed, r.recordFailure(ctx, workload, current, config, v1beta1.ReasonScrapeFailed, err)
	}
	if report.Category == evidence.CategoryNone {
		return outcomeNotAI, r.remove(ctx, current)
	}
	report.Owned = below.Owned
	input := bom.Input{Report: bom.Normalize(report), SpecVersion: config.SpecVersion, Tool: r.Tool}
	want := target{
		workload: workload, input: input, hash: bom.InputHash(input),
		summary: summaryOf(input.Report), config: config,
	}
	if want.isCurrent(r.Kind, current) {
		return outcomeUnchanged, below.Incomplete
	}
	ended, err := r.publish(ctx, want, current)
	if ended == outcomeInventoried {
		r.Rollup.release(below.Beyond)
	}
	return ended, errors.Join(err, below.Incomplete) // what could not be listed is asked for again
}

// belongs says whether an AIBOM is the workload's own: controlled by it and about it.
func (r *WorkloadReconciler) belongs(aibom *v1beta1.AIBOM, workload client.Object) bool {
	return metav1.IsControlledBy(aibom, workload) && aibom.Spec.WorkloadRef == r.reference(workload)
}

// reference names the workload as its AIBOM does.
func (r *WorkloadReconciler) reference(workload client.Object) v1beta1.WorkloadReference {
	apiVersion, kind := r.Kind.GVK.ToAPIVersionAndKind()
	return v1beta1.WorkloadReference{APIVersion: apiVersion, Kind: kind, Name: workload.GetName()}
}

func rulesOf(config *settings.Snapshot) scrape.Rules {
	rules := scrape.Rules{
		ModelEnvVarNames: config.ModelEnvVarNames,
		ModelArgFlags:    config.ModelArgFlags,
		ModelVolumePaths: config.ModelVolumePaths,
	}
	for _, p := range config.RuntimeImagePatterns {
		rules.RuntimeImages = append(rules.RuntimeImages, scrape.ImagePattern{Runtime: p.Runtime, Pattern: p.Pattern})
	}
	return rules
}

// namespace is the metadata of a workload's namespace, or nil when it is gone or on its way
// out: nothing can be created there any more, and what is there goes with it.
func (r *WorkloadReconciler) namespace(ctx context.Context, name string) (*metav1.PartialObjectMetadata, error) {
	ns := namespaceMetadata()
	if err := r.Workloads.Get(ctx, client.ObjectKey{Name: name}, ns); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	if !ns.DeletionTimestamp.IsZero() {
		return nil, nil
	}
	return ns, nil
}

// currentAIBOM is the workload's AIBOM without its document, or nil.
func (r *WorkloadReconciler) currentAIBOM(ctx context.Context, workload client.Object) (*v1beta1.AIBOM, error) {
	current := &v1beta1.AIBOM{}
	key := client.ObjectKey{Namespace: workload.GetNamespace(), Name: AIBOMName(r.Kind.GVK.Kind, workload.GetName())}
	if err := r.Client.Get(ctx, key, current); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return current, nil
}

// remove deletes an AIBOM, if there is one that is not on its way out already.
func (r *WorkloadReconciler) remove(ctx context.Context, current *v1beta1.AIBOM) error {
	if current == nil || !current.DeletionTimestamp.IsZero() {
		return nil
	}
	if r.MayDelete != nil && !r.MayDelete() {
		log.FromContext(ctx).V(1).Info("A deletion is put off until the kind's watch is healthy", "aibom", current.Name)
		return nil
	}
	uid := current.UID
	err := r.Client.Delete(ctx, current, client.Preconditions{UID: &uid})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting AIBOM %s: %w", client.ObjectKeyFromObject(current), err)
	}
	return nil
}

// removeOrphan deletes the AIBOM of a workload that is gone, where nothing owns the AIBOM
// any more. One that still has its owner goes by garbage collection.
func (r *WorkloadReconciler) removeOrphan(ctx context.Context, req ctrl.Request) error {
	current := &v1beta1.AIBOM{}
	key := client.ObjectKey{Namespace: req.Namespace, Name: AIBOMName(r.Kind.GVK.Kind, req.Name)}
	if err := r.Client.Get(ctx, key, current); err != nil {
		return client.IgnoreNotFound(err)
	}
	if metav1.GetControllerOfNoCopy(current) != nil {
		return nil
	}
	return r.remove(ctx, current)
}
