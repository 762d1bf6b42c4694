// SPDX-License-Identifier: Apache-2.0

// Package corpus scores what the controller finds in a folder of real manifests against labels
// that say what a careful reader finds in them. A folder holds one workload a file and
// labels.jsonl, one label a line. The commands in run/ fill the package with observations: from
// the scrapers directly, or from the AIBOMs that the real manager wrote.
package corpus

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// LabelsFile is the name of the labels in a corpus.
const LabelsFile = "labels.jsonl"

// Label is what a careful reader finds in one manifest.
type Label struct {
	// File is the manifest, relative to the corpus.
	File string `json:"file"`
	// AI says whether it is an AI workload, for which there must be an AIBOM.
	AI bool `json:"ai"`
	// Category is inference, vectordb, agent, training, evaluation or none.
	Category string `json:"category"`
	// Runtime is the program that serves, trains or evaluates; empty where none is evident.
	Runtime string `json:"runtime"`
	// Models are identities as the manifest writes them. Of a manifest that is no AI workload,
	// such as a download, they are not scored: it has no AIBOM that could name them.
	Models []string `json:"models"`
	// Datasets and ExternalAPIs are scored like models.
	Datasets     []string `json:"datasets"`
	ExternalAPIs []string `json:"external_apis"`
	// Hard says what makes the manifest hard to read, for a person who looks at a miss.
	Hard string `json:"hard"`
}

// ReadLabels reads the labels of a corpus.
func ReadLabels(folder string) ([]Label, error) {
	file, err := os.Open(filepath.Join(folder, LabelsFile))
	if err != nil {
		return nil, fmt.Errorf("the corpus has no labels: %w", err)
	}
	defer file.Close()
	var all []Label
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var l Label
		if len(lines.Bytes()) == 0 {
			continue
		}
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", LabelsFile, n, err)
		}
		all = append(all, l)
	}
	return all, lines.Err()
}

// Dispute is a field of a label that is plainly wrong, with the reason. It is left out of the
// score and counted by itself.
type Dispute struct {
	File   string `json:"file"`
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

// The fields that a dispute can name.
const (
	FieldDetection = "detection"
	FieldCategory  = "category"
	FieldRuntime   = "runtime"
	FieldModels    = "models"
	FieldDatasets  = "datasets"
	FieldAPIs      = "apis"
)

// ReadDisputes reads a list of disputes.
func ReadDisputes(path string) ([]Dispute, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []Dispute
	if err := yaml.UnmarshalStrict(data, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return all, nil
}
