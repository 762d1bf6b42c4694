// SPDX-License-Identifier: Apache-2.0

package install_test

import (
	"regexp"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"
)

var releaseLine = regexp.MustCompile(`(?m)^RELEASE := (\S+)$`)

// TestEveryWayInstallsTheSameVersion holds the bundle and the chart to the release that the
// Makefile names.
func TestEveryWayInstallsTheSameVersion(t *testing.T) {
	g := NewWithT(t)
	match := releaseLine.FindStringSubmatch(read(g, "Makefile"))
	g.Expect(match).NotTo(BeNil())
	chart := struct{ Version, AppVersion string }{}
	g.Expect(yaml.Unmarshal([]byte(read(g, "charts/k8s-aibom/Chart.yaml")), &chart)).To(Succeed())
	g.Expect(chart.Version).To(Equal(match[1]))
	g.Expect(chart.AppVersion).To(Equal(match[1]))
	csv := struct{ Spec struct{ Version string } }{}
	g.Expect(yaml.Unmarshal([]byte(read(g, csvFile)), &csv)).To(Succeed())
	g.Expect(csv.Spec.Version).To(Equal(match[1]))
}

// TestChartHasTheCRDsThatShip holds the chart's CRDs to those that are generated.
func TestChartHasTheCRDsThatShip(t *testing.T) {
	g := NewWithT(t)
	for _, crd := range []string{"aibom.k8saibom.dev_aiboms.yaml", "aibom.k8saibom.dev_aibomcontrollerconfigs.yaml"} {
		g.Expect(read(g, "charts/k8s-aibom/crds/"+crd)).To(Equal(read(g, "config/crd/bases/"+crd)))
	}
}
