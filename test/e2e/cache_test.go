// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/ownership"
)

var _ = Describe("The cache holds no more than is read", Label("foundation-7"), Ordered, func() {
	var (
		ns     string
		cached cache.Cache
		pod    corev1.Pod
	)

	BeforeAll(withoutManager)
	BeforeAll(func(ctx context.Context) {
		cached = startInProcess(ctx, nil).GetCache()
		ns = optedIn(ctx)
		object := builders["Deployment"](metav1.ObjectMeta{
			Namespace: ns, Name: "llm",
			Labels:      map[string]string{"team": "ml"},
			Annotations: map[string]string{"team.example.com/note": "x", "model.k8saibom.dev/name": llama},
		}, serving(llama)).(*appsv1.Deployment)
		object.Spec.Replicas = ptr.To[int32](1)
		template := &object.Spec.Template
		template.Annotations = map[string]string{"team.example.com/note": "x"}
		server := &template.Spec.Containers[0]
		server.Env = []corev1.EnvVar{{Name: "MODEL_NAME", Value: llama}}
		server.Ports = []corev1.ContainerPort{{ContainerPort: 8000}}
		server.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
			HTTPGet: &corev1.HTTPGetAction{Path: "/health", Port: intstr.FromInt32(8000)},
		}}
		server.SecurityContext = &corev1.SecurityContext{ReadOnlyRootFilesystem: ptr.To(true)}
		template.Spec.NodeSelector = map[string]string{"gpu": "yes"}
		template.Spec.Tolerations = []corev1.Toleration{{Key: "gpu", Operator: corev1.TolerationOpExists}}
		Expect(admin.Create(ctx, object)).To(Succeed())
		pod = awaitPods(ctx, ns, 1)[0]
		reportImage(ctx, &pod, digest("a"))
		awaitDigest(ctx, ns, "deployment-llm", digest("a"))
	})

	It("strips pods to their owner and to which image each container runs", func(ctx context.Context) {
		Expect(pod.Labels).NotTo(BeEmpty(), "the API server has what the cache shall not have")
		Expect(pod.ManagedFields).NotTo(BeEmpty())
		held := &corev1.Pod{}
		Expect(cached.Get(ctx, client.ObjectKeyFromObject(&pod), held)).To(Succeed())
		held.TypeMeta = metav1.TypeMeta{}
		Expect(*held).To(Equal(corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: pod.Name, Namespace: ns, UID: pod.UID, ResourceVersion: held.ResourceVersion,
				Generation: held.Generation, OwnerReferences: pod.OwnerReferences,
			},
			Spec: corev1.PodSpec{
				InitContainers: []corev1.Container{},
				Containers:     []corev1.Container{{Name: "server", Image: vllmImage}},
			},
			Status: corev1.PodStatus{
				InitContainerStatuses: []corev1.ContainerStatus{},
				ContainerStatuses: []corev1.ContainerStatus{{
					Name: "server", ImageID: "docker.io/vllm/vllm-openai@sha256:" + digest("a"),
				}},
			},
		}), "no label, annotation, variable, condition, volume or managed field")
	})

	It("strips workloads to their identity and to what is read of their template", func(ctx context.Context) {
		held := &appsv1.Deployment{}
		Expect(cached.Get(ctx, client.ObjectKey{Namespace: ns, Name: "llm"}, held)).To(Succeed())
		Expect(held.ManagedFields).To(BeEmpty())
		Expect(held.Labels).To(BeEmpty())
		Expect(held.Annotations).To(Equal(map[string]string{"model.k8saibom.dev/name": llama}), "only what declares a model")
		Expect(held.Status).To(BeZero())
		Expect(held.Spec.Selector).To(BeNil())
		template := held.Spec.Template
		Expect(template.Labels).To(BeEmpty())
		Expect(template.Annotations).To(BeEmpty())
		Expect(template.Spec.NodeSelector).To(BeEmpty())
		Expect(template.Spec.Tolerations).To(BeEmpty())
		server := template.Spec.Containers[0]
		Expect(server.LivenessProbe).To(BeNil())
		Expect(server.SecurityContext).To(BeNil())
		Expect(server.Ports).To(BeEmpty())
		Expect(server.Env).To(ConsistOf(corev1.EnvVar{Name: "MODEL_NAME", Value: llama}), "what is read is there")
	})

	for kind, build := range builders {
		It("strips what is not read from a "+kind, func(ctx context.Context) {
			object := build(metav1.ObjectMeta{
				Namespace: ns, Name: "stripped", Labels: map[string]string{"team": "secret-team"},
			}, serving(llama))
			Expect(admin.Create(ctx, object)).To(Succeed())
			awaitAIBOM(ctx, ns, strings.ToLower(kind)+"-stripped")
			Expect(object.GetManagedFields()).NotTo(BeEmpty(), "the API server has what the cache shall not have")
			held := build(metav1.ObjectMeta{}, corev1.PodTemplateSpec{})
			Expect(cached.Get(ctx, client.ObjectKeyFromObject(object), held)).To(Succeed())
			Expect(held.GetUID()).To(Equal(object.GetUID()))
			Expect(held.GetManagedFields()).To(BeEmpty())
			Expect(held.GetLabels()).To(BeEmpty())
			text, err := json.Marshal(held)
			Expect(err).NotTo(HaveOccurred())
			for _, unread := range []string{"managedFields", "labels", "terminationMessagePath", "imagePullPolicy", "dnsPolicy", "schedulerName"} {
				Expect(string(text)).NotTo(ContainSubstring(unread))
			}
		})
	}

	It("holds ReplicaSets as metadata only", func(ctx context.Context) {
		key := client.ObjectKey{Namespace: ns, Name: pod.OwnerReferences[0].Name}
		held := ownership.ReplicaSet()
		Expect(cached.Get(ctx, key, held)).To(Succeed())
		Expect(held.OwnerReferences).To(ConsistOf(HaveField("Kind", "Deployment")))
		Expect(held.Labels).To(BeEmpty())
		Expect(held.Annotations).To(BeEmpty())
		Expect(held.ManagedFields).To(BeEmpty())
		Expect(cached.Get(ctx, key, &appsv1.ReplicaSet{})).To(BeAssignableToTypeOf(&cache.ErrResourceNotCached{}), "whole ReplicaSets are not held")
	})

	It("holds AIBOMs without their documents", func(ctx context.Context) {
		stored := awaitAIBOM(ctx, ns, "deployment-llm")
		held := &v1beta1.AIBOM{}
		Eventually(func() (string, error) {
			err := cached.Get(ctx, client.ObjectKeyFromObject(stored), held)
			return held.ResourceVersion, err
		}).Should(Equal(stored.ResourceVersion), "the cache catches up")
		Expect(stored.Status.BOMDocument.Inline.Data).NotTo(BeEmpty())
		Expect(len(held.Status.BOMDocument.Inline.Data)).To(BeNumerically("<=", 1))
		Expect(held.Status.BOMDocument.SHA256).To(Equal(stored.Status.BOMDocument.SHA256), "what it is compared by is there")
		Expect(held.ManagedFields).To(BeEmpty())
	})

	It("finds pods by an index of their owner", func(ctx context.Context) {
		list := &corev1.PodList{}
		Expect(cached.List(ctx, list, client.InNamespace(ns),
			client.MatchingFields{ownership.ControllerUIDField: string(pod.OwnerReferences[0].UID)})).To(Succeed())
		Expect(list.Items).To(ConsistOf(HaveField("Name", pod.Name)))
	})

	It("holds nothing else of a namespace", func(ctx context.Context) {
		for _, object := range []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}, &corev1.Namespace{}, &corev1.ServiceAccount{}} {
			err := cached.Get(ctx, client.ObjectKey{Namespace: ns, Name: "any"}, object)
			Expect(err).To(BeAssignableToTypeOf(&cache.ErrResourceNotCached{}), "%T is not held", object)
		}
	})
})
