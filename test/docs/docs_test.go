// SPDX-License-Identifier: Apache-2.0

// Package docs_test holds the documentation to the code: what the pages list is what there
// is, and what there is, they list.
package docs_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// update writes the generated sections anew instead of comparing them.
var update = flag.Bool("update", false, "write the generated sections of docs/")

// root is the repository as seen from this folder, where go test runs.
const root = "../.."

// The pages that the tests look into.
const (
	documentPage      = "docs/how-a-document-is-made.md"
	configurationPage = "docs/configuration.md"
	securityPage      = "docs/security.md"
	developmentPage   = "docs/development.md"
	coveragePage      = "docs/coverage.md"
)

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// table returns the rows of the tables of a page whose first header cell is the given one,
// each row as its cells.
func table(t *testing.T, page, header string) [][]string {
	t.Helper()
	var rows [][]string
	inside := false
	for line := range strings.Lines(read(t, page)) {
		cells := cellsOf(line)
		switch {
		case cells == nil:
			inside = false
		case cells[0] == header:
			inside = true
		case inside && strings.Trim(cells[0], "-") != "":
			rows = append(rows, cells)
		}
	}
	if len(rows) == 0 {
		t.Fatalf("%s has no table that begins with %q", page, header)
	}
	return rows
}

// cellsOf are the cells of a table's line, nil for any other line.
func cellsOf(line string) []string {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "|") || !strings.HasSuffix(line, "|") || len(line) < 2 {
		return nil
	}
	cells := strings.Split(line[1:len(line)-1], "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

var codeSpan = regexp.MustCompile("`([^`\n]+)`")

// code are the code spans of a cell or page, outside its blocks of code.
func code(text string) []string {
	var spans []string
	for _, match := range codeSpan.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		spans = append(spans, match[1])
	}
	return spans
}

// plain is a cell without the marks around code.
func plain(cell string) string { return strings.ReplaceAll(cell, "`", "") }
