// SPDX-License-Identifier: Apache-2.0

// Package cdxschema holds documents to the official CycloneDX JSON schemas. It is for tests
// and demonstrations; the controller does not import it.
package cdxschema

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemaModule is the module whose schema folder holds the schemas as CycloneDX publishes them.
const schemaModule = "github.com/CycloneDX/cyclonedx-go"

// baseURL begins the $id of every CycloneDX schema; relative references resolve against it.
const baseURL = "http://cyclonedx.org/schema/"

// files maps the name under which a schema is referred to, to its file in the folder.
var files = map[string]string{
	"bom-1.6.schema.json":  "bom-1.6.schema.json",
	"bom-1.7.schema.json":  "bom-1.7.schema.json",
	"spdx.schema.json":     "spdx.schema.json",
	"jsf-0.82.schema.json": "jsf-0.82.schemax.json",
}

// Validator validates CycloneDX JSON documents of the versions 1.6 and 1.7. It is safe for
// concurrent use.
type Validator struct {
	schemas map[string]*jsonschema.Schema
}

// New compiles the schemas. It finds them with the go command, so it must run inside the
// module (`go test` does); nothing is fetched from the network. The error says which schema
// is missing or does not compile.
func New() (*Validator, error) {
	folder, err := schemaFolder()
	if err != nil {
		return nil, err
	}
	return NewFromFolder(folder)
}

// NewFromFolder is New for callers that know the folder of the schemas.
func NewFromFolder(folder string) (*Validator, error) {
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	for name, file := range files {
		if err := addFile(compiler, baseURL+name, filepath.Join(folder, file)); err != nil {
			return nil, err
		}
	}
	if err := compiler.AddResource(baseURL+"cryptography-defs.schema.json", noCryptography()); err != nil {
		return nil, err
	}

	v := &Validator{schemas: map[string]*jsonschema.Schema{}}
	for _, version := range []string{"1.6", "1.7"} {
		schema, err := compiler.Compile(baseURL + "bom-" + version + ".schema.json")
		if err != nil {
			return nil, fmt.Errorf("compile the CycloneDX %s schema: %w", version, err)
		}
		v.schemas[version] = schema
	}
	return v, nil
}

// Validate returns an error that names every departure of doc from the schema of specVersion
// ("1.6" or "1.7"), formats included. It also checks what the specification demands and a
// JSON schema cannot say: the document states that version, every bom-ref is unique, and
// every dependency leads to a bom-ref.
func (v *Validator) Validate(specVersion string, doc []byte) error {
	schema, ok := v.schemas[specVersion]
	if !ok {
		return fmt.Errorf("no schema for CycloneDX %q", specVersion)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	if err := schema.Validate(value); err != nil {
		return err
	}
	// The schema was met, so the document is an object.
	bom, ok := value.(map[string]any)
	if !ok {
		return errors.New("not a JSON object")
	}
	if bom["specVersion"] != specVersion {
		return fmt.Errorf("specVersion is %v, want %s", bom["specVersion"], specVersion)
	}
	return checkReferences(bom)
}

// noCryptography stands in for a schema that the module does not ship and that only
// cryptographic assets refer to. It refuses them all, so that a document with one fails
// rather than passes unchecked.
func noCryptography() any {
	return map[string]any{
		"$schema": "http://json-schema.org/draft-07/schema#",
		"definitions": map[string]any{
			"algorithmFamiliesEnum": false,
			"ellipticCurvesEnum":    false,
		},
	}
}

func addFile(compiler *jsonschema.Compiler, url, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open schema: %w", err)
	}
	defer file.Close()
	doc, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		return fmt.Errorf("read schema %s: %w", path, err)
	}
	return compiler.AddResource(url, doc)
}

func schemaFolder() (string, error) {
	var stderr bytes.Buffer
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", schemaModule)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("find module %s: %w: %s", schemaModule, err, strings.TrimSpace(stderr.String()))
	}
	dir := strings.TrimSpace(string(out))
	if dir == "" {
		return "", fmt.Errorf("module %s is not in the module cache; run `go mod download`", schemaModule)
	}
	return filepath.Join(dir, "schema"), nil
}
