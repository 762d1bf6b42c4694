// SPDX-License-Identifier: Apache-2.0

// Command kubectl-aibom is the kubectl plugin: it reads the inventory and changes nothing.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // whatever kubectl logs in with
	"k8s.io/utils/clock"
)

// version is stamped by the build.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	err := newCommand(streams, clock.RealClock{}).ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error: "+printers.EscapeTerminal(err.Error()))
		os.Exit(1)
	}
}
