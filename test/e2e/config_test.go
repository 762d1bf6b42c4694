// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/test/suite"
)

// configure brings a configuration into force. The defaults are in force again when the spec
// ends, and it is then that the next one begins.
func configure(ctx context.Context, spec v1beta1.AIBOMControllerConfigSpec) {
	GinkgoHelper()
	apply(ctx, spec)
	DeferCleanup(func(ctx context.Context) {
		apply(ctx, v1beta1.AIBOMControllerConfigSpec{})
		Expect(admin.Delete(ctx, theConfig())).To(Succeed())
	})
}

// apply creates or replaces the configuration and waits until it is in force.
func apply(ctx context.Context, spec v1beta1.AIBOMControllerConfigSpec) {
	GinkgoHelper()
	generation := write(ctx, spec)
	Eventually(configuration(ctx)).Should(And(
		HaveField("Status.ObservedGeneration", generation),
		haveCondition(v1beta1.ConditionReady, metav1.ConditionTrue, v1beta1.ReasonConfigLoaded),
	), "the configuration comes into force")
}

// write creates or replaces the configuration and returns its generation.
func write(ctx context.Context, spec v1beta1.AIBOMControllerConfigSpec) int64 {
	GinkgoHelper()
	object := theConfig()
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		object.Spec = spec
		err := admin.Create(ctx, object)
		if !apierrors.IsAlreadyExists(err) {
			return err
		}
		if err := admin.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		object.Spec = spec
		err = admin.Update(ctx, object)
		if err != nil {
			object = theConfig()
		}
		return err
	})
	Expect(err).NotTo(HaveOccurred())
	return object.Generation
}

// configuration asks the API server.
func configuration(ctx context.Context) func() (*v1beta1.AIBOMControllerConfig, error) {
	return func() (*v1beta1.AIBOMControllerConfig, error) {
		object := theConfig()
		err := admin.Get(ctx, client.ObjectKeyFromObject(object), object)
		return object, err
	}
}

func theConfig() *v1beta1.AIBOMControllerConfig {
	return &v1beta1.AIBOMControllerConfig{ObjectMeta: metav1.ObjectMeta{Name: v1beta1.ConfigName}}
}

var _ = Describe("The configuration takes effect without a restart", Label("foundation-3"), func() {
	It("rewrites each document once when specVersion changes", func(ctx context.Context) {
		ns := optedIn(ctx)
		deploy(ctx, ns, "one", llama)
		create(ctx, "Job", ns, "two", serving(qwen))
		names := []string{"deployment-one", "job-two"}
		before := map[string]*v1beta1.AIBOM{}
		for _, name := range names {
			before[name] = awaitAIBOM(ctx, ns, name)
		}

		since := mark()
		configure(ctx, v1beta1.AIBOMControllerConfigSpec{BOMGeneration: v1beta1.BOMGenerationSpec{SpecVersion: "1.7"}})
		var writes []string
		for _, name := range names {
			aibom := awaitAIBOM(ctx, ns, name, HaveField("Status.BOMDocument.SpecVersion", "1.7"))
			Expect(aibom.Spec.BOMSpecVersion).To(Equal("1.7"))
			Expect(aibom.UID).To(Equal(before[name].UID))
			Expect(parseDocument(aibom).JSONSchema).To(ContainSubstring("bom-1.7"))
			Expect(aibom.Status.InputHash).NotTo(Equal(before[name].Status.InputHash))
			writes = append(writes, "patch aiboms "+name, "patch aiboms/status "+name)
		}
		suite.Settled(requestsIn(since, ns)).Should(ConsistOf(writes), "spec and status, once, and no read")
	})

	It("follows a namespaceSelector that changes", func(ctx context.Context) {
		labelled, chosen := optedIn(ctx), newNamespace(ctx, map[string]string{"team": "ml"})
		deploy(ctx, labelled, "llm", llama)
		deploy(ctx, chosen, "llm", llama)
		awaitAIBOM(ctx, labelled, "deployment-llm")
		Expect(listAIBOMs(ctx, chosen)()).To(BeEmpty())

		configure(ctx, v1beta1.AIBOMControllerConfigSpec{Discovery: v1beta1.DiscoverySpec{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "ml"}},
		}})
		awaitAIBOM(ctx, chosen, "deployment-llm")
		Eventually(listAIBOMs(ctx, labelled)).Should(BeEmpty(), "the label does not opt in any more")
	})

	It("gives up kinds that are not listed any more", func(ctx context.Context) {
		ns := optedIn(ctx)
		deploy(ctx, ns, "llm", llama)
		create(ctx, "StatefulSet", ns, "llm", serving(llama))
		awaitAIBOM(ctx, ns, "deployment-llm")
		awaitAIBOM(ctx, ns, "statefulset-llm")
		configure(ctx, v1beta1.AIBOMControllerConfigSpec{Discovery: v1beta1.DiscoverySpec{WorkloadKinds: []string{"apps/Deployment"}}})
		Eventually(listAIBOMs(ctx, ns)).Should(ConsistOf("deployment-llm"), "StatefulSets are not inventoried")
	})

	It("costs no write where it changes no finding", Label("foundation-6"), func(ctx context.Context) {
		ns := optedIn(ctx)
		deploy(ctx, ns, "llm", llama)
		awaitAIBOM(ctx, ns, "deployment-llm")
		since := mark()
		configure(ctx, v1beta1.AIBOMControllerConfigSpec{
			Logging:       v1beta1.LoggingSpec{Level: "debug"},
			BOMGeneration: v1beta1.BOMGenerationSpec{StaleThresholdReconciles: ptr.To[int32](7)},
		})
		deploy(ctx, ns, "later", llama)
		awaitAIBOM(ctx, ns, "deployment-later")
		suite.Settled(requestsIn(since, ns)).Should(ConsistOf("create aiboms deployment-later", "patch aiboms/status deployment-later"))
	})
})

