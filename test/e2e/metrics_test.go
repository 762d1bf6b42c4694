// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

var _ = Describe("The metrics endpoint is secure", Label("foundation-3"), func() {
	It("answers nobody without a token", func(ctx context.Context) {
		code, body := metrics(ctx, "")
		Expect(code).To(Equal(http.StatusUnauthorized))
		Expect(body).NotTo(ContainSubstring("controller_runtime_"))
	})

	It("answers nobody with a token that the API server does not know", func(ctx context.Context) {
		// controller-runtime answers 500 where the API server says why it refuses a token.
		code, body := metrics(ctx, "no-token-of-this-cluster")
		Expect(code).To(Or(Equal(http.StatusUnauthorized), Equal(http.StatusInternalServerError)))
		Expect(body).NotTo(ContainSubstring("controller_runtime_"))
	})

	It("answers nobody who may not read metrics", func(ctx context.Context) {
		config, _, err := plane.ServiceAccountConfig(ctx, optedIn(ctx), "default")
		Expect(err).NotTo(HaveOccurred())
		code, body := metrics(ctx, config.BearerToken)
		Expect(code).To(Equal(http.StatusForbidden))
		Expect(body).NotTo(ContainSubstring("controller_runtime_"))
	})

	It("answers whoever the shipped ClusterRole is bound to", func(ctx context.Context) {
		ns := optedIn(ctx)
		deploy(ctx, ns, "llm", llama)
		awaitAIBOM(ctx, ns, "deployment-llm")
		code, body := metrics(ctx, metricsToken(ctx))
		Expect(code).To(Equal(http.StatusOK))
		Expect(body).To(MatchRegexp(`aibom_workload_reconcile_outcomes_total\{kind="Deployment",outcome="inventoried"\} [1-9]`))
		Expect(body).To(ContainSubstring("aibom_config_invalid 0"))
		Expect(body).To(MatchRegexp(`leader_election_master_status\{.*\} 1`))
	})

	It("does not speak plain HTTP", func(ctx context.Context) {
		Expect(manager.MetricsURL).To(HavePrefix("https://"))
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http"+manager.MetricsURL[len("https"):], nil)
		Expect(err).NotTo(HaveOccurred())
		request.Close = true
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			defer response.Body.Close()
			Expect(response.StatusCode).To(Equal(http.StatusBadRequest))
		}
	})
})

// metrics asks the manager's metrics endpoint with a bearer token, if any.
func metrics(ctx context.Context, token string) (int, string) {
	GinkgoHelper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, manager.MetricsURL, nil)
	Expect(err).NotTo(HaveOccurred())
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	// The manager signs its own certificate; the address is this machine's.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	response, err := (&http.Client{Transport: transport}).Do(request)
	Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	Expect(err).NotTo(HaveOccurred())
	return response.StatusCode, string(body)
}

// metricsToken is the token of an account that may read metrics by the ClusterRole that ships.
func metricsToken(ctx context.Context) string {
	GinkgoHelper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: harness.SystemNamespace, Name: "e2e-metrics-reader"}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: account.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: harness.MetricsRole},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: harness.SystemNamespace, Name: account.Name}},
	}
	for _, object := range []client.Object{account, binding} {
		Expect(client.IgnoreAlreadyExists(admin.Create(ctx, object))).To(Succeed())
	}
	config, _, err := plane.ServiceAccountConfig(ctx, harness.SystemNamespace, account.Name)
	Expect(err).NotTo(HaveOccurred())
	Eventually(func() int {
		code, _ := metrics(ctx, config.BearerToken)
		return code
	}).Should(Equal(http.StatusOK), "the binding becomes effective")
	return config.BearerToken
}
