// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/test/suite"
)

var _ = Describe("A new workload costs exactly two writes", Label("foundation-6"), func() {
	for kind := range builders {
		It("creates the AIBOM of a "+kind+", writes its status, and asks for nothing else", func(ctx context.Context) {
			ns := optedIn(ctx)
			name := strings.ToLower(kind) + "-llm"
			since := mark()
			workload := create(ctx, kind, ns, "llm", serving(llama))
			awaitAIBOM(ctx, ns, name)
			suite.Settled(requests(since, ns)).Should(Equal([]string{
				"create aiboms " + name, "patch aiboms/status " + name,
			}), "create and status, in this order, and no read")
			Expect(admin.Delete(ctx, workload, client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())
		})
	}

	It("costs the same with running pods", func(ctx context.Context) {
		ns := optedIn(ctx)
		since := mark()
		deployment := deploy(ctx, ns, "llm", llama)
		scale(ctx, deployment, 2)
		awaitPods(ctx, ns, 2)
		awaitAIBOM(ctx, ns, "deployment-llm")
		suite.Settled(requests(since, ns)).Should(Equal([]string{
			"create aiboms deployment-llm", "patch aiboms/status deployment-llm",
		}), "pods that have not reported a digest say nothing")
	})

	It("writes only the status of a workload whose findings change", func(ctx context.Context) {
		ns := optedIn(ctx)
		deployment := deploy(ctx, ns, "llm", llama)
		before := awaitAIBOM(ctx, ns, "deployment-llm")
		since := mark()
		serve(ctx, deployment, qwen)
		after := awaitAIBOM(ctx, ns, "deployment-llm", haveModels(qwen))
		suite.Settled(requests(since, ns)).Should(Equal([]string{"patch aiboms/status deployment-llm"}), "one write and no read")
		Expect(after.Status.InputHash).NotTo(Equal(before.Status.InputHash))
		Expect(after.UID).To(Equal(before.UID))
	})
})

var _ = Describe("An event that changes no finding costs no write and no read from the API server", Label("foundation-6"), func() {
	DescribeTable("such as", func(ctx context.Context, event func(context.Context, *appsv1.Deployment)) {
		ns := optedIn(ctx)
		deployment := deploy(ctx, ns, "llm", llama)
		scale(ctx, deployment, 1)
		awaitPods(ctx, ns, 1)
		awaitAIBOM(ctx, ns, "deployment-llm")

		since := mark()
		event(ctx, deployment)
		// The manager works through what it sees in order: once it has come to this workload,
		// it has seen the event.
		deploy(ctx, ns, "later", qwen)
		awaitAIBOM(ctx, ns, "deployment-later")
		suite.Settled(requests(since, ns)).Should(Equal([]string{
			"create aiboms deployment-later", "patch aiboms/status deployment-later",
		}), "the event led to no request at all")
	},
		Entry("scaling up", func(ctx context.Context, d *appsv1.Deployment) {
			scale(ctx, d, 3)
			awaitPods(ctx, d.Namespace, 3)
		}),
		Entry("scaling to zero before any digest was known", func(ctx context.Context, d *appsv1.Deployment) {
			scale(ctx, d, 0)
			awaitPods(ctx, d.Namespace, 0)
		}),
		Entry("an annotation that is no evidence", func(ctx context.Context, d *appsv1.Deployment) {
			change(ctx, d, func(d *appsv1.Deployment) { metav1.SetMetaDataAnnotation(&d.ObjectMeta, "team.example.com/note", "x") })
		}),
		Entry("a label", func(ctx context.Context, d *appsv1.Deployment) {
			change(ctx, d, func(d *appsv1.Deployment) { metav1.SetMetaDataLabel(&d.ObjectMeta, "team", "ml") })
		}),
		Entry("a rollout that changes nothing that is read", func(ctx context.Context, d *appsv1.Deployment) {
			change(ctx, d, func(d *appsv1.Deployment) {
				metav1.SetMetaDataAnnotation(&d.Spec.Template.ObjectMeta, "kubectl.kubernetes.io/restartedAt", "now")
				d.Spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{
					corev1.ResourceCPU: resource.MustParse("250m"),
				}
				d.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "TZ", Value: "UTC"}}
			})
		}),
		Entry("the workload's status", func(ctx context.Context, d *appsv1.Deployment) {
			Expect(admin.Get(ctx, client.ObjectKeyFromObject(d), d)).To(Succeed())
			before := d.DeepCopy()
			d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{
				Type: "Example", Status: corev1.ConditionTrue,
			})
			Expect(admin.Status().Patch(ctx, d, client.MergeFrom(before))).To(Succeed())
		}),
		Entry("pods that become ready and unready", func(ctx context.Context, d *appsv1.Deployment) {
			pod := awaitPods(ctx, d.Namespace, 1)[0]
			for _, ready := range []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionTrue} {
				before := pod.DeepCopy()
				pod.Status.Phase = corev1.PodRunning
				pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}
				Expect(admin.Status().Patch(ctx, &pod, client.MergeFrom(before))).To(Succeed())
			}
		}),
		Entry("a pod that is replaced", func(ctx context.Context, d *appsv1.Deployment) {
			pod := awaitPods(ctx, d.Namespace, 1)[0]
			Expect(admin.Delete(ctx, &pod, client.GracePeriodSeconds(0))).To(Succeed())
			Eventually(func() string { return awaitPods(ctx, d.Namespace, 1)[0].Name }).ShouldNot(Equal(pod.Name), "another pod takes its place")
		}),
		Entry("another label on the namespace", func(ctx context.Context, d *appsv1.Deployment) {
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: d.Namespace}}
			change(ctx, ns, func(ns *corev1.Namespace) { metav1.SetMetaDataLabel(&ns.ObjectMeta, "team", "ml") })
		}),
		Entry("somebody's annotation on the AIBOM", func(ctx context.Context, d *appsv1.Deployment) {
			aibom := &v1beta1.AIBOM{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: "deployment-llm"}}
			change(ctx, aibom, func(a *v1beta1.AIBOM) { metav1.SetMetaDataAnnotation(&a.ObjectMeta, "audit.example.com/seen", "yes") })
		}),
	)
})

