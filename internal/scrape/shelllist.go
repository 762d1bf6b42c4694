// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"slices"
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// assignArray keeps the words of NAME=(a b) and NAME+=(a b).
func (s *script) assignArray(a *syntax.Assign) {
	name := a.Name.Value
	list, ok := s.arrays[name]
	if !a.Append {
		list, ok = nil, true
	}
	s.set(name, variable{missing: lacking(name, "a list in the script")})
	if !ok || s.pod.isCredential(name) {
		delete(s.arrays, name)
		return
	}
	var elements []*syntax.Word
	for _, e := range a.Array.Elems {
		if e.Index != nil || e.Value == nil {
			delete(s.arrays, name)
			return
		}
		elements = append(elements, e.Value)
	}
	words := s.words(elements)
	if s.flow.branches == 0 {
		s.arrays[name] = append(list[:len(list):len(list)], words...)
		return
	}
	if !a.Append {
		before, known := s.arrays[name]
		if !known || !begins(words, before) {
			delete(s.arrays, name)
			return
		}
		list, words = before, words[len(before):]
	}
	s.arrays[name] = append(list[:len(list):len(list)], perhaps(words)...)
}

// begins says whether a list begins like another.
func begins(list, with []word) bool {
	return len(list) >= len(with) && slices.EqualFunc(list[:len(with)], with, func(a, b word) bool { return a.text == b.text })
}

// perhaps marks words that may not be there.
func perhaps(words []word) []word {
	for i := range words {
		words[i].conditional = true
	}
	return words
}

// setParameters follows set -- a b and shift.
func (s *script) setParameters(program string, args []*syntax.Word) {
	if program == "set" && (len(args) == 0 || args[0].Lit() != "--") {
		return // options
	}
	switch {
	case program == "set":
		words := s.words(args[1:])
		if s.flow.branches > 0 {
			before := s.parameters[min(1, len(s.parameters)):]
			if s.lost || !begins(words, before) {
				s.lost = true
				return
			}
			perhaps(words[len(before):])
		}
		s.parameters = append([]word{{text: "sh"}}, words...)
		s.lost = false
	case s.flow.branches > 0 || len(s.parameters) == 0:
		s.lost = true
	default:
		count := 1
		if len(args) > 0 {
			n, err := strconv.Atoi(args[0].Lit())
			if err != nil || n < 0 {
				s.lost = true
				return
			}
			count = n
		}
		rest := s.parameters[1:]
		s.parameters = append([]word{s.parameters[0]}, rest[min(count, len(rest)):]...)
	}
}

// list resolves a word that stands for a whole list: "$@" and "${NAME[@]}". isList says whether
// the word is one, known whether its words are.
func (s *script) list(w *syntax.Word) (words []word, isList, known bool) {
	if len(w.Parts) != 1 {
		return nil, false, false
	}
	part := w.Parts[0]
	if quoted, ok := part.(*syntax.DblQuoted); ok && len(quoted.Parts) == 1 {
		part = quoted.Parts[0]
	}
	p, ok := part.(*syntax.ParamExp)
	if !ok || p.Param == nil || p.Repl != nil || p.Excl || p.Slice != nil || p.Length || p.Exp != nil {
		return nil, false, false
	}
	switch name := p.Param.Value; {
	case p.Index == nil && (name == "@" || name == "*"):
		if s.lost {
			return nil, true, false
		}
		return s.parameters[min(1, len(s.parameters)):], true, true
	case p.Index != nil && isAll(p.Index):
		words, known = s.arrays[name]
		return words, true, known
	}
	return nil, false, false
}

// isAll says whether an array's index is @ or *.
func isAll(index syntax.ArithmExpr) bool {
	w, ok := index.(*syntax.Word)
	return ok && (w.Lit() == "@" || w.Lit() == "*")
}

// parameter is $0, $1 and so on, where the script was given so many.
func (s *script) parameter(name string) (variable, bool) {
	n, err := strconv.Atoi(name)
	switch {
	case err != nil || n < 0:
		return variable{}, false
	case n > 0 && s.lost:
		return variable{missing: lacking(name, "set under a condition in the script")}, true
	case n >= len(s.parameters):
		return variable{missing: name}, true
	}
	w := s.parameters[n]
	return variable{value: w.text, evidence: w.evidence, missing: joinMissing(w.missing), perhaps: w.conditional}, true
}
