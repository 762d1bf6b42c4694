// SPDX-License-Identifier: Apache-2.0

// Command demo shows the product at work without a cluster: it starts a control plane on
// loopback, installs config/default, applies config/samples/demo, runs the real manager under
// the ServiceAccount and the RBAC that ship, and holds the inventory to what the samples say
// about themselves.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

const usage = `Usage: go run ./test/demo [flags]

Starts a local control plane, installs config/default, applies config/samples/demo, runs the
manager with the RBAC that ships and checks the inventory. Runs until Ctrl-C, or ends after
the checks with --once. Exits with 0 when every check holds, and with 1 and the reason
otherwise.

The programs of the control plane are taken from $KUBEBUILDER_ASSETS (make demo sets it), the
manager from $MANAGER_BINARY or else built.

Flags:
`

// options are the command line.
type options struct {
	once    bool
	out     string
	timeout time.Duration
}

func main() {
	root, err := harness.RepoRoot()
	if err != nil {
		fail(err)
	}
	opts, err := parseFlags(os.Args[1:], root, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		os.Exit(2)
	}
	// controller-runtime complains when nobody says where its log goes.
	ctrl.SetLogger(logr.Discard())

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second Ctrl-C ends the program at once; the harness then ends the children.
	context.AfterFunc(ctx, stop)
	err = newDemo(root, opts, os.Stdout).run(ctx)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("interrupted: %w", err)
	}
	if err != nil {
		fail(err)
	}
}

func parseFlags(args []string, root string, output io.Writer) (options, error) {
	var opts options
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(output)
	flags.Usage = func() {
		_, _ = fmt.Fprint(output, usage)
		flags.PrintDefaults()
	}
	flags.BoolVar(&opts.once, "once", false, "end after the checks")
	flags.StringVar(&opts.out, "out", filepath.Join(root, "dist", "demo"), "folder for the documents, the logs and the kubeconfig")
	flags.DurationVar(&opts.timeout, "timeout", 2*time.Minute, "how long the inventory may take to be complete")
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	if flags.NArg() > 0 {
		_, _ = fmt.Fprintf(output, "unexpected argument %q\n", flags.Arg(0))
		flags.Usage()
		return options{}, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	out, err := filepath.Abs(opts.out)
	if err != nil {
		return options{}, err
	}
	opts.out = out
	return opts, nil
}

func fail(err error) {
	fmt.Fprintf(os.Stderr, "\nThe demo failed: %v\n", err)
	os.Exit(1)
}
