// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/test/watched"
)

// A probe reads the first object only, and the bad one is never the first.
var _ = Describe("One object that cannot be converted among many that can", Label(label), func() {
	const broken = "z-broken"
	good := []string{"a", "b", "c"}
	var s *scene
	var bad types.NamespacedName

	BeforeEach(func(ctx context.Context) {
		s = newScene(ctx)
		for _, name := range good {
			s.Put(ctx, graph, name)
		}
		bad = types.NamespacedName{Namespace: s.Namespace, Name: broken}
	})

	// forget has the API server drop its watch cache, as any change of the conversion does, so
	// that it has to read every object again.
	forget := func(ctx context.Context) {
		GinkgoHelper()
		conversion := graphs.Conversion()
		conversion.Webhook.ConversionReviewVersions = []string{"v1", "v1beta1"}
		convert(ctx, graph, conversion)
		Eventually(listAll(ctx)).ShouldNot(Succeed(), "the API server cannot list them all")
	}

	// expectOneEpisode expects that the kind stays unhealthy while the object is bad, through
	// many probes that succeed, and recovers once it is repaired.
	expectOneEpisode := func(ctx context.Context, m *manager, normalsBefore int) {
		GinkgoHelper()
		m.ExpectUnhealthy(ctx, graph, 2*compaction+cacheSyncTimeout+probeTimeout+slack, bad.String()+" cannot be converted")
		Consistently(m.Healthy(ctx, graph)).WithTimeout(6*probeInterval).Should(BeZero(), "probes that succeed clear nothing but their own failures")
		m.ExpectEvents(ctx, 1, normalsBefore, graph)
		s.Deployed(ctx, "llm")
		m.ExpectUndisturbed(ctx, watched.AllBut(graph)...)

		graphs.FailFor()
		Eventually(m.Healthy(ctx, graph)).WithTimeout(time.Minute).Should(Equal(1.0), "the kind recovers when the object is repaired")
		s.Documented(ctx, graph.GVK.Kind, broken)
		m.ExpectEvents(ctx, 1, normalsBefore+1, graph)
		expectNotDegraded(ctx)
	}

	It("is one episode when it comes after the start", func(ctx context.Context) {
		m := startManager(ctx)
		m.ExpectHealthy(ctx, kinds.ThirdParty()...)
		for _, name := range good {
			s.Documented(ctx, graph.GVK.Kind, name)
		}
		// The API server's own watch stops at the new object and says nothing. It learns of it
		// when etcd has compacted what it waits for, and has to read everything again.
		graphs.FailFor(bad)
		s.Put(ctx, graph, broken)
		expectOneEpisode(ctx, m, 1)
	})

	It("is one episode when the API server has to read everything again", func(ctx context.Context) {
		s.Put(ctx, graph, broken)
		m := startManager(ctx)
		m.ExpectHealthy(ctx, kinds.ThirdParty()...)
		s.Documented(ctx, graph.GVK.Kind, broken)
		graphs.FailFor(bad)
		forget(ctx)
		expectOneEpisode(ctx, m, 1)
	})

	It("is one episode when it is there at the start", func(ctx context.Context) {
		graphs.FailFor(bad)
		s.Put(ctx, graph, broken)
		forget(ctx)
		m := startManager(ctx)
		expectOneEpisode(ctx, m, 0)
	})
})

// listAll lists every graph from the storage, in the version that the controller reads.
func listAll(ctx context.Context) func() error {
	return func() error {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(graph.GVK.GroupVersion().WithKind(graph.GVK.Kind + "List"))
		return system.Admin.List(ctx, list)
	}
}
