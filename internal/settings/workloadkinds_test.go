// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"testing"

	"github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

var kindsPath = field.NewPath("spec", "discovery", "workloadKinds")

// kindSet parses entries that are known to be right.
func kindSet(t *testing.T, entries ...string) KindSet {
	t.Helper()
	set, errs := ParseKinds(entries, kindsPath)
	gomega.NewWithT(t).Expect(errs).To(gomega.BeEmpty())
	return set
}

func TestWorkloadKindsParseEveryKnownKind(t *testing.T) {
	g := gomega.NewWithT(t)
	var every []string
	for _, k := range kinds.Catalogue {
		every = append(every, k.Key())
	}
	set := kindSet(t, every...)
	for _, k := range kinds.Catalogue {
		g.Expect(set.Allows(k.GVK.GroupKind())).To(gomega.BeTrue(), k.Key())
	}
	g.Expect(set.All()).To(gomega.BeFalse(), "a list of all that is known is a list all the same")
}

func TestWorkloadKindsRefuse(t *testing.T) {
	for name, c := range map[string]struct {
		entries []string
		want    []string
	}{
		"an unknown kind": {[]string{"apps/Deploymant"},
			[]string{`spec.discovery.workloadKinds[0]: Invalid value: "apps/Deploymant": is not a known kind; the nearest one is apps/Deployment`}},
		"an unknown group": {[]string{"app/StatefulSet"},
			[]string{`spec.discovery.workloadKinds[0]: Invalid value: "app/StatefulSet": is not a known kind; the nearest one is apps/StatefulSet`}},
		"another spelling of the kind": {[]string{"apps/deployment"},
			[]string{`spec.discovery.workloadKinds[0]: Invalid value: "apps/deployment": is not a known kind; the nearest one is apps/Deployment`}},
		"a plural": {[]string{"batch/jobs"},
			[]string{`spec.discovery.workloadKinds[0]: Invalid value: "batch/jobs": is not a known kind; the nearest one is batch/Job`}},
		"a duplicate": {[]string{"batch/Job", "apps/Deployment", "batch/Job"},
			[]string{`spec.discovery.workloadKinds[2]: Duplicate value: "batch/Job"`}},
		"no group": {[]string{"Deployment"},
			[]string{`spec.discovery.workloadKinds[0]: Invalid value: "Deployment": must be Group/Kind; the nearest known kind is apps/Deployment`}},
		"an empty entry": {[]string{""},
			[]string{`spec.discovery.workloadKinds[0]: Invalid value: "": must be Group/Kind`}},
		"an empty group": {[]string{"/Pod"},
			[]string{`spec.discovery.workloadKinds[0]: Invalid value: "/Pod": must be Group/Kind`}},
		"a version": {[]string{"apps/v1/Deployment"},
			[]string{`spec.discovery.workloadKinds[0]: Invalid value: "apps/v1/Deployment": must be Group/Kind; the nearest known kind is apps/Deployment`}},
		"the core group, whose kinds are none of it": {[]string{"core/Pod"},
			[]string{`spec.discovery.workloadKinds[0]: Invalid value: "core/Pod": is not a known kind`}},
		"space around an entry": {[]string{" apps/Deployment"},
			[]string{`spec.discovery.workloadKinds[0]: Invalid value: " apps/Deployment": is not a known kind; the nearest one is apps/Deployment`}},
		"all that is wrong at once": {[]string{"apps/Deployment", "nope", "apps/Deployment", "x/Y"},
			[]string{"workloadKinds[1]: Invalid", "workloadKinds[2]: Duplicate", "workloadKinds[3]: Invalid"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			set, errs := ParseKinds(c.entries, kindsPath)
			g.Expect(errs).To(gomega.HaveLen(len(c.want)))
			for i, want := range c.want {
				g.Expect(errs[i].Error()).To(gomega.ContainSubstring(want))
			}
			g.Expect(set.All()).To(gomega.BeTrue(), "what is refused narrows nothing")
		})
	}
}

