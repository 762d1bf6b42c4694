// SPDX-License-Identifier: Apache-2.0

package bom

import (
	"path"
	"regexp"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/package-url/packageurl-go"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

var (
	// digestPattern is a registered digest of the OCI image specification (descriptor.md,
	// "Registered algorithms").
	digestPattern = regexp.MustCompile(`^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$`)
	// huggingFaceRepository is a repository on the Hugging Face hub; old models have no owner.
	huggingFaceRepository = regexp.MustCompile(`^(?:([A-Za-z0-9][A-Za-z0-9._-]{0,95})/)?([A-Za-z0-9][A-Za-z0-9._-]{0,95})$`)
	// commitHash is a git commit; a shorter hexadecimal word may as well be a branch.
	commitHash = regexp.MustCompile(`^[0-9A-Fa-f]{40}$`)
)

// huggingFacePrefixes are the ways to write that a repository is on the Hugging Face hub.
var huggingFacePrefixes = []string{"hf://", "huggingface://", "https://huggingface.co/"}

// validDigest returns the digest in its canonical form, or nothing where it is none.
func validDigest(digest string) string {
	if len(digest) > 256 {
		return ""
	}
	digest = strings.ToLower(digest)
	if !digestPattern.MatchString(digest) {
		return ""
	}
	return digest
}

// purlOf is the package URL of a cleaned finding, empty where none is certain. See
// https://github.com/package-url/purl-spec, types oci and huggingface.
func purlOf(f evidence.Finding) string {
	if strings.Contains(f.Name, redacted) || strings.HasSuffix(f.Name, cutMarker) {
		return ""
	}
	switch {
	case f.Type == evidence.TypeContainer:
		return imagePURL(f)
	case f.Type == evidence.TypeModel && f.Origin == evidence.OriginHuggingFace && f.Confidence != evidence.Unresolved:
		return huggingFacePURL(f)
	}
	return ""
}

// imagePURL is pkg:oci/<last part of the repository>@<digest>, with the whole repository and
// the tag as qualifiers.
func imagePURL(f evidence.Finding) string {
	repository, err := name.NewRepository(f.Name)
	if err != nil {
		return ""
	}
	// Docker Hub's own name for itself is an alias of the one that everybody writes.
	location := repository.Name()
	if repository.RegistryStr() == name.DefaultRegistry {
		location = "docker.io/" + repository.RepositoryStr()
	}
	last := path.Base(repository.RepositoryStr())
	if last == "." || last == ".." || strings.HasSuffix(f.Name, "/") {
		return ""
	}
	qualifiers := map[string]string{"repository_url": location}
	if f.Version != "" && !strings.Contains(f.Version, redacted) && !strings.HasSuffix(f.Version, cutMarker) {
		qualifiers["tag"] = f.Version
	}
	return normalPURL(packageurl.TypeOCI, "", last, f.Digest, packageurl.QualifiersFromMap(qualifiers))
}

// huggingFacePURL is pkg:huggingface/<owner>/<name>@<commit>. KServe writes a revision after a
// colon.
func huggingFacePURL(f evidence.Finding) string {
	repository, revision := f.Name, f.Version
	for _, prefix := range huggingFacePrefixes {
		repository = strings.TrimPrefix(repository, prefix)
	}
	repository, suffix, _ := strings.Cut(repository, ":")
	if revision == "" {
		revision = suffix
	}
	if !commitHash.MatchString(revision) {
		revision = ""
	}
	parts := huggingFaceRepository.FindStringSubmatch(repository)
	if parts == nil {
		return ""
	}
	return normalPURL(packageurl.TypeHuggingface, parts[1], parts[2], revision, nil)
}

// normalPURL is a package URL in its canonical form, empty where the parts make none.
func normalPURL(kind, namespace, name, version string, qualifiers packageurl.Qualifiers) string {
	purl := packageurl.NewPackageURL(kind, namespace, name, version, qualifiers, "")
	if err := purl.Normalize(); err != nil {
		return ""
	}
	return purl.String()
}
