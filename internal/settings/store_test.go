// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
)

func compiled(t interface{ Fatalf(string, ...any) }, spec v1beta1.AIBOMControllerConfigSpec) Outcome {
	snapshot, err := Compile(context.Background(), spec, Dependencies{})
	if err != nil {
		t.Fatalf("Compile: %v", err)
	}
	return Valid(snapshot)
}

func invalid(t interface{ Fatalf(string, ...any) }) Outcome {
	_, err := Compile(context.Background(), withKinds("apps/Nope"), Dependencies{})
	if err == nil {
		t.Fatalf("the specification is expected to be invalid")
	}
	return Invalid(err)
}

func TestStoreBegins(t *testing.T) {
	g := gomega.NewWithT(t)
	s := NewStore()
	g.Expect(s.Load()).To(gomega.Equal(Default()))
	g.Expect(s.State().Ready).To(gomega.BeTrue())
	g.Expect(s.Loaded()).NotTo(gomega.BeClosed())
	s.Apply(Absent())
	g.Expect(s.Loaded()).To(gomega.BeClosed())
	s.Apply(Absent())
}

func TestStoreKeepsTheLastGoodSnapshot(t *testing.T) {
	g := gomega.NewWithT(t)
	s := NewStore()

	state := s.Apply(invalid(t))
	g.Expect(state.Ready).To(gomega.BeFalse())
	g.Expect(state.Reason).To(gomega.Equal(v1beta1.ReasonConfigInvalid))
	g.Expect(state.Message).To(gomega.ContainSubstring("spec.discovery.workloadKinds[0]"))
	g.Expect(state.Degraded).To(gomega.HaveLen(1))
	g.Expect(state.Degraded[0].Reason).To(gomega.Equal(v1beta1.ReasonRunningOnDefaults))
	g.Expect(s.Load()).To(gomega.Equal(Default()))

	state = s.Apply(compiled(t, withKinds("batch/Job")))
	g.Expect(state.Ready).To(gomega.BeTrue())
	g.Expect(state.Reason).To(gomega.Equal(v1beta1.ReasonConfigLoaded))
	g.Expect(state.Degraded).To(gomega.BeEmpty())
	good := s.Load()

	state = s.Apply(invalid(t))
	g.Expect(state.Degraded[0].Reason).To(gomega.Equal(v1beta1.ReasonRunningOnLastKnownGood))
	g.Expect(s.Load()).To(gomega.BeIdenticalTo(good))
	g.Expect(s.State()).To(gomega.Equal(state))

	s.Apply(Absent())
	g.Expect(s.Load()).To(gomega.Equal(Default()))
	g.Expect(s.Apply(invalid(t)).Degraded[0].Reason).To(gomega.Equal(v1beta1.ReasonRunningOnDefaults), "what was deleted is not the last known good")
}

func TestStoreTellsSubscribersOfChangesOnly(t *testing.T) {
	g := gomega.NewWithT(t)
	s := NewStore()
	type change struct{ old, new *Snapshot }
	var changes []change
	s.Subscribe(func(old, new *Snapshot) {
		g.Expect(s.Load()).To(gomega.BeIdenticalTo(new), "the change is in force when it is told")
		changes = append(changes, change{old, new})
	})
	first := s.Load()

	s.Apply(Absent())
	s.Apply(invalid(t))
	g.Expect(changes).To(gomega.BeEmpty(), "the defaults stayed in force")

	s.Apply(compiled(t, withKinds("batch/Job")))
	job := s.Load()
	s.Apply(compiled(t, withKinds("batch/Job")))
	s.Apply(invalid(t))
	s.Apply(compiled(t, withKinds("batch/CronJob")))
	g.Expect(changes).To(gomega.Equal([]change{{first, job}, {job, s.Load()}}))
}

// The model is the rule itself: after any history, what is in force is the last valid
// configuration since the last absence, or the defaults.
func TestStoreLastKnownGoodProperty(t *testing.T) {
	entries := []string{"apps/Deployment", "apps/StatefulSet", "apps/DaemonSet", "batch/Job", "batch/CronJob"}
	rapid.Check(t, func(t *rapid.T) {
		s := NewStore()
		told := s.Load()
		s.Subscribe(func(old, new *Snapshot) {
			if old != told || new.Equal(old) {
				t.Fatalf("told of a change that does not continue the one before")
			}
			told = new
		})
		want, good := Default(), false
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			step := rapid.SampledFrom([]string{"absent", "valid", "invalid"}).Draw(t, "step")
			var state State
			switch step {
			case "absent":
				state, want, good = s.Apply(Absent()), Default(), false
			case "valid":
				outcome := compiled(t, withKinds(rapid.SampledFrom(entries).Draw(t, "kind")))
				state, want, good = s.Apply(outcome), outcome.snapshot, true
			case "invalid":
				state = s.Apply(invalid(t))
			}
			if !s.Load().Equal(want) {
				t.Fatalf("after %s the wrong snapshot is in force", step)
			}
			if told != s.Load() {
				t.Fatalf("after %s subscribers believe in another snapshot", step)
			}
			if state.Ready != (step != "invalid") || state.Message == "" || state.Reason == "" {
				t.Fatalf("after %s the state is %+v", step, state)
			}
			if step == "invalid" && (state.Degraded[0].Reason == v1beta1.ReasonRunningOnLastKnownGood) != good {
				t.Fatalf("good was seen: %v, state %+v", good, state)
			}
		}
	})
}

func TestStoreIsSafeForConcurrentUse(t *testing.T) {
	g := gomega.NewWithT(t)
	s := NewStore()
	outcomes := []Outcome{compiled(t, withKinds("batch/Job")), invalid(t), compiled(t, withKinds("batch/CronJob")), Absent()}
	var changes, active atomic.Int64
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 200 {
				switch {
				case i < 4:
					s.Apply(outcomes[(i+j)%len(outcomes)])
				case i == 4 && j%50 == 0:
					s.Subscribe(func(_, _ *Snapshot) {
						if active.Add(1) != 1 {
							t.Error("two subscribers run at once")
						}
						changes.Add(1)
						active.Add(-1)
					})
				default:
					if s.Load() == nil || s.State().Reason == "" {
						t.Error("a reader saw a Store without a snapshot or state")
					}
				}
			}
		})
	}
	wg.Wait()
	s.Apply(outcomes[0])
	s.Apply(outcomes[2])
	g.Expect(changes.Load()).To(gomega.BeNumerically(">", 0))
	g.Expect(s.Load().Equal(outcomes[2].snapshot)).To(gomega.BeTrue())
}

func TestTheStateSaysWhatAnAllowlistLeavesOut(t *testing.T) {
	g := gomega.NewWithT(t)
	snapshot, invalid := Compile(t.Context(), v1beta1.AIBOMControllerConfigSpec{
		Discovery: v1beta1.DiscoverySpec{WorkloadKinds: []string{"apps/Deployment", "batch/Job"}},
	}, Dependencies{})
	g.Expect(invalid).NotTo(gomega.HaveOccurred())
	g.Expect(NewStore().Apply(Valid(snapshot)).Message).To(gomega.ContainSubstring("workloadKinds allows 2 of the 11 known kinds"))
	g.Expect(NewStore().Apply(Valid(Default())).Message).To(gomega.Equal("the configuration is in force"))
}
