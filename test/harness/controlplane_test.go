// SPDX-License-Identifier: Apache-2.0

package harness_test

import (
	"context"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

var _ = Describe("the control plane", func() {
	It("names what is missing and how to get it", func(ctx context.Context) {
		_, err := harness.Start(ctx, harness.Options{AssetsDir: emptyFolder(), WithControllerManager: true})
		Expect(err).To(MatchError(And(
			ContainSubstring("etcd, kube-apiserver, kubectl, kube-controller-manager"),
			ContainSubstring("make test"), ContainSubstring("hack/controlplane.sh"),
		)))
	})

	It("shows the log of a component that does not start and keeps LogDir only", func(ctx context.Context) {
		logs := emptyFolder()
		_, err := harness.Start(ctx, harness.Options{
			LogDir:         logs,
			APIServerFlags: map[string][]string{"authorization-mode": {"NoSuchMode"}},
		})
		Expect(err).To(MatchError(ContainSubstring("NoSuchMode")))
		Expect(filepath.Join(logs, "kube-apiserver.log")).To(BeARegularFile())
	})

	It("collects the garbage of a deleted owner, through real ReplicaSets", func(ctx context.Context) {
		labels := map[string]string{"app": "gc"}
		deployment, err := admin.AppsV1().Deployments("default").Create(ctx, &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: "gc"},
			Spec: appsv1.DeploymentSpec{
				Replicas: ptr.To[int32](2),
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "registry.example/none:1"}}},
				},
			},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		_, err = admin.CoreV1().ConfigMaps("default").Create(ctx, ownedBy(deployment, "gc-owned", nil), metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())

		selected := metav1.ListOptions{LabelSelector: "app=gc"}
		pods := func() ([]corev1.Pod, error) {
			list, err := admin.CoreV1().Pods("default").List(ctx, selected)
			return list.Items, err
		}
		Eventually(pods).Should(HaveLen(2), "the Deployment gets its Pods")
		Expect(pods()).To(HaveEach(HaveField("Spec.ServiceAccountName", "default")), "admission is as in a cluster")

		Expect(admin.AppsV1().Deployments("default").Delete(ctx, "gc", metav1.DeleteOptions{})).To(Succeed())
		Eventually(func() ([]appsv1.ReplicaSet, error) {
			list, err := admin.AppsV1().ReplicaSets("default").List(ctx, selected)
			return list.Items, err
		}).Should(BeEmpty(), "the ReplicaSet goes with its Deployment")
		Eventually(pods).Should(BeEmpty(), "the Pods go with their ReplicaSet")
		Eventually(func() bool {
			_, err := admin.CoreV1().ConfigMaps("default").Get(ctx, "gc-owned", metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		}).Should(BeTrue(), "the ConfigMap goes with its owner")
	})

	It("runs the admission plugins that were asked for", func(ctx context.Context) {
		config, err := plane.UserConfig("writer", "writers")
		Expect(err).NotTo(HaveOccurred())
		allow(ctx, "writer", rbacv1.Subject{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: "writers"}, "create")
		writer, err := kubernetes.NewForConfig(config)
		Expect(err).NotTo(HaveOccurred())
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "owner", UID: "b9a3f6f0-6f0e-4a52-9a55-3a8d1ce2d7a1"}}

		Eventually(func() error {
			_, err := writer.CoreV1().ConfigMaps("default").Create(ctx, ownedBy(deployment, "free", ptr.To(false)), metav1.CreateOptions{})
			return err
		}).Should(Succeed(), "an owner that is not blocked needs no right on it")
		_, err = writer.CoreV1().ConfigMaps("default").Create(ctx, ownedBy(deployment, "blocking", ptr.To(true)), metav1.CreateOptions{})
		Expect(err).To(MatchError(ContainSubstring("blockOwnerDeletion")))
	})
})

var _ = Describe("access", func() {
	It("acts as a ServiceAccount with the rights of that account and no others", func(ctx context.Context) {
		_, err := admin.CoreV1().ServiceAccounts("default").Create(ctx, &corev1.ServiceAccount{
			ObjectMeta: metav1.ObjectMeta{Name: "reader"}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		allow(ctx, "reader", rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: "reader"}, "list")
		config, kubeconfig, err := plane.ServiceAccountConfig(ctx, "default", "reader")
		Expect(err).NotTo(HaveOccurred())
		reader, err := kubernetes.NewForConfig(config)
		Expect(err).NotTo(HaveOccurred())

		Eventually(func() error {
			_, err := reader.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
			return err
		}).Should(Succeed(), "the Role allows it")
		mark, err := plane.Mark()
		Expect(err).NotTo(HaveOccurred())
		_, err = reader.CoreV1().Secrets("default").List(ctx, metav1.ListOptions{})
		Expect(apierrors.IsForbidden(err)).To(BeTrue(), "nothing allows it: %v", err)

		out, _, err := plane.KubectlAs(kubeconfig).Run(ctx, nil, "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")
		Expect(err).NotTo(HaveOccurred())
		Expect(out).To(Equal(harness.ServiceAccountUser("default", "reader")))

		refused, err := plane.Requests(mark, harness.Filter{User: harness.ServiceAccountUser("default", "reader"), Code: 403})
		Expect(err).NotTo(HaveOccurred())
		Expect(refused).To(ConsistOf(HaveField("ObjectRef.Resource", "secrets")))
	})

	It("says which ServiceAccount has no token", func(ctx context.Context) {
		_, _, err := plane.ServiceAccountConfig(ctx, "default", "nobody")
		Expect(err).To(MatchError(ContainSubstring("default/nobody")))
	})
})

var _ = Describe("kubectl", func() {
	It("takes input and returns output", func(ctx context.Context) {
		manifest := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"piped","namespace":"default"},"data":{"a":"b"}}`
		out, _, err := plane.KubectlAs(plane.AdminKubeconfig()).Run(ctx, strings.NewReader(manifest), "apply", "-f", "-")
		Expect(err).NotTo(HaveOccurred())
		Expect(out).To(ContainSubstring("configmap/piped created"))

		out, _, err = plane.Kubectl(ctx, "get", "configmap", "piped", "-o", "jsonpath={.data.a}")
		Expect(err).NotTo(HaveOccurred())
		Expect(out).To(Equal("b"))
	})

	It("returns what kubectl complained about", func(ctx context.Context) {
		_, stderr, err := plane.Kubectl(ctx, "get", "configmap", "absent")
		Expect(err).To(MatchError(ContainSubstring(`"absent" not found`)))
		Expect(stderr).To(ContainSubstring(`"absent" not found`))
	})
})

func ownedBy(owner *appsv1.Deployment, name string, block *bool) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{{
		APIVersion: "apps/v1", Kind: "Deployment", Name: owner.Name, UID: owner.UID, BlockOwnerDeletion: block,
	}}}}
}

// allow gives subject one verb on the ConfigMaps of the default namespace.
func allow(ctx context.Context, name string, subject rbacv1.Subject, verb string) {
	meta := metav1.ObjectMeta{Name: name}
	_, err := admin.RbacV1().Roles("default").Create(ctx, &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{verb}},
	}}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	_, err = admin.RbacV1().RoleBindings("default").Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects:   []rbacv1.Subject{subject},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

func ownedByNobody(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
}
