// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/ownership"
	"github.com/k8s-aibom/k8s-aibom/internal/scrape"
)

// CacheOptions say what the manager's cache keeps of each kind: no more than is read, so that
// memory follows what is inventoried and nothing else of a pod or workload is held.
func CacheOptions() cache.Options {
	return cache.Options{
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:          {Transform: stripPod},
			ownership.ReplicaSet(): {Transform: stripMetadata},
			namespaceMetadata():    {Transform: stripNamespace},
			&appsv1.Deployment{}:   {Transform: stripWorkload},
			&appsv1.StatefulSet{}:  {Transform: stripWorkload},
			&appsv1.DaemonSet{}:    {Transform: stripWorkload},
			&batchv1.Job{}:         {Transform: stripWorkload},
			&batchv1.CronJob{}:     {Transform: stripWorkload},
		},
		// The project's own kinds must not be listed above: a cache asks the API server about
		// each listed kind when it is made, and the CRDs may be installed after the manager.
		DefaultTransform: stripOwnKind,
	}
}

// stripOwnKind strips the project's own kinds.
func stripOwnKind(object any) (any, error) {
	if bom, ok := object.(*v1beta1.AIBOM); ok {
		return stripAIBOM(bom)
	}
	return cache.TransformStripManagedFields()(object)
}

// namespaceMetadata is an empty Namespace of which only the metadata is read.
func namespaceMetadata() *metav1.PartialObjectMetadata {
	ns := &metav1.PartialObjectMetadata{}
	ns.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	return ns
}

// keptMetadata is what is read of every object's metadata.
func keptMetadata(o metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: o.Name, Namespace: o.Namespace, UID: o.UID, ResourceVersion: o.ResourceVersion,
		Generation: o.Generation, DeletionTimestamp: o.DeletionTimestamp, OwnerReferences: o.OwnerReferences,
	}
}

func stripMetadata(object any) (any, error) {
	if m, ok := object.(*metav1.PartialObjectMetadata); ok {
		m.ObjectMeta = keptMetadata(m.ObjectMeta)
	}
	return object, nil
}

func stripNamespace(object any) (any, error) {
	if m, ok := object.(*metav1.PartialObjectMetadata); ok {
		labels := m.Labels
		m.ObjectMeta = keptMetadata(m.ObjectMeta)
		m.Labels = labels
	}
	return object, nil
}

// stripPod keeps who owns the pod and which image each container runs.
func stripPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	return &corev1.Pod{
		TypeMeta:   pod.TypeMeta,
		ObjectMeta: keptMetadata(pod.ObjectMeta),
		Spec: corev1.PodSpec{
			InitContainers: namesAndImages(pod.Spec.InitContainers),
			Containers:     namesAndImages(pod.Spec.Containers),
		},
		Status: corev1.PodStatus{
			InitContainerStatuses: imageIDs(pod.Status.InitContainerStatuses),
			ContainerStatuses:     imageIDs(pod.Status.ContainerStatuses),
		},
	}, nil
}

func namesAndImages(containers []corev1.Container) []corev1.Container {
	kept := make([]corev1.Container, len(containers))
	for i := range containers {
		kept[i] = corev1.Container{Name: containers[i].Name, Image: containers[i].Image}
	}
	return kept
}

func imageIDs(statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	kept := make([]corev1.ContainerStatus, len(statuses))
	for i := range statuses {
		kept[i] = corev1.ContainerStatus{Name: statuses[i].Name, ImageID: statuses[i].ImageID}
	}
	return kept
}

// stripWorkload keeps a workload's identity and the parts of its pod template that are read.
func stripWorkload(object any) (any, error) {
	switch o := object.(type) {
	case *appsv1.Deployment:
		return &appsv1.Deployment{
			TypeMeta: o.TypeMeta, ObjectMeta: keptWorkloadMetadata(o.ObjectMeta),
			Spec: appsv1.DeploymentSpec{Template: keptTemplate(o.Spec.Template)},
		}, nil
	case *appsv1.StatefulSet:
		s := &appsv1.StatefulSet{
			TypeMeta: o.TypeMeta, ObjectMeta: keptWorkloadMetadata(o.ObjectMeta),
			Spec: appsv1.StatefulSetSpec{Template: keptTemplate(o.Spec.Template)},
		}
		for i := range o.Spec.VolumeClaimTemplates {
			s.Spec.VolumeClaimTemplates = append(s.Spec.VolumeClaimTemplates, corev1.PersistentVolumeClaim{
				ObjectMeta: metav1.ObjectMeta{Name: o.Spec.VolumeClaimTemplates[i].Name},
			})
		}
		return s, nil
	case *appsv1.DaemonSet:
		return &appsv1.DaemonSet{
			TypeMeta: o.TypeMeta, ObjectMeta: keptWorkloadMetadata(o.ObjectMeta),
			Spec: appsv1.DaemonSetSpec{Template: keptTemplate(o.Spec.Template)},
		}, nil
	case *batchv1.Job:
		return &batchv1.Job{
			TypeMeta: o.TypeMeta, ObjectMeta: keptWorkloadMetadata(o.ObjectMeta),
			Spec: batchv1.JobSpec{Template: keptTemplate(o.Spec.Template)},
		}, nil
	case *batchv1.CronJob:
		c := &batchv1.CronJob{TypeMeta: o.TypeMeta, ObjectMeta: keptWorkloadMetadata(o.ObjectMeta)}
		c.Spec.JobTemplate.Spec.Template = keptTemplate(o.Spec.JobTemplate.Spec.Template)
		return c, nil
	default:
		return object, nil
	}
}

