// SPDX-License-Identifier: Apache-2.0

package harness_test

import (
	"context"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

var _ = Describe("the proxy", func() {
	var proxy *harness.Proxy
	var client *kubernetes.Clientset
	configMaps := schema.GroupResource{Resource: "configmaps"}

	BeforeEach(func(ctx context.Context) {
		// A token, for what a client certificate says ends at the proxy.
		config := editor(ctx)
		var err error
		proxy, err = harness.NewProxy(config)
		Expect(err).NotTo(HaveOccurred())
		Expect(proxy.Start()).To(Succeed())
		DeferCleanup(proxy.Stop)
		client, err = kubernetes.NewForConfig(proxy.Config(config))
		Expect(err).NotTo(HaveOccurred())
	})

	It("passes everything on, each watch event at once", func(ctx context.Context) {
		watch, err := client.CoreV1().ConfigMaps("default").Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=passed"})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(watch.Stop)
		_, err = client.CoreV1().ConfigMaps("default").Create(ctx, ownedByNobody("passed"), metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(watch.ResultChan()).Should(Receive(), "the event arrives while the watch is open")
	})

	It("refuses the requests for one resource and verb only", func(ctx context.Context) {
		proxy.Disturb(harness.Disturbance{Resource: configMaps, Verbs: []string{"list"}, Status: http.StatusInternalServerError})
		_, err := client.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
		Expect(apierrors.IsInternalError(err)).To(BeTrue(), "%v", err)
		_, err = client.CoreV1().ConfigMaps("default").Get(ctx, "absent", metav1.GetOptions{})
		Expect(apierrors.IsNotFound(err)).To(BeTrue(), "another verb passes: %v", err)
		_, err = client.CoreV1().Secrets("default").List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred(), "another resource passes")
		proxy.Disturb()
		_, err = client.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred(), "the disturbance is over")
	})

	It("disturbs the requests for one object only, and passes on late what it is told to", func(ctx context.Context) {
		until := make(chan struct{})
		proxy.Disturb(
			harness.Disturbance{Resource: configMaps, Name: "refused", Status: http.StatusForbidden},
			harness.Disturbance{Resource: configMaps, Name: "late", Until: until},
		)
		get := func(name string) error {
			_, err := client.CoreV1().ConfigMaps("default").Get(ctx, name, metav1.GetOptions{})
			return err
		}
		Expect(apierrors.IsForbidden(get("refused"))).To(BeTrue(), "the one is refused")
		Expect(apierrors.IsNotFound(get("other"))).To(BeTrue(), "another is not")
		answered := make(chan error, 1)
		go func() { answered <- get("late") }()
		Consistently(answered, "500ms").ShouldNot(Receive(), "no answer comes yet")
		close(until)
		var last error
		Eventually(answered).Should(Receive(&last), "the answer comes late")
		Expect(apierrors.IsNotFound(last)).To(BeTrue(), "and it is the API server's: %v", last)
		Expect(proxy.Passages(configMaps)).To(HaveEach(HaveField("Accept", ContainSubstring("application/"))))
		Expect(proxy.Passages(configMaps)).To(ContainElement(And(HaveField("Verb", "get"), HaveField("Name", "late"))))
	})

	It("leaves requests without an answer and cuts watches off", func(ctx context.Context) {
		watch, err := client.CoreV1().ConfigMaps("default").Watch(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(watch.Stop)
		proxy.Disturb(harness.Disturbance{Resource: configMaps})
		Eventually(func() bool {
			select {
			case _, open := <-watch.ResultChan():
				return open
			default:
				return true
			}
		}).Should(BeFalse(), "the watch under way ends")

		answered := make(chan error, 1)
		go func() {
			_, err := client.CoreV1().ConfigMaps("default").Get(ctx, "absent", metav1.GetOptions{})
			answered <- err
		}()
		Consistently(answered, "500ms").ShouldNot(Receive(), "no answer comes")
		_, err = client.CoreV1().Secrets("default").List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred(), "another resource is answered meanwhile, on the same connection")
		proxy.Disturb()
		var last error
		Eventually(answered).Should(Receive(&last), "who hung does not answer late, but cuts off")
		Expect(last).To(HaveOccurred())
	})
})

// editor is a configuration with a token that may edit everything, made at the first call.
func editor(ctx context.Context) *rest.Config {
	GinkgoHelper()
	meta := metav1.ObjectMeta{Name: "editor", Namespace: "default"}
	_, err := admin.CoreV1().ServiceAccounts(meta.Namespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: meta}, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		Expect(err).NotTo(HaveOccurred())
		_, err = admin.RbacV1().RoleBindings(meta.Namespace).Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: meta,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: meta.Namespace, Name: meta.Name}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
	}
	config, _, err := plane.ServiceAccountConfig(ctx, meta.Namespace, meta.Name)
	Expect(err).NotTo(HaveOccurred())
	direct, err := kubernetes.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	Eventually(func() error {
		_, err := direct.CoreV1().Secrets(meta.Namespace).List(ctx, metav1.ListOptions{})
		return err
	}).Should(Succeed(), "the binding becomes effective")
	return config
}
