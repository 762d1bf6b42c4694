// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
	"github.com/k8s-aibom/k8s-aibom/test/watched"
)

var _ = Describe("A CRD that is installed while the controller runs", Label(label, "A7"), func() {
	It("is found without a restart, although its group was known before", Label("A2-row-2"), func(ctx context.Context) {
		s := newScene(ctx)
		install(ctx, component)
		m := system.Start(ctx)
		m.ExpectHealthy(ctx, component)
		s.Deployed(ctx, "before")
		document, err := s.Document(ctx, "Deployment", "before")()
		Expect(err).NotTo(HaveOccurred())

		since := mark()
		create(ctx, graph, func(*apiextensionsv1.CustomResourceDefinition) {})
		Eventually(established(ctx, graph)).Should(BeTrue(), "the CRD is Established")
		from := time.Now()
		Expect(read(ctx, graph).Spec.Versions).To(ContainElement(And(HaveField("Name", "v1beta1"), HaveField("Served", true))))
		Eventually(func() error { return client.IgnoreAlreadyExists(system.Admin.Create(ctx, s.Workload(graph, "llm"))) }).
			Should(Succeed(), "the API server takes a graph")
		created := time.Now()
		s.Documented(ctx, graph.Name(), "llm")
		report("from Established to the first AIBOM of the new kind: %s (of which the API server took %s to accept the object)",
			time.Since(from).Round(time.Millisecond), created.Sub(from).Round(time.Millisecond))

		m.ExpectHealthy(ctx, graph)
		m.ExpectToldSoFar(ctx, graph, started)
		told, err := m.EventsOf(ctx, graph, started)
		Expect(err).NotTo(HaveOccurred())
		Expect(told[0].EventTime.Time).To(BeTemporally(">=", filled(since, graph)), "it was told after the informer had listed")
		system.ExpectNotDegraded(ctx)
		Expect(s.Document(ctx, "Deployment", "before")()).To(Equal(document), "the Deployment's document is as it was")
		s.Deployed(ctx, "after")
		m.ExpectUndisturbed(ctx, component)
		m.ExpectHistory(ctx, graph, started)
		m.ExpectHistory(ctx, component, recovered)
		Expect(m.Exited()).NotTo(BeClosed(), "it is the same process all the time")
	})

	It("is told as started only once its informer has synced", Label("A2-row-2"), func(ctx context.Context) {
		s := newScene(ctx)
		proxy, kubeconfig := system.Proxy(ctx)
		until := make(chan struct{})
		proxy.Disturb(harness.Disturbance{Resource: resourceOf(graph), Verbs: []string{"list"}, Until: until})
		m := system.StartBy(ctx, kubeconfig, "--watch-cache-sync-timeout=1m", "--watch-probe-timeout=1m")
		install(ctx, graph)
		s.Put(ctx, graph, "llm")
		Eventually(m.Entries(ctx)).Should(Equal(map[string]float64{graph.Name(): 0}), "the kind is starting")
		Consistently(m.History(ctx, graph)).Should(BeEmpty(), "nothing is told before the sync")
		close(until)
		m.ExpectToldSoFar(ctx, graph, started)
		s.Documented(ctx, graph.Name(), "llm")
		m.ExpectHealthy(ctx, graph)
	})

	It("is found when there was no third-party CRD at all at the start", Label("A2-row-1", "A2-row-2"), func(ctx context.Context) {
		s := newScene(ctx)
		m := system.Start(ctx)
		s.Deployed(ctx, "llm")
		Expect(m.Entries(ctx)()).To(BeEmpty(), "health knows nothing of what is absent")
		for _, k := range kinds.ThirdParty() {
			Expect(m.History(ctx, k)()).To(BeEmpty(), "and nothing is told of it")
		}
		installAllBut(ctx)
		s.PutAll(ctx, "llm")
		for _, k := range kinds.ThirdParty() {
			s.Documented(ctx, k.Name(), "llm")
			m.ExpectToldSoFar(ctx, k, started)
		}
		m.ExpectUndisturbed(ctx, kinds.ThirdParty()...)
		system.ExpectNotDegraded(ctx)
	})

	It("is found for both kinds of a group that was absent at the start", Label("A2-row-2"), func(ctx context.Context) {
		s := newScene(ctx)
		installAllBut(ctx, graph, component)
		m := system.Start(ctx)
		m.ExpectHealthy(ctx, watched.AllBut(graph, component)...)
		for _, k := range []kinds.Kind{component, graph} {
			install(ctx, k)
			s.Put(ctx, k, "llm")
			s.Documented(ctx, k.Name(), "llm")
			m.ExpectToldSoFar(ctx, k, started)
		}
		m.ExpectUndisturbed(ctx, kinds.ThirdParty()...)
		for _, k := range watched.AllBut(graph, component) {
			Expect(m.History(ctx, k)()).To(HaveExactElements(recovered), "%s was there at the start", k.Name())
		}
	})

	It("is left alone as long as it is not servable, and told of nowhere", Label("A2-row-1"), func(ctx context.Context) {
		newScene(ctx)
		m := system.Start(ctx)
		create(ctx, graph, func(crd *apiextensionsv1.CustomResourceDefinition) {
			crd.Spec.Versions = crd.Spec.Versions[:1] // v1alpha1 only
		})
		Eventually(established(ctx, graph)).Should(BeTrue(), "the CRD is Established")
		awaitLook(ctx, graph)
		Consistently(m.Entries(ctx)).Should(BeEmpty(), "it was never servable")
		remove(ctx, graph)
		Consistently(m.History(ctx, graph)).Should(BeEmpty(), "and goes as it came")
	})

	It("that comes and goes at once leaves nothing behind", func(ctx context.Context) {
		s := newScene(ctx)
		m := system.Start(ctx)
		s.Deployed(ctx, "llm")
		since := mark()
		for range 3 {
			create(ctx, workerSet, func(*apiextensionsv1.CustomResourceDefinition) {})
			remove(ctx, workerSet)
		}
		// What the manager sees later than these, it sees in the order in which it happened.
		create(ctx, graph, func(*apiextensionsv1.CustomResourceDefinition) {})
		awaitLook(ctx, graph)
		Eventually(balanced(ctx, m, workerSet)).Should(BeTrue(), "what was told to start was told to end")
		Consistently(balanced(ctx, m, workerSet)).Should(BeTrue(), "and stays so")
		Expect(m.Events(ctx, workerSet, unhealthy)()).To(BeZero(), "coming and going is no failure")
		Expect(deletions(since, s)).To(BeEmpty(), "nothing of the kind was there to be swept")
		system.ExpectNotDegraded(ctx)
	})
})

