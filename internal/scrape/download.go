// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// runs says whether the product is a server that runs in the container: what its own program
// fetches there is what it serves, as with ollama serve and ollama pull.
func (c *container) runs(p *product) bool {
	return !c.init && p.Category == evidence.CategoryInference && slices.Contains(c.products, p)
}

// fetchesAny says whether the container evidently fetches something.
func (c *container) fetchesAny(invocations []invocation) bool {
	if len(invocations) == 0 {
		return c.isFetcher()
	}
	return slices.ContainsFunc(invocations, func(inv invocation) bool {
		return c.fetches(inv) || len(c.pythonDownloads(inv)) > 0
	})
}

// fetches says whether the invocation is a program that downloads, or one that is named as if.
func (c *container) fetches(inv invocation) bool {
	if slices.ContainsFunc(inv.starts, func(s start) bool { return s.program.Download }) {
		return true
	}
	if inv.entrypoint && c.isFetcher() {
		return true
	}
	for i, w := range inv.words {
		name := path.Base(w.text)
		module := i > 0 && inv.words[i-1].text == "-m"
		if (i == 0 || module || isScript(name)) && isDownloadName(name) {
			return true
		}
	}
	return false
}

// isFetcher says whether the image is named as one that downloads.
func (c *container) isFetcher() bool { return isDownloadName(path.Base(c.image.path)) }

// isDownloadName says whether a part of the name says that something is fetched, as in
// download_model.py and model-fetcher.
func isDownloadName(name string) bool {
	name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	for {
		for _, prefix := range patterns.DownloadNames {
			if strings.HasPrefix(name, prefix) {
				return true
			}
		}
		next := strings.IndexAny(name, "-.")
		if next < 0 {
			return false
		}
		name = name[next+1:]
	}
}

var (
	pythonDownload = pythonCall(patterns.PythonDownloads)
	pythonLoad     = pythonCall(slices.Concat(patterns.PythonDownloads, patterns.PythonLoads))
)

// pythonCall matches a call of one of the functions; the group is its first argument or
// repo_id, where that is a literal.
func pythonCall(functions []string) *regexp.Regexp {
	return regexp.MustCompile(`\b(?:` + strings.Join(functions, "|") + `)\(\s*(?:[a-z_]+\s*=\s*)?["']([^"'\s]+)["']`)
}

// readPython reads what Python code on the command line fetches, and says whether it does.
func (c *container) readPython(inv invocation) bool {
	found := c.pythonDownloads(inv)
	for _, w := range found {
		c.addModel(model{value: w, role: evidence.RoleDownload, dataset: true, inferred: true, hub: evidence.OriginHuggingFace})
	}
	return len(found) > 0
}

// pythonDownloads are the repositories that the code of python -c fetches.
func (c *container) pythonDownloads(inv invocation) []word {
	code := pythonDownload
	if c.init {
		code = pythonLoad
	}
	var found []word
	for i, w := range inv.words[1:] {
		if inv.words[i].text != "-c" || !inv.isPython() {
			continue
		}
		for _, m := range code.FindAllStringSubmatch(w.text, maxModels) {
			part := w
			part.text = m[1]
			found = append(found, part)
		}
	}
	return found
}
