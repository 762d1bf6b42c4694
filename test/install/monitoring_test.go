// SPDX-License-Identifier: Apache-2.0

package install_test

import (
	"regexp"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"
)

var (
	metricName       = regexp.MustCompile(`\baibom_[a-z_]+`)
	documentedMetric = regexp.MustCompile("(?m)^\\| `(aibom_[a-z_]+)` \\|")
)

// TestMonitoringUsesMetricsThatExist holds alerts and dashboard to the documented metrics, which
// are those that are registered.
func TestMonitoringUsesMetricsThatExist(t *testing.T) {
	g := NewWithT(t)
	known := map[string]bool{}
	for _, match := range documentedMetric.FindAllStringSubmatch(read(g, "docs/configuration.md"), -1) {
		known[match[1]] = true
	}
	g.Expect(known).NotTo(BeEmpty())
	for _, file := range []string{"config/monitoring/prometheusrule.yaml", "config/monitoring/dashboard.json"} {
		used := metricName.FindAllString(read(g, file), -1)
		g.Expect(used).NotTo(BeEmpty(), file)
		for _, name := range used {
			g.Expect(known).To(HaveKey(name), file)
		}
	}
}

// TestAlertsAreDocumented holds the table of alerts to the rules.
func TestAlertsAreDocumented(t *testing.T) {
	g := NewWithT(t)
	rule := struct {
		Spec struct {
			Groups []struct {
				Rules []struct {
					Alert       string
					Expr        string
					For         string
					Annotations map[string]string
				}
			}
		}
	}{}
	g.Expect(yaml.Unmarshal([]byte(read(g, "config/monitoring/prometheusrule.yaml")), &rule)).To(Succeed())
	page := read(g, "docs/install.md")
	alerts := 0
	for _, group := range rule.Spec.Groups {
		for _, r := range group.Rules {
			alerts++
			g.Expect(r.Expr).NotTo(BeEmpty())
			g.Expect(r.For).NotTo(BeEmpty())
			g.Expect(r.Annotations).To(And(HaveKey("summary"), HaveKey("description")))
			g.Expect(page).To(ContainSubstring("| `" + r.Alert + "` |"))
		}
	}
	g.Expect(alerts).To(Equal(len(regexp.MustCompile("(?m)^\\| `AIBOM[A-Za-z]+` \\|").FindAllString(page, -1))))
}
