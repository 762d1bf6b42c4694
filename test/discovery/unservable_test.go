// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/test/watched"
)

var _ = Describe("A version that is read and no longer served", Label(label, "A7"), func() {
	It("degrades the kind, which keeps its AIBOMs, until it is served again", Label("A2-row-5", "A2-row-6"), func(ctx context.Context) {
		s := newScene(ctx)
		install(ctx, graph, workerSet)
		m := system.Start(ctx)
		s.Put(ctx, graph, "llm")
		s.Documented(ctx, graph.Name(), "llm")
		s.Put(ctx, workerSet, "llm")
		s.Documented(ctx, workerSet.Name(), "llm")
		document, err := s.Document(ctx, graph.Name(), "llm")()
		Expect(err).NotTo(HaveOccurred())
		m.ExpectToldSoFar(ctx, graph, recovered)
		since := mark()

		stopServing(ctx, m, graph)
		s.Deployed(ctx, "meanwhile")
		m.ExpectUndisturbed(ctx, workerSet)
		m.ExpectHistory(ctx, graph, recovered, unhealthy)
		Expect(deletions(since, s)).To(BeEmpty())
		Expect(s.Document(ctx, graph.Name(), "llm")()).To(Equal(document), "the AIBOM is kept as it was")

		serve(ctx, graph, true)
		m.ExpectHealthy(ctx, graph)
		system.ExpectNotDegraded(ctx)
		awaitServed(ctx, graph)
		s.Put(ctx, graph, "later")
		s.Documented(ctx, graph.Name(), "later")
		m.ExpectHistory(ctx, graph, recovered, unhealthy, recovered)
		Expect(s.Document(ctx, graph.Name(), "llm")()).To(Equal(document))
		Expect(deletions(since, s)).To(BeEmpty(), "nothing was ever deleted")
		Expect(runnersStarted(since)).To(HaveLen(1), "one runner was started anew")
	})

	It("has no watch of the kind run meanwhile", Label("A2-row-5"), func(ctx context.Context) {
		s := newScene(ctx)
		install(ctx, graph)
		m := system.Start(ctx)
		s.Put(ctx, graph, "llm")
		s.Documented(ctx, graph.Name(), "llm")
		stopServing(ctx, m, graph)
		awaitLook(ctx, graph)
		quiet := mark()
		Consistently(func() int { return len(requests(quiet, filterOf(graph))) }, 2*watched.ProbeInterval).
			Should(BeZero(), "neither watch nor probe goes on")
	})

	It("leaves its AIBOMs alone also when a namespace is taken out of the inventory", Label("A2-row-5"), func(ctx context.Context) {
		s := newScene(ctx)
		install(ctx, graph)
		m := system.Start(ctx)
		s.Deployed(ctx, "llm")
		s.Put(ctx, graph, "llm")
		s.Documented(ctx, graph.Name(), "llm")
		stopServing(ctx, m, graph)
		s.OptOut(ctx)
		Eventually(s.AIBOMs(ctx)).Should(ConsistOf("dynamographdeployment-llm"), "the kinds that work clean up")
		Consistently(s.AIBOMs(ctx)).Should(ConsistOf("dynamographdeployment-llm"), "the one that does not deletes nothing")
		serve(ctx, graph, true)
		m.ExpectHealthy(ctx, graph)
		Eventually(s.AIBOMs(ctx)).Should(BeEmpty(), "what was put off is done")
	})

	It("is none that a controller which starts meanwhile tells of, and its AIBOMs stay", Label("A2-row-1", "A2-row-2"), func(ctx context.Context) {
		s := newScene(ctx)
		install(ctx, graph)
		earlier := system.Start(ctx)
		s.Put(ctx, graph, "llm")
		s.Documented(ctx, graph.Name(), "llm")
		stopServing(ctx, earlier, graph)
		Expect(earlier.Stop()).To(Succeed())
		since := mark()

		m := system.Start(ctx)
		s.Deployed(ctx, "meanwhile")
		Consistently(m.Entries(ctx)).Should(BeEmpty(), "it never saw the kind servable")
		system.ExpectNotDegraded(ctx)
		serve(ctx, graph, true)
		m.ExpectHealthy(ctx, graph)
		m.ExpectHistory(ctx, graph, started)
		Expect(deletions(since, s)).To(BeEmpty(), "nothing was deleted")
		Expect(s.AIBOMs(ctx)()).To(ConsistOf("dynamographdeployment-llm", "deployment-meanwhile"))
	})
})

var _ = Describe("A CRD of the right name that is not what was compiled in", Label(label, "A7"), func() {
	It("is not watched in the scope of the cluster, and is once it is namespaced", Label("A2-row-1", "A2-row-2"), func(ctx context.Context) {
		s := newScene(ctx)
		m := system.Start(ctx)
		create(ctx, workerSet, func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Scope = apiextensionsv1.ClusterScoped })
		Eventually(established(ctx, workerSet)).Should(BeTrue(), "it is Established")
		awaitLook(ctx, workerSet)
		Consistently(m.Entries(ctx)).Should(BeEmpty(), "it is none of ours")
		remove(ctx, workerSet) // a scope cannot be changed
		install(ctx, workerSet)
		s.Put(ctx, workerSet, "llm")
		s.Documented(ctx, workerSet.Name(), "llm")
		m.ExpectHistory(ctx, workerSet, started)
	})

	It("is not watched while another CRD has its kind, and is once the name is accepted", Label("A2-row-1", "A2-row-2"), func(ctx context.Context) {
		s := newScene(ctx)
		m := system.Start(ctx)
		other := otherCRD(ctx)
		create(ctx, workerSet, func(*apiextensionsv1.CustomResourceDefinition) {})
		Eventually(func() []apiextensionsv1.CustomResourceDefinitionCondition {
			return read(ctx, workerSet).Status.Conditions
		}).
			Should(ContainElement(And(HaveField("Type", apiextensionsv1.NamesAccepted), HaveField("Status", apiextensionsv1.ConditionFalse))),
				"the name is taken")
		awaitLook(ctx, workerSet)
		Consistently(m.Entries(ctx)).Should(BeEmpty(), "it is not Established")
		Expect(system.Plane.RemoveCRD(ctx, other)).To(Succeed())
		awaitServed(ctx, workerSet)
		s.Put(ctx, workerSet, "llm")
		s.Documented(ctx, workerSet.Name(), "llm")
		m.ExpectHistory(ctx, workerSet, started)
		system.ExpectNotDegraded(ctx)
	})
})

// otherCRD installs a CRD that takes the kind of LeaderWorkerSet's group under another name,
// and returns that.
func otherCRD(ctx context.Context) string {
	GinkgoHelper()
	const name = "lookalikes.leaderworkerset.x-k8s.io"
	DeferCleanup(func(ctx context.Context) { Expect(system.Plane.RemoveCRD(ctx, name)).To(Succeed()) })
	create(ctx, workerSet, func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Name = name
		crd.Spec.Names.Plural, crd.Spec.Names.Singular = "lookalikes", "lookalike"
	})
	crd := &apiextensionsv1.CustomResourceDefinition{}
	Eventually(func() (string, error) {
		err := system.Admin.Get(ctx, client.ObjectKey{Name: name}, crd)
		return crd.Status.AcceptedNames.Kind, err
	}).WithTimeout(10*time.Second).Should(Equal(workerSet.GVK.Kind), "it has the kind")
	return name
}
