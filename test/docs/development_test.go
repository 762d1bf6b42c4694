// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	. "github.com/onsi/gomega"
)

var (
	colour     = regexp.MustCompile(`\x1b\[[0-9;]*m`)
	helpTarget = regexp.MustCompile(`(?m)^  ([a-zA-Z0-9_-]+) +(.*)$`)
	// makeCommand is a call of make at the beginning of a line or a code span.
	makeCommand = regexp.MustCompile("(?m)(?:^|`|&& )make ([a-z][a-z-]*)")
)

// targets are the targets that make help lists, with what it says of them.
func targets(t *testing.T) (rows [][]string, names []string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "make", "--no-print-directory", "-C", root, "help")
	help, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("make help: %v\n%s", err, help)
	}
	for _, match := range helpTarget.FindAllStringSubmatch(colour.ReplaceAllString(string(help), ""), -1) {
		names = append(names, match[1])
		rows = append(rows, []string{"`make " + match[1] + "`", match[2]})
	}
	return rows, names
}

func TestMakeTargetsAreTheTable(t *testing.T) {
	g := NewWithT(t)
	want, _ := targets(t)
	g.Expect(table(t, developmentPage, "Target")).To(Equal(want), "the targets must be those of make help")
}

func TestEveryTargetThatIsToldExists(t *testing.T) {
	g := NewWithT(t)
	_, names := targets(t)
	told := 0
	for _, page := range pages(t) {
		for _, match := range makeCommand.FindAllStringSubmatch(read(t, page), -1) {
			told++
			g.Expect(names).To(ContainElement(match[1]), "%s tells of make %s", page, match[1])
		}
	}
	g.Expect(told).To(BeNumerically(">", 0))
}

// TestEveryFolderIsInTheLayout holds the layout to the folders that hold the program's code.
func TestEveryFolderIsInTheLayout(t *testing.T) {
	g := NewWithT(t)
	documented := map[string]bool{}
	for _, row := range table(t, developmentPage, "Folder") {
		folder := plain(row[0])
		documented[folder] = true
		g.Expect(filepath.Join(root, folder)).To(BeADirectory(), "%s is in the layout", folder)
	}
	for _, parent := range []string{"api", "cmd", "internal"} {
		entries, err := os.ReadDir(filepath.Join(root, parent))
		g.Expect(err).NotTo(HaveOccurred())
		for _, entry := range entries {
			if entry.IsDir() {
				g.Expect(documented).To(HaveKey(parent+"/"+entry.Name()), "the layout lacks a folder")
			}
		}
	}
}