var _ = Describe("The API refuses what makes no sense", Label("foundation-3"), func() {
	It("keeps workloadRef as it was made", func(ctx context.Context) {
		ns := optedIn(ctx)
		deploy(ctx, ns, "llm", llama)
		aibom := awaitAIBOM(ctx, ns, "deployment-llm")
		for _, mutate := range []func(*v1beta1.WorkloadReference){
			func(r *v1beta1.WorkloadReference) { r.Name = "other" },
			func(r *v1beta1.WorkloadReference) { r.Kind = "StatefulSet" },
			func(r *v1beta1.WorkloadReference) { r.APIVersion = "batch/v1" },
		} {
			changed := aibom.DeepCopy()
			mutate(&changed.Spec.WorkloadRef)
			Expect(admin.Patch(ctx, changed, client.MergeFrom(aibom))).To(MatchError(ContainSubstring("workloadRef is immutable")))
		}
	})

	DescribeTable("in a configuration", func(ctx context.Context, mutate func(*v1beta1.AIBOMControllerConfig), complaint string) {
		object := theConfig()
		mutate(object)
		Expect(admin.Create(ctx, object, client.DryRunAll)).To(MatchError(ContainSubstring(complaint)))
	},
		Entry("another name than default", func(c *v1beta1.AIBOMControllerConfig) { c.Name = "other" }, "default"),
		Entry("a threshold that is too small", func(c *v1beta1.AIBOMControllerConfig) {
			c.Spec.BOMGeneration.InlineThresholdBytes = ptr.To[int32](1023)
		}, "inlineThresholdBytes"),
		Entry("a threshold that is too large", func(c *v1beta1.AIBOMControllerConfig) {
			c.Spec.BOMGeneration.InlineThresholdBytes = ptr.To[int32](1<<20 + 1)
		}, "inlineThresholdBytes"),
		Entry("no failure at all before a document is stale", func(c *v1beta1.AIBOMControllerConfig) {
			c.Spec.BOMGeneration.StaleThresholdReconciles = ptr.To[int32](0)
		}, "staleThresholdReconciles"),
		Entry("a version of CycloneDX that is not written", func(c *v1beta1.AIBOMControllerConfig) {
			c.Spec.BOMGeneration.SpecVersion = "1.5"
		}, "specVersion"),
		Entry("a runtime's name that is none", func(c *v1beta1.AIBOMControllerConfig) {
			c.Spec.Discovery.InferenceRuntimeImagePatterns = []v1beta1.RuntimeImagePattern{{Runtime: "My Server", Pattern: "a/b"}}
		}, "runtime"),
		Entry("a log level that is none", func(c *v1beta1.AIBOMControllerConfig) { c.Spec.Logging.Level = "loud" }, "level"),
		Entry("more sinks than are served", func(c *v1beta1.AIBOMControllerConfig) {
			for range 17 {
				c.Spec.Sinks = append(c.Spec.Sinks, v1beta1.SinkSpec{Name: "s", HTTP: &v1beta1.HTTPSink{URL: "https://s"}})
			}
		}, "sinks"),
		Entry("a sink whose name is too long", func(c *v1beta1.AIBOMControllerConfig) {
			c.Spec.Sinks = []v1beta1.SinkSpec{{Name: strings.Repeat("s", 64)}}
		}, "name"),
	)

	It("accepts the one configuration with every bound reached", func(ctx context.Context) {
		object := theConfig()
		object.Spec.BOMGeneration = v1beta1.BOMGenerationSpec{
			InlineThresholdBytes: ptr.To[int32](1 << 20), StaleThresholdReconciles: ptr.To[int32](1000), SpecVersion: "1.7",
		}
		Expect(admin.Create(ctx, object, client.DryRunAll)).To(Succeed())
	})
})
