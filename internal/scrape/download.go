// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"path"
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
		return c.fetches(inv) || c.fetchesInPython(inv)
	})
}

// fetches says whether the invocation is a program that downloads, or one that is named as if.
func (c *container) fetches(inv invocation) bool {
	if slices.ContainsFunc(inv.starts, func(s start) bool { return s.program.Download }) {
		return true
	}
	return c.isDownloader(inv)
}

// isDownloader says whether the invocation is of a program, script or image that is named as if
// it downloads.
func (c *container) isDownloader(inv invocation) bool {
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
