// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// text is what is known of a variable, in which the rest stands as written.
func (v variable) text() string {
	if v.known() {
		return v.value
	}
	return v.partial
}

// isUnset says whether nothing in the manifest sets the variable of that name.
func (v variable) isUnset(name string) bool { return v.missing == name && v.partial == "" }

// followedBy is the variable with another value appended to it.
func (v variable) followedBy(more variable, name string) variable {
	switch {
	case v.isUnset(name):
		return more
	case v.text() == "" && !v.known(), more.text() == "" && !more.known():
		return variable{missing: lacking(name, "what is appended to it is not known")}
	}
	out := variable{evidence: appendEvidence(v.evidence, more.evidence...), perhaps: v.perhaps || more.perhaps, certain: v.certain}
	if !v.perhaps {
		out.certain = len(v.text()) + more.certain
	}
	text := clip(v.text()+more.text(), maxValueBytes)
	out.certain = min(out.certain, len(text))
	if v.known() && more.known() {
		out.value = text
		return out
	}
	out.partial, out.missing = text, v.missing
	if v.known() {
		out.missing = more.missing
	}
	return out
}

// orPerhaps is the variable where a command that may not run sets it to another value: that value where it
// only adds to the first or where there is none before, and what is no place on disk rather than what is one.
func (v variable) orPerhaps(other variable, name string) variable {
	switch was, is := v.text(), other.text(); {
	case is != "" && was != "" && strings.HasPrefix(is, was):
		other.certain = len(was)
		if v.perhaps {
			other.certain = v.certain
		}
		other.perhaps = true
		return other
	case other.known() && is != "" && v.isUnset(name):
		other.perhaps, other.certain = true, 0
		return other
	case v.known() && other.known() && was != "" && is != "" && isLocalPath(was) != isLocalPath(is):
		if isLocalPath(was) {
			v = other
		}
		v.perhaps, v.certain = true, 0
		return v
	}
	return variable{missing: lacking(name, "set under a condition in the script")}
}

// certainOf is how much of a value is there in any case that begins with a variable of which only a
// part is.
func (s *script) certainOf(w *syntax.Word, value string) int {
	if name := leading(w); name != "" {
		if v := s.lookup(name); strings.HasPrefix(value, v.text()) {
			if v.perhaps {
				return v.certain
			}
			return len(v.text())
		}
	}
	return 0
}

// leading is the variable that a word begins with, be it within quotes.
func leading(w *syntax.Word) string {
	if len(w.Parts) == 0 {
		return ""
	}
	part := w.Parts[0]
	if quoted, ok := part.(*syntax.DblQuoted); ok && len(quoted.Parts) > 0 {
		part = quoted.Parts[0]
	}
	if p, ok := part.(*syntax.ParamExp); ok && p.Param != nil && p.Exp == nil && p.Repl == nil && p.Slice == nil && p.Index == nil && !p.Length && !p.Excl {
		return p.Param.Value
	}
	return ""
}

// partial is a value of several words of which not all are known, as in "--model org/m --port $PORT":
// what is not known stands as written, and hides the commands in it. perhaps says whether some of it may not
// be there.
func (s *script) partial(w *syntax.Word) (text string, perhaps bool) {
	refs := references{names: map[string]reference{}}
	size := 0
	ok := true
	syntax.Walk(w, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.ArithmExp, *syntax.ProcSubst:
			ok = false
		case *syntax.CmdSubst:
			return false
		case *syntax.ParamExp:
			if n.Param == nil || n.Exp != nil || n.Repl != nil || n.Excl || n.Slice != nil || n.Index != nil || n.Length {
				ok = false
				break
			}
			refs.names[n.Param.Value] = reference{}
			v := s.lookup(n.Param.Value)
			size += len(v.text())
			perhaps = perhaps || v.perhaps
		}
		return ok
	})
	if !ok || size > maxScriptBytes || len(s.from.missing) > 0 {
		return "", false
	}
	text, err := expand.Literal(&expand.Config{Env: partialValues{s, refs}, CmdSubst: hideCommand}, w)
	if text = clip(text, maxValueBytes); err != nil || !strings.ContainsAny(text, blanks) {
		return "", false
	}
	return text, perhaps
}

// partialValues are the variables of a script, of which those that are not known stand as written.
type partialValues struct {
	script *script
	refs   references
}

// Get implements expand.Environ.
func (e partialValues) Get(name string) expand.Variable {
	if _, ok := e.refs.names[name]; !ok {
		return expand.Variable{}
	}
	v := e.script.lookup(name)
	text := v.text()
	if text == "" && !v.known() {
		text = "${" + name + "}"
	}
	return expand.Variable{Set: true, Kind: expand.String, Str: text}
}

// Each implements expand.Environ; nothing asks for all variables.
func (e partialValues) Each(func(name string, v expand.Variable) bool) {}

// fields are the words of a variable that stands alone: those that are not known in it are missing, those
// that may not be there conditional.
func (s *script) fields(v variable) []word {
	text := v.text()
	var all []word
	for at := 0; at < len(text); {
		begin := at + len(text[at:]) - len(strings.TrimLeft(text[at:], blanks))
		end := len(text)
		if i := strings.IndexAny(text[begin:], blanks); i >= 0 {
			end = begin + i
		}
		if at = end; begin == end {
			break
		}
		w := word{text: text[begin:end], evidence: appendEvidence(s.from.evidence, v.evidence...), conditional: v.perhaps && begin >= v.certain}
		if !v.known() && isPlaceholder(w.text) {
			w.missing = addMissing(nil, v.missing)
		}
		all = append(all, w)
	}
	return all
}

// blanks part the words of a variable.
const blanks = " \t\n"
