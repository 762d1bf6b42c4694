// SPDX-License-Identifier: Apache-2.0

// Command manager is the k8s-aibom controller.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	ctrl "sigs.k8s.io/controller-runtime"
)

// version is stamped by the build.
var version = "dev"

func main() {
	o, err := parseOptions(os.Args[0], os.Args[1:], os.Getenv, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if o.showVersion {
		fmt.Println(version)
		return
	}
	if err := run(ctrl.SetupSignalHandler(), o); err != nil {
		ctrl.Log.Error(err, "The controller stops")
		os.Exit(1)
	}
}

// logLevels are the words of spec.logging.level and the most verbose V that each shows.
var logLevels = map[string]int{"error": -1, "info": 0, "debug": 1}
