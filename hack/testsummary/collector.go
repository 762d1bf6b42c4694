// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// event is one line of `go test -json`; the fields are those of TestEvent in go doc test2json.
type event struct {
	Action     string
	Package    string
	ImportPath string
	Test       string
	Output     string
}

// test identifies a test, or with an empty name a package.
type test struct{ pkg, name string }

// counts are outcomes of tests or specs.
type counts struct{ passed, failed, skipped int }

// collector holds what is known so far about a run.
type collector struct {
	out      io.Writer
	running  map[string]bool
	output   map[test]*strings.Builder
	specs    map[test]counts
	total    counts
	packages []string
	failures []string
}

func newCollector(out io.Writer) *collector {
	return &collector{
		out:     out,
		running: map[string]bool{},
		output:  map[test]*strings.Builder{},
		specs:   map[test]counts{},
	}
}

// line takes one line of the input. What is not an event, such as the go command's own
// messages, is shown as it is.
func (c *collector) line(line []byte) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil || e.Action == "" {
		c.show(string(line))
		return
	}
	id := test{e.Package, e.Test}
	switch e.Action {
	case "start":
		c.running[e.Package] = true
	case "build-output":
		c.show(e.Output)
	case "build-fail":
		c.failures = append(c.failures, e.ImportPath+" (does not compile)")
	case "output":
		c.hear(id, e.Output)
	case "pass", "fail", "skip":
		c.end(id, e.Action)
	}
}

// hear keeps a piece of output until it is known whether it will be wanted.
func (c *collector) hear(id test, output string) {
	if c.output[id] == nil {
		c.output[id] = &strings.Builder{}
	}
	c.output[id].WriteString(output)
	if specs, found := specCounts(output); found {
		c.specs[id] = specs
	}
}

// end counts a test or package that is over, and shows the output of one that failed.
func (c *collector) end(id test, action string) {
	output := ""
	if b := c.output[id]; b != nil {
		output = b.String()
		delete(c.output, id)
	}
	if action == "fail" {
		c.show(output)
	}
	if id.name == "" {
		c.endPackage(id.pkg, action, output)
		return
	}
	if action == "fail" {
		c.failures = append(c.failures, id.pkg+" "+id.name)
	}
	c.total = c.total.plus(outcome(action, c.specs[id]))
}

func (c *collector) endPackage(pkg, action, output string) {
	delete(c.running, pkg)
	line := packageLine(pkg, action, output)
	c.packages = append(c.packages, line)
	if action == "fail" {
		c.failures = append(c.failures, pkg)
		return
	}
	c.show(line + "\n")
}

// outcome is what a test that ended with an action adds to the total: its specs where it is
// a Ginkgo suite, else itself. A suite that fails without a failed spec, for example because
// its set-up failed, counts as one failure.
func outcome(action string, specs counts) counts {
	switch {
	case action == "fail" && specs.failed == 0:
		specs.failed = 1
	case specs != counts{}:
	case action == "pass":
		specs.passed = 1
	case action == "skip":
		specs.skipped = 1
	}
	return specs
}

func (n counts) plus(m counts) counts {
	return counts{n.passed + m.passed, n.failed + m.failed, n.skipped + m.skipped}
}

// ok says whether something was run and nothing failed.
func (c *collector) ok() bool {
	return len(c.failures) == 0 && c.total.failed == 0 && c.total.passed > 0 && len(c.running) == 0
}

// summary is the closing lines.
func (c *collector) summary() string {
	var b strings.Builder
	for _, line := range c.packages {
		fmt.Fprintln(&b, line)
	}
	for _, name := range c.failures {
		fmt.Fprintln(&b, "--- FAIL:", name)
	}
	for _, pkg := range slices.Sorted(maps.Keys(c.running)) {
		fmt.Fprintln(&b, "--- NOT FINISHED:", pkg)
	}
	fmt.Fprintf(&b, "%d passed, %d failed, %d skipped\n", c.total.passed, c.total.failed, c.total.skipped)
	return b.String()
}

func (c *collector) show(text string) {
	io.WriteString(c.out, text) //nolint:errcheck // the summary's own write reports a closed output
}

// packageLine is the line with which go test ends a package, for example
// "ok  	example.com/p	0.1s"; where the output has none, one like it.
func packageLine(pkg, action, output string) string {
	lines := strings.Split(strings.TrimRight(output, "\n"), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if line := lines[i]; strings.Contains(line, "\t"+pkg) {
			return line
		}
	}
	if action == "fail" {
		return "FAIL\t" + pkg
	}
	return action + "\t" + pkg
}

var (
	colour = regexp.MustCompile("\x1b\\[[0-9;]*m")
	// The line that ends a Ginkgo suite.
	specLine = regexp.MustCompile(`-- (\d+) Passed \| (\d+) Failed \| (\d+) Pending \| (\d+) Skipped`)
)

// specCounts reads the line that ends a Ginkgo suite; pending specs count as skipped.
func specCounts(output string) (counts, bool) {
	m := specLine.FindStringSubmatch(colour.ReplaceAllString(output, ""))
	if m == nil {
		return counts{}, false
	}
	var n [4]int
	for i := range n {
		// The pattern admits digits only; a number beyond int stays at the largest int.
		n[i], _ = strconv.Atoi(m[i+1])
	}
	return counts{passed: n[0], failed: n[1], skipped: n[2] + n[3]}, true
}
