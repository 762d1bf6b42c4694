// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/test/suite"
)

// ofKinds is a configuration that lists kinds.
func ofKinds(entries ...string) v1beta1.AIBOMControllerConfigSpec {
	return v1beta1.AIBOMControllerConfigSpec{Discovery: v1beta1.DiscoverySpec{WorkloadKinds: entries}}
}

// haveMessage matches a configuration by the message of a condition.
func haveMessage(kind string, matcher types.GomegaMatcher) types.GomegaMatcher {
	return WithTransform(func(c *v1beta1.AIBOMControllerConfig) string {
		condition := meta.FindStatusCondition(c.Status.Conditions, kind)
		if condition == nil {
			return ""
		}
		return condition.Message
	}, matcher)
}

var _ = Describe("workloadKinds decides which kinds are reported", Label("design-006"), func() {
	It("deletes the AIBOMs of a kind that is not listed, makes none, and restores them without a restart", func(ctx context.Context) {
		ns := optedIn(ctx)
		deploy(ctx, ns, "before", llama)
		create(ctx, "StatefulSet", ns, "listed", serving(llama))
		listed := awaitAIBOM(ctx, ns, "statefulset-listed")
		awaitAIBOM(ctx, ns, "deployment-before")
		token := metricsToken(ctx)

		configure(ctx, ofKinds("apps/StatefulSet"))
		Eventually(listAIBOMs(ctx, ns)).Should(ConsistOf("statefulset-listed"), "Deployments are not reported any more")
		deploy(ctx, ns, "meanwhile", llama)
		create(ctx, "StatefulSet", ns, "meanwhile", serving(llama))
		awaitAIBOM(ctx, ns, "statefulset-meanwhile")
		Consistently(listAIBOMs(ctx, ns)).Should(ConsistOf("statefulset-listed", "statefulset-meanwhile"))
		Eventually(func() string {
			_, body := metrics(ctx, token)
			return body
		}).Should(MatchRegexp(`aibom_workload_reconcile_outcomes_total\{kind="Deployment",outcome="kind_not_allowed"\} [1-9]`))

		running := manager
		apply(ctx, ofKinds("apps/StatefulSet", "apps/Deployment"))
		awaitAIBOM(ctx, ns, "deployment-before", haveModels(llama))
		awaitAIBOM(ctx, ns, "deployment-meanwhile", haveModels(llama))
		Expect(manager).To(BeIdenticalTo(running))
		Expect(running.Exited()).NotTo(BeClosed(), "all that without a restart")
		Expect(awaitAIBOM(ctx, ns, "statefulset-listed").ResourceVersion).To(Equal(listed.ResourceVersion),
			"what was listed all the time was not touched")
	})

	DescribeTable("is refused as a whole for", func(ctx context.Context, entries []string, complaints ...string) {
		ns := optedIn(ctx)
		deploy(ctx, ns, "llm", llama)
		create(ctx, "StatefulSet", ns, "llm", serving(llama))
		configure(ctx, ofKinds("apps/Deployment"))
		Eventually(listAIBOMs(ctx, ns)).Should(ConsistOf("deployment-llm"), "a list that is right")
		before := awaitAIBOM(ctx, ns, "deployment-llm")
		token := metricsToken(ctx)
		_, body := metrics(ctx, token)
		Expect(body).To(ContainSubstring("aibom_config_invalid 0"))

		generation := write(ctx, ofKinds(entries...))
		named := make([]types.GomegaMatcher, len(complaints))
		for i, complaint := range complaints {
			named[i] = ContainSubstring(complaint)
		}
		Eventually(configuration(ctx)).Should(And(
			HaveField("Status.ObservedGeneration", generation),
			haveCondition(v1beta1.ConditionReady, metav1.ConditionFalse, v1beta1.ReasonConfigInvalid),
			haveMessage(v1beta1.ConditionReady, And(named...)),
			haveCondition(v1beta1.ConditionDegraded, metav1.ConditionTrue, v1beta1.ReasonRunningOnLastKnownGood),
		), "the entry is named, with what it may have been meant to be")
		Eventually(configEvents(ctx, v1beta1.ReasonConfigInvalid)).Should(ContainElement(And(
			HaveField("Type", "Warning"), HaveField("Note", And(named...)))), "an event tells of it")
		_, body = metrics(ctx, token)
		Expect(body).To(And(ContainSubstring("aibom_config_invalid 1"), MatchRegexp(`aibom_config_load_errors_total [1-9]`)))

		deploy(ctx, ns, "later", llama)
		create(ctx, "StatefulSet", ns, "later", serving(llama))
		awaitAIBOM(ctx, ns, "deployment-later")
		Consistently(listAIBOMs(ctx, ns)).Should(ConsistOf("deployment-llm", "deployment-later"), "the last list that was right stays in force")
		Expect(awaitAIBOM(ctx, ns, "deployment-llm").ResourceVersion).To(Equal(before.ResourceVersion), "nothing is lost or written anew")
	},
		Entry("an unknown kind", []string{"apps/StatefulSet", "apps/Deploymant"},
			`workloadKinds[1]: Invalid value: "apps/Deploymant": is not a known kind; the nearest one is apps/Deployment`),
		Entry("a malformed entry", []string{"statefulset"},
			`workloadKinds[0]: Invalid value: "statefulset": must be Group/Kind; the nearest known kind is apps/StatefulSet`),
		Entry("a kind of the core group", []string{"core/Pod"}, `workloadKinds[0]: Invalid value: "core/Pod": is not a known kind`),
		Entry("a duplicate", []string{"batch/Job", "batch/Job"}, `workloadKinds[1]: Duplicate value: "batch/Job"`),
		Entry("several mistakes, all of which are named", []string{"batch/Jobb", "x", "batch/Job", "batch/Job"},
			`workloadKinds[0]: Invalid value: "batch/Jobb"`, `workloadKinds[1]: Invalid value: "x"`, `workloadKinds[3]: Duplicate value: "batch/Job"`),
	)

	It("may list kinds whose CRDs are absent", func(ctx context.Context) {
		ns := optedIn(ctx)
		deploy(ctx, ns, "llm", llama)
		entries := []string{"apps/Deployment"}
		for _, k := range kinds.ThirdParty() {
			entries = append(entries, k.Key())
		}
		configure(ctx, ofKinds(entries...))
		awaitAIBOM(ctx, ns, "deployment-llm")
		Consistently(configuration(ctx)).Should(And(
			haveCondition(v1beta1.ConditionReady, metav1.ConditionTrue, v1beta1.ReasonConfigLoaded),
			haveCondition(v1beta1.ConditionDegraded, metav1.ConditionFalse, v1beta1.ReasonAsExpected),
		), "absence is no failure")
	})

	It("makes the same bytes whether it is absent, empty or complete", func(ctx context.Context) {
		ns := optedIn(ctx)
		deploy(ctx, ns, "llm", llama)
		before := awaitAIBOM(ctx, ns, "deployment-llm")
		var all []any
		for _, k := range kinds.Catalogue {
			all = append(all, k.Key())
		}
		configure(ctx, v1beta1.AIBOMControllerConfigSpec{})
		for name, discovery := range map[string]map[string]any{
			"absent": {}, "empty": {"workloadKinds": []any{}}, "complete": {"workloadKinds": all},
		} {
			setDiscovery(ctx, discovery)
			// A document that somebody spoilt is built anew, with the time that its AIBOM states.
			Expect(updateStatus(ctx, client.ObjectKeyFromObject(before), func(s *v1beta1.AIBOMStatus) {
				s.BOMDocument.Inline.Data = "{}"
			})).To(Succeed())
			Eventually(func() (*v1beta1.BOMDocument, error) {
				aibom, err := getAIBOM(ctx, ns, "deployment-llm")()
				return aibom.Status.BOMDocument, errors.Join(err, sound(aibom))
			}).Should(Equal(before.Status.BOMDocument), "byte for byte when the list is %s", name)
		}
		Expect(awaitAIBOM(ctx, ns, "deployment-llm").Status.InputHash).To(Equal(before.Status.InputHash))
	})

	It("rewrites nothing when it goes from absent to empty", func(ctx context.Context) {
		ns := optedIn(ctx)
		want := map[string]string{}
		for kind := range builders {
			create(ctx, kind, ns, "llm", serving(llama))
			want[strings.ToLower(kind)+"-llm"] = ""
		}
		for name := range want {
			want[name] = awaitAIBOM(ctx, ns, name).ResourceVersion
		}
		since := mark()
		configure(ctx, v1beta1.AIBOMControllerConfigSpec{})
		setDiscovery(ctx, map[string]any{"workloadKinds": []any{}})
		deploy(ctx, ns, "later", llama)
		awaitAIBOM(ctx, ns, "deployment-later")
		suite.Settled(requestsIn(since, ns)).Should(ConsistOf("create aiboms deployment-later", "patch aiboms/status deployment-later"))
		for name, version := range want {
			Expect(awaitAIBOM(ctx, ns, name).ResourceVersion).To(Equal(version), "%s is untouched", name)
		}
	})
})

