// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"errors"
	"io"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// pathCommand is the one call of a substitution that only takes a path apart, and nil for any other.
func pathCommand(n *syntax.CmdSubst) *syntax.CallExpr {
	if len(n.Stmts) != 1 || len(n.Stmts[0].Redirs) > 0 || n.Stmts[0].Negated {
		return nil
	}
	call, ok := n.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(call.Args) < 2 || len(call.Args) > 3 {
		return nil
	}
	if program := call.Args[0].Lit(); program != "basename" && (program != "dirname" || len(call.Args) != 2) {
		return nil
	}
	return call
}

var errNotRun = errors.New("a command that is not run")

// runPathCommand does what basename and dirname do.
func (e *scriptValues) runPathCommand(out io.Writer, n *syntax.CmdSubst) error {
	call := pathCommand(n)
	if call == nil {
		return errNotRun
	}
	var texts []string
	for _, arg := range call.Args[1:] {
		w := e.script.literal(arg)
		e.out.evidence = appendEvidence(e.out.evidence, w.evidence...)
		e.out.missing = addMissing(e.out.missing, w.missing...)
		e.out.conditional = e.out.conditional || w.conditional
		texts = append(texts, w.text)
	}
	result := path.Base(texts[0])
	if call.Args[0].Lit() == "dirname" {
		result = path.Dir(texts[0])
	} else if len(texts) > 1 && result != texts[1] {
		result = strings.TrimSuffix(result, texts[1])
	}
	_, err := io.WriteString(out, result)
	return err
}

// hideCommand stands in for the output of a command.
func hideCommand(out io.Writer, _ *syntax.CmdSubst) error {
	_, err := io.WriteString(out, hiddenCommand)
	return err
}
