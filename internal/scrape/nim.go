// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// nimRegistry begins the repositories of NIM images that are named after their model.
const nimRegistry = "nvcr.io/nim/"

// readNIMService reads a NIM Operator's NIMService. See
// https://docs.nvidia.com/nim-operator
func readNIMService(g *group, object field) error {
	spec := object.get("spec")
	image := spec.get("image")
	if err := image.object(); err != nil {
		return err
	}
	g.imagesNameNoModel = true
	repository, tag := image.get("repository"), image.get("tag")
	reference := repository.text()
	if tag.text() != "" {
		reference += ":" + tag.text()
	}
	c := nimContainer(g, spec)
	c.Image = reference
	c.Name = nimContainerName(g.in, reference)
	p := g.addContainer(spec.at, c, nil)

	version := versionOf(tag.text())
	at := []evidence.Evidence{{Source: evidence.SourceKind, Locator: "kind"}}
	if version != "" {
		at = append(at, evidence.Evidence{Source: evidence.SourceImage, Locator: tag.at})
	}
	p.declareRuntime("nim", version, at...)
	inferNIMModel(g, p, repository)
	setNIMProperties(g, spec)
	return nil
}

// nimContainer is the container as far as the spec states it. Fields that do not decode are
// recorded one by one, so that one of them does not hide the others.
func nimContainer(g *group, spec field) corev1.Container {
	var all corev1.Container
	read := func(name string) corev1.Container {
		c, err := containerOf(spec.get(name), name)
		g.fail(err)
		return c
	}
	all.Command = read("command").Command
	all.Args = read("args").Args
	all.Env = read("env").Env
	all.Resources = read("resources").Resources
	return all
}

// nimContainerName is the name of the container that runs the image. The spec does not state
// it, so pods say it; before there are any it is the operator's own choice.
func nimContainerName(in *ObjectInput, reference string) string {
	usual := in.Workload.Name + "-ctr"
	var others []string
	for _, r := range in.Running {
		if r.Container == usual {
			return usual
		}
		if r.Image == reference {
			others = append(others, r.Container)
		}
	}
	if len(others) == 0 {
		return usual
	}
	return slices.Min(others)
}

// inferNIMModel takes the model from nvcr.io/nim/<org>/<name>, where nothing declares one.
func inferNIMModel(g *group, p *part, repository field) {
	if len(g.whole().pod.annotated) > 0 {
		return
	}
	for _, c := range p.pod.containers {
		named := func(m model) bool { return m.role == evidence.RoleServed && !onlyImage(m.value.evidence) }
		if slices.ContainsFunc(c.models, named) || slices.ContainsFunc(c.servedNames, func(m model) bool { return !isAlias(m, repository.text()) }) {
			return
		}
	}
	path, ok := strings.CutPrefix(repository.text(), nimRegistry)
	org, name, two := strings.Cut(path, "/")
	if !ok || !two || org == "" || name == "" || strings.ContainsAny(name, "/:@") || isGenericNIM(path) {
		return
	}
	f := p.declareModel(org+"/"+name, "", "", evidence.Evidence{Source: evidence.SourceImage, Locator: repository.at})
	f.Confidence, f.Origin = evidence.Inferred, evidence.OriginNGC
}

// isAlias says whether a served name is only another name for the model that the image names: the
// end of its path or the first words of that, or what a variable holds that names a model only to clients.
func isAlias(served model, repository string) bool {
	if served.alias {
		return true
	}
	rest, begins := strings.CutPrefix(repository[strings.LastIndexByte(repository, '/')+1:], served.value.text)
	return len(served.value.missing) == 0 && begins && (rest == "" || rest[0] == '-')
}

// isGenericNIM says whether the image serves any model that it is told to, so that its name
// names none.
func isGenericNIM(path string) bool {
	return matchesAny(index.products["nim"].NotModelImages, image{path: path})
}

func setNIMProperties(g *group, spec field) {
	storage, nodes := spec.get("storage"), spec.get("multiNode")
	g.set(evidence.PropNIMCache, storage.get("nimCache", "name"))
	g.set(evidence.PropNIMCacheProfile, storage.get("nimCache", "profile"))
	g.set(evidence.PropNIMPVC, storage.get("pvc", "name"))
	g.set(evidence.PropNIMHostPath, storage.get("hostPath"))
	if scratch := storage.get("emptyDir"); scratch.present() {
		limit := scratch.get("sizeLimit")
		if limit.scalar() == "" {
			limit.value = "unlimited"
		}
		g.set(evidence.PropNIMEmptyDir, limit)
	}
	g.set(evidence.PropNIMMultiNodeBackend, nodes.get("backendType"))
	g.set(evidence.PropNIMTensorParallelism, nodes.get("parallelism", "tensor"))
	g.set(evidence.PropNIMPipelineParallelism, nodes.get("parallelism", "pipeline"))
	g.set(evidence.PropNIMInferencePlatform, spec.get("inferencePlatform"))
}
