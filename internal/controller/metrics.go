// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/k8s-aibom/k8s-aibom/internal/settings"
	"github.com/k8s-aibom/k8s-aibom/internal/sink"
)

// outcome is how one look at a workload ended.
type outcome string

const (
	outcomeInventoried    outcome = "inventoried"
	outcomeUnchanged      outcome = "unchanged"
	outcomeNotOptedIn     outcome = "not_opted_in"
	outcomeKindNotAllowed outcome = "kind_not_allowed"
	outcomeNotAI          outcome = "not_ai"
	outcomeFailed         outcome = "failed"
	// outcomeRolledUp is that of a workload that another one absorbs.
	outcomeRolledUp outcome = "rolled_up"
	// outcomeRollupUnresolved is in the place of inventoried and unchanged where it cannot be
	// known who owns the workload.
	outcomeRollupUnresolved outcome = "rollup_unresolved"
	// outcomeUndecided is not counted: the workload is looked at again before long.
	outcomeUndecided outcome = ""
)

var outcomes = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "aibom_workload_reconcile_outcomes_total",
	Help: "How looks at workloads ended, by the workload's kind and the outcome.",
}, []string{"kind", "outcome"})

var sinkHealthy = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "aibom_sink_healthy",
	Help: "1 while a sink took the newest document that was delivered to it, 0 while it did not.",
}, []string{"sink"})

func init() { metrics.Registry.MustRegister(outcomes, sinkHealthy) }

// noteDelivery keeps how the newest delivery to a sink ended.
func noteDelivery(name string, err error) {
	healthy := 1.0
	if err != nil {
		healthy = 0
	}
	sinkHealthy.WithLabelValues(name).Set(healthy)
}

// forgetSinks drops what is known of sinks that are not configured any more.
func forgetSinks(before, after *settings.Snapshot) {
	for _, s := range before.Sinks {
		if !slices.ContainsFunc(after.Sinks, func(other sink.Sink) bool { return other.Name() == s.Name() }) {
			sinkHealthy.DeleteLabelValues(s.Name())
		}
	}
}
