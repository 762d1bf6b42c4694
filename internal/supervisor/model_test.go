// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"github.com/k8s-aibom/k8s-aibom/internal/health"
)

// model is a small reference for one kind: what the design asks for, told in terms of what can
// be observed from outside. It shares no code with the supervisor.
type model struct {
	// What is true of the world.
	uid       int  // of the CRD; 0 when there is none
	servable  bool // whether that one can be served
	deleting  bool // whether it is on its way out
	allowed   bool // by the configuration
	unread    bool // whether reads of the CRD fail
	outage    bool // whether the kind's objects cannot be read
	unnoticed bool // whether the CRD changed while nobody could tell

	// What the supervisor should make of it.
	known   int // the UID of the CRD that was Ready and counts, or 0
	removed bool
	broken  bool // known, and not servable at the last look
	away    bool // some look found nothing to serve
	retry   bool // the last look failed and is tried again
	settled bool // some look told something, or none has for long
	mode    mode
	reason  string // of modeDisabled
	failing bool   // something about the watch is wrong
	runs    bool
	news    health.TransitionType // how the next sync is told
	events  []health.TransitionType
	sweeps  int
}

type mode int

const (
	modeNone     mode = iota // nothing is known of the kind
	modeWatching             // allowed, with a CRD that can be served
	modeBroken               // allowed, with one that cannot
	modeDisabled             // excluded, or removed
)

// restart is a new process: it knows nothing, and looks.
func (m *model) restart() {
	m.known, m.removed, m.broken, m.away, m.retry, m.settled = 0, false, false, false, false, false
	m.mode, m.reason, m.failing, m.runs, m.news = modeNone, "", false, false, ""
	m.events, m.sweeps, m.unnoticed = nil, 0, false
	m.look()
}

// look is one read of the CRD by the supervisor.
func (m *model) look() {
	m.retry = m.unread
	if m.unread {
		return
	}
	m.settled = true
	there := m.uid != 0 && !m.deleting
	switch {
	case there && m.servable:
		if m.known != 0 && m.known != m.uid {
			m.gone()
		}
		back := m.removed || m.known == 0
		m.known, m.removed, m.broken = m.uid, false, false
		m.settle(back)
	case m.known == 0:
		m.away = true
	case there && m.known == m.uid:
		m.broken = true
		m.settle(false)
	default: // what was known is gone; what may have taken its place was never Ready
		m.gone()
	}
}

// gone is the end of the CRD that is known.
func (m *model) gone() {
	m.known, m.removed, m.broken, m.away, m.runs = 0, true, false, true, false
	m.disable(health.ReasonCRDRemoved, false)
}

// allow is another configuration.
func (m *model) allow(yes bool) {
	m.allowed = yes
	if m.known != 0 {
		m.settle(false)
	}
}

// settle decides by what is known. Back is true for a CRD that was not there before.
func (m *model) settle(back bool) {
	switch {
	case !m.allowed:
		m.runs = false
		m.disable(health.ReasonConfig, back)
	case m.broken:
		if m.mode != modeBroken {
			m.runs = false
			m.fails()
			m.mode, m.news = modeBroken, health.WatchRecovered
		}
	case m.mode != modeWatching:
		m.news = health.WatchRecovered
		if back && m.away {
			m.news = health.WatchStarted
		}
		if m.mode == modeDisabled || m.mode == modeNone {
			m.failing = false
		}
		m.mode = modeWatching
		m.probe()
	}
}

func (m *model) disable(reason string, back bool) {
	if m.mode != modeDisabled || (back && m.reason == health.ReasonCRDRemoved) {
		m.events = append(m.events, health.WatchDisabled)
		m.sweeps++
	}
	m.mode, m.reason, m.failing = modeDisabled, reason, false
}

// probe is one probe of a kind that is to be watched; runners sync at once.
func (m *model) probe() {
	if m.outage {
		m.fails()
		return
	}
	if !m.runs || m.failing {
		m.runs, m.failing = true, false
		m.events = append(m.events, m.news)
		m.news = health.WatchRecovered
	}
}

func (m *model) fails() {
	if !m.failing {
		m.events = append(m.events, health.WatchUnhealthy)
	}
	m.failing = true
}

// time is the passing of long enough for every retry and probe.
func (m *model) time() {
	m.settled = true
	if m.retry {
		m.look()
	}
	if m.mode == modeWatching {
		m.probe()
	}
}

// why is the reason that health gives.
func (m *model) why() string {
	if m.mode == modeDisabled {
		return m.reason
	}
	return ""
}

// phase is what health says.
func (m *model) phase() health.Phase {
	switch {
	case m.mode == modeNone:
		return ""
	case m.mode == modeDisabled:
		return health.PhaseDisabled
	case m.failing:
		return health.PhaseUnhealthy
	default:
		return health.PhaseHealthy
	}
}
