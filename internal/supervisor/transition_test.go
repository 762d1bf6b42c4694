// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
)

// TestA2Transitions has a case for each row of the table, by the row's number.
func TestA2Transitions(t *testing.T) {
	const allowed, excluded = true, false
	in := func(p CRDPhase, uid types.UID, allowed bool) Situation {
		return Situation{CRDState{p, uid}, allowed}
	}
	cases := []struct {
		row           int
		before, after Situation
		want          []Action
	}{
		{1, in(Unknown, "", allowed), in(Unknown, "", excluded), nil},
		{1, in(Unknown, "", excluded), in(Unknown, "", allowed), nil},
		{2, in(Unknown, "", allowed), in(Ready, "a", allowed), []Action{Track, StartFirst, FanOut}},
		{2, in(Removed, "a", allowed), in(Ready, "b", allowed), []Action{Track, StartFirst, FanOut}},
		{2, in(Removed, "a", excluded), in(Ready, "b", allowed), []Action{Track, StartFirst, FanOut}},
		{3, in(Unknown, "", excluded), in(Ready, "a", excluded), []Action{Track, DisableByConfig, SweepOnEntry, FanOut}},
		{3, in(Removed, "a", excluded), in(Ready, "b", excluded), []Action{Track, DisableByConfig, SweepOnEntry, FanOut}},
		{4, in(Ready, "a", allowed), in(Ready, "a", allowed), nil},
		{4, in(Ready, "a", excluded), in(Ready, "a", excluded), nil},
		{5, in(Ready, "a", allowed), in(Unservable, "a", allowed), []Action{Stop, Degrade}},
		{6, in(Unservable, "a", allowed), in(Ready, "a", allowed), []Action{StartAgain}},
		{7, in(Ready, "a", allowed), in(Ready, "a", excluded), []Action{Stop, DisableByConfig, SweepOnEntry}},
		{7, in(Unservable, "a", allowed), in(Unservable, "a", excluded), []Action{Stop, DisableByConfig, SweepOnEntry}},
		{7, in(Ready, "a", allowed), in(Unservable, "a", excluded), []Action{Stop, DisableByConfig, SweepOnEntry}},
		{8, in(Ready, "a", allowed), in(Removed, "a", allowed), []Action{Stop, Untrack, DisableByRemoval, SweepOnEntry, FanOut}},
		{8, in(Unservable, "a", allowed), in(Removed, "a", allowed), []Action{Stop, Untrack, DisableByRemoval, SweepOnEntry, FanOut}},
		{8, in(Ready, "a", excluded), in(Removed, "a", excluded), []Action{Stop, Untrack, DisableByRemoval, SweepOnEntry, FanOut}},
		{9, in(Ready, "a", allowed), in(Ready, "b", allowed), []Action{Stop, Untrack, DisableByRemoval, SweepOnEntry, Track, StartFirst, FanOut}},
		{9, in(Unservable, "a", allowed), in(Ready, "b", allowed), []Action{Stop, Untrack, DisableByRemoval, SweepOnEntry, Track, StartFirst, FanOut}},
		{9, in(Ready, "a", excluded), in(Ready, "b", excluded), []Action{Stop, Untrack, DisableByRemoval, SweepOnEntry, Track, DisableByConfig, SweepOnEntry, FanOut}},
		{10, in(Ready, "a", excluded), in(Ready, "a", allowed), []Action{StartAgain}},
		{10, in(Unservable, "a", excluded), in(Ready, "a", allowed), []Action{StartAgain}},
		{0, in(Unservable, "a", excluded), in(Unservable, "a", allowed), []Action{Degrade}},
		{0, in(Ready, "a", excluded), in(Unservable, "a", excluded), nil},
	}
	rowsSeen := map[int]bool{}
	for _, c := range cases {
		rowsSeen[c.row] = true
		t.Run(fmt.Sprintf("A2-row-%d: %v → %v", c.row, c.before, c.after), func(t *testing.T) {
			g := NewWithT(t)
			r := transition(c.before, c.after)
			g.Expect(r.number).To(Equal(c.row))
			g.Expect(r.actions).To(Equal(c.want))
		})
	}
	// Row 11, a look that failed, has its case here: nothing changes, so nothing is done.
	for phase := Unknown; phase <= Removed; phase++ {
		t.Run(fmt.Sprintf("A2-row-11: %s, unreadable", phase), func(t *testing.T) {
			before := CRDState{phase, "a"}
			after := Classify(before, Observation{Verdict: Unreadable})
			NewWithT(t).Expect(transition(Situation{before, true}, Situation{after, true}).actions).To(BeEmpty())
		})
	}
	for n := range 11 {
		NewWithT(t).Expect(rowsSeen).To(HaveKey(n), "every row has a case")
	}
}

// TestEveryChangeHasExactlyOneRow enumerates what Classify and the configuration can lead to.
func TestEveryChangeHasExactlyOneRow(t *testing.T) {
	g := NewWithT(t)
	var states []CRDState
	for phase := Unknown; phase <= Removed; phase++ {
		states = append(states, CRDState{phase, "a"})
	}
	states[Unknown].UID = ""
	for _, before := range states {
		for v := Unreadable; v <= Servable; v++ {
			for _, uid := range []types.UID{"a", "b"} {
				after := Classify(before, Observation{Verdict: v, UID: uid})
				for i := range 4 {
					from, to := Situation{before, i%2 == 0}, Situation{after, i/2 == 0}
					matching := 0
					for _, r := range rows {
						if r.matches(from, to) {
							matching++
						}
					}
					g.Expect(matching).To(Equal(1), "%v → %v", from, to)
				}
			}
		}
	}
}

// TestNothingIsSweptButByRemovalOrExclusion holds the destructive path to its two entrances.
func TestNothingIsSweptButByRemovalOrExclusion(t *testing.T) {
	g := NewWithT(t)
	for _, r := range rows {
		for i, a := range r.actions {
			if a == SweepOnEntry {
				g.Expect(r.actions[i-1]).To(BeElementOf(DisableByConfig, DisableByRemoval), "row %d", r.number)
			}
			if a == DisableByRemoval || (a == Degrade && r.number == 5) {
				g.Expect(r.actions).To(ContainElement(Stop), "row %d stops first", r.number)
				g.Expect(r.actions[0]).To(Equal(Stop), "row %d stops first", r.number)
			}
		}
	}
}
