// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"cmp"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// maxDownloadWords is how many words of a download are read for where it goes.
const maxDownloadWords = 64

// maxDownloads is how many models one program downloads whose places are of interest.
const maxDownloads = 16

// destinations are the local paths among the words of a download, be they a flag's value or
// relative to the folder where it runs, and below those the ones that bear the name of what is
// downloaded or of a file in it.
func destinations(inv invocation, identity string) (into, below []string) {
	add := func(to []string, p string) []string {
		if len(to) == maxEvidence {
			return to
		}
		return append(to, path.Clean(p))
	}
	folder := inv.folder
	names := []string{strings.TrimSuffix(path.Base(identity), ".git")}
	for _, w := range inv.words[1:min(len(inv.words), maxDownloadWords)] {
		text := w.text
		isFlag := strings.HasPrefix(text, "-")
		if isFlag {
			_, text, _ = strings.Cut(text, "=")
		}
		switch {
		case text == "" || text == identity || len(text) > maxNameBytes || len(w.missing) > 0 || hasScheme(text):
		case isLocalPath(text):
			into = add(into, text)
		default:
			if folder != "" {
				into = add(into, path.Join(folder, text))
			}
			if !isFlag {
				names = add(names, text)
			}
		}
	}
	folders := into
	if folder != "" {
		folders = append(folders[:len(folders):len(folders)], folder)
	}
	for _, f := range folders {
		for _, name := range names {
			if len(below) == maxEvidence {
				return into, below
			}
			below = append(below, path.Join(f, name))
		}
	}
	return into, below
}

// landing is a place where a download may put what it fetches. volume is empty for a path in no
// volume, and anyVolume for one in whatever volume; below is true for what bears the name of what
// is downloaded, in a folder to which that is downloaded.
type landing struct {
	volume, path string
	below        bool
}

const anyVolume = "*"

// landings are the models that are downloaded to each place.
type landings map[landing][]*model

// add keeps the first models of different names: more than one says that it is not known which
// of them lies there.
func (l landings) add(at landing, m *model) {
	have := l[at]
	if len(have) > 1 || slices.ContainsFunc(have, func(other *model) bool { return other.value.text == m.value.text }) {
		return
	}
	l[at] = append(have, m)
}

// landings are those of all containers of the pod.
func (p *pod) landings() landings {
	all := landings{}
	for _, c := range p.containers {
		for i := range c.models {
			m := &c.models[i]
			if m.role != evidence.RoleDownload || len(m.value.missing) > 0 {
				continue
			}
			for j, to := range slices.Concat(m.into, m.below) {
				volume, rest := p.volumeAt(c, to)
				all.add(landing{volume, rest, j >= len(m.into)}, m)
				all.add(landing{anyVolume, to, j >= len(m.into)}, m)
			}
		}
	}
	return all
}

// at is the one model that is downloaded to a place that the container reads: to the same place in
// the same volume, or to the same path where not both have a volume there.
func (l landings) at(volume, rest, from string) (*model, bool) {
	for _, below := range []bool{false, true} {
		candidates := l[landing{anyVolume, from, below}]
		if volume != "" {
			candidates = slices.Concat(l[landing{volume, rest, below}], l[landing{"", from, below}])
		}
		if len(candidates) > 0 {
			return candidates[0], len(candidates) == 1
		}
	}
	return nil, false
}

// resolvePlaces names what lies where a container reads a model from, when exactly one download
// writes there: the path is only its place.
func (p *pod) resolvePlaces() {
	all := p.landings()
	if len(all) == 0 {
		return
	}
	for _, c := range p.containers {
		if c.init {
			continue
		}
		for i := range c.models {
			m := &c.models[i]
			if m.dataset || m.role == evidence.RoleOutput || len(m.value.missing) > 0 || !isLocalPath(m.value.text) {
				continue
			}
			from := path.Clean(m.value.text)
			volume, rest := p.volumeAt(c, from)
			if d, ok := all.at(volume, rest, from); ok {
				m.place = m.value.text
				m.value.text, m.value.evidence = d.value.text, appendEvidence(m.value.evidence, d.value.evidence...)
				m.revision, m.hub, m.inferred = d.revision, d.hub, true
			}
		}
	}
}

// volumeAt is the volume in which a container's path lies, and the path there.
func (p *pod) volumeAt(c *container, from string) (volume, rest string) {
	var deepest *corev1.VolumeMount
	for i := range c.mounts {
		m := &c.mounts[i]
		if within(from, m.MountPath) && (deepest == nil || len(m.MountPath) > len(deepest.MountPath)) {
			deepest = m
		}
	}
	if deepest == nil {
		return "", from
	}
	below := strings.TrimPrefix(from, strings.TrimRight(deepest.MountPath, "/"))
	return p.sourceOf(deepest.Name), path.Join("/", deepest.SubPath, deepest.SubPathExpr, below)
}

// sourceOf is what tells the pod's volumes apart: two of them may be of one claim.
func (p *pod) sourceOf(name string) string {
	if p.sources == nil {
		p.sources = make(map[string]string, len(p.spec.Volumes))
		for i := range p.spec.Volumes {
			if v := &p.spec.Volumes[i]; v.PersistentVolumeClaim != nil || v.HostPath != nil || v.NFS != nil {
				p.sources[v.Name], _ = volumeSource(v)
			}
		}
	}
	return cmp.Or(p.sources[name], "volume/"+name)
}
