// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"regexp"
	"strings"
)

// templateDefault is ${NAME:-value} in a manifest that is filled in before it is applied.
var templateDefault = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]{0,255}):?-([^${}]+)\}`)

// fillDefaults puts the defaults in a text that no shell reads in their place. What stands in for a
// credential is dropped.
func (p *pod) fillDefaults(text string) string {
	if !strings.Contains(text, "${") || len(text) > maxNameBytes {
		return text
	}
	return templateDefault.ReplaceAllStringFunc(text, func(found string) string {
		m := templateDefault.FindStringSubmatch(found)
		if p.isCredential(m[1]) {
			return "${" + m[1] + "}"
		}
		return m[2]
	})
}

// imageOf reads an image reference, and one that is still to be filled in by its defaults; it is
// reported as written.
func (p *pod) imageOf(reference string) image {
	filled := p.fillDefaults(reference)
	img := parseImage(filled)
	if filled != reference {
		img.repository, img.tag = p.withoutSecrets(reference), ""
	}
	return img
}

// withoutSecrets is the text without what stands in for credentials.
func (p *pod) withoutSecrets(text string) string {
	return templateDefault.ReplaceAllStringFunc(text, func(found string) string {
		if m := templateDefault.FindStringSubmatch(found); p.isCredential(m[1]) {
			return "${" + m[1] + "}"
		}
		return found
	})
}
