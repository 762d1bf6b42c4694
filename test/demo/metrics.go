// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// metricsReader is a ServiceAccount of the demo's own that may read metrics by the
	// ClusterRole that ships.
	metricsReader = "demo-metrics-reader"
	metricsRole   = "k8s-aibom-metrics-reader"
	// metricsTimeout covers the time in which a new binding becomes effective.
	metricsTimeout = 15 * time.Second
)

// checkMetrics holds the metrics endpoint to what secure metrics promise: nothing without a
// token, and everything with the token of an account that the shipped role is bound to.
func (d *demo) checkMetrics(ctx context.Context) error {
	code, _, err := scrape(ctx, d.manager.MetricsURL, "")
	if err != nil {
		return err
	}
	if code != http.StatusUnauthorized {
		return fmt.Errorf("%s without a token: expected status 401, seen %d", d.manager.MetricsURL, code)
	}
	if err := d.kubectl(ctx, "-n", systemNamespace, "create", "serviceaccount", metricsReader); err != nil {
		return err
	}
	if err := d.kubectl(ctx, "create", "clusterrolebinding", metricsReader, "--clusterrole="+metricsRole,
		"--serviceaccount="+systemNamespace+":"+metricsReader); err != nil {
		return err
	}
	config, _, err := d.plane.ServiceAccountConfig(ctx, systemNamespace, metricsReader)
	if err != nil {
		return err
	}
	last := "no answer"
	err = wait.PollUntilContextTimeout(ctx, pollInterval, metricsTimeout, true, func(ctx context.Context) (bool, error) {
		code, body, err := scrape(ctx, d.manager.MetricsURL, config.BearerToken)
		last = fmt.Sprintf("status %d, error %v, %d bytes", code, err, len(body))
		return err == nil && code == http.StatusOK && strings.Contains(body, "controller_runtime_"), nil
	})
	if err != nil {
		return fmt.Errorf("%s with a token: expected metrics, seen %s: %w", d.manager.MetricsURL, last, err)
	}
	d.say("metrics are served over TLS, and only to those who may read them")
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