func keptWorkloadMetadata(o metav1.ObjectMeta) metav1.ObjectMeta {
	kept := keptMetadata(o)
	kept.Annotations = keptAnnotations(o.Annotations)
	return kept
}

// keptAnnotations are those by which a workload's owner declares its model.
func keptAnnotations(all map[string]string) map[string]string {
	var kept map[string]string
	for name, value := range all {
		if !strings.HasPrefix(name, scrape.AnnotationPrefix) {
			continue
		}
		if kept == nil {
			kept = map[string]string{}
		}
		kept[name] = value
	}
	return kept
}

// keptLabels are those by which a pod template names its model and its runtime.
func keptLabels(all map[string]string) map[string]string {
	var kept map[string]string
	for name, value := range all {
		if !scrape.ReadsLabel(name) {
			continue
		}
		if kept == nil {
			kept = map[string]string{}
		}
		kept[name] = value
	}
	return kept
}

func keptTemplate(t corev1.PodTemplateSpec) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Annotations: keptAnnotations(t.Annotations), Labels: keptLabels(t.Labels)},
		Spec: corev1.PodSpec{
			InitContainers: keptContainers(t.Spec.InitContainers),
			Containers:     keptContainers(t.Spec.Containers),
			Volumes:        t.Spec.Volumes,
		},
	}
}

func keptContainers(containers []corev1.Container) []corev1.Container {
	kept := make([]corev1.Container, len(containers))
	for i := range containers {
		c := &containers[i]
		kept[i] = corev1.Container{
			Name: c.Name, Image: c.Image, Command: c.Command, Args: c.Args,
			Env: c.Env, EnvFrom: c.EnvFrom, Resources: c.Resources,
			VolumeMounts: c.VolumeMounts, RestartPolicy: c.RestartPolicy,
			WorkingDir: c.WorkingDir, Lifecycle: keptLifecycle(c.Lifecycle),
			StartupProbe: keptProbe(c.StartupProbe), ReadinessProbe: keptProbe(c.ReadinessProbe), LivenessProbe: keptProbe(c.LivenessProbe),
		}
	}
	return kept
}

// keptLifecycle is the command that a container runs once it has started, if any.
func keptLifecycle(l *corev1.Lifecycle) *corev1.Lifecycle {
	if l == nil || l.PostStart == nil || l.PostStart.Exec == nil {
		return nil
	}
	return &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{Exec: l.PostStart.Exec}}
}

// keptProbe is the path that a probe asks for, where it may name a model. Its headers may hold a credential.
func keptProbe(p *corev1.Probe) *corev1.Probe {
	if p == nil || p.HTTPGet == nil || !scrape.ReadsProbe(p.HTTPGet.Path) {
		return nil
	}
	return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: p.HTTPGet.Path}}}
}

// strippedData stands in the cache where a document was. It is no valid UTF-8, so that no
// client can have written it.
const strippedData = "\xff"

// stripAIBOM drops the document itself, which is written and never read. A document that
// does not have the hash or size that its status states was changed by somebody else: its
// hash is dropped too, so that the next look finds it wanting. A cache may strip an object
// that is stripped already.
func stripAIBOM(object any) (any, error) {
	bom, ok := object.(*v1beta1.AIBOM)
	if !ok {
		return object, nil
	}
	bom.ManagedFields = nil
	document := bom.Status.BOMDocument
	if document == nil || document.Inline == nil || document.Inline.Data == strippedData {
		return bom, nil
	}
	sum := sha256.Sum256([]byte(document.Inline.Data))
	if hex.EncodeToString(sum[:]) != document.SHA256 || document.Size != int64(len(document.Inline.Data)) {
		document.SHA256 = ""
	}
	document.Inline = &v1beta1.InlineDocument{Data: strippedData}
	return bom, nil
}
