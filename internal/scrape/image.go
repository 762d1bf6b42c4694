// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// image is a parsed image reference.
type image struct {
	// repository is the reference without tag and digest, as written; the whole reference
	// where it cannot be parsed.
	repository string
	// path is the repository path without registry; empty where the reference cannot be parsed.
	path string
	// registry is the registry's host name, index.docker.io by default.
	registry string
	tag      string
	digest   string
}

// parseImage reads an image reference as
// https://github.com/distribution/reference defines it.
func parseImage(reference string) image {
	if len(reference) > maxValueBytes {
		return image{repository: reference[:maxValueBytes]}
	}
	written, digest, _ := strings.Cut(reference, "@")
	tag := ""
	if colon := strings.LastIndexByte(written, ':'); colon > strings.LastIndexByte(written, '/') {
		written, tag = written[:colon], written[colon+1:]
	}
	parsed, err := name.ParseReference(reference, name.WeakValidation)
	if err != nil {
		return parseLoosely(reference, written, tag)
	}
	return image{
		repository: written,
		path:       parsed.Context().RepositoryStr(),
		registry:   parsed.Context().RegistryStr(),
		tag:        tag,
		digest:     digest,
	}
}

// placeholders stand in manifests that are filled in before they are applied, such as
// REGION-docker.pkg.dev/PROJECT_ID/optimum-tpu/tgi-tpu: not a reference, and yet the
// path's end says what it will be.
var placeholders = regexp.MustCompile(`^[A-Za-z0-9_.$<>{}-]+(/[A-Za-z0-9_.$<>{}-]+)+$`)

func parseLoosely(reference, written, tag string) image {
	if !placeholders.MatchString(written) {
		return image{repository: reference}
	}
	// The first part is a registry where it looks like a host; see the reference's grammar.
	if registry, rest, _ := strings.Cut(written, "/"); strings.Contains(registry, ".") {
		return image{repository: written, path: rest, registry: registry, tag: tag}
	}
	return image{repository: written, path: written, tag: tag}
}

func matchesAny(imagePatterns []string, img image) bool {
	for _, pattern := range imagePatterns {
		if matchesImage(pattern, img) {
			return true
		}
	}
	return false
}

// matchesImage says whether the image is the one that the pattern names. A pattern is a
// repository path; * stands for any characters within one segment. Its last segments are the
// image's last segments, so that a mirror's prefix is tolerated only where the full upstream
// path follows it. A pattern that begins with a registry (it has a dot) must find it there too,
// be it the image's own registry or a part of a mirror's path.
func matchesImage(pattern string, img image) bool {
	// Most patterns are of other images: compare the last segments before anything is split.
	if img.path == "" || !matchesSegment(path.Base(pattern), path.Base(img.path)) {
		return false
	}
	want := strings.Split(pattern, "/")
	full := img.path
	if strings.Contains(want[0], ".") {
		full = img.registry + "/" + img.path
	}
	have := strings.Split(full, "/")
	if len(have) < len(want) {
		return false
	}
	have = have[len(have)-len(want):]
	if have[0] == name.DefaultRegistry && want[0] == dockerHub {
		have[0] = dockerHub
	}
	for i := range want {
		if !matchesSegment(want[i], have[i]) {
			return false
		}
	}
	return true
}

// dockerHub is what people call the registry that is asked where none is named.
const dockerHub = "docker.io"

func matchesSegment(pattern, segment string) bool {
	if !strings.ContainsAny(pattern, `*?[\`) {
		return pattern == segment
	}
	ok, err := path.Match(pattern, segment)
	return err == nil && ok
}

// versionTag is a tag that begins with a version: two to four numbers, perhaps a
// pre-release, perhaps a variant such as -gpu behind it.
var versionTag = regexp.MustCompile(`^v?(\d{1,8}(?:\.\d{1,8}){1,3}(?:[-.]?(?:rc|alpha|beta|a|b|post|dev)\.?\d{0,8})?)(?:[-_+][A-Za-z0-9_.+-]*|\.[A-Za-z][A-Za-z0-9_.+-]*)?$`)

// dateTag is a tag that begins with the day of a build.
var dateTag = regexp.MustCompile(`^v?(?:19|20)\d\d(?:\.(?:0[1-9]|1[0-2])\.(?:0[1-9]|[12]\d|3[01])|(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))(?:\D|$)`)

// versionOf is the version in a tag, and empty where the tag has no version's shape.
func versionOf(tag string) string {
	m := versionTag.FindStringSubmatch(tag)
	if m == nil || dateTag.MatchString(tag) {
		return ""
	}
	return m[1]
}

// runningDigest is the manifest digest in a container status's imageID. A bare sha256: is
// the digest of the image's configuration, not of its manifest, and does not count.
func runningDigest(imageID string) string {
	imageID = strings.TrimPrefix(imageID, "docker-pullable://")
	_, digest, found := strings.Cut(imageID, "@")
	if !found || !isDigest(digest) {
		return ""
	}
	return digest
}

var sha256Digest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

func isDigest(s string) bool { return sha256Digest.MatchString(s) }

// imageFindings are the container's image, once for each digest that pods report for it.
func (c *container) imageFindings(running []RunningImage) []evidence.Finding {
	role, statuses := evidence.RoleMain, "containerStatuses"
	if c.init {
		role, statuses = evidence.RoleInit, "initContainerStatuses"
	}
	f := evidence.Finding{
		Type: evidence.TypeContainer, Name: c.image.repository, Version: c.image.tag,
		Role: role, Container: c.name, Confidence: evidence.Declared,
		Evidence: []evidence.Evidence{{Source: evidence.SourceImage, Locator: c.at + ".image"}},
	}
	all := c.runningFindings(f, statuses, running)
	if isDigest(c.image.digest) {
		f.Digest = c.image.digest
		return append(all, f)
	}
	for _, g := range all {
		if g.Name == f.Name && g.Version == f.Version {
			return all
		}
	}
	return append(all, f)
}

// runningFindings are the digests that pods report for the container. A pod may run another
// image than the template names: an older one during a rollout, or a mirror's.
func (c *container) runningFindings(f evidence.Finding, statuses string, running []RunningImage) []evidence.Finding {
	var all []evidence.Finding
	seen := map[RunningImage]bool{}
	for _, r := range running {
		r.ImageID = runningDigest(r.ImageID)
		// What the template pins by digest is known without asking.
		pinned := r.Image == c.reference && isDigest(c.image.digest)
		if r.ImageID == "" || seen[r] || pinned {
			continue
		}
		seen[r] = true
		reported := evidence.Evidence{
			Source: evidence.SourcePodStatus, Locator: "status." + statuses + "[name=" + c.name + "].imageID",
		}
		g := f
		g.Digest = r.ImageID
		g.Evidence = append(slices.Clone(f.Evidence), reported)
		if r.Image != c.reference {
			other := parseImage(r.Image)
			g.Name, g.Version = other.repository, other.tag
			g.Evidence = []evidence.Evidence{reported}
		}
		all = append(all, g)
	}
	return all
}
