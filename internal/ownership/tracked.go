// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// Verdict says whether the workloads of a kind absorb what they own.
type Verdict int

const (
	// NotTracked kinds are climbed through.
	NotTracked Verdict = iota
	// NotInstalled kinds are third-party kinds without a CRD that can be served. Nobody asks
	// for them: what the API server's discovery says of such a kind may be about another one,
	// and would be remembered.
	NotInstalled
	// Tracked kinds absorb.
	Tracked
	// Undecided kinds may turn out to be either: nobody has looked for their CRD yet.
	Undecided
)

// Judge gives the verdict on a kind. One look at a workload uses one judge.
type Judge func(schema.GroupKind) Verdict

// TrackedKinds are the kinds that are there: the built-in ones and every third-party kind
// whose CRD is present, healthy or not. Its methods are safe for concurrent use.
type TrackedKinds struct {
	mu      sync.RWMutex
	present map[schema.GroupKind]bool
	settled map[schema.GroupKind]bool
}

// NewTrackedKinds returns the set of the kinds that are always there.
func NewTrackedKinds(always ...kinds.Kind) *TrackedKinds {
	t := &TrackedKinds{present: map[schema.GroupKind]bool{}, settled: map[schema.GroupKind]bool{}}
	for _, k := range always {
		t.Add(k)
	}
	return t
}

// Add says that the kind's CRD is present.
func (t *TrackedKinds) Add(k kinds.Kind) { t.set(k, true) }

// Remove says that the kind's CRD is absent.
func (t *TrackedKinds) Remove(k kinds.Kind) { t.set(k, false) }

func (t *TrackedKinds) set(k kinds.Kind, present bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.present[k.GVK.GroupKind()] = present
	t.settled[k.GVK.GroupKind()] = true
}

// Settle says that it is known by now, as well as it can be, whether the kind's CRD is there.
// Add and Remove say so too.
func (t *TrackedKinds) Settle(k kinds.Kind) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.settled[k.GVK.GroupKind()] = true
}

// Has says whether the kind is there.
func (t *TrackedKinds) Has(gk schema.GroupKind) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.present[gk]
}

// Undecided says whether it is still unknown if the kind is there: it is a third-party kind of
// the catalogue, and nobody has looked for its CRD yet.
func (t *TrackedKinds) Undecided(gk schema.GroupKind) bool {
	known, ok := kinds.For(gk)
	if !ok || !known.ThirdParty {
		return false
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return !t.settled[gk]
}

// Judge tracks the kinds that are there and allowed.
func (t *TrackedKinds) Judge(allows func(schema.GroupKind) bool) Judge {
	return func(gk schema.GroupKind) Verdict {
		switch {
		case t.Undecided(gk):
			return Undecided
		case !t.Has(gk):
			return absent(gk)
		case !allows(gk):
			return NotTracked
		default:
			return Tracked
		}
	}
}

// absent is the verdict on a kind that is not there.
func absent(gk schema.GroupKind) Verdict {
	if k, known := kinds.For(gk); known && k.ThirdParty {
		return NotInstalled
	}
	return NotTracked
}
