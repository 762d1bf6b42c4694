// SPDX-License-Identifier: Apache-2.0

// Package ownership answers who owns whom, by controller ownerReferences only: labels and
// selectors can be planted, an ownerReference to an object's UID cannot be forged by somebody
// who does not control that object.
package ownership

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ControllerUIDField is the index of objects by the UID of their controller owner.
const ControllerUIDField = ".metadata.controllerUID"

// ReplicaSetGVK is the kind between a Deployment and its pods.
var ReplicaSetGVK = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ReplicaSet"}

// ReplicaSet is an empty ReplicaSet of which only the metadata is read.
func ReplicaSet() *metav1.PartialObjectMetadata {
	rs := &metav1.PartialObjectMetadata{}
	rs.SetGroupVersionKind(ReplicaSetGVK)
	return rs
}

// AddIndexes adds the indexes that this package looks things up in. It must be called before
// the cache starts.
func AddIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for _, object := range []client.Object{&corev1.Pod{}, ReplicaSet()} {
		if err := indexer.IndexField(ctx, object, ControllerUIDField, controllerUID); err != nil {
			return fmt.Errorf("indexing %T by its controller: %w", object, err)
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

// Pods lists the pods that the workload's controller made, directly or through ReplicaSets.
// It reads the cache's indexes: the cost is that of the workload's own pods.
func Pods(ctx context.Context, reader client.Reader, namespace string, workload types.UID) ([]corev1.Pod, error) {
	owners := []types.UID{workload}
	replicaSets := &metav1.PartialObjectMetadataList{}
	replicaSets.SetGroupVersionKind(ReplicaSetGVK)
	if err := list(ctx, reader, replicaSets, namespace, workload); err != nil {
		return nil, fmt.Errorf("listing ReplicaSets: %w", err)
	}
	for i := range replicaSets.Items {
		owners = append(owners, replicaSets.Items[i].UID)
	}
	var all []corev1.Pod
	for _, owner := range owners {
		pods := &corev1.PodList{}
		if err := list(ctx, reader, pods, namespace, owner); err != nil {
			return nil, fmt.Errorf("listing pods: %w", err)
		}
		all = append(all, pods.Items...)
	}
	return all, nil
}

func list(ctx context.Context, reader client.Reader, into client.ObjectList, namespace string, owner types.UID) error {
	return reader.List(ctx, into, client.InNamespace(namespace),
		client.MatchingFields{ControllerUIDField: string(owner)}, client.UnsafeDisableDeepCopy)
}

// Owner is the workload that controls a pod, seen through its ReplicaSet. It is false when
// nothing controls the pod or the ReplicaSet is not known (any more).
func Owner(ctx context.Context, reader client.Reader, pod client.Object) (metav1.OwnerReference, bool, error) {
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return metav1.OwnerReference{}, false, nil
	}
	if owner.Kind != ReplicaSetGVK.Kind || owner.APIVersion != ReplicaSetGVK.GroupVersion().String() {
		return *owner, true, nil
	}
	replicaSet := ReplicaSet()
	key := client.ObjectKey{Namespace: pod.GetNamespace(), Name: owner.Name}
	if err := reader.Get(ctx, key, replicaSet); err != nil {
		return metav1.OwnerReference{}, false, client.IgnoreNotFound(err)
	}
	if replicaSet.UID != owner.UID {
		return metav1.OwnerReference{}, false, nil
	}
	above := metav1.GetControllerOf(replicaSet)
	if above == nil {
		return metav1.OwnerReference{}, false, nil
	}
	return *above, true, nil
}
