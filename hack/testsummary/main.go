// SPDX-License-Identifier: Apache-2.0

// Command testsummary reads what `go test -json` writes (go doc test2json), shows the
// packages as they end and the whole output of what failed, and closes with a summary: one
// line for each package, the failed tests by name, and "N passed, N failed, N skipped".
//
// A Ginkgo suite counts as its specs. The exit status is 1 when anything failed and when no
// test was run at all.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	file := flag.String("o", "", "also write the summary to this file")
	flag.Parse()

	ok, err := run(os.Stdin, os.Stdout, *file)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsummary:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// run copies the results of in to out and the closing summary to the named file as well,
// unless that name is empty. It is false when the run as a whole did not pass.
func run(in io.Reader, out io.Writer, file string) (bool, error) {
	c := newCollector(out)
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			c.line(line)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return false, err
		}
	}

	summary := c.summary()
	if _, err := io.WriteString(out, "\n"+summary); err != nil {
		return false, err
	}
	if file == "" {
		return c.ok(), nil
	}
	return c.ok(), os.WriteFile(file, []byte(summary), 0o600)
}
