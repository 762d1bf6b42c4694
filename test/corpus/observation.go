// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"encoding/json"
	"fmt"
	"slices"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/bom"
	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// Observation is what the controller says about one manifest.
type Observation struct {
	File string `json:"file"`
	// Refused says why the manifest could not be looked at: the API server would not take it,
	// or the controller does not know its kind.
	Refused string `json:"refused,omitempty"`
	// Found says that there is an AIBOM.
	Found    bool   `json:"found"`
	Category string `json:"category,omitempty"`
	Runtime  string `json:"runtime,omitempty"`
	// Models are the identities that are claimed; Unresolved are references that are shown as
	// such, which claim nothing.
	Models     []string `json:"models,omitempty"`
	Unresolved []string `json:"unresolved,omitempty"`
	Datasets   []string `json:"datasets,omitempty"`
	APIs       []string `json:"apis,omitempty"`
	// Downloads are artefacts that are fetched, which labels do not ask for.
	Downloads []string `json:"downloads,omitempty"`
}

// OfReport is what a report says, as the status of an AIBOM would.
func OfReport(file string, r evidence.Report) Observation {
	o := Observation{File: file, Category: string(r.Category)}
	if r.Category == evidence.CategoryNone {
		return o
	}
	r = bom.Normalize(r)
	s := bom.Summarize(r)
	o.Found, o.Runtime = true, s.Runtime.Name
	for _, m := range s.Models {
		o.addModel(m.Identity, string(m.Confidence))
	}
	for _, f := range r.Findings {
		switch f.Type {
		case evidence.TypeService:
			o.APIs = append(o.APIs, f.Name)
		case evidence.TypeData:
			o.addData(string(f.Role), f.Name)
		}
	}
	return o
}

// OfAIBOM is what an AIBOM says: its summary, and its document where the summary is silent.
func OfAIBOM(file string, a *v1beta1.AIBOM) (Observation, error) {
	o := Observation{File: file, Found: true}
	s := a.Status.Summary
	if s == nil {
		return o, fmt.Errorf("the AIBOM %s has no summary", a.Name)
	}
	o.Category, o.Runtime = s.Workload.Category, s.Runtime.Name
	for _, m := range s.Models {
		o.addModel(m.Identity, m.Confidence)
	}
	if a.Status.BOMDocument == nil || a.Status.BOMDocument.Inline == nil {
		return o, fmt.Errorf("the AIBOM %s holds no document", a.Name)
	}
	var document cdx.BOM
	if err := json.Unmarshal([]byte(a.Status.BOMDocument.Inline.Data), &document); err != nil {
		return o, fmt.Errorf("the document of the AIBOM %s: %w", a.Name, err)
	}
	if document.Services != nil {
		for _, service := range *document.Services {
			o.APIs = append(o.APIs, service.Name)
		}
	}
	if document.Components != nil {
		for _, c := range *document.Components {
			if c.Type == cdx.ComponentTypeData {
				o.addData(propertyOf(c, evidence.PropIdentityRole), c.Name)
			}
		}
	}
	return o, nil
}

func (o *Observation) addModel(identity, confidence string) {
	if confidence == string(evidence.Unresolved) {
		o.Unresolved = append(o.Unresolved, identity)
		return
	}
	o.Models = append(o.Models, identity)
}

func (o *Observation) addData(role, name string) {
	switch role {
	case string(evidence.RoleDataset):
		if !slices.Contains(o.Datasets, name) {
			o.Datasets = append(o.Datasets, name)
		}
	case string(evidence.RoleDownload):
		o.Downloads = append(o.Downloads, name)
	}
}

func propertyOf(c cdx.Component, name string) string {
	if c.Properties == nil {
		return ""
	}
	for _, p := range *c.Properties {
		if p.Name == name {
			return p.Value
		}
	}
	return ""
}
