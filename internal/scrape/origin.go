// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"regexp"
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

var (
	scheme = regexp.MustCompile(`^([a-z][a-z0-9+.-]{0,15})://`)
	// hubName is a repository on the Hugging Face hub; llama.cpp writes a file's quantisation
	// behind it, KServe a revision.
	hubName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}(:[A-Za-z0-9._-]{1,95})?$`)
)

// userinfo is the user and password in an address (RFC 3986, section 3.2.1).
var userinfo = regexp.MustCompile(`^([a-z][a-z0-9+.-]{0,15}://)[^/@]*@`)

var schemeOrigins = map[string]evidence.Origin{
	"s3": evidence.OriginObjectStore, "gs": evidence.OriginObjectStore, "gcs": evidence.OriginObjectStore,
	"az": evidence.OriginObjectStore, "abfs": evidence.OriginObjectStore, "abfss": evidence.OriginObjectStore,
	"azblob": evidence.OriginObjectStore, "oss": evidence.OriginObjectStore, "cos": evidence.OriginObjectStore,
	"obs": evidence.OriginObjectStore, "tos": evidence.OriginObjectStore, "r2": evidence.OriginObjectStore,
	"minio": evidence.OriginObjectStore, "webhdfs": evidence.OriginObjectStore, "dbfs": evidence.OriginObjectStore,
	"ollama": evidence.OriginOllama, "wasb": evidence.OriginObjectStore, "wasbs": evidence.OriginObjectStore, "hdfs": evidence.OriginObjectStore,
	"hf": evidence.OriginHuggingFace, "oci": evidence.OriginOCI, "modelcar": evidence.OriginOCI,
	"ngc": evidence.OriginNGC, "pvc": evidence.OriginVolume, "file": evidence.OriginFile,
	"http": evidence.OriginHTTP, "https": evidence.OriginHTTP,
}

// hasScheme says whether the text begins like an address. Most do not, which costs no more than a look.
func hasScheme(text string) bool {
	return strings.Contains(clip(text, maxNameBytes), "://") && scheme.MatchString(text)
}

// originOf says where the identity points: by its scheme, by being a path, or, for a bare
// org/name, by the hub that the program looks it up in.
func originOf(identity string, hub evidence.Origin) evidence.Origin {
	if hasScheme(identity) {
		if onHub(identity) {
			return evidence.OriginHuggingFace
		}
		name, _, _ := strings.Cut(identity, "://")
		return schemeOrigins[name]
	}
	if strings.HasPrefix(identity, "/") || strings.HasPrefix(identity, ".") || strings.HasPrefix(identity, "~") {
		return evidence.OriginFile
	}
	if onHub("https://" + identity) {
		return evidence.OriginHuggingFace
	}
	if isRelativePath(identity) {
		return evidence.OriginFile
	}
	if hub == evidence.OriginHuggingFace && !hubName.MatchString(identity) {
		return evidence.OriginUnknown
	}
	return hub
}

// isRelativePath says whether the identity begins with a folder that nobody on a hub is named
// like.
func isRelativePath(identity string) bool {
	first, _, found := strings.Cut(identity, "/")
	return found && index.modelFolders[first]
}

// onHub says whether the address is Hugging Face's.
func onHub(address string) bool {
	address = userinfo.ReplaceAllString(clip(address, maxNameBytes), "$1")
	for _, prefix := range patterns.HubAddresses {
		if strings.HasPrefix(address, prefix) {
			return true
		}
	}
	return false
}

// isService says whether what stands for a model is only the address of a service: that of a
// server alone, or of one from which adapters are fetched.
func isService(m model) bool {
	if len(m.value.missing) > 0 || originOf(m.value.text, evidence.OriginUnknown) != evidence.OriginHTTP {
		return false
	}
	_, rest, _ := strings.Cut(m.value.text, "://")
	_, below, _ := strings.Cut(rest, "/")
	return below == "" || (m.role == evidence.RoleAdapter && !isArtefact(m.value.text))
}

// isArtefact says whether the text is the address of something that is read as a model: in
// an object store or hub, or a file of a model's format.
func isArtefact(text string) bool {
	switch originOf(text, evidence.OriginUnknown) {
	case evidence.OriginHuggingFace, evidence.OriginObjectStore, evidence.OriginNGC, evidence.OriginOCI:
		return true
	case evidence.OriginHTTP:
		address, _, _ := strings.Cut(text, "?")
		for _, suffix := range patterns.ModelFiles {
			if strings.HasSuffix(address, suffix) {
				return true
			}
		}
	}
	return false
}
