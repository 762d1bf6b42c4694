// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// script reads one shell script: which programs it runs, with variables resolved from the
// container's environment and the script's own unconditional assignments.
type script struct {
	source string
	from   word
	env    *environment
	// local are the script's own variables; one that is assigned under a condition or from
	// a command is missing.
	local map[string]variable
	// branches is how many conditions and loops enclose the current command.
	branches int
	commands [][]word
}

// readScript parses a script and lists the command lines in it, in the order in which they
// stand. It runs nothing.
func readScript(from word, env *environment) ([][]word, error) {
	if len(from.text) > maxScriptBytes {
		return nil, errors.New("it is too long")
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(from.text), "")
	if err != nil {
		var parse syntax.ParseError
		if errors.As(err, &parse) {
			return nil, errors.New(parse.Pos.String() + ": " + clip(parse.Text, 200))
		}
		return nil, err
	}
	s := &script{source: from.text, from: from, env: env, local: map[string]variable{}}
	var stack []bool
	syntax.Walk(file, func(node syntax.Node) bool {
		if node == nil {
			if stack[len(stack)-1] {
				s.branches--
			}
			stack = stack[:len(stack)-1]
			return true
		}
		branch := isBranch(node)
		if branch {
			s.branches++
		}
		stack = append(stack, branch)
		s.visit(node)
		return true
	})
	return s.commands, nil
}

// isBranch says whether what the node holds may run not at all or more than once.
func isBranch(node syntax.Node) bool {
	switch n := node.(type) {
	case *syntax.IfClause, *syntax.CaseClause, *syntax.WhileClause, *syntax.ForClause, *syntax.FuncDecl:
		return true
	case *syntax.BinaryCmd:
		return n.Op == syntax.OrStmt
	}
	return false
}

func (s *script) visit(node syntax.Node) {
	switch n := node.(type) {
	case *syntax.DeclClause:
		s.assign(n.Args)
	case *syntax.CallExpr:
		if len(n.Args) == 0 {
			s.assign(n.Assigns)
			return
		}
		if len(s.commands) == maxWords {
			return
		}
		var words []word
		for _, w := range n.Args {
			words = append(words, s.expand(w)...)
			if len(words) > maxWords {
				words = words[:maxWords]
				break
			}
		}
		if len(words) > 0 {
			s.commands = append(s.commands, words)
		}
	}
}

func (s *script) assign(assigns []*syntax.Assign) {
	for _, a := range assigns {
		if a.Name == nil || a.Array != nil || a.Index != nil || (a.Naked && a.Value == nil) {
			continue
		}
		name := a.Name.Value
		if s.branches > 0 || a.Append {
			s.local[name] = variable{missing: name + " (set under a condition in the script)"}
			continue
		}
		var v variable
		if a.Value != nil {
			w := s.literal(a.Value)
			v = variable{value: clip(w.text, maxValueBytes), evidence: w.evidence, missing: strings.Join(w.missing, ", ")}
		}
		s.local[name] = v
	}
}

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
	out := word{evidence: s.from.evidence, missing: nil}
	for _, m := range s.from.missing {
		// A $(NAME) that Kubernetes could not resolve looks like a command substitution here.
		name, _, _ := strings.Cut(m, " ")
		if strings.Contains(s.text(w), "$("+name+")") {
			out.missing = append(out.missing, m)
		}
	}
	if plain := w.Lit(); plain != "" {
		out.text = unescape(plain)
		return out
	}
	refs := s.references(w)
	out.missing = append(out.missing, refs.refused...)
	cfg := &expand.Config{Env: expand.FuncEnviron(func(name string) string {
		reference, ok := refs.names[name]
		if !ok {
			return "" // the library itself asks for IFS and HOME
		}
		v := s.lookup(name)
		out.evidence = appendEvidence(out.evidence, v.evidence...)
		if v.known() {
			return v.value
		}
		if !reference.hasDefault || v.missing != name {
			out.missing = append(out.missing, v.missing)
		}
		return ""
	})}
	if len(out.missing) == 0 {
		text, err := expand.Literal(cfg, w)
		if err != nil && len(out.missing) == 0 {
			out.missing = append(out.missing, "a command's output")
		}
		out.text = clip(text, maxScriptBytes)
	}
	if len(out.missing) > 0 {
		out.text = clip(s.text(w), maxScriptBytes)
	}
	return out
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
	syntax.Walk(w, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.ArithmExp:
			refs.refused = append(refs.refused, "an arithmetic expression")
			return false
		case *syntax.CmdSubst, *syntax.ProcSubst:
			refs.refused = append(refs.refused, "a command's output")
			return false
		case *syntax.ParamExp:
			if n.Param == nil || n.Repl != nil || n.Excl || n.Slice != nil || n.Index != nil {
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
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
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
