// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// looks remembers how looks at workloads have ended, to see which way they end from then on.
type looks map[[2]string]float64

func looksAt(ctx context.Context, root string, absorbed ...string) looks {
	GinkgoHelper()
	seen := looks{}
	seen[[2]string{root, "inventoried"}] = counted(ctx, root, "inventoried")
	for _, kind := range absorbed {
		seen[[2]string{kind, "rolled_up"}] = counted(ctx, kind, "rolled_up")
	}
	return seen
}

// moved expects that each of the outcomes was counted since.
func (l looks) moved(ctx context.Context) {
	GinkgoHelper()
	for key, before := range l {
		Eventually(outcomes(ctx, key[0], key[1])).Should(BeNumerically(">", before), "%s is counted as %s", key[0], key[1])
	}
}

var _ = Describe("One AIBOM, that of the root, reports", Label(label), func() {
	var s *scene
	BeforeEach(func(ctx context.Context) { s = newScene(ctx) })

	It("a LeaderWorkerSet with its leaders and, through the leader Pod, its workers", func(ctx context.Context) {
		seen := looksAt(ctx, "LeaderWorkerSet", "StatefulSet")
		g := s.materialise(ctx, s.put(ctx, workerSet, "llm"))
		runs(ctx, g.leaderPod, digest("1"))
		runs(ctx, g.workerPod, digest("2"))
		s.says(ctx, "leaderworkerset-llm", report{
			owned: []string{"StatefulSet/llm", "StatefulSet/llm-0"}, digests: []string{digest("1"), digest("2")},
		})
		s.only(ctx, "leaderworkerset-llm")
		seen.moved(ctx)
	})

	It("a Dynamo graph with its component, that one's Deployment and the pods", func(ctx context.Context) {
		seen := looksAt(ctx, "DynamoGraphDeployment", "DynamoComponentDeployment", "Deployment")
		top := s.put(ctx, graph, "llm")
		middle := s.put(ctx, component, "llm-decode", ownedBy(top))
		deployment := s.deploy(ctx, "llm-decode", template("llm-decode"), ownedBy(middle))
		runs(ctx, s.podOf(ctx, s.replicaSetOf(ctx, deployment)), digest("3"))
		s.says(ctx, "dynamographdeployment-llm", report{
			owned: []string{"Deployment/llm-decode", "DynamoComponentDeployment/llm-decode"}, digests: []string{digest("3")},
		})
		s.only(ctx, "dynamographdeployment-llm")
		seen.moved(ctx)
	})

	It("a CronJob with the Jobs that it made and their pods", func(ctx context.Context) {
		seen := looksAt(ctx, "CronJob", "Job")
		s.overdueCronJob(ctx, "nightly")
		job := s.jobOf(ctx)
		runs(ctx, s.podOf(ctx, job), digest("4"))
		s.says(ctx, "cronjob-nightly", report{owned: []string{"Job/" + job.Name}, digests: []string{digest("4")}})
		s.only(ctx, "cronjob-nightly")
		seen.moved(ctx)

		Expect(admin.Delete(ctx, job)).To(Succeed())
		s.says(ctx, "cronjob-nightly", report{})
	})

	It("a NIMService with its Deployment", func(ctx context.Context) {
		seen := looksAt(ctx, "NIMService", "Deployment")
		t := running(template("llm"), "llm-ctr", "nvcr.io/nim/meta/llama-3.1-8b-instruct:1.8.3")
		deployment := s.deploy(ctx, "llm", t, ownedBy(s.put(ctx, nimService, "llm")))
		runs(ctx, s.podOf(ctx, s.replicaSetOf(ctx, deployment)), digest("5"))
		s.says(ctx, "nimservice-llm", report{owned: []string{"Deployment/llm"}, digests: []string{digest("5")}})
		s.only(ctx, "nimservice-llm")
		seen.moved(ctx)
	})

	It("an InferenceService with its Deployments, sorted by name", func(ctx context.Context) {
		seen := looksAt(ctx, "InferenceService", "Deployment")
		top := s.put(ctx, inferenceService, "llm")
		owned := []string{}
		for i, name := range []string{"llm-transformer", "llm-predictor"} {
			t := running(template(name), "kserve-container", "docker.io/kserve/huggingfaceserver:v0.15.2")
			deployment := s.deploy(ctx, name, t, ownedBy(top))
			runs(ctx, s.podOf(ctx, s.replicaSetOf(ctx, deployment)), digest([]string{"6", "7"}[i]))
			owned = append(owned, "Deployment/"+name)
		}
		slices.Sort(owned)
		s.says(ctx, "inferenceservice-llm", report{owned: owned, digests: []string{digest("6"), digest("7")}})
		s.only(ctx, "inferenceservice-llm")
		seen.moved(ctx)
	})

	It("a DisaggregatedSet with its LeaderWorkerSet and all that this makes", func(ctx context.Context) {
		seen := looksAt(ctx, "DisaggregatedSet", "LeaderWorkerSet", "StatefulSet")
		top := s.put(ctx, disaggregatedSet, "llm")
		g := s.materialise(ctx, s.put(ctx, workerSet, "llm-decode", ownedBy(top)))
		runs(ctx, g.workerPod, digest("8"))
		s.says(ctx, "disaggregatedset-llm", report{
			owned:   []string{"LeaderWorkerSet/llm-decode", "StatefulSet/llm-decode", "StatefulSet/llm-decode-0"},
			digests: []string{digest("8")},
		})
		s.only(ctx, "disaggregatedset-llm")
		seen.moved(ctx)
	})

	It("a Dynamo graph with the pods that Grove runs for it", func(ctx context.Context) {
		installGrove()
		top := s.put(ctx, graph, "llm")
		runs(ctx, s.runOnGrove(ctx, top), digest("9"))
		s.says(ctx, "dynamographdeployment-llm", report{digests: []string{digest("9")}})
		s.only(ctx, "dynamographdeployment-llm")
	})

	It("a Dynamo graph with the pods of a Grove that was installed after it", func(ctx context.Context) {
		top := s.put(ctx, graph, "llm")
		s.says(ctx, "dynamographdeployment-llm", report{}) // looked for Grove and found nothing
		installGrove()
		pod := s.runOnGrove(ctx, top)
		runs(ctx, pod, digest("a"))
		s.says(ctx, "dynamographdeployment-llm", report{digests: []string{digest("a")}})
		Expect(admin.Delete(ctx, pod)).To(Succeed())
		s.says(ctx, "dynamographdeployment-llm", report{})
	})
})
