// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/test/suite"
)

// digest is a SHA-256 of 64 times the same digit.
func digest(digit string) string { return strings.Repeat(digit, 64) }

var _ = Describe("Digests come from pod status", Label("foundation-7"), func() {
	It("reaches a Deployment's pods through its ReplicaSets by ownership", func(ctx context.Context) {
		ns := optedIn(ctx)
		deployment := deploy(ctx, ns, "llm", llama)
		scale(ctx, deployment, 1)
		pod := awaitPods(ctx, ns, 1)[0]
		Expect(imageHashes(awaitAIBOM(ctx, ns, "deployment-llm"))).To(BeEmpty(), "no digest is made up")

		since := mark()
		reportImage(ctx, &pod, digest("a"))
		awaitDigest(ctx, ns, "deployment-llm", digest("a"))
		suite.Settled(requests(since, ns)).Should(Equal([]string{"patch aiboms/status deployment-llm"}),
			"a digest that becomes known costs one write and no read")

		By("another revision, whose pods another ReplicaSet makes")
		change(ctx, deployment, func(d *appsv1.Deployment) {
			d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
			d.Spec.Template.Spec.Containers[0].Image = "docker.io/vllm/vllm-openai:v0.12.0"
		})
		Eventually(func() types.UID { return awaitPods(ctx, ns, 1)[0].UID }).ShouldNot(Equal(pod.UID), "a pod of the new revision")
		pod = awaitPods(ctx, ns, 1)[0]
		reportImage(ctx, &pod, digest("b"))
		awaitDigest(ctx, ns, "deployment-llm", digest("b"))
	})

	for kind, replicas := range map[string]bool{"StatefulSet": true, "Job": false} {
		It("reaches the pods of a "+kind+" directly", func(ctx context.Context) {
			ns := optedIn(ctx)
			object := create(ctx, kind, ns, "llm", serving(llama))
			if replicas {
				change(ctx, object.(*appsv1.StatefulSet), func(s *appsv1.StatefulSet) { s.Spec.Replicas = ptr.To[int32](1) })
			}
			pod := awaitPods(ctx, ns, 1)[0]
			reportImage(ctx, &pod, digest("c"))
			awaitDigest(ctx, ns, strings.ToLower(kind)+"-llm", digest("c"))
		})
	}

	It("reaches the pods of a DaemonSet directly", func(ctx context.Context) {
		ns := optedIn(ctx)
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-" + ns}}
		Expect(admin.Create(ctx, node)).To(Succeed())
		DeferCleanup(func(ctx context.Context) { Expect(admin.Delete(ctx, node)).To(Succeed()) })
		create(ctx, "DaemonSet", ns, "llm", serving(llama))
		pod := awaitPods(ctx, ns, 1)[0]
		reportImage(ctx, &pod, digest("d"))
		awaitDigest(ctx, ns, "daemonset-llm", digest("d"))
	})

	It("believes no label and no ownerReference with another UID", func(ctx context.Context) {
		ns := optedIn(ctx)
		deployment := deploy(ctx, ns, "llm", llama)
		scale(ctx, deployment, 1)
		own := awaitPods(ctx, ns, 1)[0]
		genuine := own.OwnerReferences[0]

		By("pods that look like the Deployment's own")
		forged := genuine
		forged.UID = "00000000-0000-0000-0000-000000000000"
		direct := metav1.OwnerReference{
			APIVersion: "apps/v1", Kind: "Deployment", Name: "llm", UID: forged.UID, Controller: ptr.To(true),
		}
		uncontrolled := genuine
		uncontrolled.Controller = nil
		impostors := map[string][]metav1.OwnerReference{
			"labels-only": nil, "wrong-replicaset": {forged}, "wrong-deployment": {direct}, "no-controller": {uncontrolled},
		}
		for name, owners := range impostors {
			pod := foreignPod(ns, name)
			pod.Labels, pod.OwnerReferences = map[string]string{"app": "llm"}, owners
			// Garbage collection would take pods away whose owner does not exist.
			pod.Finalizers = []string{"e2e.example.com/keep"}
			Expect(admin.Create(ctx, pod)).To(Succeed())
			DeferCleanup(func(ctx context.Context) {
				change(ctx, pod, func(p *corev1.Pod) { p.Finalizers = nil })
			})
			reportImage(ctx, pod, digest("e"))
		}

		By("the Deployment's own pod, which reports last")
		reportImage(ctx, &own, digest("f"))
		aibom := awaitDigest(ctx, ns, "deployment-llm", digest("f"))
		Expect(aibom.Status.BOMDocument.Inline.Data).NotTo(ContainSubstring(digest("e")), "an impostor's digest is not the workload's")
		serve(ctx, deployment, qwen)
		aibom = awaitAIBOM(ctx, ns, "deployment-llm", haveModels(qwen))
		Expect(aibom.Status.BOMDocument.Inline.Data).NotTo(ContainSubstring(digest("e")), "nor is it when the workload is read anew")
	})

	It("does not mix up the pods of workloads that select the same labels", func(ctx context.Context) {
		ns := optedIn(ctx)
		for _, name := range []string{"one", "two"} {
			template := serving(llama)
			object := builders["Deployment"](metav1.ObjectMeta{Namespace: ns, Name: name}, template).(*appsv1.Deployment)
			object.Spec.Selector.MatchLabels["app"] = "shared"
			object.Spec.Template.Labels["app"] = "shared"
			object.Spec.Replicas = ptr.To[int32](1)
			// Different templates, so that neither adopts the other's ReplicaSet.
			metav1.SetMetaDataAnnotation(&object.Spec.Template.ObjectMeta, "of", name)
			Expect(admin.Create(ctx, object)).To(Succeed())
		}
		for _, pod := range awaitPods(ctx, ns, 2) {
			reportImage(ctx, &pod, map[string]string{"one": digest("1"), "two": digest("2")}[pod.Annotations["of"]])
		}
		awaitDigest(ctx, ns, "deployment-one", digest("1"))
		awaitDigest(ctx, ns, "deployment-two", digest("2"))
	})
})

// foreignPod is a pod that no workload made.
func foreignPod(namespace, name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       serving(llama).Spec,
	}
}

// reportImage says in the pod's status, as a kubelet would, which image its container runs.
func reportImage(ctx context.Context, pod *corev1.Pod, digest string) {
	GinkgoHelper()
	Expect(admin.Get(ctx, client.ObjectKeyFromObject(pod), pod)).To(Succeed())
	before := pod.DeepCopy()
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "server", Image: pod.Spec.Containers[0].Image, Ready: true,
		ImageID: "docker.io/vllm/vllm-openai@sha256:" + digest,
	}}
	Expect(admin.Status().Patch(ctx, pod, client.MergeFrom(before))).To(Succeed())
}
