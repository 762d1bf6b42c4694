// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
)

var _ = Describe("A workload that changes hands", Label(label), func() {
	It("is reported when it loses its owner and absorbed when it gets one, and both documents follow", func(ctx context.Context) {
		s := newScene(ctx)
		first, second := s.put(ctx, workerSet, "first"), s.put(ctx, workerSet, "second")
		child := statefulSet(s.namespace, "child", 1, ownedBy(first))
		Expect(admin.Create(ctx, child)).To(Succeed())
		runs(ctx, s.podOf(ctx, child), digest("1"))
		absorbed := report{owned: []string{"StatefulSet/child"}, digests: []string{digest("1")}}
		alone := report{digests: []string{digest("1")}}
		s.says(ctx, "leaderworkerset-first", absorbed)
		s.only(ctx, "leaderworkerset-first", "leaderworkerset-second")

		By("losing its owner")
		adopt(ctx, child)
		s.says(ctx, "statefulset-child", alone)
		s.says(ctx, "leaderworkerset-first", report{})

		By("getting another")
		adopt(ctx, child, ownedBy(second))
		s.says(ctx, "leaderworkerset-second", absorbed)
		s.only(ctx, "leaderworkerset-first", "leaderworkerset-second")

		By("going from one to the other")
		adopt(ctx, child, ownedBy(first))
		s.says(ctx, "leaderworkerset-first", absorbed)
		s.says(ctx, "leaderworkerset-second", report{})
		s.only(ctx, "leaderworkerset-first", "leaderworkerset-second")

		By("going away")
		Expect(admin.Delete(ctx, child)).To(Succeed())
		s.says(ctx, "leaderworkerset-first", report{})
	})

	It("has its AIBOM deleted when a third-party kind comes between it and its document", func(ctx context.Context) {
		s := newScene(ctx)
		top := s.put(ctx, graph, "llm")
		middle := s.put(ctx, component, "decode")
		s.stateful(ctx, "child", ownedBy(middle))
		s.says(ctx, "dynamocomponentdeployment-decode", report{owned: []string{"StatefulSet/child"}})
		s.only(ctx, "dynamographdeployment-llm", "dynamocomponentdeployment-decode")
		adopt(ctx, middle, ownedBy(top))
		s.says(ctx, "dynamographdeployment-llm", report{owned: []string{"DynamoComponentDeployment/decode", "StatefulSet/child"}})
		s.only(ctx, "dynamographdeployment-llm")
		adopt(ctx, middle)
		s.says(ctx, "dynamocomponentdeployment-decode", report{owned: []string{"StatefulSet/child"}})
		s.says(ctx, "dynamographdeployment-llm", report{})
	})

	It("has an AIBOM that somebody gave it deleted, whatever that says of itself", func(ctx context.Context) {
		s := newScene(ctx)
		s.stateful(ctx, "child", ownedBy(s.put(ctx, workerSet, "llm")))
		s.says(ctx, "leaderworkerset-llm", report{owned: []string{"StatefulSet/child"}})
		aibom := &v1beta1.AIBOM{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "statefulset-child"}}
		aibom.Spec = v1beta1.AIBOMSpec{
			WorkloadRef: v1beta1.WorkloadReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "child"},
			BOMFormat:   "CycloneDX", BOMSpecVersion: "1.6",
		}
		Expect(admin.Create(ctx, aibom)).To(Succeed(), "it has neither labels nor an owner")
		s.only(ctx, "leaderworkerset-llm")
	})
})
