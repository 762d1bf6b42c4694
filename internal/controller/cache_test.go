// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

func TestTheCacheKeepsWhatAContainerRuns(t *testing.T) {
	g := NewWithT(t)
	exec := &corev1.ExecAction{Command: []string{"ollama", "pull", "llama3.2"}}
	container := corev1.Container{
		Name: "server", Image: "ollama/ollama:0.12.6", Command: []string{"ollama", "serve"}, WorkingDir: "/models",
		Lifecycle: &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{Exec: exec}},
	}
	whole := *container.DeepCopy()
	whole.Lifecycle.PreStop = &corev1.LifecycleHandler{Exec: exec}
	whole.Lifecycle.PostStart.HTTPGet = &corev1.HTTPGetAction{Path: "/"}
	get := func(a corev1.HTTPGetAction) *corev1.Probe {
		return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &a}}
	}
	path := corev1.HTTPGetAction{Path: "/v1/models/m"}
	container.StartupProbe, container.ReadinessProbe, container.LivenessProbe = get(path), get(path), get(path)
	header := corev1.HTTPGetAction{Path: path.Path, Host: "h", HTTPHeaders: []corev1.HTTPHeader{{Name: "Authorization", Value: "x"}}}
	whole.StartupProbe, whole.ReadinessProbe, whole.LivenessProbe = get(header), get(header), get(header)
	whole.LivenessProbe.PeriodSeconds = 5
	probed := corev1.Container{
		Name: "hook", Lifecycle: &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: exec}},
		LivenessProbe:  &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: exec}},
		ReadinessProbe: get(corev1.HTTPGetAction{Path: "/health"}),
	}

	deployment := &appsv1.Deployment{}
	deployment.Spec.Template.Spec.Containers = []corev1.Container{whole, probed}
	kept, err := stripWorkload(deployment)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(kept.(*appsv1.Deployment).Spec.Template.Spec.Containers).To(Equal([]corev1.Container{container, {Name: "hook"}}))
}
