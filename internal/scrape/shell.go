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
	// parameters are $0, $1 and so on; lost is true once they are set under a condition.
	parameters []word
	lost       bool
	// arrays are the script's lists of words; one that is not known is missing.
	arrays   map[string][]word
	flow     *flow
	commands [][]word
	// functions are those that were declared, in the order of declared; called are those that ran.
	functions map[string]*syntax.Stmt
	declared  []string
	called    map[string]bool
	// frames are the functions that run within one another.
	frames []frame
	// input is what the statement's command reads from its standard input, where the script
	// holds it, and output the file that it writes to; files are those that the script wrote.
	// piped is what a command hands on, and receives are the statements that read from another.
	input, piped *word
	output       string
	files        map[string]word
	receives     map[*syntax.Stmt]bool
	// full is true once a word was too much to read.
	full bool
}

// readScript parses a script and lists the command lines in it, in the order in which they
// stand. It runs nothing. With an error come the commands that were read before it. The
// parameters are the words behind the script, of which the first is $0.
func readScript(p *pod, from word, parameters []word, env *environment) ([][]word, error) {
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
	s := &script{
		pod: p, source: from.text, from: from, env: env, parameters: parameters,
		files: map[string]word{}, local: map[string]variable{}, arrays: map[string][]word{}, flow: newFlow(),
		functions: map[string]*syntax.Stmt{}, called: map[string]bool{}, receives: map[*syntax.Stmt]bool{},
	}
	s.walk(file)
	s.walkUncalled()
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

// walk follows the script through a part of it, as a shell would as far as that is known.
func (s *script) walk(part syntax.Node) {
	// enclosing says of each node that is being walked how many variables were assigned before it.
	type enclosing struct {
		node     syntax.Node
		assigned int
	}
	var stack []enclosing
	syntax.Walk(part, func(node syntax.Node) bool {
		if node == nil {
			last := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			s.flow.leave(last.node)
			if isSubshell(last.node) {
				s.forget(last.assigned)
			}
			return true
		}
		if !s.enters(node) {
			return false
		}
		s.flow.enter(node, s.decides(node))
		stack = append(stack, enclosing{node, len(s.assigned)})
		s.visit(node)
		return true
	})
}

// enters says whether the node is still to be walked where it stands: not one that never runs, a
// function, which runs where it is called, and a loop over a list that was walked item by item.
func (s *script) enters(node syntax.Node) bool {
	if s.flow.ended || s.full {
		return false
	}
	switch n := node.(type) {
	case *syntax.FuncDecl:
		s.declare(n)
		return false
	case *syntax.ForClause:
		return !s.flow.dead[node] && !s.unroll(n)
	}
	return !s.flow.dead[node]
}

// forget gives up the variables that were assigned from a point on.
func (s *script) forget(from int) {
	for _, name := range s.assigned[from:] {
		s.local[name] = variable{missing: lacking(name, "set in a subshell of the script")}
		delete(s.arrays, name)
	}
	s.assigned = s.assigned[:from]
}

func (s *script) visit(node syntax.Node) {
	switch n := node.(type) {
	case *syntax.DeclClause:
		for _, a := range n.Args {
			if n.Variant.Value == "export" {
				s.export(a)
			} else {
				s.shadow(a)
			}
			s.assign(a)
		}
	case *syntax.BinaryCmd:
		if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
			s.receives[n.Y] = true
		}
	case *syntax.Stmt:
		s.redirect(n.Redirs)
		if s.receives[n] && s.input == nil {
			s.input = s.piped
		}
		s.piped = nil
	case *syntax.WordIter:
		s.set(n.Name.Value, variable{missing: lacking(n.Name.Value, "set by a loop in the script")})
	case *syntax.CallExpr:
		if len(n.Args) == 0 {
			for _, a := range n.Assigns {
				s.exportKnown(a)
				s.assign(a)
			}
			return
		}
		for _, a := range n.Assigns {
			s.export(a)
		}
		s.call(n.Args)
	}
}

// call adds a command line.
func (s *script) call(args []*syntax.Word) {
	switch program := args[0].Lit(); program {
	case "read", "unset":
		for _, w := range args[1:] {
			if name := w.Lit(); name != "" {
				s.set(name, variable{missing: lacking(name, "set by "+program+" in the script")})
			}
		}
	case "set", "shift":
		s.setParameters(program, args[1:])
		return
	}
	words := s.words(args)
	if len(words) == 0 || s.full {
		return
	}
	if body := s.functions[words[0].text]; body != nil {
		s.invoke(words, body)
		return
	}
	for _, command := range s.withInput(words) {
		for i := range command {
			command[i].conditional = command[i].conditional || s.from.conditional || s.flow.branches > 0
		}
		s.commands = append(s.commands, command)
	}
}

// words resolves and splits words as far as the workload can afford it.
func (s *script) words(args []*syntax.Word) []word {
	var words []word
	for _, arg := range args {
		if s.full {
			return words
		}
		for _, w := range s.expand(arg) {
			if s.full = s.full || !s.pod.afford(1, len(w.text)); s.full {
				return words
			}
			words = append(words, w)
		}
	}
	return words
}

func (s *script) assign(a *syntax.Assign) {
	if a.Name == nil || a.Index != nil || (a.Naked && a.Value == nil && a.Array == nil) {
		return
	}
	name := a.Name.Value
	if a.Array != nil {
		s.assignArray(a)
		return
	}
	v := s.valueOf(a)
	if a.Append {
		v = s.lookup(name).followedBy(v, name)
	}
	if s.flow.branches > 0 {
		v = s.lookup(name).orPerhaps(v, name)
	}
	s.set(name, v)
}

// valueOf is the value that is assigned. That of a credential is not read.
func (s *script) valueOf(a *syntax.Assign) variable {
	switch {
	case a.Value == nil:
		return variable{}
	case s.pod.isCredential(a.Name.Value):
		return variable{missing: lacking(a.Name.Value, notRead)}
	}
	w := s.literal(a.Value)
	v := variable{value: clip(w.text, maxValueBytes), evidence: w.evidence, missing: joinMissing(w.missing), perhaps: w.conditional}
	if !v.known() {
		v.value = ""
		v.partial, v.perhaps = s.partial(a.Value)
	}
	if v.perhaps {
		v.certain = s.certainOf(a.Value, v.text())
	}
	return v
}

// exportKnown hands on what is assigned to a variable that the container's programs see already.
func (s *script) exportKnown(a *syntax.Assign) {
	if a.Name == nil {
		return
	}
	if _, ok := s.env.variables[a.Name.Value]; ok {
		s.export(a)
	}
}

// export keeps what the script sets for the programs that it runs, where that matters.
func (s *script) export(a *syntax.Assign) {
	if a.Name == nil || a.Array != nil || a.Index != nil || a.Append || !s.pod.matters(a.Name.Value) {
		return
	}
	v, ok := s.local[a.Name.Value]
	if a.Value != nil {
		v, ok = s.valueOf(a), true
	}
	if !ok {
		return // it is not set, or the container's own
	}
	v.evidence = appendEvidence(s.from.evidence, v.evidence...)
	s.env.export(a.Name.Value, v, s.from.conditional || s.flow.branches > 0 || v.perhaps)
}

func (s *script) set(name string, v variable) {
	s.local[name] = v
	s.assigned = append(s.assigned, name)
}
