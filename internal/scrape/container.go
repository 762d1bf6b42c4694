// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// container is what is found in one container.
type container struct {
	name, at  string
	init      bool
	reference string
	image     image
	env       *environment

	products    []*product
	signals     []signal
	runtimes    []evidence.Finding
	services    []evidence.Finding
	models      []model
	servedNames []model
}

func readContainer(p *pod, c *corev1.Container, at string, init bool) *container {
	out := &container{
		name: c.Name, at: at, init: init,
		reference: c.Image, image: parseImage(c.Image),
		env: readEnvironment(p, c, at),
	}
	invocations := readInvocations(p, c, at, out.env)
	out.recogniseCommands(invocations)
	out.recogniseImage(p, invocations)
	out.recogniseEnvironment()
	out.recogniseServices()
	out.readModels(p, invocations)
	out.suspectModel(p, c)
	return out
}

// detect records that the product runs in the container.
func (c *container) detect(p *product, s strength, version string, at ...evidence.Evidence) {
	for _, have := range c.products {
		if have == p {
			c.support(p.Name, version, at)
			c.signals = append(c.signals, signal{p.Category, s})
			return
		}
	}
	c.products = append(c.products, p)
	c.signals = append(c.signals, signal{p.Category, s})
	c.runtimes = append(c.runtimes, evidence.Finding{
		Type: p.Type, Name: p.Name, Version: version, Container: c.name,
		Confidence: evidence.Inferred, Evidence: appendEvidence(nil, at...),
	})
}

// support adds evidence to a runtime that is already known.
func (c *container) support(name, version string, at []evidence.Evidence) {
	for i := range c.runtimes {
		if f := &c.runtimes[i]; f.Name == name {
			f.Evidence = appendEvidence(f.Evidence, at...)
			if f.Version == "" {
				f.Version = version
			}
		}
	}
}

// recogniseCommands looks for programs, modules, scripts and installed packages.
func (c *container) recogniseCommands(invocations []invocation) {
	for _, inv := range invocations {
		for i := range patterns.Products {
			p := &patterns.Products[i]
			for j := range p.Programs {
				program := &p.Programs[j]
				if _, ok := inv.runs(program); ok && !program.Download {
					c.detect(p, strengthCommand, "", inv.words[0].evidence...)
				}
			}
		}
		for _, w := range inv.installedPackages() {
			name := strings.ToLower(strings.ReplaceAll(packageName(w.text), "_", "-"))
			if p, ok := index.packages[name]; ok {
				c.detect(p, strengthCommand, packageVersion(w.text), w.evidence...)
			}
		}
	}
}

// recogniseImage looks at the image's repository path. A Job that overrides the image's
// entrypoint with something else may only borrow the image, for instance to fetch a model.
func (c *container) recogniseImage(p *pod, invocations []invocation) {
	for _, r := range p.in.Rules.RuntimeImages {
		if matchesImage(r.Pattern, c.image) {
			c.detect(&product{Name: r.Runtime, Category: evidence.CategoryInference, Type: evidence.TypeRuntime},
				strengthImage, versionOf(c.image.tag), c.imageEvidence())
			return
		}
	}
	borrowed := p.in.Workload.Kind == "Job" && len(invocations) > 0 && !invocations[0].entrypoint && len(c.products) == 0
	training := trains(invocations)
	for i := range patterns.Products {
		product := &patterns.Products[i]
		for _, pattern := range product.Images {
			if !borrowed && matchesImage(pattern, c.image) {
				c.detect(product, strengthImage, versionOf(c.image.tag), c.imageEvidence())
			}
		}
		for _, pattern := range product.BaseImages {
			if training && matchesImage(pattern, c.image) {
				c.detect(product, strengthImage, versionOf(c.image.tag), c.imageEvidence())
			}
		}
	}
	if training && len(c.products) == 0 {
		c.signals = append(c.signals, signal{evidence.CategoryTraining, strengthEnvironment})
	}
}

func (c *container) imageEvidence() evidence.Evidence {
	return evidence.Evidence{Source: evidence.SourceImage, Locator: c.at + ".image"}
}

// trains says whether a program is named like a training script.
func trains(invocations []invocation) bool {
	for _, inv := range invocations {
		for _, w := range inv.words {
			base := path.Base(w.text)
			if !strings.HasSuffix(base, ".py") {
				continue
			}
			for _, prefix := range patterns.TrainingScripts {
				if strings.HasPrefix(strings.ReplaceAll(base, "-", "_"), prefix) {
					return true
				}
			}
		}
	}
	return false
}

// recogniseEnvironment looks for variables that only one product reads.
func (c *container) recogniseEnvironment() {
	for i := range patterns.Products {
		p := &patterns.Products[i]
		for _, prefix := range p.EnvPrefixes {
			for _, name := range c.env.order {
				if strings.HasPrefix(name, prefix) {
					c.detect(p, strengthEnvironment, "", c.env.variables[name].evidence[0])
					break
				}
			}
		}
	}
}

// installedPackages are the packages that a pip install names.
func (inv invocation) installedPackages() []word {
	for i, w := range inv.words {
		if w.text != "install" || i == 0 {
			continue
		}
		installer := path.Base(inv.words[i-1].text)
		if installer != "pip" && installer != "pip3" {
			return nil
		}
		var packages []word
		for _, p := range inv.words[i+1:] {
			if !strings.HasPrefix(p.text, "-") {
				packages = append(packages, p)
			}
		}
		return packages
	}
	return nil
}

// packageName is the name in a requirement such as langchain[all]==0.3.1; see PEP 508.
func packageName(requirement string) string {
	if end := strings.IndexAny(requirement, "[<>=!~;@ "); end >= 0 {
		return requirement[:end]
	}
	return requirement
}

func packageVersion(requirement string) string {
	_, version, _ := strings.Cut(requirement, "==")
	return versionOf(version)
}

// hub is where a bare org/name is looked up by what runs in the container.
func (c *container) hub() evidence.Origin {
	if v, ok := c.env.variables["VLLM_USE_MODELSCOPE"]; ok && strings.EqualFold(v.value, "true") {
		return evidence.OriginUnknown
	}
	for _, p := range c.products {
		if p.Hub != evidence.OriginUnknown {
			return p.Hub
		}
	}
	for name := range index.hubTokens {
		if _, ok := c.env.variables[name]; ok {
			return evidence.OriginHuggingFace
		}
	}
	return evidence.OriginUnknown
}

// suspectModel judges a container in which no product was recognised but which names a
// model: with an accelerator or a hub's token it serves the model; with the address of a
// model server it is that server's client.
func (c *container) suspectModel(p *pod, spec *corev1.Container) {
	if len(c.signals) > 0 || !c.namesServedModel() {
		return
	}
	for name := range index.endpoints {
		if v, ok := c.env.variables[name]; ok && strings.HasPrefix(v.value, "http") {
			c.signals = append(c.signals, signal{evidence.CategoryAgent, strengthEnvironment})
			return
		}
	}
	token := false
	for name := range index.hubTokens {
		_, has := c.env.variables[name]
		token = token || has
	}
	if token || len(accelerators(spec)) > 0 {
		c.signals = append(c.signals, signal{evidence.CategoryInference, strengthEnvironment})
	}
}

func (c *container) namesServedModel() bool {
	for _, m := range c.models {
		if m.role == evidence.RoleServed && !m.dataset && len(m.value.missing) == 0 {
			return true
		}
	}
	return false
}
