// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"path"

	"mvdan.cc/sh/v3/syntax"
)

// verdict is how a condition ends, as far as the manifest says.
type verdict int

const (
	unknown verdict = iota
	yes
	no
)

func (v verdict) not() verdict {
	switch v {
	case yes:
		return no
	case no:
		return yes
	}
	return unknown
}

func (v verdict) and(other verdict) verdict {
	switch {
	case v == no || other == no:
		return no
	case v == yes && other == yes:
		return yes
	}
	return unknown
}

func verdictOf(is bool) verdict {
	if is {
		return yes
	}
	return no
}

// decides is how the condition of a node ends; of a case it says which of the items runs.
func (s *script) decides(node syntax.Node) verdict {
	switch n := node.(type) {
	case *syntax.IfClause:
		if len(n.Cond) == 0 {
			return yes // else
		}
		if len(n.Cond) == 1 {
			return s.holds(n.Cond[0])
		}
	case *syntax.BinaryCmd:
		if n.Op == syntax.AndStmt || n.Op == syntax.OrStmt {
			return s.holds(n.X)
		}
	case *syntax.CaseClause:
		s.choose(n)
	}
	return unknown
}

// holds says whether a statement succeeds that only asks.
func (s *script) holds(stmt *syntax.Stmt) verdict {
	v := unknown
	switch n := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		v = s.holdsCall(n)
	case *syntax.TestClause:
		v = s.holdsTest(n.X)
	case *syntax.BinaryCmd:
		switch n.Op {
		case syntax.AndStmt:
			v = s.holds(n.X).and(s.holds(n.Y))
		case syntax.OrStmt:
			v = s.holds(n.X).not().and(s.holds(n.Y).not()).not()
		}
	}
	if stmt.Negated {
		return v.not()
	}
	return v
}

func (s *script) holdsCall(call *syntax.CallExpr) verdict {
	if len(call.Args) == 0 {
		return unknown
	}
	args := call.Args[1:]
	switch call.Args[0].Lit() {
	case "true", ":":
		return yes
	case "false":
		return no
	case "[":
		if len(args) == 0 {
			return unknown
		}
		args = args[:len(args)-1]
	case "test":
	default:
		return unknown
	}
	if len(args) > 1 && args[0].Lit() == "!" {
		return s.asks(args[1:]).not()
	}
	return s.asks(args)
}

// asks is what test says of its words.
func (s *script) asks(args []*syntax.Word) verdict {
	switch len(args) {
	case 2:
		return s.isEmpty(args[0].Lit(), args[1])
	case 3:
		return s.isSame(args[1].Lit(), args[0], args[2])
	}
	return unknown
}

func (s *script) isEmpty(operator string, w *syntax.Word) verdict {
	text, known := s.stated(w)
	if !known || (operator != "-z" && operator != "-n") {
		return unknown
	}
	return verdictOf((text == "") == (operator == "-z"))
}

func (s *script) isSame(operator string, a, b *syntax.Word) verdict {
	left, knownLeft := s.stated(a)
	right, knownRight := s.stated(b)
	if !knownLeft || !knownRight {
		return unknown
	}
	switch operator {
	case "=", "==":
		return verdictOf(left == right)
	case "!=":
		return verdictOf(left != right)
	}
	return unknown
}

// holdsTest is what [[ says, but for patterns.
func (s *script) holdsTest(test syntax.TestExpr) verdict {
	switch n := test.(type) {
	case *syntax.ParenTest:
		return s.holdsTest(n.X)
	case *syntax.UnaryTest:
		if n.Op == syntax.TsNot {
			return s.holdsTest(n.X).not()
		}
		if w, ok := n.X.(*syntax.Word); ok {
			return s.isEmpty(n.Op.String(), w)
		}
	case *syntax.BinaryTest:
		switch n.Op {
		case syntax.AndTest:
			return s.holdsTest(n.X).and(s.holdsTest(n.Y))
		case syntax.OrTest:
			return s.holdsTest(n.X).not().and(s.holdsTest(n.Y).not()).not()
		}
		left, okLeft := n.X.(*syntax.Word)
		right, okRight := n.Y.(*syntax.Word)
		if okLeft && okRight && !isPattern(s.shown(right)) {
			return s.isSame(n.Op.String(), left, right)
		}
	}
	return unknown
}

// choose says which items of a case run.
func (s *script) choose(n *syntax.CaseClause) {
	text, known := s.stated(n.Word)
	chosen := false
	for _, item := range n.Items {
		matches := no
		for _, p := range item.Patterns {
			pattern, plain := s.stated(p)
			if !plain {
				matches = unknown
				break
			}
			if ok, err := path.Match(pattern, text); err == nil && ok {
				matches = yes
				break
			}
		}
		switch {
		case !known || matches == unknown || item.Op != syntax.Break:
			known = false
			s.flow.decide(item, unknown)
		case chosen:
			s.flow.decide(item, no)
		default:
			s.flow.decide(item, matches)
			chosen = matches == yes
		}
	}
}

// stated is the text of a word that is known for certain: a variable that the manifest does not set may
// be the image's, or come with the pod.
func (s *script) stated(w *syntax.Word) (string, bool) {
	out := s.literal(w)
	if len(out.missing) > 0 || out.conditional || len(out.text) > maxNameBytes {
		return "", false
	}
	return out.text, true
}

func isPattern(text string) bool {
	for _, r := range text {
		if r == '*' || r == '?' || r == '[' {
			return true
		}
	}
	return false
}
