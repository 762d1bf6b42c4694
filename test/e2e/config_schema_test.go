// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/controller"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

var _ = Describe("A served CRD that is older than the controller", Label("design-006"), func() {
	It("is Degraded with the field's name instead of silence, until the CRDs are applied", func(ctx context.Context) {
		withArgs(ctx, "--schema-check-interval=1s")
		ns := optedIn(ctx)
		deploy(ctx, ns, "llm", llama)
		awaitAIBOM(ctx, ns, "deployment-llm")
		configure(ctx, v1beta1.AIBOMControllerConfigSpec{})
		notDegraded := haveCondition(v1beta1.ConditionDegraded, metav1.ConditionFalse, v1beta1.ReasonAsExpected)
		Expect(configuration(ctx)()).To(notDegraded)

		remedy := strings.Fields(strings.ReplaceAll(controller.ApplyCRDs, "config/", filepath.Join(root, "config")+"/"))
		Expect(remedy[0]).To(Equal("kubectl"))
		DeferCleanup(func(ctx context.Context) { kubectl(ctx, remedy[1:]...) })
		serveWithoutWorkloadKinds()
		lacking := And(ContainSubstring("SchemaPredatesController: the served CRD of AIBOMControllerConfig lacks spec.discovery.workloadKinds, so"),
			ContainSubstring(controller.ApplyCRDs))
		Eventually(configuration(ctx)).Should(And(
			haveCondition(v1beta1.ConditionDegraded, metav1.ConditionTrue, v1beta1.ReasonSchemaPredatesController),
			haveMessage(v1beta1.ConditionDegraded, lacking),
		), "it is noticed while the manager runs")

		By("setting the field, which the API server drops")
		apply(ctx, ofKinds("apps/StatefulSet"))
		Expect(configuration(ctx)()).To(HaveField("Spec.Discovery.WorkloadKinds", BeEmpty()))
		deploy(ctx, ns, "later", llama)
		awaitAIBOM(ctx, ns, "deployment-later")
		Expect(listAIBOMs(ctx, ns)()).To(ConsistOf("deployment-llm", "deployment-later"), "every kind is reported, which is the safe side")

		By("another reason at the same time")
		awaitInvalid(ctx, write(ctx, v1beta1.AIBOMControllerConfigSpec{Discovery: v1beta1.DiscoverySpec{ModelEnvVarNames: []string{"A=B"}}}))
		Expect(configuration(ctx)()).To(And(
			haveCondition(v1beta1.ConditionDegraded, metav1.ConditionTrue, v1beta1.ReasonRunningOnLastKnownGood),
			haveMessage(v1beta1.ConditionDegraded, And(HavePrefix("RunningOnLastKnownGood: "), lacking)),
		), "the message says both")

		By("a manager that starts meanwhile")
		stopManager()
		startManager(ctx)
		Eventually(configuration(ctx)).Should(haveMessage(v1beta1.ConditionDegraded, And(HavePrefix("RunningOnDefaults: "), lacking)),
			"it sees the same at its start")
		stopManager()
		startManager(ctx, "--schema-check-interval=1s")

		By("the remedy that the message names")
		kubectl(ctx, remedy[1:]...)
		Eventually(configuration(ctx)).Should(haveMessage(v1beta1.ConditionDegraded, And(
			HavePrefix("RunningOnDefaults: "), Not(ContainSubstring("SchemaPredatesController")))), "it clears by itself, the other reason stays")
		apply(ctx, ofKinds("apps/StatefulSet"))
		Expect(configuration(ctx)()).To(And(notDegraded, HaveField("Spec.Discovery.WorkloadKinds", ConsistOf("apps/StatefulSet"))))
		Eventually(listAIBOMs(ctx, ns)).Should(BeEmpty(), "now the field is in force")
	})
})

// serveWithoutWorkloadKinds installs the CRD of the configuration as it was before the field.
func serveWithoutWorkloadKinds() {
	GinkgoHelper()
	crds, err := harness.ReadCRDs(filepath.Join(root, "config", "crd", "bases"))
	Expect(err).NotTo(HaveOccurred())
	for _, crd := range crds {
		if crd.Spec.Names.Kind != "AIBOMControllerConfig" {
			continue
		}
		discovery := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["discovery"]
		Expect(discovery.Properties).To(HaveKey("workloadKinds"))
		delete(discovery.Properties, "workloadKinds")
		Expect(plane.InstallCRDs(crd)).To(Succeed())
	}
}
