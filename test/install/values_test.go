// SPDX-License-Identifier: Apache-2.0

package install_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"
)

var usedValue = regexp.MustCompile(`\.Values\.([A-Za-z.]+)`)

// TestEveryValueIsUsedAndNoOther holds the chart's values to its templates.
func TestEveryValueIsUsedAndNoOther(t *testing.T) {
	g := NewWithT(t)
	values := map[string]any{}
	g.Expect(yaml.Unmarshal([]byte(read(g, "charts/k8s-aibom/values.yaml")), &values)).To(Succeed())
	known := paths(values, "")

	templates, err := filepath.Glob(filepath.Join(root, "charts/k8s-aibom/templates/*"))
	g.Expect(err).NotTo(HaveOccurred())
	used := map[string]bool{}
	for _, file := range templates {
		content, err := os.ReadFile(file)
		g.Expect(err).NotTo(HaveOccurred())
		for _, match := range usedValue.FindAllStringSubmatch(string(content), -1) {
			used[match[1]] = true
		}
	}
	for path := range used {
		g.Expect(known).To(HaveKey(path), "a template uses what is no value")
	}
	for path, leaf := range known {
		if leaf {
			g.Expect(slices.ContainsFunc(slices.Collect(maps.Keys(used)), func(u string) bool {
				return path == u || strings.HasPrefix(path, u+".")
			})).To(BeTrue(), "no template uses %s", path)
		}
	}
}

// TestSchemaHasTheValues holds the schema to the values: it knows each, and no other but those
// that Helm hands to every chart.
func TestSchemaHasTheValues(t *testing.T) {
	g := NewWithT(t)
	values, schema := map[string]any{}, map[string]any{}
	g.Expect(yaml.Unmarshal([]byte(read(g, "charts/k8s-aibom/values.yaml")), &values)).To(Succeed())
	g.Expect(yaml.Unmarshal([]byte(read(g, "charts/k8s-aibom/values.schema.json")), &schema)).To(Succeed())
	values["global"] = nil
	sameKeys(g, "values", values, schema)
}

// sameKeys compares sections that are closed; what is open is the user's.
func sameKeys(g Gomega, path string, values, schema map[string]any) {
	properties, _ := schema["properties"].(map[string]any)
	if schema["additionalProperties"] != false || len(values) == 0 || strings.HasSuffix(path, ".resources") {
		return
	}
	g.Expect(slices.Sorted(maps.Keys(values))).To(Equal(slices.Sorted(maps.Keys(properties))), path)
	for key, value := range values {
		section, isSection := value.(map[string]any)
		inner, isObject := properties[key].(map[string]any)
		if isSection && isObject {
			sameKeys(g, path+"."+key, section, inner)
		}
	}
}

// paths are those of all values; true: there is nothing below it.
func paths(values map[string]any, prefix string) map[string]bool {
	all := map[string]bool{}
	for key, value := range values {
		section, _ := value.(map[string]any)
		all[prefix+key] = len(section) == 0
		maps.Copy(all, paths(section, prefix+key+"."))
	}
	return all
}
