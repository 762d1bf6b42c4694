// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/test/harness"
	"github.com/k8s-aibom/k8s-aibom/test/watched"
)

const (
	// crowd is how many unrelated CRDs there are, each of crowdBytes and more.
	crowd      = 1500
	crowdBytes = 4 << 10
	// writers create and change them at the same time.
	writers = 16
	// churn is how many of them are changed afterwards.
	churn = 500
)

var _ = Describe("A cluster with very many unrelated CRDs", Label(label, "A7", "slow"), func() {
	It("costs the controller a name each, and no read", func(ctx context.Context) {
		// On a control plane of its own: to remove them all would take as long again.
		here := system
		DeferCleanup(func() { system = here })
		system = watched.Install(ctx, harness.Options{})
		s := system.NewScene(ctx, nil)
		proxy, kubeconfig := system.Proxy(ctx)
		install(ctx, workerSet)
		// The API server is busy with the crowd: that its answers take long is no failure here.
		m := system.StartBy(ctx, kubeconfig, "--watch-probe-timeout=1m")
		s.Put(ctx, workerSet, "llm")
		s.Documented(ctx, workerSet.Name(), "llm")
		m.ExpectToldSoFar(ctx, workerSet, recovered)
		since, before := mark(), memory(ctx, m)

		from := time.Now()
		inParallel(crowd, func(i int) error { return system.Admin.Create(ctx, unrelated(i)) })
		report("%d CRDs were created in %s", crowd, time.Since(from).Round(time.Millisecond))
		Eventually(unestablished(ctx)).WithTimeout(2*time.Minute).WithPolling(time.Second).Should(BeZero(), "they are all Established")
		report("they were all Established after %s", time.Since(from).Round(time.Millisecond))
		from = time.Now()
		inParallel(churn, func(i int) error {
			return system.Admin.Patch(ctx, unrelated(i), client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"touched":"true"}}}`)))
		})
		report("%d of them were changed in %s", churn, time.Since(from).Round(time.Millisecond))
		after := memory(ctx, m)
		made := requests(since, harness.Filter{Resource: crds.Resource})
		report("memory of the manager before and after, in MiB: resident %.1f, %.1f; heap in use %.1f, %.1f",
			before.resident, after.resident, before.heap, after.heap)
		report("requests about CRDs meanwhile, but for the watch that was open: %d", len(made))
		for _, r := range made {
			Expect(r.Verb).To(Equal("watch"), "all of it came by one watch, which the API server may end when it is busy: %s", r)
		}
		m.ExpectHealthy(ctx, workerSet)
		Expect(m.Events(ctx, workerSet, disabled)()).To(BeZero(), "nobody took it for removed")
		system.ExpectNotDegraded(ctx)

		since, from = mark(), time.Now()
		install(ctx, graph)
		s.Put(ctx, graph, "llm")
		s.Documented(ctx, graph.Name(), "llm")
		report("a kind that is installed among them had its AIBOM after %s", time.Since(from).Round(time.Millisecond))
		for _, r := range requests(since, harness.Filter{Resource: crds.Resource}) {
			Expect(r.ObjectRef.Name).To(Equal(graph.CRD()), "only the candidate is read: %s", r)
		}

		Expect(m.Stop()).To(Succeed())
		since = mark()
		second := system.StartBy(ctx, kubeconfig, "--watch-probe-timeout=1m")
		second.ExpectHealthy(ctx, workerSet, graph)
		fresh := memory(ctx, second)
		report("memory of a manager that starts among them, in MiB: resident %.1f; heap in use %.1f", fresh.resident, fresh.heap)
		Eventually(func() []harness.AuditEvent {
			return requests(since, harness.Filter{Resource: crds.Resource, Verb: "watch", Code: http.StatusOK})
		}).ShouldNot(BeEmpty(), "CRDs are watched")
		counts := map[string]int{}
		for _, r := range requests(since, harness.Filter{Resource: crds.Resource}) {
			counts[r.Verb]++
		}
		report("requests about CRDs of a manager that starts: %v", counts)

		ours := []string{}
		for _, k := range watched.AllBut() {
			ours = append(ours, k.CRD())
		}
		passages := proxy.Passages(crds)
		Expect(passages).NotTo(BeEmpty())
		for _, p := range passages {
			switch p.Verb {
			case "get":
				Expect(ours).To(ContainElement(p.Name), "whole CRDs are read of candidates only")
			default:
				Expect([]string{"list", "watch"}).To(ContainElement(p.Verb), "CRDs are never written")
				// The first form is the one that is wanted, and every API server has it.
				Expect(p.Accept).To(MatchRegexp(`^application/[^,]+;as=PartialObjectMetadata`), "a %s asks for metadata", p.Verb)
			}
		}
	})
})

// unrelated is a CRD that is none of the candidates, with much in its annotations.
func unrelated(i int) *apiextensionsv1.CustomResourceDefinition {
	plural := fmt.Sprintf("things%d", i)
	group := fmt.Sprintf("g%d.crowd.example.com", i%50)
	preserve := true
	crd := &apiextensionsv1.CustomResourceDefinition{
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: plural, Singular: fmt.Sprintf("thing%d", i), Kind: fmt.Sprintf("Thing%d", i), ListKind: fmt.Sprintf("Thing%dList", i),
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: &preserve,
				}},
			}},
		},
	}
	crd.Name = plural + "." + group
	crd.Annotations = map[string]string{"example.com/much": fmt.Sprintf("%0*d", crowdBytes, i)}
	return crd
}

// unestablished counts the CRDs that are not Established.
func unestablished(ctx context.Context) func() (int, error) {
	return func() (int, error) {
		list := &apiextensionsv1.CustomResourceDefinitionList{}
		err := system.Admin.List(ctx, list)
		rest := 0
		for i := range list.Items {
			if !isEstablished(&list.Items[i]) {
				rest++
			}
		}
		return rest, err
	}
}

// inParallel does something so many times, many at once.
func inParallel(times int, do func(i int) error) {
	GinkgoHelper()
	next := make(chan int)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range writers {
		wg.Go(func() {
			for i := range next {
				if err := do(i); err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
				}
			}
		})
	}
	for i := range times {
		next <- i
	}
	close(next)
	wg.Wait()
	Expect(failed).NotTo(HaveOccurred())
}

// megabytes are what a manager needs of memory.
type megabytes struct{ resident, heap float64 }

func memory(ctx context.Context, m *manager) megabytes {
	GinkgoHelper()
	read := func(name string) float64 {
		GinkgoHelper()
		value, err := m.Metric(ctx, name)()
		Expect(err).NotTo(HaveOccurred())
		return value / (1 << 20)
	}
	return megabytes{resident: read("process_resident_memory_bytes"), heap: read("go_memstats_heap_inuse_bytes")}
}
