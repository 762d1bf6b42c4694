// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/utils/clock"
)

// tool is what every subcommand needs.
type tool struct {
	streams genericiooptions.IOStreams
	clock   clock.PassiveClock
	flags   *genericclioptions.ConfigFlags
	verbose int
}

// newCommand is kubectl aibom with all that is below it.
func newCommand(streams genericiooptions.IOStreams, clock clock.PassiveClock) *cobra.Command {
	t := &tool{streams: streams, clock: clock, flags: genericclioptions.NewConfigFlags(true)}
	root := &cobra.Command{
		Use:   "kubectl-aibom",
		Short: "Read the inventory of AI workloads",
		Long: "Reads the AIBOMs that k8s-aibom keeps: which AI workloads there are, which of them use a\n" +
			"model, a runtime or an image, and their CycloneDX documents. It changes nothing.",
		Example: `  kubectl aibom summary -A
  kubectl aibom find llama -A
  kubectl aibom document deployment/my-llm -n my-models`,
		Version:       version,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl aibom"},
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	t.flags.AddFlags(root.PersistentFlags())
	root.PersistentFlags().CountVarP(&t.verbose, "verbose", "v", "Say on standard error what else was found out, such as why there is no notice about the configuration.")
	root.AddCommand(t.summaryCommand(), t.findCommand(), t.documentCommand())
	return root
}

// warn writes one line to standard error.
func (t *tool) warn(format string, args ...any) {
	fmt.Fprintln(t.streams.ErrOut, printers.EscapeTerminal(fmt.Sprintf(format, args...)))
}
