// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"strings"
	"testing"

	"github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

func TestKindSetWithoutEntriesAllowsEverything(t *testing.T) {
	for name, entries := range map[string][]string{"absent": nil, "empty": {}} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			set, errs := ParseKinds(entries, field.NewPath("k"))
			g.Expect(errs).To(gomega.BeEmpty())
			g.Expect(set.All()).To(gomega.BeTrue())
			g.Expect(set.Allows(schema.GroupKind{Group: "any", Kind: "Thing"})).To(gomega.BeTrue())
		})
	}
}

func TestKindSetAllowsExactlyItsEntries(t *testing.T) {
	for _, entry := range kinds.Catalogue {
		g := gomega.NewWithT(t)
		set, errs := ParseKinds([]string{entry.Key()}, field.NewPath("k"))
		g.Expect(errs).To(gomega.BeEmpty())
		g.Expect(set.All()).To(gomega.BeFalse())
		for _, other := range kinds.Catalogue {
			g.Expect(set.Allows(other.GVK.GroupKind())).To(gomega.Equal(other.Key() == entry.Key()), "%s, %s", entry.Key(), other.Key())
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"same", "same", 0},
	} {
		gomega.NewWithT(t).Expect(distance(c.a, c.b)).To(gomega.Equal(c.want), "%q, %q", c.a, c.b)
	}
}

func TestDistanceIsAMetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[ab/]{0,8}`)
		a, b, c := word.Draw(t, "a"), word.Draw(t, "b"), word.Draw(t, "c")
		if (distance(a, b) == 0) != (a == b) {
			t.Fatalf("distance(%q, %q) = %d", a, b, distance(a, b))
		}
		if distance(a, b) != distance(b, a) {
			t.Fatalf("not symmetric: %q, %q", a, b)
		}
		if distance(a, c) > distance(a, b)+distance(b, c) {
			t.Fatalf("a detour is shorter: %q, %q, %q", a, b, c)
		}
	})
}

func FuzzParseKinds(f *testing.F) {
	for _, seed := range []string{"apps/Deployment", "core/Pod", "apps/deployment", "/", "a/b/c", "", "batch/Job\nbatch/Job", "\xff/\x00", strings.Repeat("x", 400)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		entries := strings.Split(text, "\n")
		set, errs := ParseKinds(entries, field.NewPath("k"))
		if len(errs) > 0 {
			if !set.All() {
				t.Fatalf("%q: a failed parse must not leave half a set", entries)
			}
			return
		}
		allowed := 0
		for _, k := range kinds.Catalogue {
			if set.Allows(k.GVK.GroupKind()) {
				allowed++
			}
		}
		if allowed != len(entries) {
			t.Fatalf("%q: %d entries without an error allow %d kinds", entries, len(entries), allowed)
		}
	})
}
