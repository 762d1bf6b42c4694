// SPDX-License-Identifier: Apache-2.0

// Package traceability holds docs/traceability.md to the sources: what it names exists, and
// every clause is held by something.
package traceability

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// root is the repository as seen from this folder, where go test runs.
const root = "../.."

const page = "docs/traceability.md"

// suite is a folder all of whose specs hold one design.
type suite struct {
	folder string
	// labels are what every spec bears.
	labels []string
	// section begins the ids of the clauses that are about the specs.
	section string
}

var suites = []suite{
	{folder: "test/isolation", labels: []string{"design-004"}, section: "004"},
	{folder: "test/discovery", labels: []string{"design-004-v1.7", "A7"}, section: "004-A7"},
	{folder: "test/rollup", labels: []string{"design-005"}, section: "005"},
}

// tableRows is how many rows the table of transitions has (Design 004, amendment A2).
const tableRows = 11

var (
	// clauseID is that of a design's clause, or of a clause of one of its amendment's sections.
	clauseID  = regexp.MustCompile(`^(\d{3}(?:-A\d+)?)-(\d+)$`)
	reference = regexp.MustCompile("`([^`:]+): ([^`]+)`")
)

// clause is one row of the page.
type clause struct {
	id, asks string
	heldBy   []held
}

// held is a spec or test by its folder and name.
type held struct{ folder, name string }

func readPage(t *testing.T) []clause {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, page))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return parse(string(content))
}

// parse reads the rows of every table whose first cell is the id of a clause.
func parse(content string) []clause {
	var clauses []clause
	for line := range strings.Lines(content) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		id := strings.TrimSpace(cells[0])
		if len(cells) < 3 || !clauseID.MatchString(id) {
			continue
		}
		c := clause{id: id, asks: strings.TrimSpace(cells[1])}
		for _, match := range reference.FindAllStringSubmatch(cells[2], -1) {
			c.heldBy = append(c.heldBy, held{folder: match[1], name: match[2]})
		}
		clauses = append(clauses, c)
	}
	return clauses
}

// TestClausesAreNumberedWithoutAGap notices a row that was lost.
func TestClausesAreNumberedWithoutAGap(t *testing.T) {
	g := NewWithT(t)
	last := map[string]int{}
	for _, c := range readPage(t) {
		match := clauseID.FindStringSubmatch(c.id)
		number, err := strconv.Atoi(match[2])
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(number).To(Equal(last[match[1]]+1), "%s follows the clause before it", c.id)
		last[match[1]] = number
	}
	for _, each := range suites {
		g.Expect(last).To(HaveKey(each.section), "%s has clauses, held by %s", each.section, each.folder)
	}
}

func TestEveryClauseIsHeldByWhatExists(t *testing.T) {
	g := NewWithT(t)
	found := map[string]*sources{}
	for _, c := range readPage(t) {
		g.Expect(c.asks).NotTo(BeEmpty(), "%s asks for something", c.id)
		g.Expect(c.heldBy).NotTo(BeEmpty(), "%s is held by something", c.id)
		for _, h := range c.heldBy {
			if found[h.folder] == nil {
				found[h.folder] = readSources(t, h.folder)
			}
			g.Expect(found[h.folder].names()).To(ContainElement(h.name), "%s is held by a spec or test of %s", c.id, h.folder)
		}
	}
}

func TestEverySpecOfASuiteIsLabelledAndNamed(t *testing.T) {
	g := NewWithT(t)
	named := map[held]bool{}
	for _, c := range readPage(t) {
		for _, h := range c.heldBy {
			named[h] = true
		}
	}
	for _, each := range suites {
		found := readSources(t, each.folder)
		g.Expect(found.specs).NotTo(BeEmpty(), "%s has specs", each.folder)
		for _, s := range found.specs {
			for _, label := range each.labels {
				g.Expect(s.labels).To(ContainElement(label), "the spec %q of %s bears the label of its design", s.text, each.folder)
			}
			g.Expect(named).To(HaveKey(held{each.folder, s.text}), "%s names the spec", page)
		}
	}
}

// TestEveryRowOfTheTableHasASpec holds that each transition is tried on a real API server.
func TestEveryRowOfTheTableHasASpec(t *testing.T) {
	g := NewWithT(t)
	labels := map[string]bool{}
	for _, s := range readSources(t, "test/discovery").specs {
		for _, label := range s.labels {
			labels[label] = true
		}
	}
	for row := 1; row <= tableRows; row++ {
		g.Expect(labels).To(HaveKey("A2-row-" + strconv.Itoa(row)))
	}
}

func TestParse(t *testing.T) {
	g := NewWithT(t)
	g.Expect(parse("text\n| Clause | Asks | Held by |\n|---|---|---|\n| 004-1 | a | `x/y: It works` `z: TestZ` |\n| 004-2 | b | |\n| 004-A1-1 | c | `x: y` |\n| 4-1 | no id | |\n")).To(Equal([]clause{
		{id: "004-1", asks: "a", heldBy: []held{{"x/y", "It works"}, {"z", "TestZ"}}},
		{id: "004-2", asks: "b"},
		{id: "004-A1-1", asks: "c", heldBy: []held{{"x", "y"}}},
	}))
}
