// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"fmt"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

const (
	maxKinds       = 64
	maxKindEntry   = 317 // a group of 253 characters, a slash and a kind of 63
	coreGroupEntry = "core"
)

// KindSet is a set of workload kinds. Its zero value holds every kind.
type KindSet struct{ members map[schema.GroupKind]struct{} }

// Allows is true when the kind is in the set.
func (s KindSet) Allows(gk schema.GroupKind) bool {
	if len(s.members) == 0 {
		return true
	}
	_, ok := s.members[gk]
	return ok
}

// All is true when the set holds every kind.
func (s KindSet) All() bool { return len(s.members) == 0 }

// notice says what a set that is not every kind leaves out, so that a workload without an
// AIBOM is not misread; it is empty for every kind.
func (s KindSet) notice() string {
	if s.All() {
		return ""
	}
	return fmt.Sprintf("; workloadKinds allows %d of the %d known kinds: workloads of the others have no AIBOM, "+
		"third-party ones are not watched either, those of apps and batch are watched all the same",
		len(s.members), len(kinds.Catalogue))
}

// Equal is true when both sets were made from the same entries, in whichever order. The set
// of every kind equals itself only, not a set that lists all that are known.
func (s KindSet) Equal(other KindSet) bool { return maps.Equal(s.members, other.members) }

// ParseKinds reads entries of the form Group/Kind, the core group spelt core. Each entry
// must be a known kind (see the kinds package) and occur once; every one that is not is
// reported at its index below path, with the nearest known kind. No entry is every kind.
func ParseKinds(entries []string, path *field.Path) (KindSet, field.ErrorList) {
	if len(entries) > maxKinds {
		return KindSet{}, field.ErrorList{field.TooMany(path, len(entries), maxKinds)}
	}
	if len(entries) == 0 {
		return KindSet{}, nil
	}
	var errs field.ErrorList
	set := KindSet{members: make(map[schema.GroupKind]struct{}, len(entries))}
	for i, entry := range entries {
		at := path.Index(i)
		if len(entry) > maxKindEntry {
			errs = append(errs, field.TooLong(at, entry, maxKindEntry))
			continue
		}
		gk, err := parseKind(entry)
		if err != nil {
			errs = append(errs, field.Invalid(at, entry, err.Error()))
			continue
		}
		if _, seen := set.members[gk]; seen {
			errs = append(errs, field.Duplicate(at, entry))
			continue
		}
		set.members[gk] = struct{}{}
	}
	if len(errs) > 0 {
		return KindSet{}, errs
	}
	return set, nil
}

func parseKind(entry string) (schema.GroupKind, error) {
	group, kind, _ := strings.Cut(entry, "/")
	if group == "" || kind == "" || strings.Contains(kind, "/") {
		return schema.GroupKind{}, fmt.Errorf("must be Group/Kind; the nearest known kind is %s", nearestKind(entry))
	}
	if group == coreGroupEntry {
		group = ""
	}
	known, ok := kinds.For(schema.GroupKind{Group: group, Kind: kind})
	if !ok {
		return schema.GroupKind{}, fmt.Errorf("is not a known kind; the nearest one is %s", nearestKind(entry))
	}
	return known.GVK.GroupKind(), nil
}

// nearestKind is the known kind whose spelling, with or without its group, takes the fewest
// edits to reach; of equally near ones the first in the catalogue.
func nearestKind(entry string) string {
	entry = strings.ToLower(entry)
	best, nearest := -1, ""
	for _, k := range kinds.Catalogue {
		d := min(distance(entry, strings.ToLower(k.Key())), distance(entry, strings.ToLower(k.GVK.Kind)))
		if best < 0 || d < best {
			best, nearest = d, k.Key()
		}
	}
	return nearest
}

// distance is the Levenshtein distance of two strings, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
