// SPDX-License-Identifier: Apache-2.0

// Command demo shows the product at work without a cluster: it starts a control plane on
// loopback, installs config/default, applies config/samples/demo, runs the real manager under
// the ServiceAccount and the RBAC that ship, and holds the inventory to what the samples say
// about themselves.
package main

import (
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"time"

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
	harness.Main(parseFlags, func(ctx context.Context, root string, opts options) error {
		return newDemo(root, opts, os.Stdout).run(ctx)
	})
}

func parseFlags(args []string, root string, output io.Writer) (options, error) {
	var opts options
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.BoolVar(&opts.once, "once", false, "end after the checks")
	flags.StringVar(&opts.out, "out", filepath.Join(root, "dist", "demo"), "folder for the documents, the logs and the kubeconfig")
	flags.DurationVar(&opts.timeout, "timeout", 2*time.Minute, "how long the inventory may take to be complete")
	if err := harness.ParseFlags(flags, usage, args, output); err != nil {
		return options{}, err
	}
	out, err := filepath.Abs(opts.out)
	if err != nil {
		return options{}, err
	}
	opts.out = out
	return opts, nil
}
