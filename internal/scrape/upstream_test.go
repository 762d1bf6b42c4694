// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// upstream is the folder of other projects' CRDs and manifests, which this project does not
// ship: $K8S_AIBOM_UPSTREAM, or shared/upstream beside the repository. Without it the test is
// skipped.
func upstream(t *testing.T, name string) string {
	t.Helper()
	folder := os.Getenv("K8S_AIBOM_UPSTREAM")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "shared", "upstream")
	}
	path := filepath.Join(folder, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the manifests of other projects are not here (set K8S_AIBOM_UPSTREAM to their folder): %v", err)
	}
	return path
}

// label is what a careful reader finds in a manifest.
type label struct {
	File     string            `json:"file"`
	Category string            `json:"category"`
	Runtime  string            `json:"runtime"`
	Models   []string          `json:"models"`
	kind     kinds.Kind        `json:"-"`
	object   map[string]any    `json:"-"`
	workload evidence.Workload `json:"-"`
}

// labelled are the manifests of third-party kinds.
func labelled(t *testing.T) []label {
	t.Helper()
	folder := upstream(t, "workloads")
	file, err := os.Open(filepath.Join(folder, "labels.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []label
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var l label
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(folder, l.File))
		if err != nil {
			t.Fatal(err)
		}
		l.object = parseObject(t, data)
		root := rootField(l.object)
		gv, err := schema.ParseGroupVersion(root.get("apiVersion").text())
		if err != nil {
			t.Fatal(err)
		}
		gk := gv.WithKind(root.get("kind").text()).GroupKind()
		if k, ok := kinds.For(gk); ok && k.ThirdParty {
			l.kind = k
			l.workload = evidence.Workload{Kind: gk.Kind, Name: root.get("metadata", "name").text()}
			all = append(all, l)
		}
	}
	return all
}

// parseObject reads a manifest as the API server hands it out: whole numbers are int64.
func parseObject(t testing.TB, data []byte) map[string]any {
	t.Helper()
	var object map[string]any
	if err := yaml.Unmarshal(data, &object); err != nil {
		t.Fatal(err)
	}
	return wholeNumbers(object).(map[string]any)
}

func wholeNumbers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for k := range v {
			v[k] = wholeNumbers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = wholeNumbers(v[i])
		}
	case float64:
		if whole := int64(v); float64(whole) == v {
			return whole
		}
	}
	return value
}

// Reasons for which the reading of a manifest differs from its label.
const (
	nameOfFlag    = "the label takes the runtime from the name of a flag (--triton_model_repo_dir), and two labels differ in which"
	toBeFilledIn  = "the label takes a path with a part that has still to be filled in; it is read as unresolved"
	servedIsModel = "the label counts a served name beside the stored model; a like manifest's label does not"
)

// differences are the fields in which a label and the reading differ, each with its reason.
var differences = map[string]string{
	"lws-leaderworkerset-833af3b413.yaml runtime":    nameOfFlag,
	"kserve-inferenceservice-ca1c067e31.yaml models": servedIsModel,
	"nim-nimservice-64540b6b0b.yaml models":          toBeFilledIn,
}

// TestLabelledManifests compares what is found in real manifests of the six kinds with what a
// careful reader finds.
func TestLabelledManifests(t *testing.T) {
	fields, agreed := 0, 0
	seen := map[string]bool{}
	for _, l := range labelled(t) {
		report, err := Object(l.kind, ObjectInput{Workload: l.workload, Object: l.object})
		if err != nil {
			t.Errorf("%s: %v", l.File, err)
			continue
		}
		category, runtime, models := summary(report)
		slices.Sort(l.Models)
		for _, f := range []struct {
			name       string
			have, want any
		}{
			{"category", category, l.Category}, {"runtime", runtime, l.Runtime}, {"models", models, slices.Compact(append([]string{}, l.Models...))},
		} {
			fields++
			ok, err := Equal(f.want).Match(f.have)
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				agreed++
				continue
			}
			difference := l.File + " " + f.name
			seen[difference] = true
			reason := differences[difference]
			t.Logf("%s: read %q, label %q: %s", difference, f.have, f.want, reason)
			if reason == "" {
				t.Errorf("%s differs without a known reason", difference)
			}
		}
	}
	for difference := range differences {
		if !seen[difference] {
			t.Errorf("%s does not differ any more", difference)
		}
	}
	t.Logf("%d of %d fields agree", agreed, fields)
	NewWithT(t).Expect(100*agreed).To(BeNumerically(">=", 95*fields), "%d of %d fields agree", agreed, fields)
}

// summary is a report in the terms of a label.
func summary(r evidence.Report) (category, runtime string, models []string) {
	category, models = string(r.Category), []string{}
	if category == "" {
		return "none", "", models
	}
	var confidence evidence.Confidence
	for _, f := range r.Findings {
		switch {
		case f.Type == evidence.TypeRuntime && (runtime == "" || confidence != evidence.Declared):
			runtime, confidence = f.Name, f.Confidence
		case f.Type == evidence.TypeModel && f.Confidence != evidence.Unresolved && f.Role != evidence.RoleTokenizer:
			models = append(models, f.Name)
		}
	}
	slices.Sort(models)
	return category, runtime, slices.Compact(models)
}
