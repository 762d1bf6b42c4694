// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

// allow has all kinds inventoried but these, until the spec ends.
func allow(ctx context.Context, without ...kinds.Kind) {
	GinkgoHelper()
	config := &v1beta1.AIBOMControllerConfig{ObjectMeta: metav1.ObjectMeta{Name: v1beta1.ConfigName}}
	_, err := controllerutil.CreateOrUpdate(ctx, admin, config, func() error {
		config.Spec.Discovery.WorkloadKinds = nil
		for _, k := range kinds.Catalogue {
			excluded := slices.ContainsFunc(without, func(w kinds.Kind) bool { return w.Key() == k.Key() })
			if len(without) > 0 && !excluded {
				config.Spec.Discovery.WorkloadKinds = append(config.Spec.Discovery.WorkloadKinds, k.Key())
			}
		}
		return nil
	})
	Expect(err).NotTo(HaveOccurred())
	Eventually(func() (int64, error) {
		err := admin.Get(ctx, client.ObjectKeyFromObject(config), config)
		return config.Status.ObservedGeneration - config.Generation, err
	}).Should(BeZero(), "the configuration is in force")
}

// fanOuts are the lists of a built-in kind that the manager asked the API server for, page by
// page, since the mark.
func fanOuts(since harness.Mark, resource string) func() ([]string, error) {
	return func() ([]string, error) {
		all, err := plane.Requests(since, harness.Filter{User: harness.ManagerUser, Verb: "list", Resource: resource})
		var pages []string
		for _, e := range all {
			if strings.Contains(e.RequestURI, "limit=500") {
				pages = append(pages, e.RequestURI)
			}
		}
		return pages, err
	}
}

// builtIn are the resources of the kinds that a fan-out always lists.
func builtIn() []string {
	var resources []string
	for _, k := range kinds.BuiltIn() {
		resources = append(resources, k.Resource)
	}
	return resources
}

// oneFanOut expects that each built-in kind was listed once since the mark.
func oneFanOut(since harness.Mark) {
	GinkgoHelper()
	for _, resource := range builtIn() {
		Eventually(fanOuts(since, resource)).Should(HaveLen(1), "%s are listed, in pages", resource)
	}
	Consistently(fanOuts(since, "statefulsets")).Should(HaveLen(1), "one fan-out is enough")
}

// serve has the API server serve a kind in the version that is read, or not any more.
func serve(ctx context.Context, k kinds.Kind, served bool) {
	GinkgoHelper()
	Expect(plane.PatchCRD(ctx, k.CRD(), func(crd *apiextensionsv1.CustomResourceDefinition) {
		for i := range crd.Spec.Versions {
			if crd.Spec.Versions[i].Name == k.GVK.Version {
				crd.Spec.Versions[i].Served = served
			}
		}
	})).To(Succeed())
}

var _ = Describe("What the allowlist tracks", Label(label, "design-006"), func() {
	var s *scene
	BeforeEach(func(ctx context.Context) {
		s = newScene(ctx)
		allow(ctx)
		DeferCleanup(func(ctx context.Context) { allow(ctx) })
	})

	It("decides who is a root: a kind that is dropped gives its workloads free, one that is added absorbs them", func(ctx context.Context) {
		g := s.materialise(ctx, s.put(ctx, workerSet, "llm"))
		runs(ctx, g.leaderPod, digest("1"))
		runs(ctx, g.workerPod, digest("2"))
		all := report{owned: []string{"StatefulSet/llm", "StatefulSet/llm-0"}, digests: []string{digest("1"), digest("2")}}
		s.says(ctx, "leaderworkerset-llm", all)
		s.only(ctx, "leaderworkerset-llm")

		since, unresolved := mark(), counted(ctx, "StatefulSet", "rollup_unresolved")
		allow(ctx, workerSet)
		// The leaders' StatefulSet is a built-in owner: through its Pod it has the workers below.
		s.says(ctx, "statefulset-llm", report{owned: []string{"StatefulSet/llm-0"}, digests: all.digests})
		s.only(ctx, "statefulset-llm")
		oneFanOut(since)
		Expect(counted(ctx, "StatefulSet", "rollup_unresolved")).To(Equal(unresolved), "who owns them is known: it is no owner any more")

		since = mark()
		allow(ctx)
		s.says(ctx, "leaderworkerset-llm", all)
		s.only(ctx, "leaderworkerset-llm")
		oneFanOut(since)
	})

	It("does not break a chain: below a kind that is dropped, the next one above absorbs, with the digests", func(ctx context.Context) {
		top := s.put(ctx, graph, "llm")
		middle := s.put(ctx, component, "decode", ownedBy(top))
		deployment := s.deploy(ctx, "decode", template("decode"), ownedBy(middle))
		pod := s.podOf(ctx, s.replicaSetOf(ctx, deployment))
		runs(ctx, pod, digest("3"))
		s.says(ctx, "dynamographdeployment-llm", report{
			owned: []string{"Deployment/decode", "DynamoComponentDeployment/decode"}, digests: []string{digest("3")},
		})
		allow(ctx, component)
		s.says(ctx, "dynamographdeployment-llm", report{owned: []string{"Deployment/decode"}, digests: []string{digest("3")}})
		s.only(ctx, "dynamographdeployment-llm")

		By("a pod that changes while the kind in between is not watched")
		runs(ctx, pod, digest("4"))
		s.says(ctx, "dynamographdeployment-llm", report{owned: []string{"Deployment/decode"}, digests: []string{digest("4")}})
	})

	It("leaves what its dropped workloads owned to be reported, also where a built-in kind is dropped", func(ctx context.Context) {
		cronJob, _ := kinds.For(schema.GroupKind{Group: "batch", Kind: "CronJob"})
		s.overdueCronJob(ctx, "nightly")
		job := s.jobOf(ctx)
		s.says(ctx, "cronjob-nightly", report{owned: []string{"Job/" + job.Name}})
		allow(ctx, cronJob)
		s.only(ctx, "job-"+job.Name)
		allow(ctx)
		s.only(ctx, "cronjob-nightly")
	})
})

