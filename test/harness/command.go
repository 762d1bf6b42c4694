// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Main is the main function of a program for people that runs a control plane. It has parse read
// the command line, which says itself what is wrong with it, and then run do the work, which
// Ctrl-C ends. It exits with 2 for a wrong command line and with 1 and the reason for a failure.
func Main[Options any](
	parse func(args []string, root string, output io.Writer) (Options, error),
	run func(ctx context.Context, root string, options Options) error,
) {
	root, err := RepoRoot()
	if err != nil {
		fail(err)
	}
	options, err := parse(os.Args[1:], root, os.Stderr)
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
	// A second Ctrl-C ends the program at once; the reaper then ends the children.
	context.AfterFunc(ctx, stop)
	err = run(ctx, root, options)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("interrupted: %w", err)
	}
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintf(os.Stderr, "\nFailed: %v\n", err)
	os.Exit(1)
}

// ParseFlags parses a command line that has flags only. What is wrong with it is told to output,
// and so is the usage, for --help as well.
func ParseFlags(flags *flag.FlagSet, usage string, args []string, output io.Writer) error {
	flags.SetOutput(output)
	flags.Usage = func() {
		_, _ = fmt.Fprint(output, usage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		err := fmt.Errorf("unexpected argument %q", flags.Arg(0))
		_, _ = fmt.Fprintln(output, err)
		flags.Usage()
		return err
	}
	return nil
}
