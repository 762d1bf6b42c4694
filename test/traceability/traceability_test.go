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

// suites are the folders all of whose specs hold one design, with the label that says so.
var suites = map[string]string{"test/isolation": "design-004", "test/rollup": "design-005"}

var (
	clauseID  = regexp.MustCompile(`^(\d{3})-(\d+)$`)
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
	for folder, label := range suites {
		g.Expect(last).To(HaveKey(strings.TrimPrefix(label, "design-")), "%s has clauses, held by %s", label, folder)
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
	for folder, label := range suites {
		found := readSources(t, folder)
		g.Expect(found.specs).NotTo(BeEmpty(), "%s has specs", folder)
		for _, s := range found.specs {
			g.Expect(s.labels).To(ContainElement(label), "the spec %q of %s bears the label of its design", s.text, folder)
			g.Expect(named).To(HaveKey(held{folder, s.text}), "%s names the spec", page)
		}
	}
}

func TestParse(t *testing.T) {
	g := NewWithT(t)
	g.Expect(parse("text\n| Clause | Asks | Held by |\n|---|---|---|\n| 004-1 | a | `x/y: It works` `z: TestZ` |\n| 004-2 | b | |\n")).To(Equal([]clause{
		{id: "004-1", asks: "a", heldBy: []held{{"x/y", "It works"}, {"z", "TestZ"}}},
		{id: "004-2", asks: "b"},
	}))
}
