// SPDX-License-Identifier: Apache-2.0

// Package e2e holds the whole controller to its specification on a real control plane. The
// manager is the real binary, acts as the ServiceAccount that config/ ships and has no other
// rights than those; requests are counted from the API server's audit log. Only where a
// failure has to be injected does the manager run inside the suite.
package e2e

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/test/cdxschema"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

// What config/default installs.
const (
	systemNamespace = "k8s-aibom-system"
	managerAccount  = "k8s-aibom-controller-manager"
	metricsRole     = "k8s-aibom-metrics-reader"
)

var (
	root      string
	plane     *harness.ControlPlane
	scheme    = runtime.NewScheme()
	admin     client.WithWatch
	validator *cdxschema.Validator
	documents *observer
)

// libraryGoroutines outlive what is under test, and not by its doing: klog's and Ginkgo's run
// as long as the program, and the metadata client's watches do not take back what they were
// about to send when they are stopped.
var libraryGoroutines = []goleak.Option{
	goleak.IgnoreAnyFunction("k8s.io/klog/v2.(*flushDaemon).run.func1"),
	goleak.IgnoreAnyFunction("github.com/onsi/ginkgo/v2/internal/interrupt_handler.(*InterruptHandler).registerForInterrupts.func2"),
	goleak.IgnoreAnyFunction("k8s.io/apimachinery/pkg/watch.(*filteredWatch).loop"),
}

func TestE2E(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(30 * time.Second)
	SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	// Longer than the second after which the manager tries again what lost a race.
	SetDefaultConsistentlyDuration(1200 * time.Millisecond)
	SetDefaultConsistentlyPollingInterval(200 * time.Millisecond)
	RunSpecs(t, "End to end")
}

var _ = BeforeSuite(func(ctx context.Context) {
	before := goleak.IgnoreCurrent()
	Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	Expect(v1beta1.AddToScheme(scheme)).To(Succeed())
	var err error
	root, err = harness.RepoRoot()
	Expect(err).NotTo(HaveOccurred())
	validator, err = cdxschema.New()
	Expect(err).NotTo(HaveOccurred())

	plane, err = harness.Start(ctx, harness.Options{
		AdmissionPlugins:      []string{"OwnerReferencesPermissionEnforcement"},
		WithControllerManager: true,
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() {
		Expect(plane.Stop()).To(Succeed())
		Eventually(func() error { return goleak.Find(append(libraryGoroutines, before)...) }).
			Should(Succeed(), "no goroutine outlives the suite")
	})
	admin, err = client.NewWithWatch(plane.Config(), client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())

	install(ctx)
	documents = observe()
	DeferCleanup(documents.stop)
	startManager(ctx)
})

// Whatever the specs do, no invalid document may ever be seen, and the RBAC that ships must
// have been enough.
var _ = AfterEach(func() {
	if CurrentSpecReport().Failed() {
		AddReportEntry("manager", manager.LogTail())
	}
	Expect(documents.complaints()).To(BeEmpty(), "every document that ever appeared is valid")
	refused, err := plane.Requests(0, harness.Filter{User: managerUser, Code: 403})
	Expect(err).NotTo(HaveOccurred())
	Expect(refused).To(BeEmpty(), "the RBAC that ships allows whatever the manager asks for")
})

// install applies config/default. Its Deployment gets no pods, for there is no node to run
// them; the specs run the binary themselves.
func install(ctx context.Context) {
	GinkgoHelper()
	kubectl(ctx, "apply", "-k", filepath.Join(root, "config", "default"))
	kubectl(ctx, "-n", systemNamespace, "scale", "deployment", managerAccount, "--replicas=0")
	kubectl(ctx, "wait", "--for=condition=Established", "--timeout=30s",
		"crd/aiboms.aibom.k8saibom.dev", "crd/aibomcontrollerconfigs.aibom.k8saibom.dev")
}

func kubectl(ctx context.Context, args ...string) string {
	GinkgoHelper()
	out, _, err := plane.Kubectl(ctx, args...)
	Expect(err).NotTo(HaveOccurred())
	return out
}
