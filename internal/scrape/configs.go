// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"maps"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// readConfigs reports the files on a container's command line that lie in ConfigMaps: a model
// server's settings, a training's recipe, a script. ConfigMaps are not read, so that what such a
// file names stays unresolved, and the ConfigMap is said to hold the answer.
func (c *container) readConfigs(spec *corev1.Container, invocations []invocation) {
	mounts := configMapMounts(c.pod.spec.Volumes, spec.VolumeMounts)
	if len(mounts) == 0 {
		return
	}
	for _, inv := range invocations {
		for _, w := range inv.words {
			text := w.text
			if strings.HasPrefix(text, "-") || isFlagLike(text) {
				_, text, _ = strings.Cut(text, "=")
			}
			c.addConfig(text, w.evidence, mounts)
		}
	}
	for _, name := range c.env.order {
		if v := c.env.variables[name]; v.known() {
			c.addConfig(v.value, v.evidence, mounts)
		}
	}
}

// isFlagLike says whether the word is key=value.
func isFlagLike(text string) bool {
	key, _, found := strings.Cut(text, "=")
	return found && variableName.MatchString(key)
}

func (c *container) addConfig(file string, at []evidence.Evidence, mounts map[string]string) {
	if !isLocalPath(file) || len(file) > maxNameBytes || len(c.configs) == maxEvidence || path.Ext(file) == "" {
		return
	}
	for _, mount := range slices.Sorted(maps.Keys(mounts)) {
		if !within(path.Clean(file), mount) {
			continue
		}
		if slices.ContainsFunc(c.configs, func(f evidence.Finding) bool { return f.Name == file }) {
			return
		}
		c.configs = append(c.configs, evidence.Finding{
			Type: evidence.TypeData, Name: file, Role: evidence.RoleConfig, Container: c.name,
			Confidence: evidence.Unresolved, Evidence: appendEvidence(nil, at...),
			Properties: []evidence.Property{{Name: evidence.PropIdentityUnresolved, Value: "what it names is in " + mounts[mount] + ", which is not read"}},
		})
		return
	}
}

// configMapMounts are the paths at which ConfigMaps are mounted, and which ConfigMap it is.
func configMapMounts(volumes []corev1.Volume, mounts []corev1.VolumeMount) map[string]string {
	configMaps := configMapsOf(volumes)
	if len(configMaps) == 0 {
		return nil
	}
	found := map[string]string{}
	for i := range mounts {
		if name := configMaps[mounts[i].Name]; name != "" && len(found) < maxEvidence {
			found[strings.TrimRight(mounts[i].MountPath, "/")] = "configMap/" + name
		}
	}
	return found
}

// configMapsOf are the names of the ConfigMaps that the volumes hold, the first of each, by the names of
// the volumes.
func configMapsOf(volumes []corev1.Volume) map[string]string {
	var found map[string]string
	for i := range volumes {
		v, name := &volumes[i], ""
		switch {
		case v.ConfigMap != nil:
			name = v.ConfigMap.Name
		case v.Projected != nil:
			for j := range v.Projected.Sources {
				if source := v.Projected.Sources[j].ConfigMap; source != nil && name == "" {
					name = source.Name
				}
			}
		}
		if name == "" {
			continue
		}
		if found == nil {
			found = map[string]string{}
		}
		found[v.Name] = name
	}
	return found
}
