// SPDX-License-Identifier: Apache-2.0

// Package ownership answers who owns whom, by controller ownerReferences only: labels and
// selectors can be planted, an ownerReference to an object's UID cannot be forged by somebody
// who does not control that object.
package ownership

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// ControllerUIDField is the index of objects by the UID of their controller owner.
	ControllerUIDField = ".metadata.controllerUID"
	// unusualField is the index of objects that hang below a kind that, as a rule, owns
	// nothing of theirs, such as a StatefulSet below a Pod. They are few, so a namespace's are
	// read at once instead of asking for the children of every single pod.
	unusualField = ".metadata.unusualController"
	// unusual is the one value in that index.
	unusual = "true"
)

var (
	podGVK = corev1.SchemeGroupVersion.WithKind("Pod")
	// ReplicaSetGVK is the kind between a Deployment and its pods.
	ReplicaSetGVK = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")
	deploymentGVK = appsv1.SchemeGroupVersion.WithKind("Deployment")
	cronJobGVK    = batchv1.SchemeGroupVersion.WithKind("CronJob")
)

// ReplicaSet is an empty ReplicaSet of which only the metadata is read.
func ReplicaSet() *metav1.PartialObjectMetadata {
	rs := &metav1.PartialObjectMetadata{}
	rs.SetGroupVersionKind(ReplicaSetGVK)
	return rs
}

func replicaSets() *metav1.PartialObjectMetadataList {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(ReplicaSetGVK)
	return list
}

// cachedKind is a kind that the manager's cache holds anyway, in the form in which it does.
type cachedKind struct {
	gvk    schema.GroupVersionKind
	object func() client.Object
	list   func() client.ObjectList
}

// cachedKinds can be read without a request to the API server.
var cachedKinds = []cachedKind{
	{podGVK, func() client.Object { return &corev1.Pod{} }, func() client.ObjectList { return &corev1.PodList{} }},
	{ReplicaSetGVK, func() client.Object { return ReplicaSet() }, func() client.ObjectList { return replicaSets() }},
	{
		deploymentGVK,
		func() client.Object { return &appsv1.Deployment{} }, func() client.ObjectList { return &appsv1.DeploymentList{} },
	},
	{
		appsv1.SchemeGroupVersion.WithKind("StatefulSet"),
		func() client.Object { return &appsv1.StatefulSet{} }, func() client.ObjectList { return &appsv1.StatefulSetList{} },
	},
	{
		appsv1.SchemeGroupVersion.WithKind("DaemonSet"),
		func() client.Object { return &appsv1.DaemonSet{} }, func() client.ObjectList { return &appsv1.DaemonSetList{} },
	},
	{
		batchv1.SchemeGroupVersion.WithKind("Job"),
		func() client.Object { return &batchv1.Job{} }, func() client.ObjectList { return &batchv1.JobList{} },
	},
	{cronJobGVK, func() client.Object { return &batchv1.CronJob{} }, func() client.ObjectList { return &batchv1.CronJobList{} }},
}

// cachedKindOf is the cached kind of exactly this version, and false when there is none.
func cachedKindOf(gvk schema.GroupVersionKind) (cachedKind, bool) {
	for _, k := range cachedKinds {
		if k.gvk == gvk {
			return k, true
		}
	}
	return cachedKind{}, false
}

// AddIndexes adds the indexes that this package looks things up in. It must be called before
// the cache starts.
func AddIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for _, k := range cachedKinds {
		if err := indexer.IndexField(ctx, k.object(), ControllerUIDField, controllerUID); err != nil {
			return fmt.Errorf("indexing %s by its controller: %w", k.gvk.Kind, err)
		}
		if err := indexer.IndexField(ctx, k.object(), unusualField, unusuallyOwned(k.gvk)); err != nil {
			return fmt.Errorf("indexing %s by its controller's kind: %w", k.gvk.Kind, err)
		}
	}
	return nil
}

func controllerUID(object client.Object) []string {
	owner := metav1.GetControllerOfNoCopy(object)
	if owner == nil {
		return nil
	}
	return []string{string(owner.UID)}
}

// unusuallyOwned marks what hangs below a cached kind without being what that kind makes.
func unusuallyOwned(gvk schema.GroupVersionKind) client.IndexerFunc {
	return func(object client.Object) []string {
		owner := metav1.GetControllerOfNoCopy(object)
		if owner == nil {
			return nil
		}
		if by := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind); !isUnusual(gvk, by) {
			return nil
		}
		return []string{unusual}
	}
}

func isUnusual(gvk, by schema.GroupVersionKind) bool {
	if !isPlain(by.GroupKind()) {
		return false
	}
	switch gvk {
	case podGVK:
		return by.GroupKind() == podGVK.GroupKind()
	case ReplicaSetGVK:
		return by.GroupKind() != deploymentGVK.GroupKind()
	default:
		return true
	}
}

// isPlain says whether a kind is cached and makes, as a rule, pods only: whatever else hangs
// below it is found in the index of the unusual.
func isPlain(gk schema.GroupKind) bool {
	for _, k := range cachedKinds {
		if k.gvk.GroupKind() == gk {
			return k.gvk != cronJobGVK
		}
	}
	return false
}
