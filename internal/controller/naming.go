// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxNameLength is the longest name of an object (RFC 1123 subdomain).
const maxNameLength = 253

// AIBOMName is the name of a workload's AIBOM: <kind in lower case>-<workload name>. A name
// that would be too long is cut and ends in a hash of the whole.
func AIBOMName(kind, workload string) string {
	name := strings.ToLower(kind) + "-" + workload
	if len(name) <= maxNameLength {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	suffix := "-" + hex.EncodeToString(sum[:8])
	return strings.TrimRight(name[:maxNameLength-len(suffix)], "-.") + suffix
}
