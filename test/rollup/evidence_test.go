// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/k8s-aibom/k8s-aibom/test/harness"
	"github.com/k8s-aibom/k8s-aibom/test/suite"
)

// written is what it costs to report a workload for the first time.
func written(aibom string) []string {
	return []string{"create aiboms " + aibom, "patch aiboms/status " + aibom}
}

var _ = Describe("Only controller ownerReferences are evidence", Label(label), func() {
	var s *scene
	BeforeEach(func(ctx context.Context) { s = newScene(ctx) })

	It("and a pod that a workload's selector matches is none of its pods", func(ctx context.Context) {
		g := s.materialise(ctx, s.put(ctx, workerSet, "llm"))
		runs(ctx, g.leaderPod, digest("1"))
		planted := s.pod(ctx, "planted")
		change(ctx, planted, func(p *corev1.Pod) {
			p.SetLabels(map[string]string{"app": "llm", "leaderworkerset.sigs.k8s.io/name": "llm"})
		})
		runs(ctx, planted, digest("2"))
		s.says(ctx, "leaderworkerset-llm", report{owned: []string{"StatefulSet/llm", "StatefulSet/llm-0"}, digests: []string{digest("1")}})
		runs(ctx, g.workerPod, digest("3"))
		s.says(ctx, "leaderworkerset-llm", report{owned: []string{"StatefulSet/llm", "StatefulSet/llm-0"}, digests: []string{digest("1"), digest("3")}})
	})

	It("and a workload that bears another one's labels is a root", func(ctx context.Context) {
		s.put(ctx, workerSet, "llm")
		impostor := statefulSet(s.namespace, "impostor", 0)
		impostor.Labels = map[string]string{"leaderworkerset.sigs.k8s.io/name": "llm", "app.kubernetes.io/managed-by": "lws"}
		Expect(admin.Create(ctx, impostor)).To(Succeed())
		s.only(ctx, "leaderworkerset-llm", "statefulset-impostor")
		s.says(ctx, "leaderworkerset-llm", report{})
	})

	It("and an owner that is no controller is none, and costs no request", func(ctx context.Context) {
		reference := ownedBy(s.put(ctx, workerSet, "llm"))
		s.only(ctx, "leaderworkerset-llm")
		awaitQuiet()
		since := mark()
		reference.Controller = ptr.To(false)
		s.stateful(ctx, "child", reference)
		s.only(ctx, "leaderworkerset-llm", "statefulset-child")
		s.says(ctx, "leaderworkerset-llm", report{})
		suite.Settled(requests(since, s.namespace)).Should(ConsistOf(written("statefulset-child")), "nobody asks for an owner that does not control")
	})

	It("and one namespace's workloads never belong to another namespace's", func(ctx context.Context) {
		elsewhere := newScene(ctx)
		s.stateful(ctx, "child", ownedBy(elsewhere.put(ctx, workerSet, "llm")))
		s.only(ctx, "statefulset-child")
		elsewhere.says(ctx, "leaderworkerset-llm", report{})
	})
})

var _ = Describe("The walk to the owner", Label(label), func() {
	var s *scene
	BeforeEach(func(ctx context.Context) { s = newScene(ctx) })

	It("costs no request where there is no owner", func(ctx context.Context) {
		awaitQuiet()
		since := mark()
		object := s.stateful(ctx, "llm")
		s.only(ctx, "statefulset-llm")
		touch(ctx, object)
		suite.Settled(requests(since, s.namespace)).Should(ConsistOf(written("statefulset-llm")), "the AIBOM is written and nothing is read")
	})

	It("costs no request where the owners are built-in kinds", func(ctx context.Context) {
		since := mark()
		s.overdueCronJob(ctx, "nightly")
		job := s.jobOf(ctx)
		s.says(ctx, "cronjob-nightly", report{owned: []string{"Job/" + job.Name}})
		suite.Settled(requestsIn(since, s.namespace)).Should(Not(ContainElement(HavePrefix("get "))), "what is watched is not read")
	})

	It("is one GET for each owner, by the words of the reference", func(ctx context.Context) {
		older := s.put(ctx, graph, "llm")
		older.SetAPIVersion("nvidia.com/v1alpha1") // the kind is served in two versions
		middle := s.put(ctx, component, "decode", ownedBy(older))
		s.only(ctx, "dynamographdeployment-llm")
		since := mark()
		s.stateful(ctx, "child", ownedBy(middle))
		s.says(ctx, "dynamographdeployment-llm", report{owned: []string{"DynamoComponentDeployment/decode", "StatefulSet/child"}})
		var reads []string
		Eventually(func() ([]string, error) {
			all, err := plane.Requests(since, harness.Filter{User: harness.ManagerUser, Verb: "get", Namespace: s.namespace})
			reads = nil
			for _, e := range all {
				reads = append(reads, e.ObjectRef.APIVersion+" "+e.ObjectRef.Resource+" "+e.ObjectRef.Name)
			}
			return reads, err
		}).Should(ContainElements("v1beta1 dynamocomponentdeployments decode", "v1alpha1 dynamographdeployments llm"))
		// The component that absorbed it is looked at as well, which climbs to the graph once more.
		Expect(reads[:2]).To(Equal([]string{"v1beta1 dynamocomponentdeployments decode", "v1alpha1 dynamographdeployments llm"}), "upwards, one at a time")
		Expect(reads).To(HaveEach(Not(HavePrefix("v1beta1 dynamographdeployments"))), "in the reference's own version")
	})

	It("comes after the opt-in: a namespace that did not opt in costs nothing", func(ctx context.Context) {
		s.optOut(ctx)
		since := mark()
		g := s.materialise(ctx, s.put(ctx, workerSet, "llm"))
		runs(ctx, g.workerPod, digest("1"))
		suite.Settled(requestsIn(since, s.namespace)).Should(BeEmpty(), "nobody asks who owns what is not reported")
	})
})
