// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
	"github.com/k8s-aibom/k8s-aibom/test/watched"
)

// listed lists the objects of a kind in the version that the controller reads.
func listed(ctx context.Context, k kinds.Kind) func() error {
	return func() error {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(k.GVK.GroupVersion().WithKind(k.GVK.Kind + "List"))
		return system.Admin.List(ctx, list)
	}
}

func patch(ctx context.Context, k kinds.Kind, change func(*apiextensionsv1.CustomResourceDefinition)) {
	GinkgoHelper()
	Expect(system.Plane.PatchCRD(ctx, k.CRD(), change)).To(Succeed())
}

// serve says whether the version that the controller reads is served.
func serve(ctx context.Context, k kinds.Kind, served bool) {
	GinkgoHelper()
	patch(ctx, k, func(crd *apiextensionsv1.CustomResourceDefinition) {
		for i := range crd.Spec.Versions {
			if crd.Spec.Versions[i].Name == k.GVK.Version {
				crd.Spec.Versions[i].Served = served
			}
		}
	})
}

// stopServing has the API server not serve the version of a kind that is read, and returns once
// the manager tells why it does not watch the kind any more.
func stopServing(ctx context.Context, m *manager, k kinds.Kind) {
	GinkgoHelper()
	serve(ctx, k, false)
	m.ExpectUnhealthy(ctx, k, watched.Slack, k.CRD(), "does not serve the version "+k.GVK.Version)
}

// labelCRD changes a label of a CRD and nothing else.
func labelCRD(ctx context.Context, k kinds.Kind, value string) {
	GinkgoHelper()
	patch(ctx, k, func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Labels = map[string]string{"touched": value}
	})
}

func read(ctx context.Context, k kinds.Kind) *apiextensionsv1.CustomResourceDefinition {
	GinkgoHelper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	Expect(system.Admin.Get(ctx, client.ObjectKey{Name: k.CRD()}, crd)).To(Succeed())
	return crd
}

// create creates a variant of a kind's fixture and does not wait for it to be served.
func create(ctx context.Context, k kinds.Kind, change func(*apiextensionsv1.CustomResourceDefinition)) {
	GinkgoHelper()
	crd, err := harness.ExternalCRD(k.CRD())
	Expect(err).NotTo(HaveOccurred())
	change(crd)
	Expect(system.Admin.Create(ctx, crd)).To(Succeed())
}

const finalizer = "aibom.k8saibom.dev/spec"

// hold puts a workload that cannot be deleted, before release is called or the spec ends.
func hold(ctx context.Context, s *scene, k kinds.Kind, name string) (release func(context.Context)) {
	GinkgoHelper()
	u := s.Workload(k, name)
	u.SetFinalizers([]string{finalizer})
	Expect(system.Admin.Create(ctx, u)).To(Succeed())
	release = func(ctx context.Context) {
		GinkgoHelper()
		held := watched.Empty(k, k.GVK.Version)
		held.SetNamespace(s.Namespace)
		held.SetName(name)
		err := system.Admin.Patch(ctx, held, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
		Expect(client.IgnoreNotFound(err)).To(Succeed())
	}
	DeferCleanup(release)
	return release
}

// terminating deletes a kind's CRD and returns once the API server has begun with that: an
// object holds it up.
func terminating(ctx context.Context, k kinds.Kind) {
	GinkgoHelper()
	Expect(system.Plane.DeleteCRD(ctx, k.CRD())).To(Succeed())
	Expect(read(ctx, k).DeletionTimestamp).NotTo(BeNil(), "the CRD of %s is on its way out", k.Name())
	Expect(listed(ctx, k)()).To(Succeed(), "and still served")
}

// mark is the present end of the audit log.
func mark() harness.Mark {
	GinkgoHelper()
	m, err := system.Plane.Mark()
	Expect(err).NotTo(HaveOccurred())
	return m
}

// requests are the manager's requests since a mark.
func requests(since harness.Mark, filter harness.Filter) []harness.AuditEvent {
	GinkgoHelper()
	filter.User = harness.ManagerUser
	some, err := system.Plane.Requests(since, filter)
	Expect(err).NotTo(HaveOccurred())
	return some
}

// resourceOf is the resource of a kind, as a proxy knows it.
func resourceOf(k kinds.Kind) schema.GroupResource {
	return schema.GroupResource{Group: k.GVK.Group, Resource: k.Resource}
}

// looks are the manager's reads of the whole CRD of a kind since a mark.
func looks(since harness.Mark, k kinds.Kind) int {
	GinkgoHelper()
	return len(requests(since, harness.Filter{Verb: "get", Resource: crds.Resource, Name: k.CRD()}))
}

// awaitLook returns once the manager has seen the CRD of a kind as it is now: it changes a
// label, and awaits the read that this leads to.
func awaitLook(ctx context.Context, k kinds.Kind) {
	GinkgoHelper()
	since := mark()
	labelCRD(ctx, k, fmt.Sprint(int64(since)))
	Eventually(func() int { return looks(since, k) }).Should(BeNumerically(">", 0), "the CRD of %s is read", k.Name())
}

// runnersStarted are the requests by which runners began since a mark: each watches the
// namespaces from a cache of its own. Requests for a kind's objects would not do, for a change
// of the CRD has the API server end watches, and an informer then lists anew.
func runnersStarted(since harness.Mark) []harness.AuditEvent {
	GinkgoHelper()
	return requests(since, harness.Filter{Verb: "watch", Resource: "namespaces"})
}

// filled is when the informer of a kind had listed, told from probes by the latters' limit.
func filled(since harness.Mark, k kinds.Kind) time.Time {
	GinkgoHelper()
	for _, r := range requests(since, harness.Filter{Verb: "list", Resource: k.Resource, Code: 200}) {
		if !strings.Contains(r.RequestURI, "limit=1&") && !strings.HasSuffix(r.RequestURI, "limit=1") {
			return r.StageTimestamp
		}
	}
	Fail("no informer of " + k.Name() + " has listed")
	return time.Time{}
}

// deletions are the names of the AIBOMs in a scene that the manager asked to delete since a
// mark, once for each request.
func deletions(since harness.Mark, s *scene) []string {
	GinkgoHelper()
	names := []string{}
	for _, r := range requests(since, harness.Filter{Verb: "delete", Resource: "aiboms", Namespace: s.Namespace}) {
		names = append(names, r.ObjectRef.Name)
	}
	slices.Sort(names)
	return names
}

// owner is the UID of the workload that owns an AIBOM.
func owner(ctx context.Context, s *scene, aibom string) func() (string, error) {
	return func() (string, error) {
		a := &v1beta1.AIBOM{}
		if err := system.Admin.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: aibom}, a); err != nil {
			return "", err
		}
		if len(a.OwnerReferences) == 0 {
			return "", nil
		}
		return string(a.OwnerReferences[0].UID), nil
	}
}