var _ = Describe("A CRD that is there at the start", Label(label, "A7"), func() {
	It("is told as recovered, as before, and never as started", Label("A2-row-2"), func(ctx context.Context) {
		s := newScene(ctx)
		install(ctx, workerSet)
		m := system.Start(ctx)
		s.Put(ctx, workerSet, "llm")
		s.Documented(ctx, workerSet.Name(), "llm")
		m.ExpectHistory(ctx, workerSet, recovered)
		Expect(m.Entries(ctx)()).To(Equal(map[string]float64{workerSet.Name(): 1}), "the absent ones have no entry")
	})
})

var _ = Describe("Changes of a CRD that change nothing for the controller", Label(label, "A7"), func() {
	It("restart nothing and are told of nowhere", Label("A2-row-4"), func(ctx context.Context) {
		s := newScene(ctx)
		install(ctx, graph)
		m := system.Start(ctx)
		m.ExpectHealthy(ctx, graph)
		s.Put(ctx, graph, "llm")
		s.Documented(ctx, graph.Name(), "llm")
		document, err := s.Document(ctx, graph.Name(), "llm")()
		Expect(err).NotTo(HaveOccurred())
		since := mark()

		for i := range 3 {
			labelCRD(ctx, graph, fmt.Sprint(i))
		}
		Expect(system.Plane.SetConversion(ctx, graph.CRD(), harness.NoConversion())).To(Succeed())
		patch(ctx, graph, func(crd *apiextensionsv1.CustomResourceDefinition) {
			crd.Spec.Versions[0].AdditionalPrinterColumns = []apiextensionsv1.CustomResourceColumnDefinition{
				{Name: "Framework", Type: "string", JSONPath: ".spec.backendFramework"},
			}
		})
		awaitLook(ctx, graph)
		m.ExpectHistory(ctx, graph, recovered)
		Expect(runnersStarted(since)).To(BeEmpty(), "the same runner goes on")
		Expect(s.Document(ctx, graph.Name(), "llm")()).To(Equal(document))
		Expect(deletions(since, s)).To(BeEmpty())
	})

	It("do so also when another version becomes the stored one", Label("A2-row-4"), func(ctx context.Context) {
		s := newScene(ctx)
		install(ctx, graph)
		m := system.Start(ctx)
		m.ExpectHealthy(ctx, graph)
		s.Put(ctx, graph, "llm")
		s.Documented(ctx, graph.Name(), "llm")
		since := mark()
		patch(ctx, graph, func(crd *apiextensionsv1.CustomResourceDefinition) {
			for i := range crd.Spec.Versions {
				crd.Spec.Versions[i].Storage = crd.Spec.Versions[i].Name == graph.GVK.Version
			}
		})
		Eventually(func() []string { return read(ctx, graph).Status.StoredVersions }).
			Should(HaveExactElements("v1alpha1", "v1beta1"), "both versions are stored now")
		awaitLook(ctx, graph)
		crd := read(ctx, graph)
		crd.Status.StoredVersions = []string{"v1beta1"}
		Expect(system.Admin.Status().Update(ctx, crd)).To(Succeed(), "as after a migration")
		s.Put(ctx, graph, "later")
		s.Documented(ctx, graph.Name(), "later")
		m.ExpectHistory(ctx, graph, recovered)
		Expect(deletions(since, s)).To(BeEmpty())
		Expect(runnersStarted(since)).To(BeEmpty(), "the same runner goes on")
		Expect(s.AIBOMs(ctx)()).To(ConsistOf("dynamographdeployment-llm", "dynamographdeployment-later"))
	})
})

// report prints a figure with the spec.
func report(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	AddReportEntry(text)
	_, _ = fmt.Fprintln(GinkgoWriter, text)
}

func established(ctx context.Context, k kinds.Kind) func() bool {
	return func() bool { return isEstablished(read(ctx, k)) }
}

func isEstablished(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return slices.ContainsFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
	})
}

// balanced says whether nothing of the kind runs, and as much was told to end as to start.
func balanced(ctx context.Context, m *manager, k kinds.Kind) func() (bool, error) {
	return func() (bool, error) {
		entries, err := m.Entries(ctx)()
		if err != nil {
			return false, err
		}
		starts, err := m.Events(ctx, k, started)()
		if err != nil {
			return false, err
		}
		ends, err := m.Events(ctx, k, disabled)()
		// A start that was undone before its sync is told as an end only.
		return entries[k.Name()] == 0 && ends >= starts, err
	}
}