var _ = Describe("A restart over an existing inventory costs no write", Label("foundation-6"), func() {
	It("leaves every AIBOM as it is, and catches up with what happened meanwhile", func(ctx context.Context) {
		ns, other := optedIn(ctx), optedIn(ctx)
		want := map[string]string{}
		for kind := range builders {
			create(ctx, kind, ns, "llm", serving(llama))
			want[strings.ToLower(kind)+"-llm"] = ""
		}
		changed, deleted := deploy(ctx, other, "changed", llama), deploy(ctx, other, "deleted", llama)
		for name := range want {
			want[name] = awaitAIBOM(ctx, ns, name).ResourceVersion
		}
		awaitAIBOM(ctx, other, "deployment-changed")
		awaitAIBOM(ctx, other, "deployment-deleted")

		stopManager()
		since := mark()
		serve(ctx, changed, qwen)
		deploy(ctx, other, "added", qwen)
		Expect(admin.Delete(ctx, deleted)).To(Succeed())
		startManager(ctx)
		awaitAIBOM(ctx, other, "deployment-changed", haveModels(qwen))
		awaitAIBOM(ctx, other, "deployment-added", haveModels(qwen))
		Eventually(listAIBOMs(ctx, other)).WithTimeout(gcTimeout).Should(HaveLen(2), "what was deleted meanwhile is gone")

		suite.Settled(requestsIn(since, ns)).Should(BeEmpty(), "the inventory that is right is neither written nor read")
		Expect(requestsIn(since, other)()).To(ConsistOf("patch aiboms/status deployment-changed",
			"create aiboms deployment-added", "patch aiboms/status deployment-added"))
		for name, version := range want {
			Expect(awaitAIBOM(ctx, ns, name).ResourceVersion).To(Equal(version), "%s is untouched", name)
		}
	})
})

// scale sets the replicas of a Deployment.
func scale(ctx context.Context, deployment *appsv1.Deployment, replicas int32) {
	GinkgoHelper()
	change(ctx, deployment, func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To(replicas) })
}

// awaitPods returns the pods of a namespace once there are so many that are not going away.
func awaitPods(ctx context.Context, namespace string, count int) []corev1.Pod {
	GinkgoHelper()
	var pods []corev1.Pod
	Eventually(func() ([]corev1.Pod, error) {
		list := &corev1.PodList{}
		err := admin.List(ctx, list, client.InNamespace(namespace))
		pods = nil
		for _, pod := range list.Items {
			if pod.DeletionTimestamp.IsZero() {
				pods = append(pods, pod)
			}
		}
		return pods, err
	}).Should(HaveLen(count), "the controller manager makes the pods")
	return pods
}
