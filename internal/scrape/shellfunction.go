// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds on what runs more than once in a script; each time costs as much as the text that is walked.
const (
	maxFunctionDepth = 8  // functions within functions
	maxRounds        = 16 // items of a loop's list
)

// frame keeps what a function's own variables hide.
type frame struct {
	hidden []hidden
}

type hidden struct {
	name      string
	value     variable
	set       bool
	list      []word
	knownList bool
}

// declare keeps a function for when it is called. The parser takes ()x for one without a name.
func (s *script) declare(n *syntax.FuncDecl) {
	name := ""
	if n.Name != nil {
		name = n.Name.Value
	}
	if s.functions[name] == nil {
		s.declared = append(s.declared, name)
	}
	s.functions[name] = n.Body
}

// affordWalk says whether a part of the script can be walked so many times.
func (s *script) affordWalk(times int, parts ...*syntax.Stmt) bool {
	size := 0
	for _, part := range parts {
		size += int(part.End().Offset()) - int(part.Pos().Offset())
	}
	if s.pod.affordScript(size * times) {
		return true
	}
	s.pod.note("%s was not read in full: the workload's scripts are too long", s.from.evidence[0].Locator)
	return false
}

// invoke walks a function with the words of its call.
func (s *script) invoke(words []word, body *syntax.Stmt) {
	s.called[words[0].text] = true
	if len(s.frames) == maxFunctionDepth || !s.affordWalk(1, body) {
		return
	}
	parameters, lost := s.parameters, s.lost
	s.parameters, s.lost = words, false
	s.frames = append(s.frames, frame{})
	s.walk(body)
	last := s.frames[len(s.frames)-1]
	s.frames = s.frames[:len(s.frames)-1]
	for _, h := range last.hidden {
		s.reveal(h)
	}
	s.parameters, s.lost = parameters, lost
}

// shadow keeps the variable that one of the function's own hides.
func (s *script) shadow(a *syntax.Assign) {
	if a.Name == nil || len(s.frames) == 0 {
		return
	}
	h := hidden{name: a.Name.Value}
	h.value, h.set = s.local[h.name]
	h.list, h.knownList = s.arrays[h.name]
	top := &s.frames[len(s.frames)-1]
	top.hidden = append([]hidden{h}, top.hidden...)
}

// reveal puts a hidden variable back.
func (s *script) reveal(h hidden) {
	if h.set {
		s.set(h.name, h.value)
	} else {
		delete(s.local, h.name)
	}
	if h.knownList {
		s.arrays[h.name] = h.list
	} else {
		delete(s.arrays, h.name)
	}
}

// walkUncalled walks the functions that nothing in the script calls: something else may.
func (s *script) walkUncalled() {
	s.flow.ended = false
	for _, name := range s.declared {
		if s.called[name] || !s.affordWalk(1, s.functions[name]) {
			continue
		}
		s.called[name] = true
		s.flow.branches++
		s.lost = true
		s.walk(s.functions[name])
		s.flow.branches--
	}
}

// unroll walks a loop once for each item of its list, where that is known, and says whether it is.
func (s *script) unroll(n *syntax.ForClause) bool {
	loop, ok := n.Loop.(*syntax.WordIter)
	if !ok || n.Select || !loop.InPos.IsValid() || len(loop.Items) > maxRounds || s.pod.isCredential(loop.Name.Value) {
		return false
	}
	items := s.words(loop.Items)
	if len(items) == 0 || len(items) > maxRounds {
		return false
	}
	for _, item := range items {
		if len(item.missing) > 0 || item.conditional || isPattern(item.text) {
			return false
		}
	}
	name := loop.Name.Value
	if !strings.Contains(s.source[n.DoPos.Offset():n.DonePos.Offset()], name) {
		items = items[:1] // the same again and again
	}
	if !s.affordWalk(len(items), n.Do...) {
		return false
	}
	for _, item := range items {
		s.set(name, variable{value: item.text, evidence: item.evidence})
		for _, stmt := range n.Do {
			s.walk(stmt)
		}
	}
	return true
}