// setDiscovery writes spec.discovery as it is given, so that an empty list stays one, and waits
// until it is in force.
func setDiscovery(ctx context.Context, discovery map[string]any) {
	GinkgoHelper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(v1beta1.GroupVersion.WithKind("AIBOMControllerConfig"))
	Expect(admin.Get(ctx, client.ObjectKey{Name: v1beta1.ConfigName}, object)).To(Succeed())
	Expect(unstructured.SetNestedMap(object.Object, discovery, "spec", "discovery")).To(Succeed())
	Expect(admin.Update(ctx, object)).To(Succeed())
	stored, _, err := unstructured.NestedMap(object.Object, "spec", "discovery")
	Expect(err).NotTo(HaveOccurred())
	Expect(fmt.Sprint(stored)).To(Equal(fmt.Sprint(discovery)), "the API server keeps it as it is written")
	Eventually(configuration(ctx)).Should(And(
		HaveField("Status.ObservedGeneration", object.GetGeneration()),
		haveCondition(v1beta1.ConditionReady, metav1.ConditionTrue, v1beta1.ReasonConfigLoaded),
	), "the configuration comes into force")
}

// configEvents are the events about the configuration that bear a reason.
func configEvents(ctx context.Context, reason string) func() ([]eventsv1.Event, error) {
	return func() ([]eventsv1.Event, error) {
		list := &eventsv1.EventList{}
		err := admin.List(ctx, list, client.InNamespace(metav1.NamespaceDefault))
		var found []eventsv1.Event
		for _, e := range list.Items {
			if e.Reason == reason && e.Regarding.Kind == "AIBOMControllerConfig" && e.Regarding.Name == v1beta1.ConfigName {
				found = append(found, e)
			}
		}
		return found, err
	}
}
