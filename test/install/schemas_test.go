// SPDX-License-Identifier: Apache-2.0

package install_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// writeSchemas writes a JSON schema for every kind that the API server serves, from the
// server's own OpenAPI document, as kubeconform reads them, and returns the folder. Fields
// that a kind does not have are errors.
func writeSchemas(ctx context.Context) string {
	GinkgoHelper()
	document := struct {
		Definitions map[string]map[string]any `json:"definitions"`
	}{}
	Expect(json.Unmarshal([]byte(c.Kubectl(ctx, "get", "--raw", "/openapi/v2")), &document)).To(Succeed())
	for _, definition := range document.Definitions {
		strict(definition)
	}
	folder := GinkgoT().TempDir()
	written := 0
	for name, definition := range document.Definitions {
		kinds, _ := definition["x-kubernetes-group-version-kind"].([]any)
		if len(kinds) != 1 {
			continue // options and status, which every group has
		}
		kind, _ := kinds[0].(map[string]any)
		needed := map[string]any{}
		collect(document.Definitions, name, needed)
		schema, err := json.Marshal(map[string]any{"$ref": "#/definitions/" + name, "definitions": needed})
		Expect(err).NotTo(HaveOccurred())
		group, _ := kind["group"].(string)
		version, _ := kind["version"].(string)
		if group == "" {
			group = version // as kubeconform calls the core group
		}
		file := strings.ToLower(group + "-" + version + "-" + kind["kind"].(string) + ".json")
		Expect(os.WriteFile(filepath.Join(folder, file), schema, 0o600)).To(Succeed())
		written++
	}
	Expect(written).To(BeNumerically(">", 100))
	return folder
}

// strict changes a schema in place so that it accepts what the API server does and no more:
// numbers where a string or a number is asked for, and no unknown field.
func strict(schema map[string]any) {
	if schema["format"] == "int-or-string" || schema["x-kubernetes-int-or-string"] == true {
		schema["type"] = []any{"string", "integer"}
	}
	// The formats of OpenAPI, such as int64, are none of JSON schema.
	delete(schema, "format")
	if properties, ok := schema["properties"].(map[string]any); ok {
		if _, open := schema["additionalProperties"]; !open {
			schema["additionalProperties"] = false
		}
		for _, property := range properties {
			if property, ok := property.(map[string]any); ok {
				strict(property)
			}
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if inner, ok := schema[key].(map[string]any); ok {
			strict(inner)
		}
	}
}

// collect adds a definition and all that it refers to.
func collect(all map[string]map[string]any, name string, into map[string]any) {
	if _, done := into[name]; done {
		return
	}
	into[name] = all[name]
	for _, reference := range references(all[name]) {
		collect(all, reference, into)
	}
}

func references(value any) []string {
	var found []string
	switch value := value.(type) {
	case map[string]any:
		if ref, ok := value["$ref"].(string); ok {
			found = append(found, strings.TrimPrefix(ref, "#/definitions/"))
		}
		for _, inner := range value {
			found = append(found, references(inner)...)
		}
	case []any:
		for _, inner := range value {
			found = append(found, references(inner)...)
		}
	}
	return found
}
