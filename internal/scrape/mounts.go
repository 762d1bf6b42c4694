// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// readVolumes reports the volumes that are mounted where models or datasets are read.
func (p *pod) readVolumes() {
	sources := map[string]string{}
	origins := map[string]evidence.Origin{}
	for i := range p.spec.Volumes {
		v := &p.spec.Volumes[i]
		sources[v.Name], origins[v.Name] = volumeSource(v)
	}
	for _, name := range p.in.VolumeClaimTemplates {
		sources[name], origins[name] = "volumeClaimTemplate/"+name, evidence.OriginVolume
	}
	for i, c := range p.containers {
		for j, m := range p.containerSpec(i).VolumeMounts {
			role := p.mountRole(c, m.MountPath)
			source := sources[m.Name]
			if role == "" || source == "" {
				continue
			}
			name := source
			if origins[m.Name] == evidence.OriginOCI {
				_, name, _ = strings.Cut(source, "/")
			}
			at := evidence.Evidence{Source: evidence.SourceVolume, Locator: fmt.Sprintf("%s.volumeMounts[%d]", c.at, j)}
			properties := []evidence.Property{
				{Name: evidence.PropVolumeSource, Value: source},
				{Name: evidence.PropVolumePath, Value: m.MountPath},
			}
			if role == evidence.RoleDataset && c.liesIn(m.MountPath, at, properties) {
				continue
			}
			if len(p.volumes) == maxVolumes {
				p.note("%s.volumeMounts[%d] and later volumes were not read: more volumes than are read", c.at, j)
				return
			}
			p.volumes = append(p.volumes, evidence.Finding{
				Type: evidence.TypeData, Name: name, Role: role, Origin: origins[m.Name],
				Container: c.name, Confidence: evidence.Inferred,
				Evidence:   []evidence.Evidence{at},
				Properties: properties,
			})
		}
	}
}

// liesIn says whether datasets that the container names lie in a volume. It is then only where they
// lie, which each of them says.
func (c *container) liesIn(mount string, at evidence.Evidence, properties []evidence.Property) bool {
	found := false
	for i := range c.models {
		m := &c.models[i]
		if m.role != evidence.RoleDataset || len(m.volume) > 0 || (!within(m.value.text, mount) && !within(m.place, mount)) {
			continue
		}
		m.value.evidence, m.volume = appendEvidence(m.value.evidence, at), properties
		found = true
	}
	return found
}

// containerSpec is what p.containers[i] was read from: init containers come first.
func (p *pod) containerSpec(i int) *corev1.Container {
	if i < len(p.spec.InitContainers) {
		return &p.spec.InitContainers[i]
	}
	return &p.spec.Containers[i-len(p.spec.InitContainers)]
}

// volumeSource names a volume that can hold models. ConfigMaps, Secrets and scratch space
// cannot, or not so that it would say anything.
func volumeSource(v *corev1.Volume) (string, evidence.Origin) {
	switch {
	case v.PersistentVolumeClaim != nil:
		return "persistentVolumeClaim/" + v.PersistentVolumeClaim.ClaimName, evidence.OriginVolume
	case v.Ephemeral != nil:
		return "ephemeral/" + v.Name, evidence.OriginVolume
	case v.HostPath != nil:
		return "hostPath" + path.Join("/", v.HostPath.Path), evidence.OriginVolume
	case v.NFS != nil:
		return "nfs/" + v.NFS.Server + ":" + v.NFS.Path, evidence.OriginVolume
	case v.CSI != nil:
		source := "csi/" + v.CSI.Driver
		if bucket := v.CSI.VolumeAttributes["bucketName"]; bucket != "" {
			source += "/" + bucket
		}
		return source, evidence.OriginVolume
	case v.Image != nil && v.Image.Reference != "":
		return "image/" + v.Image.Reference, evidence.OriginOCI
	default:
		return "", evidence.OriginUnknown
	}
}

// mountRole says what a volume at the path is for: a model store where the path is known for
// it or a model is read from below it.
func (p *pod) mountRole(c *container, mount string) evidence.Role {
	isKnown := func(known string) bool { return within(mount, known) }
	if slices.ContainsFunc(patterns.ModelPaths, isKnown) || slices.ContainsFunc(p.in.Rules.ModelVolumePaths, isKnown) {
		return evidence.RoleModelStore
	}
	for _, name := range patterns.ModelCacheEnv {
		if v, ok := c.env.variables[name]; ok && within(v.value, mount) {
			return evidence.RoleModelStore
		}
	}
	for _, m := range c.models {
		if !within(m.value.text, mount) && !within(m.place, mount) {
			continue
		}
		if m.role == evidence.RoleDataset {
			return evidence.RoleDataset
		}
		return evidence.RoleModelStore
	}
	for _, known := range patterns.DatasetPaths {
		if within(mount, known) {
			return evidence.RoleDataset
		}
	}
	return ""
}

// within says whether the path is the folder or lies in it.
func within(p, folder string) bool {
	folder = strings.TrimRight(folder, "/")
	rest, ok := strings.CutPrefix(p, folder)
	return ok && folder != "" && (rest == "" || rest[0] == '/')
}

// readDevices reports the accelerators that one pod requests, added up over its containers.
func (p *pod) readDevices() {
	found := map[string]int{}
	for i := range p.containers {
		// An init container gives its devices back before the others start.
		if p.containers[i].init {
			continue
		}
		c := p.containerSpec(i)
		for _, name := range accelerators(c) {
			list, field := c.Resources.Limits, "limits"
			quantity, ok := list[corev1.ResourceName(name)]
			if !ok {
				list, field = c.Resources.Requests, "requests"
				quantity = list[corev1.ResourceName(name)]
			}
			at := evidence.Evidence{
				Source:  evidence.SourceResource,
				Locator: fmt.Sprintf("%s.resources.%s[%s]", p.containers[i].at, field, name),
			}
			if j, again := found[name]; again {
				p.devices[j].Quantity += quantity.Value()
				p.devices[j].Evidence = appendEvidence(p.devices[j].Evidence, at)
				continue
			}
			found[name] = len(p.devices)
			p.devices = append(p.devices, evidence.Finding{
				Type: evidence.TypeDevice, Name: name, Quantity: quantity.Value(),
				Confidence: evidence.Declared, Evidence: []evidence.Evidence{at},
			})
		}
	}
}

// accelerators names the accelerators that a container requests.
func accelerators(c *corev1.Container) []string {
	var names []string
	for _, list := range []corev1.ResourceList{c.Resources.Limits, c.Resources.Requests} {
		for name, quantity := range list {
			if quantity.Sign() > 0 && matchesGlob(patterns.Accelerators, string(name)) {
				names = append(names, string(name))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
