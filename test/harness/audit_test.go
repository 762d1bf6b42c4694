// SPDX-License-Identifier: Apache-2.0

package harness_test

import (
	"context"
	"fmt"
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

var _ = Describe("the audit log", Ordered, func() {
	const user = "counted"
	var client *kubernetes.Clientset
	var mark harness.Mark

	BeforeAll(func() {
		config, err := plane.UserConfig(user, "system:masters")
		Expect(err).NotTo(HaveOccurred())
		client, err = kubernetes.NewForConfig(config)
		Expect(err).NotTo(HaveOccurred())
	})
	BeforeEach(func() {
		var err error
		mark, err = plane.Mark()
		Expect(err).NotTo(HaveOccurred())
	})
	requests := func(filter harness.Filter) []harness.AuditEvent {
		GinkgoHelper()
		filter.User = user
		events, err := plane.Requests(mark, filter)
		Expect(err).NotTo(HaveOccurred())
		return events
	}

	It("counts exactly, at once, and only since the mark", func(ctx context.Context) {
		for i := range 50 {
			_, err := client.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("counted-%d", i)}}, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(requests(harness.Filter{})).To(HaveLen(i+1), "an answered request is in the log")
		}
		_, err := client.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		_, err = client.CoreV1().ConfigMaps("default").Get(ctx, "counted-none", metav1.GetOptions{})
		Expect(err).To(HaveOccurred())

		Expect(requests(harness.Filter{})).To(HaveLen(52))
		Expect(requests(harness.Filter{WritesOnly: true})).To(HaveLen(50))
		Expect(requests(harness.Filter{Verb: "list", Resource: "configmaps", Namespace: "default"})).To(HaveLen(1))
		Expect(requests(harness.Filter{Resource: "secrets"})).To(BeEmpty())
		Expect(requests(harness.Filter{Name: "counted-7", Code: 201})).To(HaveLen(1))
		Expect(requests(harness.Filter{Code: 404})).To(ConsistOf(HaveField("ObjectRef.Name", "counted-none")))

		mark, err = plane.Mark()
		Expect(err).NotTo(HaveOccurred())
		Expect(requests(harness.Filter{})).To(BeEmpty(), "what came before a mark is not counted after it")
	})

	It("counts a watch once, where it begins", func(ctx context.Context) {
		watcher, err := client.CoreV1().ConfigMaps("default").Watch(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		started := func() []harness.AuditEvent { return requests(harness.Filter{Verb: "watch"}) }
		Eventually(started).Should(HaveLen(1), "the watch has begun")

		whole := mark
		mark, err = plane.Mark()
		Expect(err).NotTo(HaveOccurred())
		watcher.Stop()
		Eventually(func() (string, error) {
			content, err := os.ReadFile(plane.AuditLogPath())
			return string(content[mark:]), err
		}).Should(MatchRegexp(`"stage":"ResponseComplete".*watch=true.*"username":"counted"`), "the end of the watch is in the log")
		Expect(started()).To(BeEmpty(), "a watch that ends is no new request")
		mark = whole
		Expect(started()).To(HaveLen(1))
	})

	It("counts what authentication refused", func(ctx context.Context) {
		config := rest.AnonymousClientConfig(plane.Config())
		config.BearerToken = "not-a-token"
		stranger, err := kubernetes.NewForConfig(config)
		Expect(err).NotTo(HaveOccurred())
		_, err = stranger.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
		Expect(err).To(HaveOccurred())
		Expect(plane.Requests(mark, harness.Filter{Code: 401})).To(HaveLen(1))
	})
})