var _ = Describe("What is tracked follows the presence of the CRD", Label(label), func() {
	crd := func() *apiextensionsv1.CustomResourceDefinition {
		i := slices.IndexFunc(external, func(c *apiextensionsv1.CustomResourceDefinition) bool { return c.Name == workerSet.CRD() })
		return external[i]
	}

	It("so that workloads are reported when it is removed and absorbed when it is installed", func(ctx context.Context) {
		s := newScene(ctx)
		child := s.stateful(ctx, "child", ownedBy(s.put(ctx, workerSet, "llm")))
		s.only(ctx, "leaderworkerset-llm")

		since := mark()
		DeferCleanup(func() { install(crd()) })
		uninstall(ctx, crd())
		s.only(ctx, "statefulset-child")
		oneFanOut(since)

		since = mark()
		install(crd())
		Eventually(healthy(ctx, workerSet)).Should(Equal(1.0), "the kind is watched again")
		oneFanOut(since)
		s.only(ctx, "statefulset-child")
		adopt(ctx, child, ownedBy(s.put(ctx, workerSet, "llm")))
		s.says(ctx, "leaderworkerset-llm", report{owned: []string{"StatefulSet/child"}})
		s.only(ctx, "leaderworkerset-llm")
	})

	It("and not its health: an outage of the kind's API moves no report, not even at a start", func(ctx context.Context) {
		s := newScene(ctx)
		top := s.put(ctx, workerSet, "llm")
		g := s.materialise(ctx, top)
		s.says(ctx, "leaderworkerset-llm", report{owned: []string{"StatefulSet/llm", "StatefulSet/llm-0"}})
		made := watchAIBOMs(s)

		disturb(harness.Disturbance{
			Resource: schema.GroupResource{Group: workerSet.GVK.Group, Resource: workerSet.Resource}, Verbs: []string{"list", "watch"}, Status: 500,
		})
		Eventually(healthy(ctx, workerSet)).Should(BeZero(), "the kind's watch fails")
		before := counted(ctx, "StatefulSet", "rolled_up")
		touch(ctx, g.leaders)
		s.stateful(ctx, "late", ownedBy(top))
		Eventually(outcomes(ctx, "StatefulSet", "rolled_up")).Should(BeNumerically(">=", before+2), "both are absorbed all the same")
		s.only(ctx, "leaderworkerset-llm")

		stopManager()
		startManager(ctx)
		Eventually(outcomes(ctx, "StatefulSet", "rolled_up")).Should(BeNumerically(">=", 3), "so they are at a start")
		s.only(ctx, "leaderworkerset-llm")
		Expect(healthy(ctx, workerSet)()).To(BeZero(), "the outage goes on")

		between.Disturb()
		Eventually(healthy(ctx, workerSet)).Should(Equal(1.0), "it is over")
		s.says(ctx, "leaderworkerset-llm", report{owned: []string{"StatefulSet/late", "StatefulSet/llm", "StatefulSet/llm-0"}})
		Expect(made()).To(BeEmpty(), "no AIBOM came or went meanwhile")
	})

	It("and not the version that it serves: one that is not served for a while takes nothing from the workload above", func(ctx context.Context) {
		s := newScene(ctx)
		top := s.put(ctx, graph, "llm")
		middle := s.put(ctx, component, "decode", ownedBy(top))
		deployment := s.deploy(ctx, "decode", template("decode"), ownedBy(middle))
		runs(ctx, s.podOf(ctx, s.replicaSetOf(ctx, deployment)), digest("5"))
		all := report{owned: []string{"Deployment/decode", "DynamoComponentDeployment/decode"}, digests: []string{digest("5")}}
		s.says(ctx, "dynamographdeployment-llm", all)
		s.only(ctx, "dynamographdeployment-llm")
		unresolved := counted(ctx, "Deployment", "rollup_unresolved")

		serve(ctx, component, false)
		DeferCleanup(func(ctx context.Context) { serve(ctx, component, true) })
		Eventually(healthy(ctx, component)).Should(BeZero(), "the kind cannot be read")
		graphs, deployments := counted(ctx, graph.Name(), "failed"), counted(ctx, "Deployment", "failed")
		change(ctx, top, func(u *unstructured.Unstructured) {
			Expect(unstructured.SetNestedField(u.Object, "sglang", "spec", "backendFramework")).To(Succeed())
		})
		s.deploy(ctx, "late", template("late"), ownedBy(middle))
		Eventually(outcomes(ctx, graph.Name(), "failed")).Should(BeNumerically(">", graphs+1), "the graph is tried again and again")
		Eventually(outcomes(ctx, "Deployment", "failed")).Should(BeNumerically(">", deployments+3), "and so is the Deployment, and it is counted")
		// What was known of the component stands in for it.
		all.owned = []string{"Deployment/decode", "Deployment/late", "DynamoComponentDeployment/decode"}
		s.says(ctx, "dynamographdeployment-llm", all)
		s.only(ctx, "dynamographdeployment-llm")

		serve(ctx, component, true)
		Eventually(healthy(ctx, component)).Should(Equal(1.0), "it can be read again")
		s.says(ctx, "dynamographdeployment-llm", all)
		s.only(ctx, "dynamographdeployment-llm")
		Expect(counted(ctx, "Deployment", "rollup_unresolved")).To(Equal(unresolved), "nothing was taken for unresolved")
	})
})
