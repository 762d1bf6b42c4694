// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// readImageModel reads the model out of the name of an image that is made for one model, where
// nothing else names what is served.
func (c *container) readImageModel() {
	if c.namesModel(evidence.RoleServed) {
		return
	}
	for _, p := range c.products {
		if matchesAny(p.TagModels, c.image) && strings.ContainsAny(c.image.tag, "-_") && versionOf(c.image.tag) == "" {
			at := []evidence.Evidence{c.imageEvidence()}
			c.addModel(model{value: word{text: c.image.tag, evidence: at}, role: evidence.RoleServed, inferred: true})
			return
		}
		if name := modelBehind(p, c.image); name != "" && len(c.servedNames) == 0 {
			at := []evidence.Evidence{c.imageEvidence()}
			c.addModel(model{value: word{text: name, evidence: at}, role: evidence.RoleServed, inferred: true})
			return
		}
		isModelImage := matchesAny(p.ModelImages, c.image) || c.isMirrorImageOf(p)
		if !isModelImage || matchesAny(p.NotModelImages, c.image) {
			continue
		}
		// Such an image ends in <owner>/<model>.
		owner, base := path.Split(c.image.path)
		name := path.Join(path.Base(owner), base)
		at := []evidence.Evidence{c.imageEvidence()}
		c.addModel(model{value: word{text: name, evidence: at}, role: evidence.RoleServed, hub: p.Hub, inferred: true})
		return
	}
}

// sizedName is a part of a model's name that says how large it is, such as 8b or 1.5b.
var sizedName = regexp.MustCompile(`-[0-9]+(\.[0-9]+)?b(-|$)`)

// serverWords are parts of an image's name that say what it is for, so that it is not the model's.
var serverWords = set([]string{"server", "serving", "serve", "worker", "leader", "api", "service", "router", "proxy", "gateway",
	"client", "ui", "test", "bench", "benchmark", "download", "downloader", "image"})

// buildSuffixes end an image's name with what it is built for and how the model is stored.
var buildSuffixes = regexp.MustCompile(`(-(cpu|gpu|cuda|rocm|tpu|gguf))+$`)

// folderOf is the server in whose folder an image for one model lies, as in tensorflow-serving/resnet.
func folderOf(img image) *product {
	if p := index.names[strings.ToLower(path.Base(path.Dir(img.path)))]; p != nil && modelBehind(p, img) != "" {
		return p
	}
	return nil
}

// modelVersion ends the name of a model's architecture, as in resnet50 and mobilenet-v2.
var modelVersion = regexp.MustCompile(`[-_]?v?[0-9]+$`)

// isArchitecture says whether the name is that of a kind of models, perhaps with its version.
func isArchitecture(name string) bool {
	return slices.ContainsFunc([][]string{patterns.Architectures, patterns.FamilyNames, patterns.CommonFamilyNames}, func(names []string) bool {
		return slices.Contains(names, name) || slices.Contains(names, modelVersion.ReplaceAllString(name, ""))
	})
}

// allNames are the words that mean the product, some of which mean other things as well.
func (p *product) allNames() []string { return slices.Concat(p.Names, p.CommonNames) }

// isBuiltFor says whether what stands behind a product's name is the model that an image was built for: a
// family of models and a size, and no word for what the image does.
func isBuiltFor(name string) bool {
	return beginsWith(patterns.ModelFamilies, name) && sizedName.MatchString(name) &&
		!slices.ContainsFunc(words(name), func(w string) bool { return serverWords[w] })
}

// modelBehind is the model in the name or the tag of an image that somebody built for it, as in
// llamacpp-llama3-8b-instruct and ollama:gemma-7b. In a folder with the product's name it is an
// architecture of models.
func modelBehind(p *product, img image) string {
	if p.Category != evidence.CategoryInference {
		return ""
	}
	if folder, name := path.Split(strings.ToLower(img.path)); slices.Contains(p.allNames(), path.Base(folder)) && isArchitecture(name) {
		return name
	}
	base := path.Base(img.path)
	if base != strings.ToLower(base) {
		return "" // still to be filled in, or no image's name at all
	}
	if slices.Contains(p.allNames(), base) && isBuiltFor(img.tag) {
		return img.tag
	}
	for _, name := range p.allNames() {
		rest, ok := strings.CutPrefix(buildSuffixes.ReplaceAllString(base, ""), name+"-")
		if ok && isBuiltFor(rest) {
			return rest
		}
	}
	return ""
}
