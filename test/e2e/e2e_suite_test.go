// SPDX-License-Identifier: Apache-2.0

// Package e2e holds the whole controller to its specification on a real control plane. The
// manager is the real binary, acts as the ServiceAccount that config/ ships and has no other
// rights than those; requests are counted from the API server's audit log. Only where a
// failure has to be injected does the manager run inside the suite.
package e2e

import (
	"context"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/test/cdxschema"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
	"github.com/k8s-aibom/k8s-aibom/test/suite"
)

var (
	root      string
	plane     *harness.ControlPlane
	admin     client.WithWatch
	validator *cdxschema.Validator
	documents *observer
)

func TestE2E(t *testing.T) { suite.Run(t, "End to end") }

var _ = BeforeSuite(func(ctx context.Context) {
	var err error
	root, err = harness.RepoRoot()
	Expect(err).NotTo(HaveOccurred())
	validator, err = cdxschema.New()
	Expect(err).NotTo(HaveOccurred())
	plane = suite.Start(ctx, harness.Options{
		AdmissionPlugins:      []string{"OwnerReferencesPermissionEnforcement"},
		WithControllerManager: true,
	})
	admin, err = client.NewWithWatch(plane.Config(), client.Options{Scheme: harness.Scheme})
	Expect(err).NotTo(HaveOccurred())
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
	refused, err := plane.Requests(0, harness.Filter{User: harness.ManagerUser, Code: 403})
	Expect(err).NotTo(HaveOccurred())
	Expect(refused).To(BeEmpty(), "the RBAC that ships allows whatever the manager asks for")
})

func kubectl(ctx context.Context, args ...string) string {
	GinkgoHelper()
	out, _, err := plane.Kubectl(ctx, args...)
	Expect(err).NotTo(HaveOccurred())
	return out
}
