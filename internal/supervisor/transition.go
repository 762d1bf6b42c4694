// SPDX-License-Identifier: Apache-2.0

package supervisor

// Situation is all that decides what is done for a candidate: the state of its CRD, and
// whether the configuration allows the kind. The two are never merged into one.
type Situation struct {
	CRD     CRDState
	Allowed bool
}

// Action is one step that the apply loop takes.
type Action int

const (
	// Stop cancels the kind's runner and its probe, and waits until the runner has ended.
	Stop Action = iota
	// Track makes the kind one that workloads roll up into.
	Track
	// Untrack undoes that.
	Untrack
	// FanOut has every workload looked at again, because what they roll up into has changed.
	FanOut
	// StartFirst starts the kind because its CRD was discovered. Its sync is told as
	// WatchStarted when the CRD came after the supervisor's start.
	StartFirst
	// StartAgain starts a kind that is known already. Its sync is told as WatchRecovered.
	StartAgain
	// Degrade records that the CRD cannot be served. AIBOMs stay.
	Degrade
	// DisableByConfig records that the configuration excludes the kind. On entry into that it
	// is told as WatchDisabled.
	DisableByConfig
	// DisableByRemoval does so because the CRD is gone.
	DisableByRemoval
	// SweepOnEntry deletes the kind's AIBOMs when the action before it was such an entry.
	SweepOnEntry
)

// row is one line of the table of transitions.
type row struct {
	// number is the row of the design's table (Design 004, amendment A2); 0 marks situations
	// that follow from it without being listed there.
	number int
	// what says which change the row is about.
	what    string
	matches func(before, after Situation) bool
	actions []Action
}

// rows is the table of transitions. Exactly one row matches any change; each is executed
// serially by the apply loop, from left to right.
var rows = []row{
	{
		1, "never seen Ready, whatever the configuration allows",
		func(_, after Situation) bool { return after.CRD.Phase == Unknown },
		nil,
	},
	{
		2, "Unknown or Removed → Ready, allowed",
		func(before, after Situation) bool { return appears(before, after) && after.Allowed },
		[]Action{Track, StartFirst, FanOut},
	},
	{
		3, "Unknown or Removed → Ready, excluded",
		func(before, after Situation) bool { return appears(before, after) && !after.Allowed },
		[]Action{Track, DisableByConfig, SweepOnEntry, FanOut},
	},
	{
		4, "Ready stays Ready, or anything else stays as it is",
		func(before, after Situation) bool {
			return after.CRD.Phase != Unknown && before.CRD == after.CRD && (before.Allowed == after.Allowed || !after.CRD.present())
		},
		nil,
	},
	{
		5, "Ready → Unservable, allowed",
		func(before, after Situation) bool {
			return stays(before, after) && before.CRD.Phase == Ready && after.CRD.Phase == Unservable && before.Allowed && after.Allowed
		},
		[]Action{Stop, Degrade},
	},
	{
		6, "Unservable → Ready, allowed",
		func(before, after Situation) bool {
			return stays(before, after) && before.CRD.Phase == Unservable && after.CRD.Phase == Ready && before.Allowed && after.Allowed
		},
		[]Action{StartAgain},
	},
	{
		7, "present, allowed → excluded",
		func(before, after Situation) bool { return stays(before, after) && before.Allowed && !after.Allowed },
		[]Action{Stop, DisableByConfig, SweepOnEntry},
	},
	{
		8, "present → Removed",
		func(before, after Situation) bool { return before.CRD.present() && after.CRD.Phase == Removed },
		[]Action{Stop, Untrack, DisableByRemoval, SweepOnEntry, FanOut},
	},
	{
		9, "Ready under another UID, allowed: the old one is removed before the new one starts",
		func(before, after Situation) bool { return replaced(before, after) && after.Allowed },
		[]Action{Stop, Untrack, DisableByRemoval, SweepOnEntry, Track, StartFirst, FanOut},
	},
	{
		9, "Ready under another UID, excluded",
		func(before, after Situation) bool { return replaced(before, after) && !after.Allowed },
		[]Action{Stop, Untrack, DisableByRemoval, SweepOnEntry, Track, DisableByConfig, SweepOnEntry, FanOut},
	},
	{
		10, "excluded → allowed, Ready",
		func(before, after Situation) bool {
			return stays(before, after) && !before.Allowed && after.Allowed && after.CRD.Phase == Ready
		},
		[]Action{StartAgain},
	},
	// Row 11, a look that failed, is no change at all: Classify leaves the state as it was.
	{
		0, "excluded → allowed, Unservable: degraded as if it had been allowed all the time",
		func(before, after Situation) bool {
			return stays(before, after) && !before.Allowed && after.Allowed && after.CRD.Phase == Unservable
		},
		[]Action{Degrade},
	},
	{
		0, "Ready ↔ Unservable, excluded: nothing runs and nothing is told",
		func(before, after Situation) bool {
			return stays(before, after) && before.CRD.Phase != after.CRD.Phase && !before.Allowed && !after.Allowed
		},
		nil,
	},
}

// appears says whether the CRD has become Ready after it was absent.
func appears(before, after Situation) bool {
	return !before.CRD.present() && after.CRD.Phase == Ready
}

// stays says whether the same CRD was and is there.
func stays(before, after Situation) bool {
	return before.CRD.present() && after.CRD.present() && before.CRD.UID == after.CRD.UID
}

// replaced says whether the CRD was deleted and created again between two looks.
func replaced(before, after Situation) bool {
	return before.CRD.present() && after.CRD.present() && before.CRD.UID != after.CRD.UID
}

// transition is the row of the table that a change falls under. Every change has one.
func transition(before, after Situation) row {
	for _, r := range rows {
		if r.matches(before, after) {
			return r
		}
	}
	// The CRD's state comes from Classify, and the rows cover everything that it returns.
	return row{what: "a change that cannot be"}
}
