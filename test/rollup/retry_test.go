// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

// startWebhook has Dynamo graphs, which are stored in another version than is read, converted by
// a webhook until the spec ends. The spec may stop it.
func startWebhook(ctx context.Context) *harness.ConversionWebhook {
	GinkgoHelper()
	webhook, err := harness.NewConversionWebhook(harness.ConvertNothing)
	Expect(err).NotTo(HaveOccurred())
	Expect(webhook.Start()).To(Succeed())
	Expect(plane.SetConversion(ctx, graph.CRD(), webhook.Conversion())).To(Succeed())
	DeferCleanup(func(ctx context.Context) {
		Expect(plane.SetConversion(ctx, graph.CRD(), harness.NoConversion())).To(Succeed())
		Expect(webhook.Stop()).To(Succeed())
	})
	return webhook
}

// reading reads an object from the API server.
func reading(ctx context.Context, object *unstructured.Unstructured) func() error {
	return func() error { return admin.Get(ctx, client.ObjectKeyFromObject(object), object.DeepCopy()) }
}

var _ = Describe("An owner that cannot be read for another reason", Label(label), func() {
	It("is tried again, and nothing is guessed meanwhile", func(ctx context.Context) {
		s := newScene(ctx)
		webhook := startWebhook(ctx)
		top := s.put(ctx, graph, "llm")
		absorbed := s.stateful(ctx, "absorbed", ownedBy(top))
		moving := s.stateful(ctx, "moving")
		s.says(ctx, "dynamographdeployment-llm", report{owned: []string{"StatefulSet/absorbed"}})
		s.only(ctx, "dynamographdeployment-llm", "statefulset-moving")
		used := webhook.Requests()
		Expect(reading(ctx, top)()).To(Succeed())
		Expect(webhook.Requests()).To(BeNumerically(">", used), "the webhook converts what is read")
		unresolved := counted(ctx, "StatefulSet", "rollup_unresolved")

		Expect(webhook.Stop()).To(Succeed())
		Eventually(reading(ctx, top)).ShouldNot(Succeed(), "the conversion webhook is down")
		failed := counted(ctx, "StatefulSet", "failed")
		s.stateful(ctx, "new", ownedBy(top))
		adopt(ctx, moving, ownedBy(top))
		touch(ctx, absorbed)
		Eventually(outcomes(ctx, "StatefulSet", "failed")).Should(BeNumerically(">=", failed+3), "each of them is tried")
		s.only(ctx, "dynamographdeployment-llm", "statefulset-moving")
		Expect(outcomes(ctx, "StatefulSet", "failed")()).To(BeNumerically(">", failed+6), "again and again")

		Expect(webhook.Start()).To(Succeed())
		s.says(ctx, "dynamographdeployment-llm", report{owned: []string{"StatefulSet/absorbed", "StatefulSet/moving", "StatefulSet/new"}})
		s.only(ctx, "dynamographdeployment-llm")
		Expect(counted(ctx, "StatefulSet", "rollup_unresolved")).To(Equal(unresolved), "it was never taken for unresolved")
	})
})
