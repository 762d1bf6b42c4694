// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	. "github.com/onsi/gomega"
)

// pages are the Markdown files that users read, as paths from the root.
func pages(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			page, err := filepath.Rel(root, path)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, page)
		}
	}
	if len(all) < 8 {
		t.Fatalf("only %d pages were found: %v", len(all), all)
	}
	return all
}

var (
	fence   = regexp.MustCompile("(?ms)^```.*?^```")
	link    = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)|(?m)^\[[^\]]+\]: (\S+)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
)

func TestEveryRelativeLinkResolves(t *testing.T) {
	checked := 0
	for _, page := range pages(t) {
		text := fence.ReplaceAllString(read(t, page), "")
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			target, err := url.Parse(match[1] + match[2])
			if err != nil {
				t.Errorf("%s: %v", page, err)
				continue
			}
			if target.IsAbs() {
				continue
			}
			checked++
			file := page
			if target.Path != "" {
				file = filepath.Join(filepath.Dir(page), filepath.FromSlash(target.Path))
			}
			if _, err := os.Stat(filepath.Join(root, file)); err != nil || strings.HasPrefix(file, "..") {
				t.Errorf("%s links to %s, which does not exist", page, target)
				continue
			}
			if target.Fragment != "" && !anchors(t, file)[target.Fragment] {
				t.Errorf("%s links to %s, and there is no such heading", page, target)
			}
		}
	}
	if checked == 0 {
		t.Error("no link was checked")
	}
}

func TestEveryPageIsInTheIndex(t *testing.T) {
	g := NewWithT(t)
	index := read(t, "docs/README.md")
	for _, page := range pages(t) {
		if name, inDocs := strings.CutPrefix(page, "docs/"); inDocs && name != "README.md" {
			g.Expect(index).To(ContainSubstring("](" + name + ")"))
		}
	}
}

// anchors are the anchors that GitHub gives to a page's headings: in lower case, without
// punctuation, with dashes for blanks and a number where a heading repeats.
func anchors(t *testing.T, page string) map[string]bool {
	t.Helper()
	seen := map[string]int{}
	all := map[string]bool{}
	for _, match := range heading.FindAllStringSubmatch(fence.ReplaceAllString(read(t, page), ""), -1) {
		anchor := strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, strings.TrimSpace(match[1]))
		if n := seen[anchor]; n > 0 {
			all[anchor+"-"+strconv.Itoa(n)] = true
		} else {
			all[anchor] = true
		}
		seen[anchor]++
	}
	return all
}
