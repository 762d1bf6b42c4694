// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"k8s.io/utils/ptr"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
)

// servedName is the property under which a document says what clients call a model.
const servedName = "k8s-aibom:identity:servedName"

// notSearched counts the documents that could not be searched.
type notSearched struct {
	External  int `json:"external"`
	Truncated int `json:"truncated"`
	// Unreadable counts what is no CycloneDX, and AIBOMs that have no document yet.
	Unreadable int `json:"unreadable"`
}

// String says what was not searched; of those workloads the summary was.
func (n *notSearched) String() string {
	return fmt.Sprintf("%s could not be searched (%d external, %d truncated, %d absent or unreadable): "+
		"of those workloads only the summary was, so images and further models may be missed",
		counted(n.External+n.Truncated+n.Unreadable, "document"), n.External, n.Truncated, n.Unreadable)
}

// documentNames are the names in an inline document; any other document is counted.
func (n *notSearched) documentNames(d *v1beta1.BOMDocument) []string {
	var document cdx.BOM
	switch {
	case d != nil && d.External != nil:
		n.External++
	case d != nil && d.Truncated:
		n.Truncated++
	case d == nil || d.Inline == nil || json.Unmarshal([]byte(d.Inline.Data), &document) != nil:
		n.Unreadable++
	}
	var names []string
	for _, c := range ptr.Deref(document.Components, nil) {
		names = append(names, componentNames(c)...)
	}
	for _, s := range ptr.Deref(document.Services, nil) {
		names = append(append(names, s.Name), ptr.Deref(s.Endpoints, nil)...)
	}
	return names
}

// componentNames are the ways in which one may write a component, the plainest first.
func componentNames(c cdx.Component) []string {
	names := []string{c.Name}
	if !strings.Contains(c.Version, ":") { // else it is a digest, which is among the hashes
		names = append(names, c.Name+":"+c.Version)
	}
	for _, h := range ptr.Deref(c.Hashes, nil) {
		algorithm := strings.ToLower(strings.ReplaceAll(string(h.Algorithm), "-", ""))
		names = append(names, c.Name+"@"+algorithm+":"+h.Value)
	}
	for _, p := range ptr.Deref(c.Properties, nil) {
		if p.Name == servedName {
			names = append(names, p.Value)
		}
	}
	names = append(names, c.PackageURL)
	if plain, err := url.PathUnescape(c.PackageURL); err == nil {
		names = append(names, plain)
	}
	return names
}

func summaryNames(s v1beta1.AIBOMSummary) []string {
	var names []string
	for _, m := range s.Models {
		names = append(names, m.Identity)
	}
	return append(names, s.Runtime.Name, s.Runtime.Name+":"+s.Runtime.Version)
}

// matching are the names that contain the text in upper or lower case, each once. A longer
// way to write what matches already adds nothing.
func matching(names []string, text string) []string {
	text = strings.ToLower(text)
	var found []string
	for _, name := range names {
		covered := func(shorter string) bool { return strings.Contains(name, shorter) }
		if strings.Contains(strings.ToLower(name), text) && !slices.ContainsFunc(found, covered) {
			found = append(found, name)
		}
	}
	return found
}
