// SPDX-License-Identifier: Apache-2.0

package bom

import (
	"cmp"
	"slices"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// directness orders the sources: where a fact is stated comes before where it is implied.
var directness = []evidence.Source{
	evidence.SourceAnnotation,
	evidence.SourceField,
	evidence.SourceArgument,
	evidence.SourceCommand,
	evidence.SourceEnvironment,
	evidence.SourceVolume,
	evidence.SourceImage,
	evidence.SourceResource,
	evidence.SourceLabel,
	evidence.SourceKind,
	evidence.SourcePodStatus,
}

// roleOrder orders the roles by how much they say of what a workload is for.
var roleOrder = []evidence.Role{
	evidence.RoleServed, evidence.RoleOutput, evidence.RoleCalled, evidence.RoleAdapter,
	evidence.RoleDraft, evidence.RoleTokenizer, evidence.RoleDataset, evidence.RoleModelStore,
	evidence.RoleDownload, evidence.RoleMain, evidence.RoleInit,
}

// confidenceOrder orders the confidences, the most certain first.
var confidenceOrder = []evidence.Confidence{evidence.Declared, evidence.Inferred, evidence.Unresolved}

// rank is an item's place in an order; what the order does not have comes last.
func rank[T comparable](order []T, item T) int {
	if i := slices.Index(order, item); i >= 0 {
		return i
	}
	return len(order)
}

// certainty is 0 for the most certain confidence and grows with doubt.
func certainty(c evidence.Confidence) int { return rank(confidenceOrder, c) }

// importance is 0 for the findings that a document must not lose and grows from there.
func importance(f evidence.Finding) int {
	switch {
	case f.Type == evidence.TypeModel && f.Role == evidence.RoleServed:
		return 0
	case f.Type == evidence.TypeRuntime:
		return 1
	case f.Type == evidence.TypeFramework:
		return 2
	case f.Type == evidence.TypeContainer && f.Role != evidence.RoleInit:
		return 3
	case f.Type == evidence.TypeModel:
		return 4
	case f.Type == evidence.TypeService:
		return 5
	case f.Type == evidence.TypeData:
		return 6
	case f.Type == evidence.TypeDevice:
		return 7
	default:
		return 8
	}
}

// compareFindings orders merged findings by importance; no two of them are equal.
func compareFindings(a, b evidence.Finding) int {
	return cmp.Or(
		cmp.Compare(importance(a), importance(b)),
		cmp.Compare(certainty(a.Confidence), certainty(b.Confidence)),
		cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.Version, b.Version),
		cmp.Compare(a.Digest, b.Digest),
		cmp.Compare(rank(roleOrder, a.Role), rank(roleOrder, b.Role)),
		cmp.Compare(a.Role, b.Role),
		cmp.Compare(a.Container, b.Container),
		cmp.Compare(rank(directness, sourceOf(a)), rank(directness, sourceOf(b))),
		cmp.Compare(sourceOf(a), sourceOf(b)),
		cmp.Compare(a.Type, b.Type),
		cmp.Compare(a.Origin, b.Origin),
		cmp.Compare(a.Quantity, b.Quantity),
		cmp.Compare(a.Endpoint, b.Endpoint),
		cmp.Compare(a.Confidence, b.Confidence),
	)
}

func compareEvidence(a, b evidence.Evidence) int {
	return cmp.Or(
		cmp.Compare(rank(directness, a.Source), rank(directness, b.Source)),
		cmp.Compare(a.Source, b.Source),
		cmp.Compare(a.Locator, b.Locator),
	)
}

func compareProperties(a, b evidence.Property) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value))
}

func compareRoles(a, b string) int {
	return cmp.Or(
		cmp.Compare(rank(roleOrder, evidence.Role(a)), rank(roleOrder, evidence.Role(b))),
		cmp.Compare(a, b),
	)
}
