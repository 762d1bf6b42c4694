// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// line is one line of the table.
type line struct {
	name  string
	ratio Ratio
	// goal is the least percentage that is asked for; negative where none is.
	goal float64
}

// lines are the table. False AIBOMs are no ratio to reach and have a line of their own.
func (s Score) lines() []line {
	return []line{
		{"detection", s.Detection, 98},
		{"category", s.Category, 95},
		{"runtime", s.Runtime, 95},
		{"model recall", s.ModelRecall, 95},
		{"model precision", s.ModelPrecision, 97},
		{"dataset recall", s.DatasetRecall, -1},
		{"dataset precision", s.DatasetPrecision, -1},
		{"hosted API recall", s.APIRecall, -1},
		{"hosted API precision", s.APIPrecision, -1},
	}
}

// Reached says whether every goal is.
func (s Score) Reached() bool {
	for _, l := range s.lines() {
		if l.ratio.Percent() < l.goal {
			return false
		}
	}
	return s.FalseAIBOMs.Right == 0
}

// Print writes the table and every miss.
func (s Score) Print(w io.Writer) {
	out := printer{w}
	out.line("%-22s %9s %8s  %s", "", "right/of", "percent", "goal")
	for _, l := range s.lines() {
		goal := ""
		if l.goal >= 0 {
			goal = fmt.Sprintf("%.0f", l.goal)
			if l.ratio.Percent() < l.goal {
				goal += " not reached"
			}
		}
		out.line("%-22s %4d/%-4d %8.1f  %s", l.name, l.ratio.Right, l.ratio.Of, l.ratio.Percent(), goal)
	}
	out.line("%-22s %4d/%-4d           0", "false AIBOMs", s.FalseAIBOMs.Right, s.FalseAIBOMs.Of)
	out.line("%-22s %4d", "unresolved references", s.Unresolved)
	out.misses("Misses", s.Misses)
	out.misses("Disputed labels, which are not in the numbers", s.Disputed)
	out.misses("Not loaded, which are not in the numbers", s.Refused)
}

// printer ignores errors of a writer that is a terminal or a buffer.
type printer struct{ w io.Writer }

func (p printer) line(format string, args ...any) { _, _ = fmt.Fprintf(p.w, format+"\n", args...) }

func (p printer) misses(title string, misses []Miss) {
	if len(misses) == 0 {
		return
	}
	p.line("\n%s (%d):", title, len(misses))
	for _, m := range misses {
		p.line("  %s  %s", m.File, m.Field)
		p.line("      expected  %s", m.Expected)
		p.line("      seen      %s", m.Seen)
		if m.Note != "" {
			p.line("      note      %s", m.Note)
		}
	}
}

// Result is a run as it is kept for a later comparison.
type Result struct {
	Score        Score         `json:"score"`
	Observations []Observation `json:"observations"`
}

// Write keeps the result in a file.
func (r Result) Write(path string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}

// ReadResult reads what Write kept.
func ReadResult(path string) (Result, error) {
	var r Result
	data, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("%s is no result of an earlier run: %w", path, err)
	}
	return r, nil
}

// PrintComparison writes how the score changed since an earlier run, and which misses came and
// went.
func PrintComparison(w io.Writer, before, after Score) {
	out := printer{w}
	old := before.lines()
	out.line("\n%-22s %8s %8s %8s", "compared with before", "before", "now", "change")
	for i, l := range after.lines() {
		was, is := old[i].ratio.Percent(), l.ratio.Percent()
		out.line("%-22s %8.1f %8.1f %+8.1f", l.name, was, is, is-was)
	}
	out.line("%-22s %8d %8d %+8d", "false AIBOMs", before.FalseAIBOMs.Right, after.FalseAIBOMs.Right,
		after.FalseAIBOMs.Right-before.FalseAIBOMs.Right)
	out.misses("Misses that are new", without(after.Misses, before.Misses))
	out.misses("Misses that are gone", without(before.Misses, after.Misses))
}

// without are the misses that the others do not have, be it with another value.
func without(misses, others []Miss) []Miss {
	known := map[[2]string]bool{}
	for _, m := range others {
		known[[2]string{m.File, m.Field}] = true
	}
	var left []Miss
	for _, m := range misses {
		if !known[[2]string{m.File, m.Field}] {
			left = append(left, m)
		}
	}
	return left
}
