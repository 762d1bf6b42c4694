// SPDX-License-Identifier: Apache-2.0

package harness_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/kubernetes"

	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

var (
	plane *harness.ControlPlane
	admin *kubernetes.Clientset
)

func TestHarness(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(20 * time.Second)
	SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	RunSpecs(t, "Harness")
}

var _ = BeforeSuite(func(ctx context.Context) {
	noLeaks := harness.LeakCheck()
	root, err := harness.RepoRoot()
	Expect(err).NotTo(HaveOccurred())

	plane, err = harness.Start(ctx, harness.Options{
		CRDPaths:              []string{filepath.Join(root, "config", "crd", "bases")},
		AdmissionPlugins:      []string{"OwnerReferencesPermissionEnforcement"},
		WithControllerManager: true,
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() {
		files := filepath.Dir(plane.AdminKubeconfig())
		Expect(plane.Stop()).To(Succeed())
		Expect(files).NotTo(BeADirectory(), "Stop removes what it laid out")
		Expect(plane.Stop()).To(Succeed(), "a second Stop does nothing")
		Eventually(noLeaks).Should(Succeed(), "no goroutine outlives Stop")
	})
	admin, err = kubernetes.NewForConfig(plane.Config())
	Expect(err).NotTo(HaveOccurred())
})

// emptyFolder is a folder that is removed after the spec.
func emptyFolder() string {
	dir, err := os.MkdirTemp("", "k8s-aibom-test-")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(os.RemoveAll, dir)
	return dir
}
