// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"os"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// TestOrdinaryWorkloads holds that databases, proxies, CI runners, monitoring and whatever else
// has a model or a train in its name give no AIBOM.
func TestOrdinaryWorkloads(t *testing.T) {
	const folder = "testdata/ordinary"
	files, err := os.ReadDir(folder)
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(files)).To(BeNumerically(">=", 20))
	for _, f := range files {
		t.Run(f.Name(), func(t *testing.T) {
			g := NewWithT(t)
			report, err := ScrapeFile(folder, f.Name())
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(report.Category).To(Equal(evidence.CategoryNone), "%v", report.Findings)
		})
	}
}
