// SPDX-License-Identifier: Apache-2.0

package scrape

import "mvdan.cc/sh/v3/syntax"

// flow follows a script from command to command and says which of them are certain to run.
type flow struct {
	// branches is how many conditions, loops and functions that nobody is certain to call
	// enclose the current command; functions how many functions do.
	branches, functions int
	// apart is how many enclosing nodes an exit does not certainly reach beyond: subshells,
	// pipelines, chains and what runs in the background.
	apart int
	// maybe are the nodes whose running depends on a command before them.
	maybe map[syntax.Node]bool
	// called are the functions that are called without a condition.
	called map[string]bool
	// ended is true behind an exit, and behind an exec that replaces the shell.
	ended bool
}

func newFlow(file *syntax.File) *flow {
	first := &flow{maybe: map[syntax.Node]bool{}}
	called := map[string]bool{}
	var stack []syntax.Node
	syntax.Walk(file, func(node syntax.Node) bool {
		if node == nil {
			first.leave(stack[len(stack)-1])
			stack = stack[:len(stack)-1]
			return true
		}
		first.enter(node)
		stack = append(stack, node)
		if call, ok := node.(*syntax.CallExpr); ok && len(call.Args) > 0 && first.branches == 0 && !first.ended {
			called[call.Args[0].Lit()] = true
		}
		return true
	})
	return &flow{maybe: map[syntax.Node]bool{}, called: called}
}

func (f *flow) enter(node syntax.Node) {
	if f.isBranch(node) {
		f.branches++
	}
	if isApart(node) {
		f.apart++
	}
	switch n := node.(type) {
	case *syntax.FuncDecl:
		f.functions++
	case *syntax.IfClause:
		for _, stmt := range n.Then {
			f.maybe[stmt] = true
		}
		if n.Else != nil {
			f.maybe[n.Else] = true
		}
	case *syntax.BinaryCmd:
		if n.Op == syntax.OrStmt || (n.Op == syntax.AndStmt && isTest(n.X)) {
			f.maybe[n.Y] = true
		}
	}
}

func (f *flow) leave(node syntax.Node) {
	if f.isBranch(node) {
		f.branches--
	}
	if isApart(node) {
		f.apart--
	}
	switch n := node.(type) {
	case *syntax.FuncDecl:
		f.functions--
	case *syntax.CallExpr:
		f.ended = f.ended || (f.branches+f.apart+f.functions == 0 && endsScript(n))
	}
}

// isBranch says whether what the node holds may run not at all or more than once.
func (f *flow) isBranch(node syntax.Node) bool {
	switch n := node.(type) {
	case *syntax.CaseClause, *syntax.WhileClause, *syntax.ForClause:
		return true
	case *syntax.FuncDecl:
		return n.Name == nil || !f.called[n.Name.Value] // the parser takes ()x for one without a name
	}
	return f.maybe[node]
}

// isApart says whether an exit in the node leaves the script running, or may.
func isApart(node syntax.Node) bool {
	switch n := node.(type) {
	case *syntax.BinaryCmd:
		return true
	case *syntax.Stmt:
		return n.Background || n.Coprocess
	}
	return isSubshell(node)
}

func endsScript(call *syntax.CallExpr) bool {
	if len(call.Args) == 0 {
		return false
	}
	program := call.Args[0].Lit()
	return program == "exit" || (program == "exec" && len(call.Args) > 1)
}

// asking are programs that are run for their exit code.
var asking = set([]string{"[", "test", "false", "command", "type", "which", "grep", "egrep", "fgrep", "diff", "cmp", "pgrep"})

// isTest says whether the statement only asks, as in [ -z "$MODEL" ] && MODEL=x.
func isTest(stmt *syntax.Stmt) bool {
	if stmt.Negated {
		return true
	}
	switch n := stmt.Cmd.(type) {
	case *syntax.TestClause, *syntax.ArithmCmd:
		return true
	case *syntax.BinaryCmd: // the last command decides
		return isTest(n.Y)
	case *syntax.CallExpr:
		return len(n.Args) > 0 && asking[n.Args[0].Lit()]
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
