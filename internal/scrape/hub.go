// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

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

// usesOtherHub says whether models are looked up elsewhere than at Hugging Face, or may be. See
// https://docs.vllm.ai/en/latest/models/supported_models.html#modelscope and
// https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables#hfendpoint
func (c *container) usesOtherHub() bool {
	for name, v := range c.env.variables {
		if saysOtherHub(name, v) {
			return true
		}
	}
	for _, e := range c.env.exported {
		if saysOtherHub(e.name, e.value) {
			return true
		}
	}
	return false
}

func saysOtherHub(name string, v variable) bool {
	switch {
	case index.otherHubEnv[name]:
		return !v.known() || strings.EqualFold(v.value, "true") || v.value == "1"
	case index.hubEndpointEnv[name]:
		return !v.known() || (v.value != "" && !onHub(strings.TrimSuffix(v.value, "/")+"/"))
	default:
		return false
	}
}

func (c *container) hasHubToken() bool {
	for _, name := range patterns.HubTokens {
		if _, ok := c.env.variables[name]; ok {
			return true
		}
	}
	return false
}

// worksBesideModels says whether a program runs in a folder where models lie, so that a bare
// owner/name may well be one of them.
func (c *container) worksBesideModels(folder string, invocations []invocation) bool {
	if c.isModelFolder(folder) {
		return true
	}
	for _, inv := range invocations {
		if inv.words[0].text != "cd" || len(inv.words) < 2 {
			continue
		}
		to := inv.words[1].text
		if !path.IsAbs(to) {
			to = path.Join(folder, to)
		}
		if c.isModelFolder(to) || index.modelFolders[path.Base(to)] {
			return true
		}
	}
	return false
}

func (c *container) isModelFolder(folder string) bool {
	isKnown := func(known string) bool { return within(folder, known) }
	return slices.ContainsFunc(patterns.ModelPaths, isKnown) || slices.ContainsFunc(c.pod.in.Rules.ModelVolumePaths, isKnown)
}

// cachedRepository is the folder of a repository in Hugging Face's cache, and its snapshot. See
// https://huggingface.co/docs/huggingface_hub/guides/manage-cache
var cachedRepository = regexp.MustCompile(`(?:^|/)(models|datasets)--([A-Za-z0-9][A-Za-z0-9._-]{0,191})(?:/snapshots/([0-9a-f]{40})(?:/|$)|/|$)`)

// nameCached names the model after the repository, where it is read from Hugging Face's cache:
// what is not known of the path is only where the cache lies or which snapshot it is.
func (m *model) nameCached() {
	text := m.value.text
	if !strings.Contains(text, "s--") {
		return
	}
	found := cachedRepository.FindStringSubmatch(text)
	if found == nil || hasScheme(text) || (found[1] == "datasets") != (m.role == evidence.RoleDataset) {
		return
	}
	owner, name, owned := strings.Cut(found[2], "--")
	if strings.Contains(name, "--") || (owned && name == "") {
		return
	}
	m.value.text, m.value.missing, m.place = path.Join(owner, name), nil, text
	m.revision, m.hub, m.inferred = cmp.Or(m.revision, found[3]), evidence.OriginHuggingFace, true
}
