// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

func parse(args ...string) (options, string, error) {
	env := map[string]string{"POD_NAME": "pod-0", "POD_NAMESPACE": "k8s-aibom-system"}
	var out bytes.Buffer
	o, err := parseOptions("manager", args, func(name string) string { return env[name] }, &out)
	return o, out.String(), err
}

func TestDefaults(t *testing.T) {
	g := NewWithT(t)
	o, _, err := parse()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(o.podName).To(Equal("pod-0"))
	g.Expect(o.podNamespace).To(Equal("k8s-aibom-system"))
	g.Expect(o.metricsSecure).To(BeTrue())
	g.Expect(o.strictReadiness).To(BeFalse())
	g.Expect(o.schemaInterval).To(Equal(10 * time.Minute))
	g.Expect(o.paces.ProbeInterval).To(Equal(2 * time.Minute))
	g.Expect(o.paces.BackoffInitial).To(Equal(5 * time.Second))
	g.Expect(o.paces.BackoffMax).To(Equal(5 * time.Minute))
	g.Expect(o.paces.CacheSyncTimeout).To(Equal(2 * time.Minute))
}

func TestHelpNamesEveryFlag(t *testing.T) {
	g := NewWithT(t)
	_, help, err := parse("--help")
	g.Expect(errors.Is(err, flag.ErrHelp)).To(BeTrue())
	for _, name := range []string{"metrics-bind-address", "leader-elect", "kubeconfig", "watch-probe-interval", "watch-backoff-max", "strict-config-readiness", "schema-check-interval", "version"} {
		g.Expect(help).To(ContainSubstring("-" + name))
	}
}

func TestWrongFlagsAreRefusedWithTheirName(t *testing.T) {
	for _, c := range []struct{ arg, want string }{
		{"--log-level=loud", "--log-level"},
		{"--log-format=xml", "--log-format"},
		{"--leader-elect-lease-duration=1s", "--leader-elect-lease-duration"},
		{"--schema-check-interval=0s", "--schema-check-interval"},
		{"--strict-config-readiness=perhaps", "strict-config-readiness"},
		{"--watch-probe-interval=0s", "--watch-probe-interval"},
		{"--watch-probe-timeout=-1s", "--watch-probe-timeout"},
		{"--watch-backoff-max=1s", "--watch-backoff-max"},
		{"--nonsense", "nonsense"},
		{"word", "word"},
	} {
		t.Run(c.arg, func(t *testing.T) {
			_, _, err := parse(c.arg)
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(c.want)))
		})
	}
}

func TestLeaderElectionNeedsTheNamespace(t *testing.T) {
	_, err := parseOptions("manager", []string{"--leader-elect"}, func(string) string { return "" }, &bytes.Buffer{})
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("POD_NAMESPACE")))
}

// TestTheLogHasOneForm has client-go's lines written as all others.
func TestTheLogHasOneForm(t *testing.T) {
	g := NewWithT(t)
	var lines []string
	useLogger(funcr.NewJSON(func(line string) { lines = append(lines, line) }, funcr.Options{}))
	klog.ErrorS(errors.New("forbidden"), "Failed to watch")
	ctrl.Log.Info("Starting")
	g.Expect(lines).To(HaveLen(2))
	for _, line := range lines {
		g.Expect(json.Valid([]byte(line))).To(BeTrue(), line)
	}
	g.Expect(lines[0]).To(And(ContainSubstring("Failed to watch"), ContainSubstring("forbidden"), ContainSubstring("client-go")))
}
