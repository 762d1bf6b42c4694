// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"maps"
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
// wrote before, as if it were given with -c, and so with a file that runs by itself or by a launcher.
// What another program writes to a file is kept.
func (s *script) withInput(words []word) [][]word {
	input, output := s.input, s.output
	s.input, s.output = nil, ""
	if text := written(words, input, output); text != nil {
		s.keep(words, *text, output)
		return [][]word{words}
	}
	bare := unwrap(words) // exec bash /run.sh
	if len(bare) > 2 && isInterpreter(bare[0].text) && bare[1].text == "-m" && isLauncher(bare[2].text) {
		bare = bare[2:] // python -m uvicorn server:app
	}
	if len(bare) == 0 || (isInterpreter(bare[0].text) && slices.ContainsFunc(bare, func(w word) bool { return w.text == "-c" || w.text == "-m" })) {
		return [][]word{words}
	}
	code, file := s.codeOf(bare)
	if code == nil && isInterpreter(bare[0].text) {
		code = input
	}
	if code == nil || !s.pod.afford(2, len(code.text)) {
		return [][]word{words}
	}
	given := word{text: "-c", evidence: code.evidence}
	switch {
	case shells[path.Base(bare[0].text)]:
		return [][]word{{bare[0], given, *code}}
	case isInterpreter(bare[0].text):
		return [][]word{append(bare[:len(bare):len(bare)], given, *code)}
	case strings.HasSuffix(file, ".py"):
		return [][]word{words, {{text: "python3", evidence: code.evidence}, given, *code}}
	case file == bare[0].text:
		return [][]word{{{text: "sh", evidence: code.evidence}, given, *code}}
	}
	return [][]word{words}
}

// keep remembers what a command writes to a file, or hands on.
func (s *script) keep(words []word, text word, output string) {
	if path.Base(words[0].text) == "tee" && len(words) > 1 {
		output = words[len(words)-1].text
	}
	switch {
	case output == "":
		s.piped = &text
	case len(s.files) < maxEvidence:
		s.files[output] = text
	}
}

// written is the text that a command writes: what it reads, or what echo is told.
func written(words []word, input *word, output string) *word {
	switch path.Base(words[0].text) {
	case "cat", "tee":
		return input
	case "echo", "printf":
		if output == "" || len(words) != 2 || len(words[1].missing) > 0 {
			return nil
		}
		return &words[1]
	}
	return nil
}

// codeOf is the code of a file that the script wrote and the command names, be it as the module of a
// web application, and the file's name.
func (s *script) codeOf(words []word) (*word, string) {
	if len(s.files) == 0 {
		return nil, ""
	}
	for i, w := range words[:min(len(words), maxDownloadWords)] {
		if code, ok := s.files[w.text]; ok && (i == 0 || isInterpreter(words[0].text) || isLauncher(words[0].text)) {
			return &code, w.text
		}
		if module, _, ok := strings.Cut(w.text, ":"); ok && i > 0 && isLauncher(words[0].text) {
			for _, file := range slices.Sorted(maps.Keys(s.files)) {
				if path.Base(file) == module+".py" {
					code := s.files[file]
					return &code, file
				}
			}
		}
	}
	return nil, ""
}

// isLauncher says whether the program runs Python code that it is given.
func isLauncher(program string) bool {
	return slices.Contains(patterns.PythonLaunchers, path.Base(program))
}
