// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
)

const (
	formatTable = "table"
	formatWide  = "wide"
	formatJSON  = "json"
	formatYAML  = "yaml"
	formatName  = "name"
	formatList  = "table, wide, json, yaml or name"

	// shownInTable is how many models or matches a cell shows unless -o wide is given.
	shownInTable = 2
)

var formats = []string{formatTable, formatWide, formatJSON, formatYAML, formatName}

func validateFormat(format string) error {
	if slices.Contains(formats, format) {
		return nil
	}
	return fmt.Errorf("--output is %q, want %s", format, formatList)
}

// result is what summary and find print.
type result struct {
	Workloads []workload `json:"workloads"`
	// Totals is set by summary.
	Totals *totals `json:"totals,omitempty"`
	// NotSearched is set by find.
	NotSearched *notSearched `json:"notSearched,omitempty"`
}

// print writes the result in the format of the selection.
func (r result) print(out io.Writer, s *selection, clock clock.PassiveClock) error {
	switch s.format {
	case formatJSON:
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "    ")
		return encoder.Encode(r)
	case formatYAML:
		data, err := yaml.Marshal(r)
		fmt.Fprintf(out, "%s", data)
		return err
	case formatName:
		for _, w := range r.Workloads {
			fmt.Fprintf(out, "aibom.%s/%s\n", v1beta1.Group, w.AIBOM)
		}
		return nil
	}
	if len(r.Workloads) == 0 {
		return nil
	}
	options := printers.PrintOptions{NoHeaders: s.noHeaders, Wide: s.format == formatWide}
	if err := printers.NewTablePrinter(options).PrintObj(r.table(options.Wide, clock), out); err != nil {
		return err
	}
	if r.Totals != nil && !s.noHeaders {
		fmt.Fprintln(out, r.Totals)
	}
	return nil
}

// table is the rows for the printer, which leaves out columns of the priority 1 unless they
// are asked for. What find found has a column of its own.
func (r result) table(wide bool, clock clock.PassiveClock) *metav1.Table {
	table := &metav1.Table{}
	add := func(priority int32, name string, cell func(workload) string) {
		table.ColumnDefinitions = append(table.ColumnDefinitions, metav1.TableColumnDefinition{Name: name, Type: "string", Priority: priority})
		for i, w := range r.Workloads {
			table.Rows[i].Cells = append(table.Rows[i].Cells, cmp.Or(cell(w), "<none>"))
		}
	}
	table.Rows = make([]metav1.TableRow, len(r.Workloads))
	add(0, "Namespace", func(w workload) string { return w.Workload.Namespace })
	add(0, "Kind", func(w workload) string { return w.Workload.Kind })
	add(0, "Name", func(w workload) string { return w.Workload.Name })
	add(0, "Category", func(w workload) string { return w.Workload.Category })
	add(0, "Runtime", func(w workload) string { return w.Runtime.Name })
	add(1, "Version", func(w workload) string { return w.Runtime.Version })
	add(0, "Models", func(w workload) string { return joined(modelsOf(w), wide) })
	add(0, "Confidence", func(w workload) string { return w.Confidence })
	if r.NotSearched != nil {
		add(0, "Match", func(w workload) string { return joined(w.Matches, wide) })
	}
	add(0, "Age", func(w workload) string { return duration.HumanDuration(clock.Since(w.Created.Time)) })
	add(1, "Ready", func(w workload) string { return w.Ready })
	add(1, "AIBOM", func(w workload) string { return w.AIBOM })
	return table
}

// modelsOf names the models, and says of which only a reference is known.
func modelsOf(w workload) []string {
	var names []string
	for _, m := range w.Models {
		name := m.Identity
		if m.Confidence == "unresolved" {
			name += " (unresolved)"
		}
		names = append(names, name)
	}
	return names
}

func joined(all []string, wide bool) string {
	if wide || len(all) <= shownInTable {
		return strings.Join(all, ",")
	}
	return fmt.Sprintf("%s + %d more", strings.Join(all[:shownInTable], ","), len(all)-shownInTable)
}
