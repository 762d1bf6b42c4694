// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/internal/ownership"
)

// secretive is a kind that the manager has no right on.
var secretive = crdOf(gvk("rollup.example.com/v1", "Secretive"))

// nobody is a reference to an owner that does not exist.
func nobody(apiVersion, kind string) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: apiVersion, Kind: kind, Name: "nobody", UID: "00000000-0000-0000-0000-000000000001", Controller: ptr.To(true),
	}
}

// chainBelow makes so many ReplicaSets one below the other, and refers to the lowest.
func (s *scene) chainBelow(ctx context.Context, top client.Object, length int) metav1.OwnerReference {
	GinkgoHelper()
	owner := ownedBy(top)
	for i := range length {
		owner = ownedBy(s.replicaSet(ctx, fmt.Sprintf("link-%d", i), owner))
	}
	return owner
}

var _ = Describe("A workload of which it cannot be known who owns it", Label(label), func() {
	DescribeTable("is reported for itself and counted as unresolved, because of", func(ctx context.Context, owner func(context.Context, *scene) metav1.OwnerReference) {
		s := newScene(ctx)
		reference := owner(ctx, s)
		before := counted(ctx, "StatefulSet", "rollup_unresolved")
		child := s.stateful(ctx, "child", reference)
		s.says(ctx, "statefulset-child", report{})
		Eventually(outcomes(ctx, "StatefulSet", "rollup_unresolved")).Should(BeNumerically(">", before), "it is counted")
		touch(ctx, child)
		Eventually(outcomes(ctx, "StatefulSet", "rollup_unresolved")).Should(BeNumerically(">", before+1), "so is the next look")
		Consistently(s.isGone(ctx, "statefulset-child")).Should(BeFalse(), "it never disappears")
	},
		Entry("an owner whose UID is another one", func(ctx context.Context, s *scene) metav1.OwnerReference {
			reference := ownedBy(s.put(ctx, workerSet, "llm"))
			reference.UID = nobody("v1", "x").UID
			DeferCleanup(func(ctx context.Context) { s.says(ctx, "leaderworkerset-llm", report{}) })
			return reference
		}),
		Entry("a built-in owner whose UID is another one", func(ctx context.Context, s *scene) metav1.OwnerReference {
			reference := ownedBy(s.stateful(ctx, "other"))
			reference.UID = nobody("v1", "x").UID
			DeferCleanup(func(ctx context.Context) { s.says(ctx, "statefulset-other", report{}) })
			return reference
		}),
		Entry("an owner that may not be read", func(ctx context.Context, s *scene) metav1.OwnerReference {
			install(secretive)
			DeferCleanup(func(ctx context.Context) { uninstall(ctx, secretive) })
			since := mark()
			DeferCleanup(func() {
				Expect(requestsIn(since, s.namespace)()).To(ContainElement("get secretives owner"), "it was asked for")
			})
			return ownedBy(s.custom(ctx, gvk("rollup.example.com/v1", "Secretive"), "owner", map[string]any{}))
		}),
		Entry("an owner that does not exist", func(context.Context, *scene) metav1.OwnerReference {
			return nobody(workerSet.GVK.GroupVersion().String(), workerSet.GVK.Kind)
		}),
		Entry("an owner of a kind that nobody knows", func(context.Context, *scene) metav1.OwnerReference {
			return nobody("example.com/v1", "Unheard")
		}),
		Entry("an owner of a version that nobody serves", func(context.Context, *scene) metav1.OwnerReference {
			return nobody("leaderworkerset.x-k8s.io/v9", "LeaderWorkerSet")
		}),
		Entry("an owner whose apiVersion leads elsewhere", func(context.Context, *scene) metav1.OwnerReference {
			return nobody("../v1", "Namespace")
		}),
		Entry("an owner whose apiVersion is no path", func(context.Context, *scene) metav1.OwnerReference {
			return nobody("a b?c=d/v%2f1", "#Odd kind")
		}),
		Entry("an owner whose name leads elsewhere", func(context.Context, *scene) metav1.OwnerReference {
			reference := nobody(workerSet.GVK.GroupVersion().String(), workerSet.GVK.Kind)
			reference.Name = "../../namespaces"
			return reference
		}),
		Entry("a chain of seven owners", func(ctx context.Context, s *scene) metav1.OwnerReference {
			return s.chainBelow(ctx, s.put(ctx, workerSet, "llm"), ownership.MaxHops)
		}),
		Entry("a ring of owners above it", func(ctx context.Context, s *scene) metav1.OwnerReference {
			first := s.replicaSet(ctx, "first")
			second := s.replicaSet(ctx, "second", ownedBy(first))
			adopt(ctx, first, ownedBy(second))
			return ownedBy(second)
		}),
	)

	It("is not one whose chain has six owners: it is absorbed", func(ctx context.Context) {
		s := newScene(ctx)
		s.stateful(ctx, "child", s.chainBelow(ctx, s.put(ctx, workerSet, "llm"), ownership.MaxHops-1))
		s.says(ctx, "leaderworkerset-llm", report{owned: []string{"StatefulSet/child"}})
		s.only(ctx, "leaderworkerset-llm")
	})

	It("may be one that was absorbed, when a longer chain grows above the owner", func(ctx context.Context) {
		s := newScene(ctx)
		top := s.stateful(ctx, "top")
		s.stateful(ctx, "child", s.chainBelow(ctx, top, ownership.MaxHops-1))
		s.says(ctx, "statefulset-top", report{owned: []string{"StatefulSet/child"}})
		s.only(ctx, "statefulset-top")
		adopt(ctx, top, ownedBy(s.replicaSet(ctx, "above")))
		s.says(ctx, "statefulset-top", report{})
		s.only(ctx, "statefulset-top", "statefulset-child")
	})

	It("may be every member of a ring of workloads, and none disappears", func(ctx context.Context) {
		s := newScene(ctx)
		first := s.stateful(ctx, "first")
		second := s.stateful(ctx, "second", ownedBy(first))
		s.only(ctx, "statefulset-first")
		before := counted(ctx, "StatefulSet", "rollup_unresolved")
		adopt(ctx, first, ownedBy(second))
		s.only(ctx, "statefulset-first", "statefulset-second")
		Eventually(outcomes(ctx, "StatefulSet", "rollup_unresolved")).Should(BeNumerically(">=", before+2), "both are counted")
	})

	It("cannot come from an apiVersion without a version, which the API refuses", func(ctx context.Context) {
		s := newScene(ctx)
		for _, apiVersion := range []string{"a/b/c", "example.com/", "/"} {
			object := statefulSet(s.namespace, "child", 0, nobody(apiVersion, "Odd"))
			Expect(admin.Create(ctx, object, client.DryRunAll)).To(MatchError(ContainSubstring("ownerReferences")), "%q is refused", apiVersion)
		}
	})
})
