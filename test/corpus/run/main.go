// SPDX-License-Identifier: Apache-2.0

// Command run scores what the controller finds in a corpus: a folder of real manifests with
// labels of what a careful reader finds in them.
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

	"github.com/k8s-aibom/k8s-aibom/test/corpus"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

const usage = `Usage: go run ./test/corpus/run [flags]

Loads a folder of manifests with labels.jsonl into a local control plane, runs the manager,
reads the AIBOMs that it wrote and scores them against the labels. With --fast the scrapers read
the manifests themselves, in a second and without a control plane.

The programs of the control plane are taken from $KUBEBUILDER_ASSETS (make corpus sets it), the
manager from $MANAGER_BINARY or else built. Exits with 1 where a goal is not reached.

Flags:
`

// options are the command line.
type options struct {
	corpus, compare, out, crds, disputes string
	fast                                 bool
	timeout                              time.Duration
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
	context.AfterFunc(ctx, stop)
	reached, err := run(ctx, root, opts, os.Stdout)
	if err != nil {
		fail(err)
	}
	if !reached {
		os.Exit(1)
	}
}

func parseFlags(args []string, root string, output io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("corpus", flag.ContinueOnError)
	flags.SetOutput(output)
	flags.Usage = func() {
		_, _ = fmt.Fprint(output, usage)
		flags.PrintDefaults()
	}
	shared := filepath.Join(root, "..", "shared", "upstream")
	flags.StringVar(&o.corpus, "corpus", filepath.Join(shared, "workloads"), "folder of the manifests and their labels")
	flags.StringVar(&o.compare, "compare", "", "result of an earlier run to compare with")
	flags.StringVar(&o.out, "out", filepath.Join(root, "dist", "corpus"), "folder for the result and the logs")
	flags.StringVar(&o.crds, "crds", filepath.Join(shared, "crds"), "folder of other projects' CRDs; those that are not there come from config/crd/external")
	flags.StringVar(&o.disputes, "disputes", filepath.Join(root, "test", "corpus", "disputed.yaml"), "labels that are plainly wrong")
	flags.BoolVar(&o.fast, "fast", false, "read the manifests with the scrapers alone")
	flags.DurationVar(&o.timeout, "timeout", 5*time.Minute, "how long the inventory may take to be complete")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		_, _ = fmt.Fprintf(output, "unexpected argument %q\n", flags.Arg(0))
		flags.Usage()
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return o, nil
}

// run scores the corpus and says whether every goal is reached.
func run(ctx context.Context, root string, opts options, output io.Writer) (bool, error) {
	labels, err := corpus.ReadLabels(opts.corpus)
	if err != nil {
		return false, err
	}
	disputes, err := corpus.ReadDisputes(opts.disputes)
	if err != nil {
		return false, err
	}
	// Read before this run overwrites it.
	var before *corpus.Result
	if opts.compare != "" {
		earlier, err := corpus.ReadResult(opts.compare)
		if err != nil {
			return false, err
		}
		before = &earlier
	}
	if err := os.MkdirAll(opts.out, 0o755); err != nil {
		return false, err
	}
	observations, err := observe(ctx, root, opts, labels, output)
	if err != nil {
		return false, err
	}
	result := corpus.Result{Score: corpus.Of(labels, observations, disputes), Observations: observations}
	result.Score.Print(output)
	if before != nil {
		corpus.PrintComparison(output, before.Score, result.Score)
	}
	path := filepath.Join(opts.out, "result.json")
	if err := result.Write(path); err != nil {
		return false, err
	}
	_, _ = fmt.Fprintf(output, "\nThe result is in %s\n", path)
	return result.Score.Reached(), nil
}

func observe(ctx context.Context, root string, opts options, labels []corpus.Label, output io.Writer) ([]corpus.Observation, error) {
	if opts.fast {
		return corpus.Scrape(opts.corpus, labels), nil
	}
	return runManager(ctx, root, opts, labels, output)
}

func fail(err error) {
	_, _ = fmt.Fprintln(os.Stderr, "corpus:", err)
	os.Exit(1)
}
