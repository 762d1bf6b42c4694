// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

const (
	// metricsReader is a ServiceAccount of the checks' own that may read metrics by the
	// ClusterRole that ships.
	metricsReader = "demo-metrics-reader"
	// metricsTimeout covers the time in which a new binding becomes effective.
	metricsTimeout = 15 * time.Second
)

// checkMetrics holds the metrics endpoint to what secure metrics promise: nothing without a
// token, and everything with the token of an account that the shipped role is bound to.
func (c Checks) metrics(ctx context.Context) error {
	code, _, err := scrape(ctx, c.Manager.MetricsURL, "")
	if err != nil {
		return err
	}
	if code != http.StatusUnauthorized {
		return fmt.Errorf("%s without a token: expected status 401, seen %d", c.Manager.MetricsURL, code)
	}
	if err := c.kubectl(ctx, "-n", harness.SystemNamespace, "create", "serviceaccount", metricsReader); err != nil {
		return err
	}
	if err := c.kubectl(ctx, "create", "clusterrolebinding", metricsReader, "--clusterrole="+harness.MetricsRole,
		"--serviceaccount="+harness.SystemNamespace+":"+metricsReader); err != nil {
		return err
	}
	// Nothing of the checks stays: they can be made again.
	defer func() {
		_ = c.kubectl(context.WithoutCancel(ctx), "delete", "clusterrolebinding", metricsReader)
		_ = c.kubectl(context.WithoutCancel(ctx), "-n", harness.SystemNamespace, "delete", "serviceaccount", metricsReader)
	}()
	config, _, err := c.Plane.ServiceAccountConfig(ctx, harness.SystemNamespace, metricsReader)
	if err != nil {
		return err
	}
	last := "no answer"
	err = wait.PollUntilContextTimeout(ctx, pollInterval, metricsTimeout, true, func(ctx context.Context) (bool, error) {
		code, body, err := scrape(ctx, c.Manager.MetricsURL, config.BearerToken)
		last = fmt.Sprintf("status %d, error %v, %d bytes", code, err, len(body))
		return err == nil && code == http.StatusOK && strings.Contains(body, "controller_runtime_"), nil
	})
	if err != nil {
		return fmt.Errorf("%s with a token: expected metrics, seen %s: %w", c.Manager.MetricsURL, last, err)
	}
	c.Say("metrics are served over TLS, and only to those who may read them")
	return nil
}

// scrape asks url with a bearer token, if any, and returns the HTTP status and the body.
func scrape(ctx context.Context, url, token string) (int, string, error) {
	// The manager signs its certificate itself, and the address is this machine's.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := (&http.Client{Transport: transport, Timeout: metricsTimeout}).Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}
