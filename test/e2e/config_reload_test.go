// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

// invalidKinds is a configuration that comes never into force.
var invalidKinds = ofKinds("apps/Deploymant")

// awaitInvalid waits until the manager has refused the configuration of this generation.
func awaitInvalid(ctx context.Context, generation int64) {
	GinkgoHelper()
	Eventually(configuration(ctx)).Should(And(
		HaveField("Status.ObservedGeneration", generation),
		haveCondition(v1beta1.ConditionReady, metav1.ConditionFalse, v1beta1.ReasonConfigInvalid),
	), "the configuration is refused")
}

// withArgs has the manager run with further arguments until the end of the spec.
func withArgs(ctx context.Context, args ...string) {
	GinkgoHelper()
	stopManager()
	startManager(ctx, args...)
	DeferCleanup(func(ctx context.Context) {
		stopManager()
		startManager(ctx)
	})
}

var _ = Describe("What is recognised follows the configuration without a restart", Label("design-006"), func() {
	DescribeTable("as", func(ctx context.Context, discovery v1beta1.DiscoverySpec, pod func(*corev1.PodSpec), without, with types.GomegaMatcher) {
		ns := optedIn(ctx)
		template := serving("")
		server := &template.Spec.Containers[0]
		server.Command = nil
		pod(&template.Spec)
		create(ctx, "Deployment", ns, "llm", template)
		deploy(ctx, ns, "other", llama)
		awaitAIBOM(ctx, ns, "deployment-other")
		Eventually(getAIBOM(ctx, ns, "deployment-llm")).Should(without, "nothing says so")

		configure(ctx, v1beta1.AIBOMControllerConfigSpec{Discovery: discovery})
		awaitAIBOM(ctx, ns, "deployment-llm", with)
		apply(ctx, v1beta1.AIBOMControllerConfigSpec{})
		Eventually(getAIBOM(ctx, ns, "deployment-llm")).Should(without, "and back again")
	},
		Entry("inferenceRuntimeImagePatterns", v1beta1.DiscoverySpec{InferenceRuntimeImagePatterns: []v1beta1.RuntimeImagePattern{
			{Runtime: "team-server", Pattern: "ml-platform/llm-*"},
		}}, func(p *corev1.PodSpec) {
			p.Containers[0].Image = "registry.example.com/ml-platform/llm-server:v1.2.0"
		}, BeNil(), HaveField("Status.Summary.Runtime.Name", "team-server")),
		Entry("modelEnvVarNames", v1beta1.DiscoverySpec{ModelEnvVarNames: []string{"TEAM_WEIGHTS"}}, func(p *corev1.PodSpec) {
			p.Containers[0].Env = []corev1.EnvVar{{Name: "TEAM_WEIGHTS", Value: qwen}}
		}, And(Not(BeNil()), haveModels()), haveModels(qwen)),
		Entry("modelArgFlags", v1beta1.DiscoverySpec{ModelArgFlags: []string{"--team-checkpoint"}}, func(p *corev1.PodSpec) {
			p.Containers[0].Args = []string{"--team-checkpoint=" + qwen}
		}, And(Not(BeNil()), haveModels()), haveModels(qwen)),
		Entry("modelVolumePaths", v1beta1.DiscoverySpec{ModelVolumePaths: []string{"/srv/team-weights"}}, func(p *corev1.PodSpec) {
			p.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "weights", MountPath: "/srv/team-weights/qwen"}}
			p.Volumes = []corev1.Volume{{Name: "weights", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "team-weights-claim"},
			}}}
		}, And(Not(BeNil()), Not(mention("team-weights-claim"))), mention("team-weights-claim")),
	)
})

// mention matches an AIBOM whose document holds the text.
func mention(text string) types.GomegaMatcher {
	return WithTransform(func(aibom *v1beta1.AIBOM) string {
		if aibom == nil || aibom.Status.BOMDocument == nil || aibom.Status.BOMDocument.Inline == nil {
			return ""
		}
		return aibom.Status.BOMDocument.Inline.Data
	}, ContainSubstring(text))
}

