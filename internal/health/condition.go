// SPDX-License-Identifier: Apache-2.0

package health

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// Condition is the outlet that wakes who writes the Degraded condition, which asks the
// registry for its message. Changes that come quickly are told once.
type Condition struct {
	// Changes receives an empty event after a change.
	Changes chan event.GenericEvent
	last    map[string]Status
}

// NewCondition returns an outlet.
func NewCondition() *Condition {
	return &Condition{Changes: make(chan event.GenericEvent, 1), last: map[string]Status{}}
}

// Changed wakes when what the condition says may differ: also when a kind turns out well, as
// an earlier run's complaint may only then be taken back.
func (c *Condition) Changed(s Status) {
	before := c.last[s.Kind]
	c.last[s.Kind] = s
	if s.Phase != before.Phase || (s.Phase == PhaseUnhealthy && s.LastError != before.LastError) {
		c.wake()
	}
}

// Removed wakes.
func (c *Condition) Removed(kind string) {
	delete(c.last, kind)
	c.wake()
}

// Transitioned does nothing: Changed has told it.
func (c *Condition) Transitioned(Transition) {}

func (c *Condition) wake() {
	select {
	case c.Changes <- event.GenericEvent{Object: &metav1.PartialObjectMetadata{}}:
	default: // a change that nobody has looked at yet waits already
	}
}
