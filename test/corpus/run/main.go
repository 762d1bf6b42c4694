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
	"path/filepath"
	"time"

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

func main() { harness.Main(parseFlags, run) }

func parseFlags(args []string, root string, output io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("corpus", flag.ContinueOnError)
	shared := filepath.Join(root, "..", "shared", "upstream")
	flags.StringVar(&o.corpus, "corpus", filepath.Join(shared, "workloads"), "folder of the manifests and their labels")
	flags.StringVar(&o.compare, "compare", "", "result of an earlier run to compare with")
	flags.StringVar(&o.out, "out", filepath.Join(root, "dist", "corpus"), "folder for the result and the logs")
	flags.StringVar(&o.crds, "crds", filepath.Join(shared, "crds"), "folder of other projects' CRDs; those that are not there come from config/crd/external")
	flags.StringVar(&o.disputes, "disputes", filepath.Join(root, "test", "corpus", "disputed.yaml"), "labels that are plainly wrong")
	flags.BoolVar(&o.fast, "fast", false, "read the manifests with the scrapers alone")
	flags.DurationVar(&o.timeout, "timeout", 5*time.Minute, "how long the inventory may take to be complete")
	err := harness.ParseFlags(flags, usage, args, output)
	return o, err
}

// run scores the corpus and fails unless every goal is reached.
func run(ctx context.Context, root string, opts options) error {
	output := os.Stdout
	labels, err := corpus.ReadLabels(opts.corpus)
	if err != nil {
		return err
	}
	disputes, err := corpus.ReadDisputes(opts.disputes)
	if err != nil {
		return err
	}
	// Read before this run overwrites it.
	var before *corpus.Result
	if opts.compare != "" {
		earlier, err := corpus.ReadResult(opts.compare)
		if err != nil {
			return err
		}
		before = &earlier
	}
	if err := os.MkdirAll(opts.out, 0o755); err != nil {
		return err
	}
	observations, err := observe(ctx, root, opts, labels, output)
	if err != nil {
		return err
	}
	result := corpus.Result{Score: corpus.Of(labels, observations, disputes), Observations: observations}
	result.Score.Print(output)
	if before != nil {
		corpus.PrintComparison(output, before.Score, result.Score)
	}
	path := filepath.Join(opts.out, "result.json")
	if err := result.Write(path); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(output, "\nThe result is in %s\n", path)
	if !result.Score.Reached() {
		return errors.New("not every goal is reached")
	}
	return nil
}

func observe(ctx context.Context, root string, opts options, labels []corpus.Label, output io.Writer) ([]corpus.Observation, error) {
	if opts.fast {
		return corpus.Scrape(opts.corpus, labels), nil
	}
	return runManager(ctx, root, opts, labels, output)
}
