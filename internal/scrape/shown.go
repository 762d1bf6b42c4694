// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// isGeneral says whether programs of all kinds have a flag or variable of this name, unless the user said
// that it holds a model.
func (p *pod) isGeneral(name string) bool {
	return index.generalNames[asVariable(name)] && !p.modelEnv[name] && !p.modelFlags[name]
}

// doesOtherWork says whether the names say that the container draws, plays or computes something else.
func (c *container) doesOtherWork(invocations []invocation) bool {
	return speaksOf(index.otherWork, append(c.programNames(invocations), c.name, c.pod.in.Workload.Name)...)
}

// showsModel says whether a model is named that shows by itself that the container runs it, which where it
// does other work no name does that anything has.
func (c *container) showsModel(other bool) bool {
	return slices.ContainsFunc(c.models, func(m model) bool {
		return m.role == evidence.RoleServed && !m.dataset && len(m.value.missing) == 0 && c.isShown(m) && (!m.general || !other)
	})
}

// isShown says whether what is named is a model or dataset by the name of what holds it, or else by its own.
func (c *container) isShown(m model) bool {
	switch {
	case !m.general:
		return m.dataset || !isOtherModelFile(m.value.text)
	case m.dataset:
		return c.isDatasetLike(m.value.text)
	default:
		return c.isModelLike(m.value.text)
	}
}

// isModelLike says whether the text is that of a model wherever it stands: a name of a known family, a
// repository, or a path that says what lies there.
func (c *container) isModelLike(text string) bool {
	text = clip(text, maxNameBytes)
	switch {
	case isOtherModelFile(text):
		return false
	case isKnownModelName(text) || onHub(text) || isFileOfModel(text) || c.isModelFolder(text) || c.isAmongModels(text):
		return true
	case hubName.MatchString(text):
		return !isRelativePath(text) && !index.runNames[words(path.Base(text))[0]]
	}
	return speaksOf(index.modelPathWords, text) || hasFamily(patterns.FamilyNames, text) || hasFamily(patterns.Architectures, text) ||
		hasFamily(patterns.CommonFamilyNames, text) || sizedName.MatchString(strings.ToLower(text))
}

// isAmongModels says whether the path is in a volume that is named after models.
func (c *container) isAmongModels(text string) bool {
	return slices.ContainsFunc(c.mounts, func(m corev1.VolumeMount) bool {
		return within(text, m.MountPath) && speaksOf(index.modelPathWords, m.Name)
	})
}

// isOtherModelFile says whether the text ends like the file of a model that something is drawn or built by.
func isOtherModelFile(text string) bool {
	return slices.Contains(patterns.OtherModelFiles, strings.ToLower(path.Ext(text)))
}

// showsThings says whether what is called a model here is the file of one that something is drawn or built by.
func (c *container) showsThings() bool {
	return slices.ContainsFunc(c.models, func(m model) bool { return isOtherModelFile(m.value.text) })
}

func isFileOfModel(text string) bool {
	return slices.Contains(patterns.ModelFiles, path.Ext(text)) || slices.Contains(patterns.FrameworkFiles, path.Ext(text))
}

// isDatasetLike says the same of a dataset. A repository's name needs the hub's token beside it: file
// systems and databases have such names too.
func (c *container) isDatasetLike(text string) bool {
	text = clip(text, maxNameBytes)
	if slices.Contains(patterns.DatasetFiles, path.Ext(text)) || onHub(text) || (c.hasHubToken() && hubName.MatchString(text)) {
		return true
	}
	return datasetIn(text) != "" || speaksOf(index.datasetPathWords, text)
}

// isOtherAdapter says whether the flag chooses how a program talks to something, as --adapter slack does:
// the weights that are adapted have a path or an owner.
func (c *container) isOtherAdapter(flag string, value word) bool {
	return flag == "adapter" && len(c.products) == 0 && len(value.missing) == 0 && !strings.Contains(value.text, "/")
}

// callsForeign says whether all addresses of model servers are ones of the public web that could be anything.
func (c *container) callsForeign() bool {
	foreign := false
	for _, name := range c.env.order {
		v := c.env.variables[name]
		if !mayNameModelServer(name) || !isServerAddress(name, v) {
			continue
		}
		if !isForeign(v.value) {
			return false
		}
		foreign = true
	}
	return foreign
}
