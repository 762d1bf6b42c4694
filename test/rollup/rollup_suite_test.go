// SPDX-License-Identifier: Apache-2.0

// Package rollup holds the ownership roll-up to its design on a real control plane: real
// Deployments, StatefulSets, Jobs and CronJobs make real pods, and the real manager runs under
// the RBAC that ships. What third parties' operators and the kubelet would do, the specs do.
package rollup

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/test/cdxschema"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
	"github.com/k8s-aibom/k8s-aibom/test/suite"
)

// label marks the specs of this suite by the design that they hold.
const label = "design-005"

var (
	plane     *harness.ControlPlane
	admin     client.Client
	validator *cdxschema.Validator
	// external are the CRDs of the six third-party kinds.
	external []*apiextensionsv1.CustomResourceDefinition
)

func TestRollup(t *testing.T) { suite.Run(t, "Ownership roll-up") }

var _ = BeforeSuite(func(ctx context.Context) {
	var err error
	validator, err = cdxschema.New()
	Expect(err).NotTo(HaveOccurred())
	plane = suite.Start(ctx, harness.Options{WithControllerManager: true})
	config, err := plane.UserConfig(specsUser, "system:masters")
	Expect(err).NotTo(HaveOccurred())
	admin, err = client.New(config, client.Options{Scheme: harness.Scheme})
	Expect(err).NotTo(HaveOccurred())

	external, err = harness.ExternalCRDs()
	Expect(err).NotTo(HaveOccurred())
	install(external...)
	keepFromGarbageCollection(ctx)
	between, kubeconfig = suite.Proxy(ctx, plane)
	startManager(ctx)
	DeferCleanup(stopManager)
})

// awaitQuiet waits until the manager makes no more requests, such as those of a start, so that
// specs which count requests count their own.
func awaitQuiet() {
	GinkgoHelper()
	before := -1
	Eventually(func() (bool, error) {
		all, err := plane.Requests(0, harness.Filter{User: harness.ManagerUser})
		made := 0
		for _, e := range all {
			if e.Verb != "watch" && e.ObjectRef.Resource != "leases" {
				made++
			}
		}
		quiet := made > 0 && made == before
		before = made
		return quiet, err
	}).WithPolling(2*time.Second).WithTimeout(time.Minute).Should(BeTrue(), "the manager is at rest")
}

// Whatever the specs do, every document is valid, and the RBAC that ships is enough.
var _ = AfterEach(func(ctx context.Context) {
	if CurrentSpecReport().Failed() {
		AddReportEntry("manager", manager.LogTail())
	}
	list := &v1beta1.AIBOMList{}
	Expect(admin.List(ctx, list)).To(Succeed())
	for i := range list.Items {
		Expect(valid(&list.Items[i])).To(Succeed())
	}
	Expect(refusals()).To(BeEmpty(), "the RBAC that ships allows whatever the manager asks for")
})

// refusals are the requests that RBAC refused to the manager, but for those for the one kind
// that specs made for that.
func refusals() ([]string, error) {
	refused, err := plane.Requests(0, harness.Filter{User: harness.ManagerUser, Code: 403})
	var lines []string
	for _, e := range refused {
		if e.ObjectRef.Resource != secretive.Spec.Names.Plural {
			lines = append(lines, e.String())
		}
	}
	return lines, err
}

// install has the API server serve CRDs. Each is copied, for it is completed on the way.
func install(crds ...*apiextensionsv1.CustomResourceDefinition) {
	GinkgoHelper()
	for _, crd := range crds {
		Expect(plane.InstallCRDs(crd.DeepCopy())).To(Succeed(), "%s is installed", crd.Name)
	}
}
