// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

const vllmImage = "docker.io/vllm/vllm-openai:v0.11.0"

// scene is a namespace of a spec's own.
type scene struct{ namespace string }

// newScene is an opted-in namespace, ready for pods. It opts out when the spec ends, so that
// nothing of it is counted in the next one.
func newScene(ctx context.Context) *scene {
	GinkgoHelper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "rollup-", Labels: map[string]string{v1beta1.OptInLabel: v1beta1.OptInValue},
	}}
	Expect(admin.Create(ctx, ns)).To(Succeed())
	account := &corev1.ServiceAccount{}
	Eventually(func() error {
		return admin.Get(ctx, client.ObjectKey{Namespace: ns.Name, Name: "default"}, account)
	}).Should(Succeed(), "pods can be created once the namespace has its ServiceAccount")
	s := &scene{ns.Name}
	DeferCleanup(func(ctx context.Context) {
		s.optOut(ctx)
		Eventually(s.aiboms(ctx)).Should(BeEmpty(), "what is left behind is not reported any more")
	})
	return s
}

// optOut takes the namespace out of the inventory.
func (s *scene) optOut(ctx context.Context) {
	GinkgoHelper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	change(ctx, ns, func(ns *corev1.Namespace) { delete(ns.Labels, v1beta1.OptInLabel) })
}

// template is a pod template that serves a model with vLLM.
func template(name string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "server", Image: vllmImage, Command: []string{"vllm", "serve", "Qwen/Qwen3-8B"},
		}}},
	}
}

// running is the template with another container that runs another image.
func running(t corev1.PodTemplateSpec, container, image string) corev1.PodTemplateSpec {
	t.Spec.Containers[0].Name, t.Spec.Containers[0].Image = container, image
	return t
}

// statefulSet is a StatefulSet that is not created yet.
func statefulSet(namespace, name string, replicas int32, owners ...metav1.OwnerReference) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, OwnerReferences: owners},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas, Template: template(name),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}},
		},
	}
}

// stateful creates a StatefulSet without pods.
func (s *scene) stateful(ctx context.Context, name string, owners ...metav1.OwnerReference) *appsv1.StatefulSet {
	GinkgoHelper()
	object := statefulSet(s.namespace, name, 0, owners...)
	Expect(admin.Create(ctx, object)).To(Succeed())
	return object
}

// deploy creates a Deployment with one pod.
func (s *scene) deploy(ctx context.Context, name string, t corev1.PodTemplateSpec, owners ...metav1.OwnerReference) *appsv1.Deployment {
	GinkgoHelper()
	object := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name, OwnerReferences: owners},
		Spec:       appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: t.Labels}, Template: t},
	}
	Expect(admin.Create(ctx, object)).To(Succeed())
	return object
}

// replicaSet creates a ReplicaSet without pods.
func (s *scene) replicaSet(ctx context.Context, name string, owners ...metav1.OwnerReference) *appsv1.ReplicaSet {
	GinkgoHelper()
	object := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name, OwnerReferences: owners},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: ptr.To[int32](0), Template: template(name),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}},
		},
	}
	Expect(admin.Create(ctx, object)).To(Succeed())
	return object
}

// pod creates a pod of nobody's, or of its owner's.
func (s *scene) pod(ctx context.Context, name string, owners ...metav1.OwnerReference) *corev1.Pod {
	GinkgoHelper()
	t := template(name)
	object := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name, Labels: t.Labels, OwnerReferences: owners}, Spec: t.Spec,
	}
	Expect(admin.Create(ctx, object)).To(Succeed())
	return object
}

// overdueCronJob creates a CronJob that missed its last hour, so that a Job is made at once.
func (s *scene) overdueCronJob(ctx context.Context, name string) *batchv1.CronJob {
	GinkgoHelper()
	t := template(name)
	t.Spec.RestartPolicy = corev1.RestartPolicyNever
	object := &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec:       batchv1.CronJobSpec{Schedule: "@hourly", Suspend: ptr.To(true)},
	}
	object.Spec.JobTemplate.Spec.Template = t
	Expect(admin.Create(ctx, object)).To(Succeed())
	before := object.DeepCopy()
	object.Status.LastScheduleTime = ptr.To(metav1.NewTime(object.CreationTimestamp.Add(-2 * 3600e9)))
	Expect(admin.Status().Patch(ctx, object, client.MergeFrom(before))).To(Succeed())
	change(ctx, object, func(c *batchv1.CronJob) { c.Spec.Suspend = ptr.To(false) })
	return object
}