func TestWorkloadKindsSpellTheCoreGroupCore(t *testing.T) {
	g := gomega.NewWithT(t)
	pod := kinds.Kind{}
	pod.GVK.Version, pod.GVK.Kind = "v1", "Pod"
	before := kinds.Catalogue
	kinds.Catalogue = append(before[:len(before):len(before)], pod)
	defer func() { kinds.Catalogue = before }()

	g.Expect(pod.Key()).To(gomega.Equal("core/Pod"))
	set := kindSet(t, "core/Pod")
	g.Expect(set.Allows(pod.GVK.GroupKind())).To(gomega.BeTrue())
	g.Expect(set.Allows(kinds.Catalogue[0].GVK.GroupKind())).To(gomega.BeFalse())
	_, errs := ParseKinds([]string{"/Pod"}, kindsPath)
	g.Expect(errs).To(gomega.HaveLen(1), "the core group has this one spelling")
	g.Expect(errs[0].Error()).To(gomega.ContainSubstring("core/Pod"))
}

func TestTheDefaultSnapshotHoldsEveryKind(t *testing.T) {
	g := gomega.NewWithT(t)
	for name, entries := range map[string][]string{"default": nil, "absent": nil, "empty": {}} {
		snapshot := Default()
		if name != "default" {
			var invalid *InvalidError
			snapshot, invalid = Compile(t.Context(), withKinds(entries...), Dependencies{})
			g.Expect(invalid).NotTo(gomega.HaveOccurred())
		}
		g.Expect(snapshot.WorkloadKinds.All()).To(gomega.BeTrue(), name)
		for _, k := range kinds.Catalogue {
			g.Expect(snapshot.WorkloadKinds.Allows(k.GVK.GroupKind())).To(gomega.BeTrue(), "%s: %s", name, k.Key())
		}
	}
}

func TestKindSetEqual(t *testing.T) {
	g := gomega.NewWithT(t)
	every, one, two := kindSet(t), kindSet(t, "batch/Job"), kindSet(t, "batch/Job", "batch/CronJob")
	g.Expect(every.Equal(KindSet{})).To(gomega.BeTrue())
	g.Expect(one.Equal(kindSet(t, "batch/Job"))).To(gomega.BeTrue())
	g.Expect(two.Equal(kindSet(t, "batch/CronJob", "batch/Job"))).To(gomega.BeTrue(), "the order is of no account")
	g.Expect(every.Equal(one)).To(gomega.BeFalse())
	g.Expect(one.Equal(every)).To(gomega.BeFalse())
	g.Expect(one.Equal(two)).To(gomega.BeFalse())
	g.Expect(two.Equal(kindSet(t, "batch/Job", "apps/Deployment"))).To(gomega.BeFalse())
}

func TestOnlyKindsDiffer(t *testing.T) {
	g := gomega.NewWithT(t)
	snapshot := func(change func(*v1beta1.AIBOMControllerConfigSpec), entries ...string) *Snapshot {
		spec := withKinds(entries...)
		if change != nil {
			change(&spec)
		}
		s, invalid := Compile(t.Context(), spec, Dependencies{})
		g.Expect(invalid).NotTo(gomega.HaveOccurred())
		return s
	}
	debug := func(s *v1beta1.AIBOMControllerConfigSpec) { s.Logging.Level = "debug" }

	g.Expect(Default().OnlyKindsDiffer(snapshot(nil, "batch/Job"))).To(gomega.BeTrue())
	g.Expect(snapshot(debug, "batch/Job").OnlyKindsDiffer(snapshot(debug))).To(gomega.BeTrue())
	g.Expect(snapshot(nil, "batch/Job").OnlyKindsDiffer(snapshot(debug, "batch/CronJob"))).To(gomega.BeFalse(), "more differs")
	g.Expect(snapshot(nil, "batch/Job").OnlyKindsDiffer(snapshot(debug, "batch/Job"))).To(gomega.BeFalse(), "something else differs")
	g.Expect(Default().OnlyKindsDiffer(Default())).To(gomega.BeFalse(), "nothing differs")
	both := snapshot(nil, "batch/Job")
	g.Expect(both.OnlyKindsDiffer(snapshot(nil, "batch/CronJob"))).To(gomega.BeTrue())
	g.Expect(both.WorkloadKinds.Equal(kindSet(t, "batch/Job"))).To(gomega.BeTrue(), "asking changes nothing")
}
