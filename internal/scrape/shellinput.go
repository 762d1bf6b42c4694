// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirect keeps what the next command reads from a here-document and where it writes to.
func (s *script) redirect(redirects []*syntax.Redirect) {
	s.input, s.output = nil, ""
	for _, r := range redirects {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			if r.Hdoc != nil {
				w := s.document(r.Hdoc)
				s.input = &w
			}
		case syntax.WordHdoc:
			w := s.literal(r.Word)
			s.input = &w
		case syntax.RdrOut, syntax.RdrClob:
			if r.N == nil {
				s.output = s.literal(r.Word).text
			}
		}
	}
}

// document is a here-document. What is not known in it stays as it is written: it is code that
// is read, not a name that is shown.
func (s *script) document(hdoc *syntax.Word) word {
	w := word{evidence: s.from.evidence}
	if plain := hdoc.Lit(); plain != "" {
		w.text = plain
		return w
	}
	s.resolve(hdoc, &w)
	if len(w.missing) > 0 {
		w.text, w.missing = s.shown(hdoc), nil
	}
	return w
}

// interpreters are programs that run the code that they are given.
func isInterpreter(program string) bool {
	name := path.Base(program)
	return strings.HasPrefix(name, "python") || shells[name]
}

// withInput hands an interpreter the code of its here-document, or of a file that the script
// wrote before, as if it were given with -c. What another program writes to a file is kept.
func (s *script) withInput(words []word) []word {
	input, output := s.input, s.output
	s.input, s.output = nil, ""
	if len(words) == 0 {
		return words
	}
	program := words[0].text
	if input != nil && (path.Base(program) == "cat" || path.Base(program) == "tee") {
		file := output
		if path.Base(program) == "tee" && len(words) > 1 {
			file = words[len(words)-1].text
		}
		if file != "" && len(s.files) < maxEvidence {
			s.files[file] = *input
		}
		return words
	}
	if !isInterpreter(program) || slices.ContainsFunc(words, func(w word) bool { return w.text == "-c" || w.text == "-m" }) {
		return words
	}
	code := input
	for _, w := range words[1:] {
		if file, ok := s.files[w.text]; ok {
			code = &file
		}
	}
	if code == nil || !s.pod.afford(2, len(code.text)) {
		return words
	}
	if shells[path.Base(program)] {
		return []word{words[0], {text: "-c", evidence: code.evidence}, *code}
	}
	return append(words, word{text: "-c", evidence: code.evidence}, *code)
}
