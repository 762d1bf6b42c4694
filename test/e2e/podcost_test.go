// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/test/harness"
	"github.com/k8s-aibom/k8s-aibom/test/suite"
)

var _ = Describe("Pods are found in informer indexes, never by a list and a filter", Label("foundation-7"), func() {
	It("lists pods once, when the manager starts, however many workloads are reconciled", func(ctx context.Context) {
		stopManager()
		since := mark()
		startManager(ctx)
		const workloads = 25
		ns := optedIn(ctx)
		for i := range workloads {
			deployment := deploy(ctx, ns, fmt.Sprintf("llm-%d", i), llama)
			if i%5 == 0 {
				scale(ctx, deployment, 1)
			}
		}
		for i := range workloads {
			awaitAIBOM(ctx, ns, fmt.Sprintf("deployment-llm-%d", i))
		}
		for _, pod := range awaitPods(ctx, ns, workloads/5) {
			reportImage(ctx, &pod, digest("a"))
		}
		for i := range workloads {
			if i%5 == 0 {
				awaitDigest(ctx, ns, fmt.Sprintf("deployment-llm-%d", i), digest("a"))
			}
		}

		for _, resource := range []string{"pods", "replicasets", "deployments", "namespaces"} {
			seen, err := plane.Requests(since, harness.Filter{User: harness.ManagerUser, Resource: resource})
			Expect(err).NotTo(HaveOccurred())
			lists, watches := 0, 0
			for _, request := range seen {
				if request.Verb == "get" && request.ObjectRef.Namespace == harness.SystemNamespace {
					continue // its own, once at start, so that events can refer to it
				}
				Expect(request.Verb).To(Or(Equal("list"), Equal("watch")), "the manager only informs itself: %s", request)
				Expect(request.ObjectRef.Namespace).To(BeEmpty(), "an informer asks about all namespaces at once: %s", request)
				if request.Verb == "list" {
					lists++
				} else {
					watches++
				}
			}
			// An informer begins with a list and a watch, or with a watch that lists by itself.
			Expect(lists).To(BeNumerically("<=", 1), "no list of %s but the informer's own", resource)
			Expect(watches).To(Equal(1), "one watch of %s: it is held in one form only", resource)
		}
	})

	It("costs no request and no reconciliation to have 300 foreign pods in the namespace", func(ctx context.Context) {
		token := metricsToken(ctx)
		awaitCleanup(ctx)
		ns := optedIn(ctx)
		deploy(ctx, ns, "before", llama)
		awaitAIBOM(ctx, ns, "deployment-before")
		settled := settledReconciles(ctx, token)

		since := mark()
		for i := range 300 {
			Expect(admin.Create(ctx, foreignPod(ns, fmt.Sprintf("foreign-%d", i)))).To(Succeed())
		}
		for i := range 30 {
			pod := foreignPod(ns, fmt.Sprintf("foreign-%d", i))
			reportImage(ctx, pod, digest("9"))
		}
		suite.Settled(requests(since, ns)).Should(BeEmpty(), "foreign pods cost no request")
		Expect(reconciles(ctx, token)).To(Equal(settled), "and nothing is looked at because of them")

		deploy(ctx, ns, "after", llama)
		awaitAIBOM(ctx, ns, "deployment-after")
		suite.Settled(requests(since, ns)).Should(Equal([]string{
			"create aiboms deployment-after", "patch aiboms/status deployment-after",
		}), "a workload among them costs what it costs without them")
	})
})

// awaitCleanup returns once the namespaces of earlier specs are gone, and the events with them.
func awaitCleanup(ctx context.Context) {
	GinkgoHelper()
	Eventually(func() ([]string, error) {
		list := &corev1.NamespaceList{}
		err := admin.List(ctx, list)
		var leaving []string
		for _, ns := range list.Items {
			if !ns.DeletionTimestamp.IsZero() {
				leaving = append(leaving, ns.Name)
			}
		}
		return leaving, err
	}).WithTimeout(gcTimeout).Should(BeEmpty(), "earlier specs' namespaces go away")
}

var reconcileTotal = regexp.MustCompile(`(?m)^controller_runtime_reconcile_total\{controller="(\w+)",result="\w+"\} .*$`)

// reconciles are the manager's counts of reconciliations.
func reconciles(ctx context.Context, token string) []string {
	GinkgoHelper()
	code, body := metrics(ctx, token)
	Expect(code).To(Equal(200))
	counts := reconcileTotal.FindAllString(body, -1)
	Expect(strings.Join(counts, "\n")).To(ContainSubstring("deployment"), "the metric exists")
	return counts
}

// settledReconciles are the counts once they have stopped moving.
func settledReconciles(ctx context.Context, token string) []string {
	GinkgoHelper()
	var last []string
	Eventually(func() bool {
		now := reconciles(ctx, token)
		same := strings.Join(now, "\n") == strings.Join(last, "\n")
		last = now
		return same
	}).WithPolling(time.Second).Should(BeTrue(), "the manager comes to rest")
	return last
}
