// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// script reads one shell script: which programs it runs, with variables resolved from the
// container's environment and the script's own unconditional assignments.
type script struct {
	pod    *pod
	source string
	from   word
	env    *environment
	// local are the script's own variables; one that is assigned under a condition or from
	// a command is missing. assigned lists their names as they are assigned.
	local    map[string]variable
	assigned []string
	// branches is how many conditions and loops enclose the current command.
	branches int
	commands [][]word
	// full is true once a word was too much to read.
	full bool
}

// readScript parses a script and lists the command lines in it, in the order in which they
// stand. It runs nothing. With an error come the commands that were read before it.
func readScript(p *pod, from word, env *environment) ([][]word, error) {
	if nesting(from.text) > maxNesting {
		return nil, fmt.Errorf("it nests more than %d brackets", maxNesting)
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(from.text), "")
	if err != nil {
		var parse syntax.ParseError
		if errors.As(err, &parse) {
			return nil, errors.New(parse.Pos.String() + ": " + clip(parse.Text, 200))
		}
		return nil, err
	}
	s := &script{pod: p, source: from.text, from: from, env: env, local: map[string]variable{}}
	s.walk(file)
	if s.full {
		return s.commands, errors.New("it is too long once its variables are filled in")
	}
	return s.commands, nil
}

// nesting is the most brackets that are open at once. Every one costs the parser kilobytes of
// stack, and a stack that is used up cannot be recovered from.
func nesting(source string) int {
	depth, most := 0, 0
	for i := range len(source) {
		switch source[i] {
		case '(', '{', '[':
			depth++
			most = max(most, depth)
		case ')', '}', ']':
			depth = max(depth-1, 0)
		}
	}
	return most
}

func (s *script) walk(file *syntax.File) {
	// enclosing says of each node that is being walked whether it is a branch, and how many
	// variables were assigned before it.
	type enclosing struct {
		node     syntax.Node
		assigned int
	}
	var stack []enclosing
	syntax.Walk(file, func(node syntax.Node) bool {
		if node == nil {
			last := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if isBranch(last.node) {
				s.branches--
			}
			if isSubshell(last.node) {
				s.forget(last.assigned)
			}
			return true
		}
		if isBranch(node) {
			s.branches++
		}
		stack = append(stack, enclosing{node, len(s.assigned)})
		s.visit(node)
		return true
	})
}

// isBranch says whether what the node holds may run not at all or more than once.
func isBranch(node syntax.Node) bool {
	switch n := node.(type) {
	case *syntax.IfClause, *syntax.CaseClause, *syntax.WhileClause, *syntax.ForClause, *syntax.FuncDecl:
		return true
	case *syntax.BinaryCmd:
		return n.Op == syntax.OrStmt || (n.Op == syntax.AndStmt && isTest(n.X))
	}
	return false
}

// isTest says whether the statement only asks, as in [ -z "$MODEL" ] && MODEL=x.
func isTest(stmt *syntax.Stmt) bool {
	switch n := stmt.Cmd.(type) {
	case *syntax.TestClause, *syntax.ArithmCmd:
		return true
	case *syntax.CallExpr:
		if len(n.Args) == 0 {
			return false
		}
		program := n.Args[0].Lit()
		return program == "[" || program == "test"
	}
	return false
}

// isSubshell says whether variables that are assigned in the node are gone behind it.
func isSubshell(node syntax.Node) bool {
	switch node.(type) {
	case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
		return true
	}
	return false
}

// forget gives up the variables that were assigned from a point on.
func (s *script) forget(from int) {
	for _, name := range s.assigned[from:] {
		s.local[name] = variable{missing: lacking(name, "set in a subshell of the script")}
	}
	s.assigned = s.assigned[:from]
}

func (s *script) visit(node syntax.Node) {
	switch n := node.(type) {
	case *syntax.DeclClause:
		s.assign(n.Args)
	case *syntax.WordIter:
		s.set(n.Name.Value, variable{missing: lacking(n.Name.Value, "set by a loop in the script")})
	case *syntax.CallExpr:
		if len(n.Args) == 0 {
			s.assign(n.Assigns)
			return
		}
		s.call(n.Args)
	}
}

// call adds a command line.
func (s *script) call(args []*syntax.Word) {
	if program := args[0].Lit(); program == "read" || program == "unset" {
		for _, w := range args[1:] {
			if name := w.Lit(); name != "" {
				s.set(name, variable{missing: lacking(name, "set by "+program+" in the script")})
			}
		}
	}
	var words []word
	for _, arg := range args {
		if s.full {
			return
		}
		for _, w := range s.expand(arg) {
			if s.full = s.full || !s.pod.afford(1, len(w.text)); s.full {
				return
			}
			words = append(words, w)
		}
	}
	if len(words) > 0 {
		s.commands = append(s.commands, words)
	}
}

func (s *script) assign(assigns []*syntax.Assign) {
	for _, a := range assigns {
		if a.Name == nil || a.Array != nil || a.Index != nil || (a.Naked && a.Value == nil) {
			continue
		}
		name := a.Name.Value
		if s.branches > 0 || a.Append {
			s.set(name, variable{missing: lacking(name, "set under a condition in the script")})
			continue
		}
		var v variable
		if a.Value != nil {
			w := s.literal(a.Value)
			v = variable{value: clip(w.text, maxValueBytes), evidence: w.evidence, missing: joinMissing(w.missing)}
		}
		s.set(name, v)
	}
}

func (s *script) set(name string, v variable) {
	s.local[name] = v
	s.assigned = append(s.assigned, name)
}
