// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/k8s-aibom/k8s-aibom/test/suite"
)

var _ = Describe("The root's document follows its descendants' pods", Label(label), func() {
	var s *scene
	BeforeEach(func(ctx context.Context) { s = newScene(ctx) })

	It("when one's digest becomes known, and when it is deleted", func(ctx context.Context) {
		owned := []string{"StatefulSet/llm", "StatefulSet/llm-0"}
		g := s.materialise(ctx, s.put(ctx, workerSet, "llm"))
		s.says(ctx, "leaderworkerset-llm", report{owned: owned})
		runs(ctx, g.workerPod, digest("1"))
		s.says(ctx, "leaderworkerset-llm", report{owned: owned, digests: []string{digest("1")}})
		runs(ctx, g.workerPod, digest("2"))
		s.says(ctx, "leaderworkerset-llm", report{owned: owned, digests: []string{digest("2")}})
		Expect(admin.Delete(ctx, g.workerPod)).To(Succeed())
		s.says(ctx, "leaderworkerset-llm", report{owned: owned})
		var successor *corev1.Pod
		Eventually(func() types.UID {
			successor = s.podOf(ctx, g.workers)
			return successor.UID
		}).ShouldNot(Equal(g.workerPod.UID), "the StatefulSet makes another one")
		runs(ctx, successor, digest("3"))
		s.says(ctx, "leaderworkerset-llm", report{owned: owned, digests: []string{digest("3")}})
	})

	It("when one is created", func(ctx context.Context) {
		g := s.materialise(ctx, s.put(ctx, workerSet, "llm"))
		s.says(ctx, "leaderworkerset-llm", report{owned: []string{"StatefulSet/llm", "StatefulSet/llm-0"}})
		before := atRest(ctx, "LeaderWorkerSet", "unchanged")
		s.pod(ctx, "further", ownedBy(g.leaderPod))
		Eventually(outcomes(ctx, "LeaderWorkerSet", "unchanged")).Should(BeNumerically(">", before), "the root is looked at")
	})

	It("when one comes to belong to it, or does not any more", func(ctx context.Context) {
		owned := []string{"Deployment/llm"}
		deployment := s.deploy(ctx, "llm", running(template("llm"), "kserve-container", vllmImage), ownedBy(s.put(ctx, inferenceService, "llm")))
		set := s.replicaSetOf(ctx, deployment)
		pod := s.podOf(ctx, set)
		runs(ctx, pod, digest("4"))
		s.says(ctx, "inferenceservice-llm", report{owned: owned, digests: []string{digest("4")}})
		// Without its label the ReplicaSet gives the pod up, as when somebody looks into it.
		change(ctx, pod, func(p *corev1.Pod) { p.Labels = nil })
		s.says(ctx, "inferenceservice-llm", report{owned: owned})
		adopt(ctx, pod, ownedBy(deployment))
		s.says(ctx, "inferenceservice-llm", report{owned: owned, digests: []string{digest("4")}})
	})

	It("and costs nothing when what changes is not in it", func(ctx context.Context) {
		installGrove()
		top := s.put(ctx, graph, "llm")
		middle := s.put(ctx, component, "decode", ownedBy(top))
		owned := []string{"Deployment/decode", "DynamoComponentDeployment/decode"}
		deployment := s.deploy(ctx, "decode", template("decode"), ownedBy(middle))
		pods := []*corev1.Pod{s.podOf(ctx, s.replicaSetOf(ctx, deployment)), s.runOnGrove(ctx, top)}
		runs(ctx, pods[0], digest("5"))
		runs(ctx, pods[1], digest("6"))
		s.says(ctx, "dynamographdeployment-llm", report{owned: owned, digests: []string{digest("5"), digest("6")}})
		s.only(ctx, "dynamographdeployment-llm")

		awaitQuiet()
		since := mark()
		for _, pod := range pods {
			setStatus(ctx, pod, func(status *corev1.PodStatus) {
				status.ContainerStatuses[0].Ready, status.ContainerStatuses[0].RestartCount = true, 3
				status.Conditions = append(status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
				status.PodIP = "10.0.0.1"
			})
			change(ctx, pod, func(p *corev1.Pod) { p.Annotations = map[string]string{"rollup.example.com/note": "not read"} })
		}
		suite.Settled(requests(since, s.namespace)).Should(BeEmpty(), "looking at the graph would list what is in between")
	})
})
