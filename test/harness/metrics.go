// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"net/http"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// metricsTimeout is how long a busy manager may take to tell its metrics.
const metricsTimeout = 10 * time.Second

// Samples reads the samples of one of the metrics of a manager with InsecureMetrics.
func (m *ManagerProcess) Samples(ctx context.Context, name string) ([]*dto.Metric, error) {
	ctx, cancel := context.WithTimeout(ctx, metricsTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.MetricsURL, nil)
	if err != nil {
		return nil, err
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		return nil, err
	}
	return families[name].GetMetric(), nil
}
