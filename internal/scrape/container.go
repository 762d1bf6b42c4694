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
	pod       *pod
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
		pod: p, name: c.Name, at: at, init: init,
		reference: c.Image, image: parseImage(c.Image),
		env: readEnvironment(p, c, at),
	}
	invocations := readInvocations(p, c, at, out.env)
	if !init {
		out.recogniseCommands(invocations)
		out.recogniseImage(invocations)
		out.recogniseEnvironment()
		out.recogniseServices()
	}
	out.readModels(invocations)
	if !init {
		out.readImageModel()
		out.suspect(c, invocations)
	}
	return out
}

// detect records that the product runs in the container.
func (c *container) detect(p *product, s strength, version string, at ...evidence.Evidence) {
	for _, have := range c.products {
		if have.Name == p.Name {
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

// recogniseCommands looks for programs, modules and installed packages.
func (c *container) recogniseCommands(invocations []invocation) {
	for _, inv := range invocations {
		for _, s := range inv.starts {
			if !s.program.Download {
				c.detect(s.product, strengthCommand, "", inv.words[0].evidence...)
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
func (c *container) recogniseImage(invocations []invocation) {
	version := versionOf(c.image.tag)
	for _, r := range c.pod.in.Rules.RuntimeImages {
		if matchesImage(r.Pattern, c.image) {
			p, ok := index.products[r.Runtime]
			if !ok {
				p = &product{Name: r.Runtime, Category: evidence.CategoryInference, Type: evidence.TypeRuntime}
			}
			c.detect(p, strengthImage, version, c.imageEvidence())
			return
		}
	}
	kind := c.pod.in.Workload.Kind
	borrowed := (kind == "Job" || kind == "CronJob") && len(invocations) > 0 && !invocations[0].entrypoint && len(c.products) == 0
	training := trains(invocations)
	for i := range patterns.Products {
		p := &patterns.Products[i]
		if (!borrowed && matchesAny(p.Images, c.image)) || (training && matchesAny(p.BaseImages, c.image)) {
			c.detect(p, strengthImage, version, c.imageEvidence())
		}
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
	for _, p := range c.products {
		if p.Hub != evidence.OriginUnknown {
			return p.Hub
		}
	}
	if c.hasHubToken() {
		return evidence.OriginHuggingFace
	}
	return evidence.OriginUnknown
}

// usesModelScope says whether vLLM looks models up elsewhere than at Hugging Face. See
// https://docs.vllm.ai/en/latest/models/supported_models.html#modelscope
func (c *container) usesModelScope() bool {
	v, ok := c.env.variables["VLLM_USE_MODELSCOPE"]
	return ok && (!v.known() || strings.EqualFold(v.value, "true") || v.value == "1")
}

func (c *container) hasHubToken() bool {
	for _, name := range patterns.HubTokens {
		if _, ok := c.env.variables[name]; ok {
			return true
		}
	}
	return false
}

// suspect judges a container in which no product was recognised. With an accelerator or a
// hub's token, a training script trains, and so does what names a dataset or a model to write;
// any other model that is named is served. With the address of a model server the container is
// that server's client.
func (c *container) suspect(spec *corev1.Container, invocations []invocation) {
	if len(c.signals) > 0 {
		return
	}
	capable := c.hasHubToken() || len(accelerators(spec)) > 0
	if capable && (trains(invocations) || c.namesTraining()) {
		c.signals = append(c.signals, signal{evidence.CategoryTraining, strengthEnvironment})
		return
	}
	if !c.namesServedModel() {
		return
	}
	for _, name := range patterns.Endpoints {
		if v, ok := c.env.variables[name]; ok && strings.HasPrefix(v.value, "http") {
			c.signals = append(c.signals, signal{evidence.CategoryAgent, strengthEnvironment})
			return
		}
	}
	if capable {
		c.signals = append(c.signals, signal{evidence.CategoryInference, strengthEnvironment})
	}
}

// namesTraining says whether a dataset to read or a model to write is named.
func (c *container) namesTraining() bool {
	for _, m := range c.models {
		if (m.role == evidence.RoleDataset || m.role == evidence.RoleOutput) && len(m.value.missing) == 0 {
			return true
		}
	}
	return false
}

func (c *container) namesServedModel() bool {
	for _, m := range c.models {
		if m.role == evidence.RoleServed && !m.dataset && len(m.value.missing) == 0 {
			return true
		}
	}
	return false
}