// ownedBy is the reference by which an object says that another one controls it.
func ownedBy(owner client.Object) metav1.OwnerReference {
	GinkgoHelper()
	gvk, err := apiutil.GVKForObject(owner, harness.Scheme)
	if gvk.Empty() {
		Expect(err).NotTo(HaveOccurred())
	}
	return metav1.OwnerReference{
		APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Name: owner.GetName(), UID: owner.GetUID(), Controller: ptr.To(true),
	}
}

// change writes a change of an object's metadata or spec.
func change[T client.Object](ctx context.Context, object T, mutate func(T)) {
	GinkgoHelper()
	Expect(admin.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
	before := object.DeepCopyObject().(T)
	mutate(object)
	Expect(admin.Patch(ctx, object, client.MergeFrom(before))).To(Succeed())
}

// adopt has an object say that it belongs to the owners, or to nobody.
func adopt(ctx context.Context, object client.Object, owners ...metav1.OwnerReference) {
	GinkgoHelper()
	change(ctx, object, func(o client.Object) { o.SetOwnerReferences(owners) })
}

// touch changes a part of a StatefulSet's spec that no document shows: it is looked at again.
func touch(ctx context.Context, object *appsv1.StatefulSet) {
	GinkgoHelper()
	change(ctx, object, func(o *appsv1.StatefulSet) { o.Spec.RevisionHistoryLimit = ptr.To(*o.Spec.RevisionHistoryLimit + 1) })
}

// podOf is the pod that a workload's controller makes, when it is there.
func (s *scene) podOf(ctx context.Context, owner client.Object) *corev1.Pod {
	GinkgoHelper()
	list := &corev1.PodList{}
	Eventually(func() ([]corev1.Pod, error) {
		all := &corev1.PodList{}
		err := admin.List(ctx, all, client.InNamespace(s.namespace))
		list.Items = nil
		for _, pod := range all.Items {
			if metav1.IsControlledBy(&pod, owner) && pod.DeletionTimestamp.IsZero() {
				list.Items = append(list.Items, pod)
			}
		}
		return list.Items, err
	}).Should(HaveLen(1), "%s has its pod", owner.GetName())
	return &list.Items[0]
}

// replicaSetOf is the ReplicaSet that a Deployment's controller makes, when it is there.
func (s *scene) replicaSetOf(ctx context.Context, owner client.Object) *appsv1.ReplicaSet {
	GinkgoHelper()
	list := &appsv1.ReplicaSetList{}
	Eventually(func() ([]appsv1.ReplicaSet, error) {
		err := admin.List(ctx, list, client.InNamespace(s.namespace))
		var some []appsv1.ReplicaSet
		for _, rs := range list.Items {
			if metav1.IsControlledBy(&rs, owner) {
				some = append(some, rs)
			}
		}
		list.Items = some
		return some, err
	}).Should(HaveLen(1), "%s has its ReplicaSet", owner.GetName())
	return &list.Items[0]
}

// jobOf is the Job that a CronJob's controller makes, when it is there.
func (s *scene) jobOf(ctx context.Context) *batchv1.Job {
	GinkgoHelper()
	list := &batchv1.JobList{}
	Eventually(func() ([]batchv1.Job, error) {
		return list.Items, admin.List(ctx, list, client.InNamespace(s.namespace))
	}).Should(HaveLen(1), "the CronJob has its Job")
	return &list.Items[0]
}

// digest is a SHA-256 of 64 times the same digit.
func digest(digit string) string { return strings.Repeat(digit, 64) }

// runs says in the pod's status, as a kubelet would, which image its container runs.
func runs(ctx context.Context, pod *corev1.Pod, digest string) {
	GinkgoHelper()
	setStatus(ctx, pod, func(status *corev1.PodStatus) {
		status.Phase = corev1.PodRunning
		container := pod.Spec.Containers[0]
		status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: container.Name, Image: container.Image, ImageID: "registry.example.com/image@sha256:" + digest,
		}}
	})
}

func setStatus(ctx context.Context, pod *corev1.Pod, mutate func(*corev1.PodStatus)) {
	GinkgoHelper()
	Expect(admin.Get(ctx, client.ObjectKeyFromObject(pod), pod)).To(Succeed())
	before := pod.DeepCopy()
	mutate(&pod.Status)
	Expect(admin.Status().Patch(ctx, pod, client.MergeFrom(before))).To(Succeed())
}

// gvk is a kind by its words.
func gvk(apiVersion, kind string) schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(apiVersion, kind)
}
