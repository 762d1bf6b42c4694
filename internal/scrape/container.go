// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"path"
	"slices"
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

	products []*product
	signals  []signal
	runtimes []evidence.Finding
	services []evidence.Finding
	// stores are the vector databases and model servers that the container asks.
	stores      []evidence.Finding
	models      []model
	servedNames []model
	// configs are the files in ConfigMaps that the container's programs read.
	configs []evidence.Finding
	// server is the module of python -m that is named like a server.
	server word
	// evident is true where an accelerator, or a name alone, shows an AI workload of which
	// neither runtime nor model is known.
	evident bool
	// fetching is true where all that the container does is to fetch models.
	fetching bool
	// neighbours are read where a hosted API's key is there.
	neighbours *neighbours
	// ruled is the runtime that a rule of the cluster's says the image is.
	ruled string
	// accelerated is true where the container requests an accelerator.
	accelerated bool
	// mounts are its volumes.
	mounts []corev1.VolumeMount
	// besideModels is true where a program runs in a folder of models.
	besideModels bool
}

func readContainer(p *pod, c *corev1.Container, at string, init bool) *container {
	out := &container{
		pod: p, name: c.Name, at: at, init: init,
		reference: c.Image, image: p.imageOf(c.Image),
		env: readEnvironment(p, c, at), mounts: c.VolumeMounts[:min(len(c.VolumeMounts), maxVolumes)], accelerated: len(accelerators(c)) > 0,
	}
	started := out.withoutOthers(readInvocations(p, c, at, out.env))
	invocations := slices.Concat(started, out.withoutOthers(readHook(p, c, at, out.env)))
	if !init {
		out.recogniseCommands(invocations)
		out.recogniseImage(started)
		out.recogniseEnvironment(started)
		out.recogniseHints(started)
		out.rankRuntimes()
		out.recogniseServices(invocations)
	}
	out.server = serverModule(started)
	out.besideModels = out.worksBesideModels(c.WorkingDir, invocations)
	out.readModels(invocations)
	if !init {
		out.readTrainee(started)
		out.readImageModel()
		out.readConfigs(c, invocations)
		out.suspect(invocations)
		out.readStores()
	}
	return out
}

// isJob says whether the workload runs to an end.
func (c *container) isJob() bool {
	return c.pod.in.Workload.Kind == "Job" || c.pod.in.Workload.Kind == "CronJob"
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
		Type: p.Type, Name: p.Name, Category: p.Category, Version: version, Container: c.name,
		Confidence: evidence.Inferred, Evidence: appendEvidence(nil, at...),
	})
}

// as is the product where it is used for something else than usual.
func (p *product) as(category evidence.Category) *product {
	if category == evidence.CategoryNone || category == p.Category {
		return p
	}
	other := *p
	other.Category = category
	return &other
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
			if s.product.General > 0 && infers(inv) {
				c.evident = c.evident || c.accelerated
				c.detect(s.product.as(evidence.CategoryInference), strengthCommand, "", inv.words[0].evidence...)
			} else if !s.program.Download {
				c.detect(s.product.as(s.program.Category), strengthCommand, "", inv.words[0].evidence...)
			}
		}
		c.recogniseImports(inv)
		for _, w := range inv.installedPackages() {
			name := packageOf(w)
			if p, ok := index.packages[name]; ok {
				c.detect(p, strengthCommand, packageVersion(w.text), w.evidence...)
			} else if p := pluginOf(name); p != nil {
				c.detect(p, strengthCommand, "", w.evidence...)
			}
		}
	}
}

// recogniseImage looks at the image's repository path. A Job that overrides the image's
// entrypoint with something else may only borrow the image, for instance to fetch a model.
func (c *container) recogniseImage(invocations []invocation) {
	version := c.imageVersion()
	for _, r := range c.pod.in.Rules.RuntimeImages {
		if matchesImage(r.Pattern, c.image) {
			p, ok := index.products[r.Runtime]
			if !ok {
				p = &product{Name: r.Runtime, Category: evidence.CategoryInference, Type: evidence.TypeRuntime}
			}
			c.detect(p, strengthImage, version, c.imageEvidence())
			c.ruled = p.Name
			return
		}
	}
	borrowed := c.borrows(invocations)
	training := c.trains(invocations)
	predicting := !training && c.isJob() && c.accelerated && runsScript(invocations, patterns.PredictionScripts)
	for i := range patterns.Products {
		p := &patterns.Products[i]
		trained := training && p.Category == evidence.CategoryTraining
		if ((!borrowed || trained) && c.isImageOf(p, invocations)) || (trained && c.isBaseOf(p, invocations)) {
			c.detect(p, strengthImage, version, c.imageEvidence())
		}
		if predicting && p.isFramework() && matchesAny(p.BaseImages, c.image) {
			c.detect(p.as(evidence.CategoryInference), strengthImage, version, c.imageEvidence())
		}
	}
}

// isFramework says whether models are made with the product, and so may be used with it.
func (p *product) isFramework() bool { return patterns.FrameworkNames[p.Name] == p.Name }

// isImageOf says whether the image is one of the product's.
func (c *container) isImageOf(p *product, invocations []invocation) bool {
	return matchesAny(p.Images, c.image) || c.isMirrorImageOf(p) ||
		(matchesAny(p.Shared.Images, c.image) && c.isLikely(p, invocations))
}

// isBaseOf says whether the image is one that the product's users build on.
func (c *container) isBaseOf(p *product, invocations []invocation) bool {
	return matchesAny(p.BaseImages, c.image) || (matchesAny(p.Shared.BaseImages, c.image) && c.isLikely(p, invocations))
}

func (c *container) isMirrorImageOf(p *product) bool {
	return matchesAny(p.MirrorImages, c.image) && slices.ContainsFunc(c.env.order, func(name string) bool {
		return slices.ContainsFunc(p.MirrorEnvPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	})
}

// imageVersion is the version of the product in the image, where the image's tag states that.
func (c *container) imageVersion() string {
	if matchesAny(patterns.VendorImages, c.image) {
		return ""
	}
	return versionOf(c.image.tag)
}

func (c *container) imageEvidence() evidence.Evidence {
	return evidence.Evidence{Source: evidence.SourceImage, Locator: c.at + ".image"}
}

// recogniseEnvironment looks for variables that only one product reads.
func (c *container) recogniseEnvironment(invocations []invocation) {
	for i := range patterns.Products {
		p := &patterns.Products[i]
		c.recogniseVariables(p, p.EnvPrefixes)
		if c.hasVariable(p.Shared.EnvPrefixes) && c.isLikely(p, invocations) {
			c.recogniseVariables(p, p.Shared.EnvPrefixes)
		}
	}
}

// recogniseVariables looks for variables of the product that begin with one of the prefixes.
func (c *container) recogniseVariables(p *product, prefixes []string) {
	for _, prefix := range prefixes {
		for _, name := range c.env.order {
			if strings.HasPrefix(name, prefix) {
				c.detect(p, strengthEnvironment, "", c.env.variables[name].evidence[0])
				break
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

// pluginOf is the product that the package is made for.
func pluginOf(name string) *product {
	for i := range patterns.Products {
		if p := &patterns.Products[i]; matchesGlob(p.Plugins, name) && !matchesGlob(p.NotPlugins, name) {
			return p
		}
	}
	return nil
}

// packageOf is the package that a requirement names, as indexes spell it; see PEP 503.
func packageOf(requirement word) string {
	return strings.ToLower(strings.ReplaceAll(packageName(requirement.text), "_", "-"))
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
