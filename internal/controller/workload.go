// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/internal/scrape"
)

// ScrapeFunc reads one workload. An error means that the object is not shaped as its kind
// prescribes; it will not go away by trying again.
type ScrapeFunc func(object client.Object, running []scrape.RunningImage, rules scrape.Rules) (evidence.Report, error)

// prototypes are an empty object and an empty list of a built-in kind.
func prototypes(k kinds.Kind) (client.Object, client.ObjectList, error) {
	switch k.GVK.GroupKind().String() {
	case "Deployment.apps":
		return &appsv1.Deployment{}, &appsv1.DeploymentList{}, nil
	case "StatefulSet.apps":
		return &appsv1.StatefulSet{}, &appsv1.StatefulSetList{}, nil
	case "DaemonSet.apps":
		return &appsv1.DaemonSet{}, &appsv1.DaemonSetList{}, nil
	case "Job.batch":
		return &batchv1.Job{}, &batchv1.JobList{}, nil
	case "CronJob.batch":
		return &batchv1.CronJob{}, &batchv1.CronJobList{}, nil
	default:
		return nil, nil, fmt.Errorf("%s has no Go type here", k.Key())
	}
}

// podTemplate is the pod template of a built-in kind and the names of its claim templates.
func podTemplate(object client.Object) (template *corev1.PodTemplateSpec, claims []string) {
	switch o := object.(type) {
	case *appsv1.Deployment:
		return &o.Spec.Template, nil
	case *appsv1.StatefulSet:
		for i := range o.Spec.VolumeClaimTemplates {
			claims = append(claims, o.Spec.VolumeClaimTemplates[i].Name)
		}
		return &o.Spec.Template, claims
	case *appsv1.DaemonSet:
		return &o.Spec.Template, nil
	case *batchv1.Job:
		return &o.Spec.Template, nil
	case *batchv1.CronJob:
		return &o.Spec.JobTemplate.Spec.Template, nil
	default:
		return nil, nil
	}
}

// ScrapeBuiltIn reads the pod template of a built-in kind.
func ScrapeBuiltIn(k kinds.Kind) ScrapeFunc {
	return func(object client.Object, running []scrape.RunningImage, rules scrape.Rules) (evidence.Report, error) {
		template, claims := podTemplate(object)
		if template == nil {
			return evidence.Report{}, errors.New("the object has no pod template")
		}
		return scrape.PodWorkload(scrape.Input{
			Workload:             workloadOf(k, object),
			Annotations:          object.GetAnnotations(),
			Template:             template,
			TemplateLocator:      k.TemplateLocator(),
			VolumeClaimTemplates: claims,
			Running:              running,
			Rules:                rules,
		}), nil
	}
}

func workloadOf(k kinds.Kind, object client.Object) evidence.Workload {
	apiVersion, kind := k.GVK.ToAPIVersionAndKind()
	return evidence.Workload{
		APIVersion: apiVersion, Kind: kind,
		Namespace: object.GetNamespace(), Name: object.GetName(), UID: string(object.GetUID()),
	}
}

// runningImages is what the pods report, in no particular order.
func runningImages(pods []corev1.Pod) []scrape.RunningImage {
	var all []scrape.RunningImage
	for i := range pods {
		pod := &pods[i]
		all = appendRunning(all, pod.Spec.InitContainers, pod.Status.InitContainerStatuses)
		all = appendRunning(all, pod.Spec.Containers, pod.Status.ContainerStatuses)
	}
	return all
}

func appendRunning(all []scrape.RunningImage, containers []corev1.Container, statuses []corev1.ContainerStatus) []scrape.RunningImage {
	images := make(map[string]string, len(containers))
	for i := range containers {
		images[containers[i].Name] = containers[i].Image
	}
	for i := range statuses {
		if statuses[i].ImageID == "" {
			continue
		}
		all = append(all, scrape.RunningImage{
			Container: statuses[i].Name, Image: images[statuses[i].Name], ImageID: statuses[i].ImageID,
		})
	}
	return all
}
