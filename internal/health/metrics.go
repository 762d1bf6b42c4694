// SPDX-License-Identifier: Apache-2.0

package health

import "github.com/prometheus/client_golang/prometheus"

// Metrics is the outlet for Prometheus.
type Metrics struct {
	healthy  *prometheus.GaugeVec
	disabled *prometheus.GaugeVec
	errors   *prometheus.CounterVec
	// failures are the counts that the counter holds already.
	failures map[string]int
}

// NewMetrics registers the metrics.
func NewMetrics(registry prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		healthy: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "aibom_watch_healthy",
			Help: "1 while the watch of a third-party kind is healthy, 0 while it is starting, unhealthy or disabled.",
		}, []string{"kind"}),
		disabled: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "aibom_watch_disabled",
			Help: "1 while a third-party kind is not watched on purpose, else 0.",
		}, []string{"kind"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "aibom_watch_errors_total",
			Help: "Failures of the watch of a third-party kind: of its sync, its list and watch requests and its probes.",
		}, []string{"kind"}),
		failures: map[string]int{},
	}
	for _, c := range []prometheus.Collector{m.healthy, m.disabled, m.errors} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Changed sets the gauges and counts new failures.
func (m *Metrics) Changed(s Status) {
	m.healthy.WithLabelValues(s.Kind).Set(oneIf(s.Phase == PhaseHealthy))
	m.disabled.WithLabelValues(s.Kind).Set(oneIf(s.Phase == PhaseDisabled))
	if more := s.ConsecutiveFailures - m.failures[s.Kind]; more > 0 {
		m.errors.WithLabelValues(s.Kind).Add(float64(more))
	} else {
		m.errors.WithLabelValues(s.Kind) // shown as 0 from the start
	}
	m.failures[s.Kind] = s.ConsecutiveFailures
}

func oneIf(condition bool) float64 {
	if condition {
		return 1
	}
	return 0
}

// Removed drops the gauges; the counter goes on.
func (m *Metrics) Removed(kind string) {
	m.healthy.DeleteLabelValues(kind)
	m.disabled.DeleteLabelValues(kind)
	delete(m.failures, kind)
}

// Transitioned does nothing: the gauges have it all.
func (m *Metrics) Transitioned(Transition) {}
