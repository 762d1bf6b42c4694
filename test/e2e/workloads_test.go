// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
)

const (
	vllmImage  = "docker.io/vllm/vllm-openai:v0.11.0"
	nginxImage = "docker.io/library/nginx:1.29"
	llama      = "meta-llama/Llama-3.1-8B-Instruct"
	qwen       = "Qwen/Qwen3-8B"
)

// optedIn is a new namespace that the default configuration inventories.
func optedIn(ctx context.Context) string {
	GinkgoHelper()
	return newNamespace(ctx, map[string]string{v1beta1.OptInLabel: v1beta1.OptInValue})
}

// newNamespace is a namespace of the spec's own, ready for pods; it goes when the spec ends.
func newNamespace(ctx context.Context, labels map[string]string) string {
	GinkgoHelper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-", Labels: labels}}
	Expect(admin.Create(ctx, ns)).To(Succeed())
	DeferCleanup(func(ctx context.Context) {
		Expect(client.IgnoreNotFound(admin.Delete(ctx, ns))).To(Succeed())
	})
	account := &corev1.ServiceAccount{}
	Eventually(func() error {
		return admin.Get(ctx, client.ObjectKey{Namespace: ns.Name, Name: "default"}, account)
	}).Should(Succeed(), "pods can be created once the namespace has its ServiceAccount")
	return ns.Name
}

// serving is a pod template that serves the model with vLLM.
func serving(model string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Name: "server", Image: vllmImage, Command: []string{"vllm", "serve", model},
	}}}}
}

// plain is a pod template that is no AI workload.
func plain() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Name: "server", Image: nginxImage,
	}}}}
}

// builders make a workload of each kind from a pod template.
var builders = map[string]func(metav1.ObjectMeta, corev1.PodTemplateSpec) client.Object{
	"Deployment": func(m metav1.ObjectMeta, t corev1.PodTemplateSpec) client.Object {
		return &appsv1.Deployment{ObjectMeta: m, Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](0), Selector: selector(&t, m.Name), Template: t}}
	},
	"StatefulSet": func(m metav1.ObjectMeta, t corev1.PodTemplateSpec) client.Object {
		return &appsv1.StatefulSet{ObjectMeta: m, Spec: appsv1.StatefulSetSpec{
			Replicas: ptr.To[int32](0), Selector: selector(&t, m.Name), Template: t}}
	},
	"DaemonSet": func(m metav1.ObjectMeta, t corev1.PodTemplateSpec) client.Object {
		return &appsv1.DaemonSet{ObjectMeta: m, Spec: appsv1.DaemonSetSpec{Selector: selector(&t, m.Name), Template: t}}
	},
	"Job": func(m metav1.ObjectMeta, t corev1.PodTemplateSpec) client.Object {
		t.Spec.RestartPolicy = corev1.RestartPolicyNever
		return &batchv1.Job{ObjectMeta: m, Spec: batchv1.JobSpec{Template: t}}
	},
	"CronJob": func(m metav1.ObjectMeta, t corev1.PodTemplateSpec) client.Object {
		t.Spec.RestartPolicy = corev1.RestartPolicyNever
		c := &batchv1.CronJob{ObjectMeta: m, Spec: batchv1.CronJobSpec{Schedule: "@yearly"}}
		c.Spec.JobTemplate.Spec.Template = t
		return c
	},
}

// selector labels the template and selects the label. Names may be longer than a label's value.
func selector(t *corev1.PodTemplateSpec, name string) *metav1.LabelSelector {
	labels := map[string]string{"app": name[:min(len(name), 63)]}
	t.Labels = labels
	return &metav1.LabelSelector{MatchLabels: labels}
}

// create makes a workload of the kind in the namespace.
func create(ctx context.Context, kind, namespace, name string, template corev1.PodTemplateSpec) client.Object {
	GinkgoHelper()
	object := builders[kind](metav1.ObjectMeta{Namespace: namespace, Name: name}, template)
	Expect(admin.Create(ctx, object)).To(Succeed())
	return object
}

// deploy makes a Deployment without pods that serves the model.
func deploy(ctx context.Context, namespace, name, model string) *appsv1.Deployment {
	GinkgoHelper()
	return create(ctx, "Deployment", namespace, name, serving(model)).(*appsv1.Deployment)
}

// change patches the newest state of the object as another client would.
func change[T client.Object](ctx context.Context, object T, mutate func(T)) {
	GinkgoHelper()
	Expect(admin.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
	before := object.DeepCopyObject().(client.Object)
	mutate(object)
	Expect(admin.Patch(ctx, object, client.MergeFrom(before))).To(Succeed())
}

// serve changes the model that a Deployment serves.
func serve(ctx context.Context, deployment *appsv1.Deployment, model string) {
	GinkgoHelper()
	change(ctx, deployment, func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Containers[0].Command = []string{"vllm", "serve", model}
	})
}

// gcTimeout is how long the garbage collector and the namespace controller may take: they
// learn about the project's kinds by discovery, every half minute.
const gcTimeout = 90 * time.Second