var _ = Describe("An invalid configuration and /readyz", Label("design-006"), func() {
	ready := func(ctx context.Context) error { return manager.Probe(ctx, "/readyz") }

	It("have nothing to do with each other by default", func(ctx context.Context) {
		configure(ctx, v1beta1.AIBOMControllerConfigSpec{})
		awaitInvalid(ctx, write(ctx, invalidKinds))
		Consistently(ready).WithArguments(ctx).Should(Succeed(), "inventory goes on, so the manager is ready")
		status, err := get(ctx, manager.ProbeURL+"/readyz?verbose")
		Expect(err).NotTo(HaveOccurred())
		Expect(status).NotTo(ContainSubstring("configuration"), "nobody asks")
	})

	It("are tied together by --strict-config-readiness, on the leader", func(ctx context.Context) {
		withArgs(ctx, "--strict-config-readiness")
		Expect(ready(ctx)).To(Succeed(), "no configuration is a valid one")
		configure(ctx, v1beta1.AIBOMControllerConfigSpec{})
		ns := optedIn(ctx)
		awaitInvalid(ctx, write(ctx, invalidKinds))
		Eventually(ready).WithArguments(ctx).ShouldNot(Succeed(), "the leader is not ready")
		status, err := get(ctx, manager.ProbeURL+"/readyz/configuration")
		Expect(err).NotTo(HaveOccurred())
		Expect(status).To(And(HavePrefix("500 "), ContainSubstring("apps/Deploymant")), "the check that fails says why")
		status, err = get(ctx, manager.ProbeURL+"/readyz/informers")
		Expect(err).NotTo(HaveOccurred())
		Expect(status).To(HavePrefix("200 "), "nothing else fails")
		Expect(manager.Probe(ctx, "/healthz")).To(Succeed(), "which is no reason to restart it")
		deploy(ctx, ns, "llm", llama)
		awaitAIBOM(ctx, ns, "deployment-llm")

		By("a standby, which has no configuration in force")
		for _, object := range standbyRights() {
			_ = admin.Create(ctx, object)
		}
		standby := startManagerAs(ctx, standbyAccount, harness.ManagerOptions{Args: []string{"--strict-config-readiness"}})
		DeferCleanup(standby.Kill)
		Consistently(standby.Probe).WithArguments(ctx, "/readyz").Should(Succeed(), "what does not lead holds nothing against it")
		Expect(standby.Stop()).To(Succeed())

		By("a configuration that is valid again")
		apply(ctx, ofKinds("apps/Deployment"))
		Eventually(ready).WithArguments(ctx).Should(Succeed(), "the leader is ready without a restart")
	})

	It("follow logging.level, which decides whether the log tells of it", func(ctx context.Context) {
		withArgs(ctx, "--strict-config-readiness")
		refuse := func() {
			awaitInvalid(ctx, write(ctx, invalidKinds))
			Eventually(ready).WithArguments(ctx).ShouldNot(Succeed(), "the leader is not ready")
		}
		configure(ctx, v1beta1.AIBOMControllerConfigSpec{Logging: v1beta1.LoggingSpec{Level: "error"}})
		refuse()
		const told = "the configuration is invalid: ConfigInvalid"
		Expect(manager.Log()).NotTo(ContainSubstring(told), "the level of the last valid configuration is error")
		apply(ctx, v1beta1.AIBOMControllerConfigSpec{Logging: v1beta1.LoggingSpec{Level: "info"}})
		Eventually(ready).WithArguments(ctx).Should(Succeed())
		refuse()
		Expect(manager.Log()).To(ContainSubstring(told), "now it is info")
	})
})

var _ = Describe("logging.format is the one field that waits for a restart", Label("design-006"), func() {
	It("and the configuration says so until then", func(ctx context.Context) {
		withArgs(ctx)
		const note = "spec.logging.format (text) takes effect when the controller restarts, until then the log is written as json"
		configure(ctx, v1beta1.AIBOMControllerConfigSpec{Logging: v1beta1.LoggingSpec{Format: "text"}})
		Expect(configuration(ctx)()).To(haveMessage(v1beta1.ConditionReady, HaveSuffix(note)))
		Expect(manager.Log()).To(ContainSubstring(`"msg":"Starting"`))

		stopManager()
		startManager(ctx)
		Eventually(configuration(ctx)).Should(haveMessage(v1beta1.ConditionReady, Equal("the configuration is in force")), "the note is gone")
		Expect(manager.Log()).To(MatchRegexp(`(?m)^\S+\tinfo\tStarting\t`), "a new process writes text")
	})

	It("and says that --log-format wins over it", func(ctx context.Context) {
		withArgs(ctx, "--log-format=json")
		configure(ctx, v1beta1.AIBOMControllerConfigSpec{Logging: v1beta1.LoggingSpec{Format: "text"}})
		Expect(configuration(ctx)()).To(haveMessage(v1beta1.ConditionReady,
			HaveSuffix("spec.logging.format (text) has no effect, because --log-format=json wins over it")))
	})
})
