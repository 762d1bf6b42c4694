// SPDX-License-Identifier: Apache-2.0

// Package rollup holds the ownership roll-up to its design on a real control plane: real
// Deployments, StatefulSets, Jobs and CronJobs make real pods, and the real manager runs under
// the RBAC that ships. What third parties' operators and the kubelet would do, the specs do.
package rollup

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/test/cdxschema"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

// label marks the specs of this suite by the design that they hold.
const label = "design-005"

// What config/default installs.
const (
	systemNamespace = "k8s-aibom-system"
	managerAccount  = "k8s-aibom-controller-manager"
)

var (
	root      string
	plane     *harness.ControlPlane
	scheme    = runtime.NewScheme()
	admin     client.Client
	validator *cdxschema.Validator
	// external are the CRDs of the six third-party kinds.
	external []*apiextensionsv1.CustomResourceDefinition
)

func TestRollup(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(30 * time.Second)
	SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	// Longer than the second after which the manager tries again what is undecided.
	SetDefaultConsistentlyDuration(1200 * time.Millisecond)
	SetDefaultConsistentlyPollingInterval(200 * time.Millisecond)
	RunSpecs(t, "Ownership roll-up")
}

var _ = BeforeSuite(func(ctx context.Context) {
	ctrl.SetLogger(GinkgoLogr)
	noLeaks := harness.LeakCheck()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, v1beta1.AddToScheme, apiextensionsv1.AddToScheme,
	} {
		Expect(add(scheme)).To(Succeed())
	}
	var err error
	root, err = harness.RepoRoot()
	Expect(err).NotTo(HaveOccurred())
	validator, err = cdxschema.New()
	Expect(err).NotTo(HaveOccurred())
	plane, err = harness.Start(ctx, harness.Options{WithControllerManager: true})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() {
		Expect(plane.Stop()).To(Succeed())
		Eventually(noLeaks).Should(Succeed(), "no goroutine outlives the suite")
	})
	config, err := plane.UserConfig(specsUser, "system:masters")
	Expect(err).NotTo(HaveOccurred())
	admin, err = client.New(config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())

	kubectl(ctx, "apply", "-k", filepath.Join(root, "config", "default"))
	kubectl(ctx, "-n", systemNamespace, "scale", "deployment", managerAccount, "--replicas=0")
	kubectl(ctx, "wait", "--for=condition=Established", "--timeout=30s",
		"crd/aiboms.aibom.k8saibom.dev", "crd/aibomcontrollerconfigs.aibom.k8saibom.dev")
	external, err = harness.ReadCRDs(filepath.Join(root, "config", "crd", "external"))
	Expect(err).NotTo(HaveOccurred())
	install(external...)
	keepFromGarbageCollection(ctx)
	startProxy(ctx)
	startManager(ctx)
	DeferCleanup(stopManager)
})

// awaitQuiet waits until the manager makes no more requests, such as those of a start, so that
// specs which count requests count their own.
func awaitQuiet() {
	GinkgoHelper()
	before := -1
	Eventually(func() (bool, error) {
		all, err := plane.Requests(0, harness.Filter{User: managerUser})
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
	refused, err := plane.Requests(0, harness.Filter{User: managerUser, Code: 403})
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

func kubectl(ctx context.Context, args ...string) {
	GinkgoHelper()
	_, _, err := plane.Kubectl(ctx, args...)
	Expect(err).NotTo(HaveOccurred())
}
