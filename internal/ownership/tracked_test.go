// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

func TestTrackedKindsFollowThePresenceOfCRDs(t *testing.T) {
	g := NewWithT(t)
	tracked := NewTrackedKinds(kinds.BuiltIn()...)
	lws := catalogued(lwsGVK)
	gk := lws.GVK.GroupKind()
	judge := tracked.Judge(all)

	g.Expect(tracked.Has(statefulSetGVK.GroupKind())).To(BeTrue())
	g.Expect(tracked.Undecided(statefulSetGVK.GroupKind())).To(BeFalse())
	g.Expect(tracked.Undecided(cliqueGVK.GroupKind())).To(BeFalse(), "no kind of the catalogue")
	g.Expect(judge(cliqueGVK.GroupKind())).To(Equal(NotTracked))
	g.Expect(judge(gk)).To(Equal(Undecided))

	tracked.Settle(lws)
	g.Expect(judge(gk)).To(Equal(NotInstalled), "nobody found it")
	tracked.Add(lws)
	g.Expect(judge(gk)).To(Equal(Tracked))
	tracked.Settle(lws)
	g.Expect(judge(gk)).To(Equal(Tracked), "to settle removes nothing")
	tracked.Remove(lws)
	g.Expect(judge(gk)).To(Equal(NotInstalled))

	for name, change := range map[string]func(*TrackedKinds){
		"added":   func(t *TrackedKinds) { t.Add(lws) },
		"removed": func(t *TrackedKinds) { t.Remove(lws) },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			tracked := NewTrackedKinds()
			change(tracked)
			g.Expect(tracked.Undecided(gk)).To(BeFalse())
		})
	}
}

func TestAKindThatIsNotAllowedIsNotTracked(t *testing.T) {
	g := NewWithT(t)
	tracked := NewTrackedKinds(kinds.BuiltIn()...)
	judge := tracked.Judge(func(gk schema.GroupKind) bool { return gk.Kind == "Job" })
	g.Expect(judge(jobGVK.GroupKind())).To(Equal(Tracked))
	g.Expect(judge(statefulSetGVK.GroupKind())).To(Equal(NotTracked))
	g.Expect(judge(lwsGVK.GroupKind())).To(Equal(Undecided), "it may stand below one that is")
	tracked.Add(catalogued(lwsGVK))
	g.Expect(judge(lwsGVK.GroupKind())).To(Equal(NotTracked))
	tracked.Remove(catalogued(lwsGVK))
	g.Expect(judge(lwsGVK.GroupKind())).To(Equal(NotInstalled))
}
