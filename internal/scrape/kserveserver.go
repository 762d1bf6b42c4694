// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"path"
	"slices"
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// kserveExplainers are the explainers that have fields of their own.
var kserveExplainers = []string{"alibi", "art", "aix"}

// readExplainer reads the artefact that an explainer loads.
func readExplainer(p *part, explainer field) {
	for _, name := range kserveExplainers {
		if uri := explainer.get(name, "storageUri"); uri.text() != "" {
			p.declareModel(uri.text(), "", "", uri.evidence())
		}
	}
}

// inferServer takes the server that a predictor's image is called like, or else the Python module
// that serves in a custom container, for the runtime, where the InferenceService declares none: a
// predictor's first, then an explainer's. A transformer serves no model.
func inferServer(g *group) {
	if slices.ContainsFunc(g.parts, (*part).hasRuntime) {
		return
	}
	for _, component := range []string{"predictor", "explainer"} {
		for _, p := range g.parts {
			if !slices.Contains(p.properties, evidence.Property{Name: evidence.PropKServeComponent, Value: component}) {
				continue
			}
			for _, c := range p.pod.containers {
				if component == "predictor" && c.isNamedAfterServer() {
					c.detect(index.names[path.Base(c.image.path)], strengthEnvironment, "", c.imageEvidence())
					return
				}
				if c.server.text == "" {
					continue
				}
				c.runtimes = append(c.runtimes, evidence.Finding{
					Type: evidence.TypeRuntime, Name: c.server.text, Category: evidence.CategoryInference,
					Container: c.name, Confidence: evidence.Inferred, Evidence: c.server.evidence,
				})
				return
			}
		}
	}
}

// isNamedAfterServer says whether the image is called exactly like a server, as team/torchserve is:
// in a container of which its kind declares that it serves, that is enough.
func (c *container) isNamedAfterServer() bool {
	p, ok := index.names[path.Base(c.image.path)]
	return ok && !c.init && p.Category == evidence.CategoryInference && p.Type == evidence.TypeRuntime
}

// hasRuntime says whether the part or one of its containers has a runtime that serves.
func (p *part) hasRuntime() bool {
	serves := func(f evidence.Finding) bool {
		return f.Type == evidence.TypeRuntime && (f.Category == evidence.CategoryInference || f.Category == evidence.CategoryNone)
	}
	return slices.ContainsFunc(p.declared, serves) || slices.ContainsFunc(p.pod.containers, func(c *container) bool {
		return slices.ContainsFunc(c.runtimes, serves)
	})
}

// serverModule is the module of python -m whose name says that it serves.
func serverModule(invocations []invocation) word {
	for _, inv := range invocations {
		if !inv.isPython() {
			continue
		}
		for i, w := range inv.words {
			if i == 0 || inv.words[i-1].text != "-m" {
				continue
			}
			name, _, _ := strings.Cut(w.text, ".")
			for _, ending := range patterns.ServerModules {
				if strings.HasSuffix(name, ending) && len(name) > len(ending) && len(w.missing) == 0 {
					w.text = clip(name, maxNameBytes)
					return w
				}
			}
		}
	}
	return word{}
}
