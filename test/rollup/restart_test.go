// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/k8s-aibom/k8s-aibom/test/harness"
	"github.com/k8s-aibom/k8s-aibom/test/suite"
)

// watchAIBOMs returns a function that lists the AIBOMs of the scene that anybody made or deleted
// since. What comes and goes between two looks at the AIBOMs themselves does not escape it.
func watchAIBOMs(s *scene) func() ([]string, error) {
	GinkgoHelper()
	since := mark()
	return func() ([]string, error) {
		all, err := plane.Requests(since, harness.Filter{Resource: "aiboms", Namespace: s.namespace, WritesOnly: true})
		var lines []string
		for _, e := range all {
			if e.Verb != "patch" {
				lines = append(lines, e.Short())
			}
		}
		return lines, err
	}
}

var _ = Describe("A restart of the controller", Label(label), func() {
	roots := []string{"leaderworkerset-llm", "dynamographdeployment-llm", "disaggregatedset-other", "deployment-alone"}
	var s *scene
	BeforeEach(func(ctx context.Context) {
		s = newScene(ctx)
		s.materialise(ctx, s.put(ctx, workerSet, "llm"))
		s.deploy(ctx, "decode", template("decode"), ownedBy(s.put(ctx, component, "decode", ownedBy(s.put(ctx, graph, "llm")))))
		s.materialise(ctx, s.put(ctx, workerSet, "other", ownedBy(s.put(ctx, disaggregatedSet, "other"))))
		s.deploy(ctx, "alone", template("alone"))
		s.only(ctx, roots...)
		s.says(ctx, "dynamographdeployment-llm", report{owned: []string{"Deployment/decode", "DynamoComponentDeployment/decode"}})
		s.says(ctx, "disaggregatedset-other", report{owned: []string{"LeaderWorkerSet/other", "StatefulSet/other", "StatefulSet/other-0"}})
		s.says(ctx, "leaderworkerset-llm", report{owned: []string{"StatefulSet/llm", "StatefulSet/llm-0"}})
	})

	It("makes no AIBOM come or go, nor writes one anew", func(ctx context.Context) {
		since := mark()
		stopManager()
		startManager(ctx)
		for kind, workloads := range map[string]float64{"StatefulSet": 4, "Deployment": 1, "LeaderWorkerSet": 1, "DynamoComponentDeployment": 1} {
			Eventually(outcomes(ctx, kind, "rolled_up")).Should(BeNumerically(">=", workloads), "each %s is looked at", kind)
		}
		for _, kind := range []string{"LeaderWorkerSet", "DynamoGraphDeployment", "DisaggregatedSet", "Deployment"} {
			Eventually(outcomes(ctx, kind, "unchanged")).Should(BeNumerically(">=", 1), "so is each root that is a %s", kind)
		}
		written := func() ([]string, error) {
			all, err := plane.Requests(since, harness.Filter{User: harness.ManagerUser, Namespace: s.namespace, WritesOnly: true})
			var lines []string
			for _, e := range all {
				lines = append(lines, e.Short())
			}
			return lines, err
		}
		suite.Settled(written).Should(BeEmpty(), "nothing is written")
	})

	It("waits with the workloads below third-party kinds until it knows which of these are there", func(ctx context.Context) {
		made := watchAIBOMs(s)
		stopManager()
		late := s.stateful(ctx, "late", ownedBy(s.put(ctx, workerSet, "new")))
		disturb(harness.Disturbance{Resource: schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}})
		startManager(ctx)
		s.deploy(ctx, "meanwhile", template("meanwhile"))
		Eventually(s.aiboms(ctx)).Should(ContainElement("deployment-meanwhile"), "what nobody owns does not wait")
		Consistently(made).Should(ConsistOf("create aiboms deployment-meanwhile"), "the rest stays as it is: %s may turn out to be owned", late.Name)
		Expect(s.aiboms(ctx)()).To(ConsistOf(append(roots, "deployment-meanwhile")))

		between.Disturb()
		s.says(ctx, "leaderworkerset-new", report{owned: []string{"StatefulSet/late"}})
		s.only(ctx, append(roots, "deployment-meanwhile", "leaderworkerset-new")...)
		Expect(made()).To(ConsistOf("create aiboms deployment-meanwhile", "create aiboms leaderworkerset-new"), "nothing flaps")
	})
})
