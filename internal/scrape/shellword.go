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
	list, isList, known := s.list(w)
	if known {
		all := make([]word, 0, len(list))
		for _, item := range list {
			item.evidence = appendEvidence(s.from.evidence, item.evidence...)
			all = append(all, item)
		}
		return all
	}
	if isList {
		s.pod.note("%s was not read in full: what %s holds is not known", s.from.evidence[0].Locator, s.shown(w))
	}
	if name := leading(w); name != "" && splits(w) {
		if v := s.lookup(name); (v.perhaps || v.partial != "") && len(s.from.missing) == 0 {
			return s.fields(v)
		}
	}
	expanded := s.literal(w)
	if len(expanded.missing) > 0 || !splits(w) {
		return []word{expanded}
	}
	var all []word
	for _, field := range strings.Fields(expanded.text) {
		part := expanded
		part.text = field
		all = append(all, part)
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
// text stays as written, but for the commands in it, and the variable is listed as missing.
func (s *script) literal(w *syntax.Word) word {
	out := word{evidence: s.from.evidence}
	if plain := w.Lit(); plain != "" {
		out.text = unescape(plain)
		return out
	}
	for _, m := range s.from.missing {
		// A $(NAME) that Kubernetes could not resolve looks like a command substitution here.
		name, _, _ := strings.Cut(m, " ")
		if strings.Contains(s.raw(w), "$("+name+")") {
			out.missing = addMissing(out.missing, m)
		}
	}
	if len(out.missing) == 0 {
		s.resolve(w, &out)
	}
	if len(out.missing) > 0 {
		out.text = clip(s.shown(w), maxScriptBytes)
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
	text, err := expand.Literal(&expand.Config{Env: values, CmdSubst: values.runPathCommand}, w)
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
		e.out.conditional = e.out.conditional || v.perhaps
		return expand.Variable{Set: true, Kind: expand.String, Str: v.value}
	}
	if v.perhaps && v.certain > 0 && !isPlaceholder(v.partial[:v.certain]) {
		e.out.conditional = true // what a condition may add is not known
		return expand.Variable{Set: true, Kind: expand.String, Str: v.partial[:v.certain]}
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
	if e.script.flow.branches > 0 {
		value = e.script.lookup(name).orPerhaps(value, name)
	}
	e.script.set(name, value)
	return nil
}

func (s *script) lookup(name string) variable {
	if v, ok := s.local[name]; ok {
		return v
	}
	if v, ok := s.parameter(name); ok {
		return v
	}
	return s.env.lookup(name)
}

// raw is the node as it stands in the script, without the quotes around it.
func (s *script) raw(node syntax.Node) string {
	start, end := int(node.Pos().Offset()), int(node.End().Offset())
	if start > end || end > len(s.source) {
		return ""
	}
	return strings.Trim(s.source[start:end], `"'`)
}

// hiddenCommand stands for a command within a word. What it says is not shown: commands are
// given credentials.
const hiddenCommand = "$(…)"

// shown is the word as it stands in the script, without the commands in it and without what
// stands in for a credential.
func (s *script) shown(w *syntax.Word) string {
	at, end := int(w.Pos().Offset()), int(w.End().Offset())
	if at > end || end > len(s.source) {
		return ""
	}
	var out strings.Builder
	syntax.Walk(w, func(node syntax.Node) bool {
		as := ""
		switch n := node.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			as = maskCommands(s.raw(node))
			if !isReference(as) {
				as = hiddenCommand
			}
		case *syntax.ParamExp:
			if n.Param == nil || (n.Exp == nil && n.Repl == nil) || !s.pod.isCredential(n.Param.Value) {
				return true
			}
			as = "${" + n.Param.Value + "}"
		default:
			return true
		}
		if from, to := int(node.Pos().Offset()), int(node.End().Offset()); from >= at && to <= end {
			out.WriteString(s.source[at:from])
			out.WriteString(as)
			at = to
		}
		return false
	})
	out.WriteString(s.source[at:end])
	return strings.Trim(out.String(), `"'`)
}

// isReference says whether the text is $(NAME), which Kubernetes fills in where it can.
func isReference(text string) bool {
	return strings.HasPrefix(text, "$(") && strings.HasSuffix(text, ")") && variableName.MatchString(text[2:len(text)-1])
}

// maskCommands hides the commands in a text that no shell reads: $(NAME) stays, any other
// $(...) and what stands between backquotes do not.
func maskCommands(text string) string {
	var out strings.Builder
	for text != "" {
		from := strings.IndexAny(text, "$`")
		if from < 0 {
			break
		}
		out.WriteString(text[:from])
		text = text[from:]
		end := commandEnd(text)
		switch {
		case end == 0:
			out.WriteByte(text[0])
			text = text[1:]
		case isReference(text[:end]):
			out.WriteString(text[:end])
			text = text[end:]
		default:
			out.WriteString(hiddenCommand)
			text = text[end:]
		}
	}
	out.WriteString(text)
	return out.String()
}

// commandEnd is the length of the command that the text begins with, and 0 where it begins
// with none. A command that does not end takes all.
func commandEnd(text string) int {
	if text[0] == '`' {
		if end := strings.IndexByte(text[1:], '`'); end >= 0 {
			return end + 2
		}
		return len(text)
	}
	if !strings.HasPrefix(text, "$(") || strings.HasPrefix(text, "$((") {
		return 0
	}
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
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
	if strings.HasPrefix(s.raw(w), "~") {
		refs.refused = append(refs.refused, "HOME")
	}
	syntax.Walk(w, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.ArithmExp:
			refs.refused = append(refs.refused, "an arithmetic expression")
			return false
		case *syntax.CmdSubst:
			if pathCommand(n) != nil {
				return true
			}
			refs.refused = append(refs.refused, "a command's output")
			return false
		case *syntax.ProcSubst:
			refs.refused = append(refs.refused, "a command's output")
			return false
		case *syntax.ParamExp:
			if n.Param == nil || n.Repl != nil || n.Excl || n.Slice != nil || n.Index != nil || n.Length {
				refs.refused = append(refs.refused, "an expansion that is not evaluated")
				return false
			}
			name := n.Param.Value
			if hasDefault(n) && s.pod.isCredential(name) {
				refs.refused = append(refs.refused, lacking(name, notRead))
				return false
			}
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
