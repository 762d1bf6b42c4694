// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client/config"

	"github.com/k8s-aibom/k8s-aibom/internal/controller"
	"github.com/k8s-aibom/k8s-aibom/internal/settings"
	"github.com/k8s-aibom/k8s-aibom/internal/supervisor"
)

// options are the flags and the downward API's environment.
type options struct {
	metricsAddress string
	metricsSecure  bool
	metricsCertDir string
	probeAddress   string
	leaderElect    bool
	leaseDuration  time.Duration
	logLevel       string
	logFormat      string
	showVersion    bool
	// strictReadiness makes /readyz fail while the configuration is invalid.
	strictReadiness bool
	// schemaInterval is how long a look at the served CRDs holds good.
	schemaInterval time.Duration
	// paces are those of third-party watches.
	paces supervisor.Paces

	// podName and podNamespace come from POD_NAME and POD_NAMESPACE.
	podName      string
	podNamespace string
}

func parseOptions(program string, args []string, getenv func(string) string, out io.Writer) (options, error) {
	o := options{podName: getenv("POD_NAME"), podNamespace: getenv("POD_NAMESPACE")}
	fs := flag.NewFlagSet(program, flag.ContinueOnError)
	fs.SetOutput(out)
	fs.Usage = func() {
		fmt.Fprintf(out, "Usage: %s [flags]\n\n"+
			"Keeps an AIBOM for every AI workload in the opted-in namespaces. POD_NAME and\n"+
			"POD_NAMESPACE name the controller's own pod; the Deployment sets them.\n\nFlags:\n", program)
		fs.PrintDefaults()
	}
	fs.StringVar(&o.metricsAddress, "metrics-bind-address", ":8443", "The `address` that metrics are served on; 0 turns them off.")
	fs.BoolVar(&o.metricsSecure, "metrics-secure", true, "Serve metrics over HTTPS and ask the API server who may read them.")
	fs.StringVar(&o.metricsCertDir, "metrics-cert-dir", "", "The `folder` with tls.crt and tls.key for metrics; empty for a self-signed certificate.")
	fs.StringVar(&o.probeAddress, "health-probe-bind-address", ":8081", "The `address` that /healthz and /readyz are served on; 0 turns them off.")
	fs.BoolVar(&o.leaderElect, "leader-elect", false, "Let one of several replicas work at a time.")
	fs.DurationVar(&o.leaseDuration, "leader-elect-lease-duration", 15*time.Second, "How long a standby waits before it takes over.")
	fs.StringVar(&o.logLevel, "log-level", settings.DefaultLogLevel, "error, info or debug, where the configuration does not say.")
	fs.StringVar(&o.logFormat, "log-format", "", "json or text; by default what spec.logging.format said at start, else json.")
	fs.DurationVar(&o.schemaInterval, "schema-check-interval", controller.DefaultSchemaInterval,
		"How often the served CRDs are compared with what the controller knows, besides at start and when the configuration changes.")
	fs.BoolVar(&o.strictReadiness, "strict-config-readiness", false, "Fail /readyz while the configuration is invalid.")
	o.paces = supervisor.Paces{}.WithDefaults()
	fs.DurationVar(&o.paces.ProbeInterval, "watch-probe-interval", o.paces.ProbeInterval,
		"How often each third-party kind is probed by a list of one item and a GET of it.")
	fs.DurationVar(&o.paces.ProbeTimeout, "watch-probe-timeout", o.paces.ProbeTimeout, "How long one probe may take. Below 5s a slow API server is taken for a failing kind.")
	fs.DurationVar(&o.paces.CacheSyncTimeout, "watch-cache-sync-timeout", o.paces.CacheSyncTimeout,
		"How long the first list of a third-party kind may take before its watch is torn down and tried again.")
	fs.DurationVar(&o.paces.BackoffInitial, "watch-backoff-initial", o.paces.BackoffInitial,
		"How long a third-party kind that failed is left alone at first; doubled with each failure.")
	fs.DurationVar(&o.paces.BackoffMax, "watch-backoff-max", o.paces.BackoffMax, "How long it is left alone at most.")
	fs.BoolVar(&o.showVersion, "version", false, "Print the version and exit.")
	config.RegisterFlags(fs)
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q; see %s --help", fs.Arg(0), program)
	}
	return o, o.validate()
}

func (o options) validate() error {
	var errs []error
	if _, ok := logLevels[o.logLevel]; !ok {
		errs = append(errs, fmt.Errorf("--log-level is %q, want error, info or debug", o.logLevel))
	}
	if o.logFormat != "" && o.logFormat != "json" && o.logFormat != "text" {
		errs = append(errs, fmt.Errorf("--log-format is %q, want json or text", o.logFormat))
	}
	if o.leaderElect && o.podNamespace == "" {
		errs = append(errs, errors.New("--leader-elect needs POD_NAMESPACE: the lease lies in the controller's namespace"))
	}
	if o.leaseDuration < 3*time.Second {
		errs = append(errs, fmt.Errorf("--leader-elect-lease-duration is %s, want at least 3s", o.leaseDuration))
	}
	for _, p := range []struct {
		flag  string
		value time.Duration
	}{
		{"--schema-check-interval", o.schemaInterval},
		{"--watch-probe-interval", o.paces.ProbeInterval},
		{"--watch-probe-timeout", o.paces.ProbeTimeout},
		{"--watch-cache-sync-timeout", o.paces.CacheSyncTimeout},
		{"--watch-backoff-initial", o.paces.BackoffInitial},
		{"--watch-backoff-max", o.paces.BackoffMax},
	} {
		if p.value <= 0 {
			errs = append(errs, fmt.Errorf("%s is %s, want more than 0", p.flag, p.value))
		}
	}
	if o.paces.BackoffMax < o.paces.BackoffInitial {
		errs = append(errs, fmt.Errorf("--watch-backoff-max is %s, less than --watch-backoff-initial, %s",
			o.paces.BackoffMax, o.paces.BackoffInitial))
	}
	return errors.Join(errs...)
}
