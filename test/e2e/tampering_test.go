// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/test/suite"
)

var _ = Describe("What somebody changes by hand is put right", Label("foundation-6"), func() {
	It("builds an AIBOM anew that somebody deletes", func(ctx context.Context) {
		ns := optedIn(ctx)
		deploy(ctx, ns, "llm", llama)
		before := awaitAIBOM(ctx, ns, "deployment-llm")
		since := mark()
		Expect(admin.Delete(ctx, before)).To(Succeed())
		after := awaitAIBOM(ctx, ns, "deployment-llm", HaveField("UID", Not(Equal(before.UID))))
		Expect(after.Status.InputHash).To(Equal(before.Status.InputHash))
		suite.Settled(requests(since, ns)).Should(Equal([]string{
			"create aiboms deployment-llm", "patch aiboms/status deployment-llm",
		}), "which costs what a new workload costs")
	})

	DescribeTable("restores in the status", func(ctx context.Context, tamper func(*v1beta1.AIBOMStatus)) {
		ns := optedIn(ctx)
		deploy(ctx, ns, "llm", llama)
		before := awaitAIBOM(ctx, ns, "deployment-llm")
		since := mark()
		Expect(updateStatus(ctx, client.ObjectKeyFromObject(before), tamper)).To(Succeed())
		Eventually(func() (v1beta1.AIBOMStatus, error) {
			aibom, err := getAIBOM(ctx, ns, "deployment-llm")()
			return timeless(aibom.Status), errors.Join(err, sound(aibom))
		}).Should(Equal(timeless(before.Status)), "the status is what it was")
		suite.Settled(requests(since, ns)).Should(Equal([]string{"patch aiboms/status deployment-llm"}), "by one write")
	},
		Entry("a document with other bytes", func(s *v1beta1.AIBOMStatus) { s.BOMDocument.Inline.Data = `{"bomFormat":"CycloneDX"}` }),
		Entry("a document of the same size with other bytes", func(s *v1beta1.AIBOMStatus) {
			data := []byte(s.BOMDocument.Inline.Data)
			data[len(data)/2]++
			s.BOMDocument.Inline.Data = string(data)
		}),
		Entry("a document that is taken out", func(s *v1beta1.AIBOMStatus) { s.BOMDocument.Inline = nil }),
		Entry("the whole document", func(s *v1beta1.AIBOMStatus) { s.BOMDocument = nil }),
		Entry("the document's hash", func(s *v1beta1.AIBOMStatus) { s.BOMDocument.SHA256 = "0000" }),
		Entry("the document's size", func(s *v1beta1.AIBOMStatus) { s.BOMDocument.Size++ }),
		Entry("the document's version", func(s *v1beta1.AIBOMStatus) { s.BOMDocument.SpecVersion = "1.7" }),
		Entry("the AIBOM's hash of the document", func(s *v1beta1.AIBOMStatus) { s.BOMHash = "sha256:0000" }),
		Entry("the hash of the inputs", func(s *v1beta1.AIBOMStatus) { s.InputHash = "sha256:0000" }),
		Entry("the summary", func(s *v1beta1.AIBOMStatus) { s.Summary.Models[0].Identity = qwen }),
		Entry("the count of errors", func(s *v1beta1.AIBOMStatus) { s.ConsecutiveErrors = 7 }),
		Entry("a condition", func(s *v1beta1.AIBOMStatus) {
			meta.SetStatusCondition(&s.Conditions, metav1.Condition{Type: v1beta1.ConditionReady, Status: metav1.ConditionFalse, Reason: "ByHand"})
		}),
		Entry("a condition that is taken out", func(s *v1beta1.AIBOMStatus) {
			meta.RemoveStatusCondition(&s.Conditions, v1beta1.ConditionSynced)
		}),
		Entry("everything", func(s *v1beta1.AIBOMStatus) { *s = v1beta1.AIBOMStatus{} }),
	)

	DescribeTable("restores outside the status", func(ctx context.Context, tamper func(*v1beta1.AIBOM)) {
		ns := optedIn(ctx)
		deploy(ctx, ns, "llm", llama)
		before := awaitAIBOM(ctx, ns, "deployment-llm")
		Expect(updateAIBOM(ctx, client.ObjectKeyFromObject(before), tamper)).To(Succeed())
		Eventually(getAIBOM(ctx, ns, "deployment-llm")).Should(And(
			Not(BeNil()),
			HaveField("Labels", Equal(before.Labels)),
			HaveField("OwnerReferences", Equal(before.OwnerReferences)),
			HaveField("Spec", Equal(before.Spec)),
		), "the AIBOM is what it was")
		awaitAIBOM(ctx, ns, "deployment-llm", HaveField("Status.InputHash", before.Status.InputHash))
	},
		Entry("a label that is changed", func(a *v1beta1.AIBOM) { a.Labels[v1beta1.CategoryLabel] = "training" }),
		Entry("labels that are removed", func(a *v1beta1.AIBOM) { a.Labels = nil }),
		Entry("the owner that is removed", func(a *v1beta1.AIBOM) { a.OwnerReferences = nil }),
		Entry("the owner that no longer controls", func(a *v1beta1.AIBOM) { a.OwnerReferences[0].Controller = ptr.To(false) }),
		Entry("the document's version in the spec", func(a *v1beta1.AIBOM) { a.Spec.BOMSpecVersion = "1.7" }),
	)

	DescribeTable("makes way for the workload's own AIBOM", func(ctx context.Context, forge func(*v1beta1.AIBOM, *metav1.OwnerReference)) {
		ns := optedIn(ctx)
		deployment := create(ctx, "Deployment", ns, "llm", plain()).(*appsv1.Deployment)
		forged := &v1beta1.AIBOM{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "deployment-llm"}}
		forged.Spec.WorkloadRef = v1beta1.WorkloadReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "llm"}
		forge(forged, metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind("Deployment")))
		Expect(admin.Create(ctx, forged)).To(Succeed())
		Eventually(listAIBOMs(ctx, ns)).Should(BeEmpty(), "nginx is no AI workload, whoever says so")
		change(ctx, deployment, func(d *appsv1.Deployment) { d.Spec.Template.Spec = serving(llama).Spec })
		awaitAIBOM(ctx, ns, "deployment-llm", haveModels(llama))
	},
		Entry("where one speaks of another workload", func(a *v1beta1.AIBOM, owner *metav1.OwnerReference) {
			a.OwnerReferences, a.Spec.WorkloadRef.Name = []metav1.OwnerReference{*owner}, "other"
		}),
		Entry("where one speaks of another workload and has no owner", func(a *v1beta1.AIBOM, _ *metav1.OwnerReference) {
			a.Spec.WorkloadRef.Name = "other"
		}),
		Entry("where one has no owner", func(*v1beta1.AIBOM, *metav1.OwnerReference) {}),
	)
})

// timeless is a status without the times at which it was written, and without the hash of
// the document, which states when its inputs were first seen: that cannot be restored where
// the status does not say it any more.
func timeless(s v1beta1.AIBOMStatus) v1beta1.AIBOMStatus {
	s = *s.DeepCopy()
	s.LastReconciled, s.BOMHash = nil, ""
	slices.SortFunc(s.Conditions, func(a, b metav1.Condition) int { return strings.Compare(a.Type, b.Type) })
	for i := range s.Conditions {
		s.Conditions[i].LastTransitionTime = metav1.Time{}
	}
	if d := s.BOMDocument; d != nil && d.Inline != nil && d.Timestamp != nil {
		stamp := d.Timestamp.UTC().Format(time.RFC3339)
		d.Inline.Data = strings.Replace(d.Inline.Data, stamp, "", 1)
		d.SHA256, d.Timestamp = "", nil
	}
	return s
}
