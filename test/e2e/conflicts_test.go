// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

var _ = Describe("Updates are conflict-safe", Label("foundation-6"), func() {
	It("neither loses what other clients write to the AIBOM nor what it has to say itself", func(ctx context.Context) {
		ns := optedIn(ctx)
		deployment := deploy(ctx, ns, "llm", llama)
		awaitAIBOM(ctx, ns, "deployment-llm")
		since := mark()

		const rounds = 60
		key := client.ObjectKey{Namespace: ns, Name: "deployment-llm"}
		var others sync.WaitGroup
		others.Go(func() {
			defer GinkgoRecover()
			for i := range rounds {
				label := fmt.Sprintf("other.example.com/label-%d", i)
				Expect(updateAIBOM(ctx, key, func(a *v1beta1.AIBOM) { metav1.SetMetaDataLabel(&a.ObjectMeta, label, "kept") })).To(Succeed())
			}
		})
		others.Go(func() {
			defer GinkgoRecover()
			for i := range rounds {
				name := fmt.Sprintf("other.example.com/note-%d", i)
				Expect(updateAIBOM(ctx, key, func(a *v1beta1.AIBOM) { metav1.SetMetaDataAnnotation(&a.ObjectMeta, name, "kept") })).To(Succeed())
			}
		})
		others.Go(func() {
			defer GinkgoRecover()
			for i := range rounds {
				Expect(updateStatus(ctx, key, func(s *v1beta1.AIBOMStatus) {
					meta.SetStatusCondition(&s.Conditions, metav1.Condition{
						Type: "Reviewed", Status: metav1.ConditionTrue, Reason: "ByOthers", Message: fmt.Sprint(i),
					})
				})).To(Succeed())
			}
		})
		for i := range 20 {
			serve(ctx, deployment, fmt.Sprintf("example/model-%d", i))
		}
		others.Wait()
		serve(ctx, deployment, qwen)

		aibom := awaitAIBOM(ctx, ns, "deployment-llm", haveModels(qwen))
		for i := range rounds {
			Expect(aibom.Labels).To(HaveKeyWithValue(fmt.Sprintf("other.example.com/label-%d", i), "kept"), "labels of others stay")
			Expect(aibom.Annotations).To(HaveKeyWithValue(fmt.Sprintf("other.example.com/note-%d", i), "kept"), "annotations of others stay")
		}
		Expect(aibom.Labels).To(HaveKeyWithValue(v1beta1.KindLabel, "Deployment"))
		reviewed := meta.FindStatusCondition(aibom.Status.Conditions, "Reviewed")
		Expect(reviewed).NotTo(BeNil(), "the condition of others stays")
		Expect(reviewed.Message).To(Equal(fmt.Sprint(rounds-1)), "and is their last one")
		Expect(aibom.Status.ConsecutiveErrors).To(BeZero(), "a lost race is no failure")

		writes, err := plane.Requests(since, harness.Filter{User: harness.ManagerUser, Namespace: ns, WritesOnly: true})
		Expect(err).NotTo(HaveOccurred())
		lost := 0
		for _, w := range writes {
			Expect(w.Short()).To(Equal("patch aiboms/status deployment-llm"), "nothing but the status had to be written")
			Expect(w.ResponseStatus.Code).To(Or(Equal(200), Equal(409)), "written or refused as outdated")
			if w.ResponseStatus.Code == 409 {
				lost++
			}
		}
		AddReportEntry(fmt.Sprintf("%d writes, %d of them lost a race", len(writes), lost))
	})
})

// updateAIBOM changes the newest state of an AIBOM as another client would, by update.
func updateAIBOM(ctx context.Context, key client.ObjectKey, mutate func(*v1beta1.AIBOM)) error {
	return retry.RetryOnConflict(patient, func() error {
		aibom := &v1beta1.AIBOM{}
		if err := admin.Get(ctx, key, aibom); err != nil {
			return err
		}
		mutate(aibom)
		return admin.Update(ctx, aibom)
	})
}

// updateStatus is updateAIBOM for the status.
func updateStatus(ctx context.Context, key client.ObjectKey, mutate func(*v1beta1.AIBOMStatus)) error {
	return retry.RetryOnConflict(patient, func() error {
		aibom := &v1beta1.AIBOM{}
		if err := admin.Get(ctx, key, aibom); err != nil {
			return err
		}
		mutate(&aibom.Status)
		return admin.Status().Update(ctx, aibom)
	})
}

// patient retries often: the specs' clients compete with each other and with the manager.
var patient = wait.Backoff{Duration: time.Millisecond, Jitter: 1, Steps: 1000}
