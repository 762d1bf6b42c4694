// SPDX-License-Identifier: Apache-2.0

package harness_test

import (
	"context"
	"crypto/tls"
	"net/http"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

var _ = Describe("the manager process", func() {
	It("runs the real binary until it is stopped", func(ctx context.Context) {
		mark, err := plane.Mark()
		Expect(err).NotTo(HaveOccurred())
		manager, err := plane.StartManager(ctx, harness.ManagerOptions{LeaderElect: true})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { _ = manager.Kill() })

		Expect(manager.Probe(ctx, "/healthz")).To(Succeed())
		Eventually(func() (int, error) { return status(ctx, manager.MetricsURL) }).
			Should(Equal(http.StatusUnauthorized), "metrics are not for everybody")
		Eventually(func() ([]harness.AuditEvent, error) {
			return plane.Requests(mark, harness.Filter{Resource: "leases", Verb: "create", Namespace: "default"})
		}).ShouldNot(BeEmpty(), "it takes the lease of the namespace in POD_NAMESPACE")

		Expect(manager.Stop()).To(Succeed(), "it ends with 0 on SIGTERM")
		Expect(manager.Exited()).To(BeClosed())
		Expect(manager.Log()).NotTo(BeEmpty())
	})

	It("shows the log of a manager that ends", func(ctx context.Context) {
		binary := filepath.Join(emptyFolder(), "manager")
		Expect(os.WriteFile(binary, []byte("#!/bin/sh\necho it is $POD_NAME; exit 7\n"), 0o700)).To(Succeed())
		GinkgoT().Setenv(harness.ManagerBinaryVariable, binary)
		_, err := plane.StartManager(ctx, harness.ManagerOptions{Name: "short-lived"})
		Expect(err).To(MatchError(And(ContainSubstring("exit status 7"), ContainSubstring("it is short-lived"))))
	})
})

// status asks url without credentials and returns the HTTP status.
func status(ctx context.Context, url string) (int, error) {
	// The manager signs its own certificate; whose it is does not matter here.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}
