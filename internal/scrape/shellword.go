// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// expand turns a word of the script into words. An unquoted variable is split at blanks, as
// a shell does.
func (s *script) expand(w *syntax.Word) []word {
	expanded := s.literal(w)
	if len(expanded.missing) > 0 || !splits(w) {
		return []word{expanded}
	}
	var all []word
	for _, field := range strings.Fields(expanded.text) {
		all = append(all, word{text: field, evidence: expanded.evidence})
	}
	return all
}

// splits says whether the word consists of one unquoted variable.
func splits(w *syntax.Word) bool {
	if len(w.Parts) != 1 {
		return false
	}
	_, ok := w.Parts[0].(*syntax.ParamExp)
	return ok
}

// literal resolves a word without splitting it. Where a variable's value is not known, the
// text stays as written and the variable is listed as missing.
func (s *script) literal(w *syntax.Word) word {
	out := word{evidence: s.from.evidence}
	if plain := w.Lit(); plain != "" {
		out.text = unescape(plain)
		return out
	}
	for _, m := range s.from.missing {
		// A $(NAME) that Kubernetes could not resolve looks like a command substitution here.
		name, _, _ := strings.Cut(m, " ")
		if strings.Contains(s.text(w), "$("+name+")") {
			out.missing = addMissing(out.missing, m)
		}
	}
	if len(out.missing) == 0 {
		s.resolve(w, &out)
	}
	if len(out.missing) > 0 {
		out.text = clip(s.text(w), maxScriptBytes)
	}
	return out
}

// resolve fills in the variables of a word.
func (s *script) resolve(w *syntax.Word, out *word) {
	refs := s.references(w)
	if out.missing = addMissing(out.missing, refs.refused...); len(out.missing) > 0 {
		return
	}
	values := &scriptValues{script: s, refs: refs, out: out}
	text, err := expand.Literal(&expand.Config{Env: values}, w)
	if err != nil && len(out.missing) == 0 {
		out.missing = addMissing(out.missing, "an expansion that fails")
	}
	out.text = clip(text, maxScriptBytes)
}

// scriptValues are the variables of a script as the expansion of one word asks for them.
type scriptValues struct {
	script *script
	refs   references
	out    *word
}

// Get implements expand.Environ. It records where the value comes from, or that it is missing.
func (e *scriptValues) Get(name string) expand.Variable {
	reference, ok := e.refs.names[name]
	if !ok {
		return expand.Variable{} // the library itself asks for IFS and HOME
	}
	v := e.script.lookup(name)
	e.out.evidence = appendEvidence(e.out.evidence, v.evidence...)
	if v.known() {
		return expand.Variable{Set: true, Kind: expand.String, Str: v.value}
	}
	if !reference.hasDefault || v.missing != name {
		e.out.missing = addMissing(e.out.missing, v.missing)
	}
	return expand.Variable{}
}

// Each implements expand.Environ; nothing asks for all variables.
func (e *scriptValues) Each(func(name string, v expand.Variable) bool) {}

// Set implements expand.WriteEnviron, for ${NAME:=default}.
func (e *scriptValues) Set(name string, v expand.Variable) error {
	value := variable{value: clip(v.String(), maxValueBytes), evidence: e.out.evidence, missing: joinMissing(e.out.missing)}
	if e.script.branches > 0 {
		value = variable{missing: lacking(name, "set under a condition in the script")}
	}
	e.script.set(name, value)
	return nil
}

func (s *script) lookup(name string) variable {
	if v, ok := s.local[name]; ok {
		return v
	}
	return s.env.lookup(name)
}

// text is the word as it stands in the script, without the quotes around it.
func (s *script) text(w *syntax.Word) string {
	start, end := int(w.Pos().Offset()), int(w.End().Offset())
	if start > end || end > len(s.source) {
		return ""
	}
	return strings.Trim(s.source[start:end], `"'`)
}

// references are the variables that a word refers to.
type references struct {
	names map[string]reference
	// refused says which expansions are left alone: those whose cost or size the script,
	// which anybody may have written, would decide.
	refused []string
}

type reference struct {
	// hasDefault is true for ${NAME:-x} and its like.
	hasDefault bool
}

func (s *script) references(w *syntax.Word) references {
	refs := references{names: map[string]reference{}}
	size := 0
	if strings.HasPrefix(s.text(w), "~") {
		refs.refused = append(refs.refused, "HOME")
	}
	syntax.Walk(w, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.ArithmExp:
			refs.refused = append(refs.refused, "an arithmetic expression")
			return false
		case *syntax.CmdSubst, *syntax.ProcSubst:
			refs.refused = append(refs.refused, "a command's output")
			return false
		case *syntax.ParamExp:
			if n.Param == nil || n.Repl != nil || n.Excl || n.Slice != nil || n.Index != nil || n.Length {
				refs.refused = append(refs.refused, "an expansion that is not evaluated")
				return false
			}
			name := n.Param.Value
			known := refs.names[name]
			known.hasDefault = known.hasDefault || hasDefault(n)
			refs.names[name] = known
			size += len(s.lookup(name).value)
		}
		return true
	})
	if size > maxScriptBytes {
		refs.refused = append(refs.refused, "variables whose values are too long")
	}
	return refs
}

func hasDefault(p *syntax.ParamExp) bool {
	if p.Exp == nil {
		return false
	}
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AlternateUnset, syntax.AlternateUnsetOrNull,
		syntax.AssignUnset, syntax.AssignUnsetOrNull:
		return true
	}
	return false
}

// unescape removes the backslashes of an unquoted literal.
func unescape(s string) string {
	if !strings.ContainsRune(s, '\\') {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}
