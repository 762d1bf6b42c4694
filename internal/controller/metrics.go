// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
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

func init() { metrics.Registry.MustRegister(outcomes) }
