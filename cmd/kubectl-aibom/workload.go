// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
)

// workload is one row: an AIBOM without its document. Its JSON form is what -o json prints.
type workload struct {
	AIBOM   string      `json:"aibom"`
	Created metav1.Time `json:"created"`
	Ready   string      `json:"ready"`

	v1beta1.AIBOMSummary `json:",inline"`

	// Matches is what find found in it.
	Matches []string `json:"matches,omitempty"`
}

// workloadOf reads the row from an AIBOM, which has no summary yet right after it was made.
func workloadOf(aibom *v1beta1.AIBOM) workload {
	w := workload{AIBOM: aibom.Name, Created: aibom.CreationTimestamp, Ready: string(metav1.ConditionUnknown)}
	if ready := meta.FindStatusCondition(aibom.Status.Conditions, v1beta1.ConditionReady); ready != nil {
		w.Ready = string(ready.Status)
	}
	if aibom.Status.Summary != nil {
		w.AIBOMSummary = *aibom.Status.Summary
	}
	ref := aibom.Spec.WorkloadRef
	w.Workload.Namespace, w.Workload.APIVersion, w.Workload.Kind, w.Workload.Name = aibom.Namespace, ref.APIVersion, ref.Kind, ref.Name
	return w
}

// totals sums up rows.
type totals struct {
	Workloads  int            `json:"workloads"`
	Namespaces int            `json:"namespaces"`
	Categories map[string]int `json:"categories"`
	// Models counts different identities, those of unresolved ones included.
	Models int `json:"models"`
}

func totalsOf(workloads []workload) *totals {
	sum := &totals{Workloads: len(workloads), Categories: map[string]int{}}
	namespaces, models := map[string]bool{}, map[string]bool{}
	for _, w := range workloads {
		namespaces[w.Workload.Namespace] = true
		sum.Categories[cmp.Or(w.Workload.Category, "uncategorised")]++
		for _, m := range w.Models {
			models[m.Identity] = true
		}
	}
	sum.Namespaces, sum.Models = len(namespaces), len(models)
	return sum
}

// String is the last line of a table.
func (t *totals) String() string {
	var categories []string
	for _, category := range slices.Sorted(maps.Keys(t.Categories)) {
		categories = append(categories, fmt.Sprintf("%d %s", t.Categories[category], category))
	}
	return fmt.Sprintf("Total: %s in %s (%s), %s",
		counted(t.Workloads, "workload"), counted(t.Namespaces, "namespace"), strings.Join(categories, ", "), counted(t.Models, "model"))
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
