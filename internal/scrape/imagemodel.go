// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"path"
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// readImageModel reads the model out of the name of an image that is made for one model, where
// nothing else names what is served.
func (c *container) readImageModel() {
	if c.namesModel(evidence.RoleServed) {
		return
	}
	for _, p := range c.products {
		if matchesAny(p.TagModels, c.image) && strings.ContainsAny(c.image.tag, "-_") && versionOf(c.image.tag) == "" {
			at := []evidence.Evidence{c.imageEvidence()}
			c.addModel(model{value: word{text: c.image.tag, evidence: at}, role: evidence.RoleServed, inferred: true})
			return
		}
		isModelImage := matchesAny(p.ModelImages, c.image) || c.isMirrorImageOf(p)
		if !isModelImage || matchesAny(p.NotModelImages, c.image) {
			continue
		}
		// Such an image ends in <owner>/<model>.
		owner, base := path.Split(c.image.path)
		name := path.Join(path.Base(owner), base)
		at := []evidence.Evidence{c.imageEvidence()}
		c.addModel(model{value: word{text: name, evidence: at}, role: evidence.RoleServed, hub: p.Hub, inferred: true})
		return
	}
}
