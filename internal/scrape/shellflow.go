// SPDX-License-Identifier: Apache-2.0

package scrape

import "mvdan.cc/sh/v3/syntax"

// flow follows a script from command to command and says which of them are certain to run.
type flow struct {
	// branches is how many conditions and loops enclose the current command.
	branches int
	// apart is how many enclosing nodes an exit does not certainly reach beyond: subshells,
	// pipelines, chains and what runs in the background.
	apart int
	// maybe are the nodes whose running depends on a command before them, dead those that never run.
	maybe, dead map[syntax.Node]bool
	// ended is true behind an exit, and behind an exec that replaces the shell.
	ended bool
}

func newFlow() *flow {
	return &flow{maybe: map[syntax.Node]bool{}, dead: map[syntax.Node]bool{}}
}

// enter says what the node decides of those in it: outcome is how its condition ends.
func (f *flow) enter(node syntax.Node, outcome verdict) {
	if f.isBranch(node) {
		f.branches++
	}
	if isApart(node) {
		f.apart++
	}
	switch n := node.(type) {
	case *syntax.IfClause:
		for _, stmt := range n.Then {
			f.decide(stmt, outcome)
		}
		if n.Else != nil {
			f.decide(n.Else, outcome.not())
		}
	case *syntax.WhileClause:
		for _, stmt := range n.Do {
			f.decide(stmt, unknown)
		}
	case *syntax.BinaryCmd:
		switch {
		case n.Op == syntax.OrStmt:
			f.decide(n.Y, outcome.not())
		case n.Op == syntax.AndStmt && isTest(n.X):
			f.decide(n.Y, outcome)
		}
	}
}

// decide says of a node whether it runs.
func (f *flow) decide(node syntax.Node, runs verdict) {
	f.maybe[node], f.dead[node] = runs == unknown, runs == no
}

func (f *flow) leave(node syntax.Node) {
	if f.isBranch(node) {
		f.branches--
	}
	if isApart(node) {
		f.apart--
	}
	if n, ok := node.(*syntax.CallExpr); ok {
		f.ended = f.ended || (f.branches+f.apart == 0 && endsScript(n))
	}
}

// isBranch says whether what the node holds may run not at all or more than once.
func (f *flow) isBranch(node syntax.Node) bool {
	_, loop := node.(*syntax.ForClause)
	return loop || f.maybe[node]
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
