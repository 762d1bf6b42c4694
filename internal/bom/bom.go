// SPDX-License-Identifier: Apache-2.0

// Package bom turns what was found in a workload into a canonical CycloneDX document. It is
// pure: equal inputs give equal bytes. Whatever leaves it has been redacted, bounded and
// sanitised, so no other package has to be trusted to have done so.
package bom

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// formatRevision enters the input hash. Raise it whenever equal inputs come to give other
// bytes than before, so that existing documents are built anew.
const formatRevision = 1

// specification is a version of CycloneDX that documents can be written in.
type specification struct {
	version cdx.SpecVersion
	schema  string
}

var specifications = map[string]specification{
	"1.6": {cdx.SpecVersion1_6, "http://cyclonedx.org/schema/bom-1.6.schema.json"},
	"1.7": {cdx.SpecVersion1_7, "http://cyclonedx.org/schema/bom-1.7.schema.json"},
}

// Tool is the program that makes the documents, as metadata.tools names it.
type Tool struct {
	Name    string `json:"name"`
	Vendor  string `json:"vendor"`
	Version string `json:"version"`
}

// Input is all that a document is made from, apart from the time.
type Input struct {
	// Report is what was found; it need not be normalised.
	Report evidence.Report
	// SpecVersion is the version of CycloneDX: "1.6" or "1.7".
	SpecVersion string
	// Tool makes the document.
	Tool Tool
}

// Document is a finished CycloneDX JSON document.
type Document struct {
	// Bytes is the document: one line of JSON and a line feed.
	Bytes []byte
	// SHA256 of Bytes, in lower-case hexadecimal.
	SHA256 string
	// SpecVersion of CycloneDX, for example 1.6.
	SpecVersion string
	// InputHash is what InputHash says of the input.
	InputHash string
}

// InputHash identifies the normalised input as sha256:<hexadecimal>. Inputs with the same
// hash give the same document but for the time; nothing time-dependent enters it.
func InputHash(in Input) string {
	return inputHash(normalizeInput(in))
}

// Build makes the document of in. It normalises the report itself; firstSeen, when these
// inputs were first met, becomes metadata.timestamp in UTC and whole seconds.
//
// It fails when SpecVersion is neither "1.6" nor "1.7" or when a finding is of no known type;
// no string in a report can make it fail.
func Build(in Input, firstSeen time.Time) (Document, error) {
	spec, ok := specifications[in.SpecVersion]
	if !ok {
		return Document{}, fmt.Errorf("unsupported CycloneDX version %q", in.SpecVersion)
	}
	in = normalizeInput(in)
	hash := inputHash(in)

	parts, err := partsOf(in.Report)
	if err != nil {
		return Document{}, err
	}
	doc := cdx.NewBOM()
	doc.JSONSchema = spec.schema
	doc.SpecVersion = spec.version
	doc.SerialNumber = serialNumber(in.Report.Workload.UID, hash)
	doc.Metadata = &cdx.Metadata{
		Timestamp:  firstSeen.UTC().Format(time.RFC3339),
		Lifecycles: &[]cdx.Lifecycle{{Phase: cdx.LifecyclePhaseOperations}},
		Tools:      tools(in.Tool),
		Component:  workloadComponent(in.Report),
	}
	doc.Components = optional(parts.components)
	doc.Services = optional(parts.services)
	doc.Dependencies = optional(dependencies(in.Report))

	data, err := encode(doc)
	if err != nil {
		return Document{}, fmt.Errorf("encode the document: %w", err)
	}
	sum := sha256.Sum256(data)
	return Document{
		Bytes:       data,
		SHA256:      hex.EncodeToString(sum[:]),
		SpecVersion: in.SpecVersion,
		InputHash:   hash,
	}, nil
}

// encode writes the document for the version it states. It does not go through EncodeVersion:
// that copies the document with encoding/gob, which loses pointers to zero, and so the
// confidence 0 of every unresolved finding, which methods must have. The document is made of
// elements that 1.6 has, so nothing is to be converted.
func encode(doc *cdx.BOM) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := cdx.NewBOMEncoder(&buffer, cdx.BOMFileFormatJSON)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(doc); err != nil {
		return nil, err
	}
	return buffer.Bytes(), nil
}

func normalizeInput(in Input) Input {
	in.Report = Normalize(in.Report)
	in.Tool = Tool{
		Name:    clean(in.Tool.Name).text,
		Vendor:  clean(in.Tool.Vendor).text,
		Version: clean(in.Tool.Version).text,
	}
	return in
}

func inputHash(normalised Input) string {
	return "sha256:" + digestOf(struct {
		Format      int             `json:"format"`
		SpecVersion string          `json:"specVersion"`
		Tool        Tool            `json:"tool"`
		Report      evidence.Report `json:"report"`
	}{formatRevision, normalised.SpecVersion, normalised.Tool, normalised.Report})
}

// digestOf is the SHA-256 of a value's JSON in lower-case hexadecimal. The value must be made
// of strings, numbers, structs and slices, which always have a JSON form.
func digestOf(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("a value without JSON: %v", err))
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// serialNumber is a name-based UUID (RFC 9562, version 5) of the workload and its inputs.
func serialNumber(uid, inputHash string) string {
	name := "urn:k8s-aibom:document:" + uid + ":" + inputHash
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(name)).URN()
}

func tools(t Tool) *cdx.ToolsChoice {
	component := cdx.Component{Type: cdx.ComponentTypeApplication, Name: t.Name, Version: t.Version}
	if t.Vendor != "" {
		component.Supplier = &cdx.OrganizationalEntity{Name: t.Vendor}
	}
	return &cdx.ToolsChoice{Components: &[]cdx.Component{component}}
}

// optional is nil for an empty slice, so that the document leaves the element out.
func optional[T any](items []T) *[]T {
	if len(items) == 0 {
		return nil
	}
	return &items
}
