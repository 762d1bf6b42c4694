// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
	"github.com/k8s-aibom/k8s-aibom/test/watched"
)

// outage is a way in which the conversion of every kind fails at once.
type outage struct {
	name       string
	begin, end func(ctx context.Context)
}

var outages = []outage{
	{
		name: "every CRD is patched to a dead URL",
		begin: func(ctx context.Context) {
			for _, k := range kinds.ThirdParty() {
				convert(ctx, k, harness.DeadConversion())
			}
		},
		end: mend,
	},
	{
		name: "every live webhook goes away",
		begin: func(context.Context) {
			graphs.stop()
			others.stop()
		},
		end: mend,
	},
}

var _ = Describe("All six kinds that fail at once", Label(label), func() {
	for _, o := range outages {
		Context("because "+o.name, func() {
			It("leave the built-in kinds alone, after the start and at a start", func(ctx context.Context) {
				s := newScene(ctx)
				s.PutAll(ctx, "llm")
				m := startManager(ctx)
				for _, k := range kinds.ThirdParty() {
					s.Documented(ctx, k.GVK.Kind, "llm")
				}
				m.ExpectHealthy(ctx, kinds.ThirdParty()...)
				o.begin(ctx)
				for _, k := range kinds.ThirdParty() {
					m.ExpectUnhealthy(ctx, k, probeInterval+slack, webhookFailed(k))
				}
				s.Deployed(ctx, "after-the-start")
				m.ExpectEvents(ctx, 1, 1, kinds.ThirdParty()...)
				Expect(m.Stop()).To(Succeed())

				m = startManager(ctx)
				s.Deployed(ctx, "at-a-start")
				for _, k := range kinds.ThirdParty() {
					m.ExpectUnhealthy(ctx, k, probeTimeout+slack, webhookFailed(k))
					s.Documented(ctx, k.GVK.Kind, "llm")
				}
				o.end(ctx)
				m.ExpectHealthy(ctx, kinds.ThirdParty()...)
				expectNotDegraded(ctx)
				m.ExpectEvents(ctx, 1, 1, kinds.ThirdParty()...)
			})
		})
	}
})

var _ = Describe("A webhook that flaps", Label(label), func() {
	const cycles = 20

	It("is told of once for each transition and leaks nothing", func(ctx context.Context) {
		s := newScene(ctx)
		s.PutAll(ctx, "llm")
		m := startManager(ctx, "--watch-probe-interval="+(probeInterval/5).String())
		s.Deployed(ctx, "before")
		document, err := s.Document(ctx, "Deployment", "before")()
		Expect(err).NotTo(HaveOccurred())
		m.ExpectHealthy(ctx, kinds.ThirdParty()...)
		cycle := func() {
			graphs.stop()
			Eventually(m.Healthy(ctx, graph)).Should(BeZero(), "the outage is noticed")
			graphs.start()
			Eventually(m.Healthy(ctx, graph)).Should(Equal(1.0), "its end is noticed")
		}
		cycle()
		goroutines, err := m.Metric(ctx, "go_goroutines")()
		Expect(err).NotTo(HaveOccurred())
		for i := 1; i < cycles; i++ {
			cycle()
			if i == cycles/2 {
				s.Deployed(ctx, "meanwhile")
			}
		}
		m.ExpectEvents(ctx, cycles, cycles+1, graph)
		// A few come and go with the requests that happen to be under way.
		Eventually(m.Metric(ctx, "go_goroutines")).Should(BeNumerically("<=", goroutines+5), "no goroutine stays behind")
		m.ExpectUndisturbed(ctx, watched.AllBut(graph)...)
		Expect(s.Document(ctx, "Deployment", "before")()).To(Equal(document), "no document of a built-in kind changes")
		expectNotDegraded(ctx)
	})

	It("is told of once for each transition when lists fail as well", func(ctx context.Context) {
		const cycles = 5
		s := newScene(ctx)
		s.PutAll(ctx, "llm")
		m := startManager(ctx)
		m.ExpectHealthy(ctx, kinds.ThirdParty()...)
		for range cycles {
			convert(ctx, graph, harness.DeadConversion())
			Eventually(m.Healthy(ctx, graph)).Should(BeZero(), "the outage is noticed")
			convert(ctx, graph, graphs.Conversion())
			Eventually(m.Healthy(ctx, graph)).Should(Equal(1.0), "its end is noticed")
		}
		m.ExpectEvents(ctx, cycles, cycles+1, graph)
		m.ExpectUndisturbed(ctx, watched.AllBut(graph)...)
	})
})
