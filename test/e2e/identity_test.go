// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
)

var _ = Describe("An AIBOM belongs to one workload", Label("foundation-3"), func() {
	It("follows a workload that is deleted and made anew under the same name", func(ctx context.Context) {
		ns := optedIn(ctx)
		first := deploy(ctx, ns, "llm", llama)
		old := awaitAIBOM(ctx, ns, "deployment-llm", haveModels(llama))
		Expect(admin.Delete(ctx, first)).To(Succeed())
		second := deploy(ctx, ns, "llm", qwen)
		Expect(second.UID).NotTo(Equal(first.UID))

		anew := awaitAIBOM(ctx, ns, "deployment-llm", haveModels(qwen),
			HaveField("OwnerReferences", ConsistOf(HaveField("UID", second.UID))))
		Expect(anew.UID).NotTo(Equal(old.UID), "it is another AIBOM, which garbage collection spares")
		Consistently(listAIBOMs(ctx, ns)).Should(ConsistOf("deployment-llm"), "there is one and it stays")
		Expect(parseDocument(anew).SerialNumber).NotTo(Equal(parseDocument(old).SerialNumber))
	})

	It("goes with its workload, also when the deletion orphans it", func(ctx context.Context) {
		ns := optedIn(ctx)
		deployment := deploy(ctx, ns, "llm", llama)
		awaitAIBOM(ctx, ns, "deployment-llm")
		Expect(admin.Delete(ctx, deployment, client.PropagationPolicy(metav1.DeletePropagationOrphan))).To(Succeed())
		Eventually(listAIBOMs(ctx, ns)).WithTimeout(gcTimeout).Should(BeEmpty(), "no workload, no AIBOM")
	})

	It("keeps workloads of different kinds and one name apart", func(ctx context.Context) {
		ns := optedIn(ctx)
		deploy(ctx, ns, "llm", llama)
		create(ctx, "StatefulSet", ns, "llm", serving(qwen))
		awaitAIBOM(ctx, ns, "deployment-llm", haveModels(llama))
		awaitAIBOM(ctx, ns, "statefulset-llm", haveModels(qwen))
	})

	It("is named with a hash where the workload's name is as long as names may be", func(ctx context.Context) {
		ns := optedIn(ctx)
		stem := strings.Repeat("a", 252)
		deploy(ctx, ns, stem+"b", llama)
		deploy(ctx, ns, stem+"c", qwen)
		var list v1beta1.AIBOMList
		Eventually(func() ([]v1beta1.AIBOM, error) {
			err := admin.List(ctx, &list, client.InNamespace(ns))
			return list.Items, err
		}).Should(HaveLen(2), "each of the two has its own AIBOM")
		for _, item := range list.Items {
			aibom := awaitAIBOM(ctx, ns, item.Name)
			Expect(len(aibom.Name)).To(BeNumerically("<=", 253))
			Expect(aibom.Name).To(HavePrefix("deployment-aaa"))
			Expect(aibom.Spec.WorkloadRef.Name).To(HaveLen(253), "the reference has the whole name")
			want := map[string]string{stem + "b": llama, stem + "c": qwen}[aibom.Spec.WorkloadRef.Name]
			Expect(aibom).To(haveModels(want))
		}
	})
})
