// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

const (
	// manyWorkloads are in the namespace; of these one of aiShare is an AI workload, and one of
	// statefulShare a StatefulSet.
	manyWorkloads = 2000
	aiShare       = 8
	statefulShare = 10
	manyFlips     = 50
	// creators make workloads at a time.
	creators = 16
	// scaleTimeout is how long the inventory may take to follow, on a busy machine.
	scaleTimeout = 2 * time.Minute
)

var _ = Describe("Many changes of workloadKinds in a row, with many workloads", Label("design-006"), func() {
	It("end in what the last one asks for", func(ctx context.Context) {
		ns := optedIn(ctx)
		begin := mark()
		names := populate(ctx, ns)
		var every []string
		for _, some := range names {
			every = append(every, some...)
		}
		await := func(what string, want []string) {
			GinkgoHelper()
			Eventually(listAIBOMs(ctx, ns)).WithTimeout(scaleTimeout).WithPolling(500*time.Millisecond).Should(haveExactly(want), what)
			Consistently(listAIBOMs(ctx, ns)).Should(haveExactly(want), "it stays so")
		}
		await("every AI workload is inventoried", every)
		AddReportEntry("requests for the first inventory", requestSummary(begin))

		lists := [][]string{
			{"apps/StatefulSet"}, {"apps/Deployment", "apps/StatefulSet"}, {"batch/Job"}, nil, {"apps/Deployment"},
		}
		since := mark()
		configure(ctx, ofKinds())
		for i := range manyFlips {
			write(ctx, ofKinds(lists[i%len(lists)]...))
		}
		apply(ctx, ofKinds("apps/Deployment"))
		await("the Deployments that are AI workloads, and nothing else", names["Deployment"])
		AddReportEntry(fmt.Sprintf("requests for %d changes", manyFlips), requestSummary(since))

		since = mark()
		apply(ctx, ofKinds())
		await("all of them again", every)
		AddReportEntry("requests for the kind that comes back", requestSummary(since))
	})
})

// haveExactly matches the same strings in any order; unlike ConsistOf it is fast, and says
// what differs.
func haveExactly(want []string) interface {
	Match(any) (bool, error)
	FailureMessage(any) string
	NegatedFailureMessage(any) string
} {
	return WithTransform(func(got []string) string {
		missing, surplus := difference(want, got), difference(got, want)
		return fmt.Sprintf("%d missing %v, %d surplus %v", len(missing), missing[:min(3, len(missing))], len(surplus), surplus[:min(3, len(surplus))])
	}, Equal("0 missing [], 0 surplus []"))
}

func difference(a, b []string) []string {
	in := map[string]bool{}
	for _, each := range b {
		in[each] = true
	}
	return slices.DeleteFunc(slices.Clone(a), func(each string) bool { return in[each] })
}

// populate makes the workloads and returns the names of the AIBOMs that they shall have, by
// kind. Deployments are paused, so that nothing but this project's controller works on them.
// The namespace is empty again before the next spec begins.
func populate(ctx context.Context, namespace string) map[string][]string {
	GinkgoHelper()
	DeferCleanup(func(ctx context.Context) {
		Expect(admin.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})).To(Succeed())
		Eventually(func() bool {
			return apierrors.IsNotFound(admin.Get(ctx, client.ObjectKey{Name: namespace}, &corev1.Namespace{}))
		}).WithTimeout(scaleTimeout).Should(BeTrue(), "the namespace is gone")
	})
	config := plane.Config()
	config.QPS = -1
	unlimited, err := client.New(config, client.Options{Scheme: harness.Scheme})
	Expect(err).NotTo(HaveOccurred())

	names := map[string][]string{}
	work := make(chan client.Object, manyWorkloads)
	for i := range manyWorkloads {
		kind, template := "Deployment", plain()
		if i%statefulShare == 0 {
			kind = "StatefulSet"
		}
		name := fmt.Sprintf("w%d", i)
		// The index counts StatefulSets in tens, so that both kinds have AI workloads.
		if (i/statefulShare+i%statefulShare)%aiShare == 0 {
			template = serving(llama)
			names[kind] = append(names[kind], strings.ToLower(kind)+"-"+name)
		}
		object := builders[kind](metav1.ObjectMeta{Namespace: namespace, Name: name}, template)
		if deployment, ok := object.(*appsv1.Deployment); ok {
			deployment.Spec.Paused = true
		}
		work <- object
	}
	close(work)
	Expect(names).To(HaveLen(2))

	errs := make(chan error, manyWorkloads)
	var wg sync.WaitGroup
	for range creators {
		wg.Go(func() {
			for object := range work {
				errs <- unlimited.Create(ctx, object)
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		Expect(err).NotTo(HaveOccurred())
	}
	return names
}

// requestSummary counts the manager's requests since the mark, by verb and resource.
func requestSummary(since harness.Mark) string {
	GinkgoHelper()
	all, err := plane.Requests(since, harness.Filter{User: harness.ManagerUser})
	Expect(err).NotTo(HaveOccurred())
	counts := map[string]int{}
	for _, e := range all {
		resource := e.ObjectRef.Resource
		if resource == "" {
			resource = e.RequestURI
		}
		if e.ObjectRef.Subresource != "" {
			resource += "/" + e.ObjectRef.Subresource
		}
		counts[e.Verb+" "+resource]++
	}
	lines := []string{fmt.Sprintf("%d in all", len(all))}
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		lines = append(lines, fmt.Sprintf("%5d %s", counts[what], what))
	}
	return strings.Join(lines, "\n")
}
