// SPDX-License-Identifier: Apache-2.0

package bom

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// rollup are the properties about absorbed workloads of a report's document, as name=value.
func rollup(t *testing.T, r evidence.Report) []string {
	var all []string
	for _, p := range *decode(t, mustBuild(t, r, "1.6")).Metadata.Component.Properties {
		if family(p.Name) != p.Name || p.Name == evidence.PropRollupDropped {
			all = append(all, p.Name+"="+p.Value)
		}
	}
	return all
}

func TestAbsorbedWorkloadsAreSortedAndCountedFromZero(t *testing.T) {
	g := NewWithT(t)
	r := richReport()
	g.Expect(rollup(t, r)).To(BeEmpty())
	r.Owned = []string{"StatefulSet/llm-1", "Job/b", "StatefulSet/llm", "Job/b"}
	g.Expect(rollup(t, r)).To(Equal([]string{
		"k8s-aibom:rollup:owned:0=Job/b", "k8s-aibom:rollup:owned:1=StatefulSet/llm", "k8s-aibom:rollup:owned:2=StatefulSet/llm-1",
	}))
}

func TestAbsorbedWorkloadsBeyondTheBoundAreCounted(t *testing.T) {
	g := NewWithT(t)
	r := richReport()
	for i := range maxOwned + 3 {
		r.Owned = append(r.Owned, fmt.Sprintf("Job/nightly-%04d", i))
	}
	found := rollup(t, r)
	g.Expect(found).To(HaveLen(maxOwned + 1))
	g.Expect(found).To(ContainElements("k8s-aibom:rollup:owned:511=Job/nightly-0511", "k8s-aibom:rollup:dropped=3"))
	g.Expect(rollup(t, Normalize(r))).To(Equal(found), "the number is not lost when the report is normalised again")
}

func TestAReportWithoutAbsorbedWorkloadsHasTheHashThatItHad(t *testing.T) {
	g := NewWithT(t)
	g.Expect(mustJSON(t, Normalize(richReport()))).NotTo(ContainSubstring("owned"))
}
