// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/test/suite"
)

var _ = Describe("The controller keeps an AIBOM for each AI workload", Label("foundation-3"), func() {
	for _, w := range []struct{ kind, apiVersion string }{
		{"Deployment", "apps/v1"}, {"StatefulSet", "apps/v1"}, {"DaemonSet", "apps/v1"},
		{"Job", "batch/v1"}, {"CronJob", "batch/v1"},
	} {
		It("reconciles "+w.apiVersion+" "+w.kind, func(ctx context.Context) {
			ns := optedIn(ctx)
			owner := create(ctx, w.kind, ns, "llm", serving(llama))
			aibom := awaitAIBOM(ctx, ns, strings.ToLower(w.kind)+"-llm", haveModels(llama))

			Expect(aibom.OwnerReferences).To(ConsistOf(metav1.OwnerReference{
				APIVersion: w.apiVersion, Kind: w.kind, Name: "llm", UID: owner.GetUID(),
				Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(false),
			}), "the workload controls it, and its deletion waits for nothing")
			Expect(aibom.Labels).To(Equal(map[string]string{
				v1beta1.KindLabel: w.kind, v1beta1.CategoryLabel: "inference",
			}), "the labels name kind and category")
			Expect(aibom.Spec).To(Equal(v1beta1.AIBOMSpec{
				WorkloadRef: v1beta1.WorkloadReference{APIVersion: w.apiVersion, Kind: w.kind, Name: "llm"},
				BOMFormat:   "CycloneDX", BOMSpecVersion: "1.6",
			}))
			Expect(aibom.Status.Summary.Workload).To(Equal(v1beta1.WorkloadSummary{
				Kind: w.kind, APIVersion: w.apiVersion, Name: "llm", Namespace: ns, Category: "inference",
			}))
			Expect(aibom.Status.Summary.Runtime.Name).To(Equal("vllm"))
			Expect(aibom.Status.ObservedGeneration).To(Equal(aibom.Generation))
			Expect(aibom.Status.InputHash).To(HavePrefix("sha256:"))

			document := parseDocument(aibom)
			Expect(document.Metadata.Component.Name).To(Equal("llm"), "the document is about the workload")
			Expect(*document.Components).To(ContainElement(And(
				HaveField("Type", cdx.ComponentTypeMachineLearningModel), HaveField("Name", llama))),
				"the document names the model")
		})
	}

	It("leaves a namespace that has not opted in alone", func(ctx context.Context) {
		ns := newNamespace(ctx, nil)
		since := mark()
		deploy(ctx, ns, "llm", llama)
		// A workload elsewhere shows that the one here was looked at.
		elsewhere := optedIn(ctx)
		deploy(ctx, elsewhere, "llm", llama)
		awaitAIBOM(ctx, elsewhere, "deployment-llm")
		Consistently(listAIBOMs(ctx, ns)).Should(BeEmpty(), "no AIBOM without opt-in")
		Expect(requests(since, ns)()).To(BeEmpty(), "nor is anything asked about it")
	})

	It("inventories a namespace that opts in later", func(ctx context.Context) {
		ns := newNamespace(ctx, nil)
		deploy(ctx, ns, "llm", llama)
		create(ctx, "StatefulSet", ns, "llm", serving(qwen))
		create(ctx, "Deployment", ns, "web", plain())
		optIn(ctx, ns, ptr.To(v1beta1.OptInValue))
		awaitAIBOM(ctx, ns, "deployment-llm", haveModels(llama))
		awaitAIBOM(ctx, ns, "statefulset-llm", haveModels(qwen))
		Consistently(listAIBOMs(ctx, ns)).Should(HaveLen(2), "what is no AI workload stays out")
	})

	It("asks for the label's value as well", func(ctx context.Context) {
		ns := newNamespace(ctx, map[string]string{v1beta1.OptInLabel: "false"})
		deploy(ctx, ns, "llm", llama)
		Consistently(listAIBOMs(ctx, ns)).Should(BeEmpty(), "false does not opt in")
	})
})

var _ = Describe("An AIBOM that has lost its reason is deleted", Label("foundation-6"), func() {
	It("deletes the AIBOMs of a namespace that leaves the opt-in, with one write each", func(ctx context.Context) {
		ns := optedIn(ctx)
		deploy(ctx, ns, "llm", llama)
		create(ctx, "Job", ns, "train", serving(qwen))
		awaitAIBOM(ctx, ns, "deployment-llm")
		awaitAIBOM(ctx, ns, "job-train")

		since := mark()
		optIn(ctx, ns, nil)
		Eventually(listAIBOMs(ctx, ns)).Should(BeEmpty(), "leaving the opt-in deletes the AIBOMs")
		suite.Settled(requests(since, ns)).Should(ConsistOf("delete aiboms deployment-llm", "delete aiboms job-train"),
			"a deletion costs one write")

		optIn(ctx, ns, ptr.To(v1beta1.OptInValue))
		awaitAIBOM(ctx, ns, "deployment-llm")
		awaitAIBOM(ctx, ns, "job-train")
	})

	It("deletes the AIBOM of a workload that ceases to be an AI workload, with one write", func(ctx context.Context) {
		ns := optedIn(ctx)
		deployment := deploy(ctx, ns, "llm", llama)
		awaitAIBOM(ctx, ns, "deployment-llm")

		since := mark()
		change(ctx, deployment, func(d *appsv1.Deployment) {
			d.Spec.Template.Spec = plain().Spec
		})
		Eventually(listAIBOMs(ctx, ns)).Should(BeEmpty(), "nginx is no AI workload")
		suite.Settled(requests(since, ns)).Should(ConsistOf("delete aiboms deployment-llm"), "a deletion costs one write")

		serve(ctx, deployment, llama)
		change(ctx, deployment, func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = vllmImage })
		awaitAIBOM(ctx, ns, "deployment-llm", haveModels(llama))
	})

	It("leaves the AIBOM of a deleted workload to garbage collection", func(ctx context.Context) {
		ns := optedIn(ctx)
		deployment := deploy(ctx, ns, "llm", llama)
		awaitAIBOM(ctx, ns, "deployment-llm")
		since := mark()
		Expect(admin.Delete(ctx, deployment)).To(Succeed())
		Eventually(listAIBOMs(ctx, ns)).WithTimeout(gcTimeout).Should(BeEmpty(), "its owner is gone")
		suite.Settled(requests(since, ns)).Should(BeEmpty(), "which costs the manager nothing")
	})

	It("makes no request about a namespace that is being deleted", func(ctx context.Context) {
		ns := optedIn(ctx)
		for _, name := range []string{"a", "b", "c"} {
			deploy(ctx, ns, name, llama)
			awaitAIBOM(ctx, ns, "deployment-"+name)
		}
		since := mark()
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}
		Expect(admin.Delete(ctx, namespace)).To(Succeed())
		Eventually(listAIBOMs(ctx, ns)).WithTimeout(gcTimeout).Should(BeEmpty(), "the AIBOMs go with the namespace")
		suite.Settled(requests(since, ns)).Should(BeEmpty(), "nothing can be created there any more")
	})
})

// optIn sets the value of the opt-in label, or removes the label.
func optIn(ctx context.Context, namespace string, value *string) {
	GinkgoHelper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	change(ctx, ns, func(ns *corev1.Namespace) {
		delete(ns.Labels, v1beta1.OptInLabel)
		if value != nil {
			metav1.SetMetaDataLabel(&ns.ObjectMeta, v1beta1.OptInLabel, *value)
		}
	})
}
