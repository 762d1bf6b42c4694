// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/yaml"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	_ "github.com/k8s-aibom/k8s-aibom/internal/controller" // registers the metrics
	"github.com/k8s-aibom/k8s-aibom/internal/health"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/internal/settings"
	"github.com/k8s-aibom/k8s-aibom/internal/sink"
)

const configCRD = "config/crd/bases/aibom.k8saibom.dev_aibomcontrollerconfigs.yaml"

// fieldRows are the rows of the tables of fields, by the field's path.
func fieldRows(t *testing.T) map[string][]string {
	t.Helper()
	rows := map[string][]string{}
	for _, row := range table(t, configurationPage, "Field") {
		rows[plain(row[0])] = row
	}
	return rows
}

// schemaFields are the fields of the served schema's spec that a user can set: leaves, lists
// and the objects that are a choice of their own.
func schemaFields(t *testing.T) []string {
	t.Helper()
	crd := apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(read(t, configCRD)), &crd); err != nil {
		t.Fatal(err)
	}
	var fields []string
	var visit func(path string, schema apiextensionsv1.JSONSchemaProps)
	visit = func(path string, schema apiextensionsv1.JSONSchemaProps) {
		fields = append(fields, path)
		for name, property := range schema.Properties {
			visit(path+"."+name, property)
		}
		if schema.Items != nil && schema.Items.Schema != nil {
			for name, property := range schema.Items.Schema.Properties {
				visit(path+"[]."+name, property)
			}
		}
	}
	for name, section := range crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties {
		visit("spec."+name, section)
	}
	return fields
}

func TestEveryFieldIsDocumented(t *testing.T) {
	g := NewWithT(t)
	rows := fieldRows(t)
	known := schemaFields(t)
	for _, field := range known {
		if _, section := sections[field]; section {
			continue
		}
		g.Expect(rows).To(HaveKey(field))
	}
	for field := range rows {
		g.Expect(known).To(ContainElement(field), "%s is documented and does not exist", field)
	}
}

// sections are the objects that have a heading instead of a row.
var sections = map[string]struct{}{"spec.discovery": {}, "spec.bomGeneration": {}, "spec.logging": {}}

func TestEverySectionHasAHeading(t *testing.T) {
	g := NewWithT(t)
	page := read(t, configurationPage)
	for section := range sections {
		g.Expect(page).To(ContainSubstring("\n## " + strings.TrimPrefix(section, "spec.") + "\n"))
	}
}

func TestDefaultsAreThoseOfTheCode(t *testing.T) {
	g := NewWithT(t)
	rows := fieldRows(t)
	defaults := settings.Default()
	for field, want := range map[string]string{
		"spec.discovery.namespaceSelector":            defaults.NamespaceSelector.String(),
		"spec.bomGeneration.inlineThresholdBytes":     strconv.Itoa(defaults.InlineThresholdBytes),
		"spec.bomGeneration.staleThresholdReconciles": strconv.Itoa(defaults.StaleThresholdReconciles),
		"spec.bomGeneration.specVersion":              defaults.SpecVersion,
		"spec.logging.level":                          settings.DefaultLogLevel,
		"spec.logging.format":                         settings.DefaultLogFormat,
		"spec.sinks[].http.timeoutSeconds":            strconv.Itoa(int(sink.DefaultTimeout.Seconds())),
	} {
		g.Expect(rows).To(HaveKey(field))
		g.Expect(plain(rows[field][2])).To(Equal(want), field)
	}
	upTo := strconv.Itoa(v1beta1.MaxInlineThresholdBytes)
	g.Expect(rows["spec.bomGeneration.inlineThresholdBytes"][1]).To(HaveSuffix(" to " + upTo))
}

func TestKindsAreDocumented(t *testing.T) {
	g := NewWithT(t)
	documented := code(fieldRows(t)["spec.discovery.workloadKinds"][3])
	for _, kind := range kinds.Catalogue {
		g.Expect(documented).To(ContainElement(kind.Key()))
	}
}

func TestConditionsAndReasonsAreDocumented(t *testing.T) {
	g := NewWithT(t)
	conditions := stringConstants(t, "api/v1beta1/conditions.go", func(name, _ string) bool {
		return strings.HasPrefix(name, "Condition") || strings.HasPrefix(name, "Reason")
	})
	g.Expect(conditions).NotTo(BeEmpty())
	known := map[string]bool{}
	var documented []string
	for _, row := range table(t, configurationPage, "Condition") {
		documented = append(documented, code(row[0]+" "+row[1])...)
	}
	for _, word := range conditions {
		known[word] = true
		g.Expect(documented).To(ContainElement(word))
	}
	for _, word := range documented {
		g.Expect(known).To(HaveKey(word))
	}
}

// metricDescription is how client_golang shows a Desc.
var metricDescription = regexp.MustCompile(`fqName: "(aibom_[a-z0-9_]+)", help: "((?:[^"\\]|\\.)*)"`)

func TestMetricsAreTheTable(t *testing.T) {
	g := NewWithT(t)
	registry, ok := metrics.Registry.(prometheus.Collector)
	g.Expect(ok).To(BeTrue(), "the registry describes its metrics")
	_, err := health.NewMetrics(metrics.Registry)
	g.Expect(err).NotTo(HaveOccurred())
	descriptions := make(chan *prometheus.Desc, 1024)
	registry.Describe(descriptions)
	close(descriptions)
	registered := map[string]string{}
	for description := range descriptions {
		if match := metricDescription.FindStringSubmatch(description.String()); match != nil {
			registered[match[1]] = match[2]
		}
	}
	documented := map[string]string{}
	for _, row := range table(t, configurationPage, "Metric") {
		documented[plain(row[0])] = row[3]
	}
	g.Expect(documented).To(Equal(registered))
}

// helpFlag is a flag in the output of Go's flag package: its name, and its usage with the
// default at its end.
var (
	helpFlag    = regexp.MustCompile(`(?m)^  -([a-z-]+)(?: \w+)?\n    \t(.*)$`)
	helpDefault = regexp.MustCompile(` \(default "?([^")]*)"?\)$`)
)

func TestFlagsAreTheTable(t *testing.T) {
	g := NewWithT(t)
	manager := filepath.Join(t.TempDir(), "manager")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", manager, "./cmd/manager")
	build.Dir = root
	output, err := build.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(output))
	help, err := exec.CommandContext(t.Context(), manager, "--help").CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(help))

	var want [][]string
	for _, match := range helpFlag.FindAllStringSubmatch(string(help), -1) {
		usage, value := match[2], ""
		if end := helpDefault.FindStringSubmatchIndex(usage); end != nil {
			usage, value = usage[:end[0]], "`"+usage[end[2]:end[3]]+"`"
		}
		want = append(want, []string{"`--" + match[1] + "`", value, usage})
	}
	g.Expect(want).NotTo(BeEmpty())
	g.Expect(table(t, configurationPage, "Flag")).To(Equal(want), "the flags must be those of manager --help")
}

func TestSampleOfAnInvalidConfigurationIsReal(t *testing.T) {
	g := NewWithT(t)
	_, invalid := settings.Compile(t.Context(), v1beta1.AIBOMControllerConfigSpec{
		Discovery: v1beta1.DiscoverySpec{WorkloadKinds: []string{"apps/Deploymant"}},
		Sinks:     []v1beta1.SinkSpec{{Name: "archive", HTTP: &v1beta1.HTTPSink{URL: "http://archive.example.com"}}},
	}, settings.Dependencies{})
	g.Expect(read(t, configurationPage)).To(ContainSubstring("\n" + invalid.Error() + "\n"))
}
