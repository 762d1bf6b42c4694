// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"flag"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestParseFlags(t *testing.T) {
	g := NewWithT(t)
	var output bytes.Buffer
	opts, err := parseFlags(nil, "/repo", &output)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(opts.once).To(BeFalse())
	g.Expect(opts.out).To(Equal("/repo/dist/demo"))

	opts, err = parseFlags([]string{"--once", "--out", "here"}, "/repo", &output)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(opts.once).To(BeTrue())
	g.Expect(filepath.IsAbs(opts.out)).To(BeTrue())
	g.Expect(output.String()).To(BeEmpty())

	_, err = parseFlags([]string{"--help"}, "/repo", &output)
	g.Expect(err).To(MatchError(flag.ErrHelp))
	g.Expect(output.String()).To(And(ContainSubstring("Usage: go run ./test/demo"), ContainSubstring("-once")))
	_, err = parseFlags([]string{"once"}, "/repo", &output)
	g.Expect(err).To(MatchError(ContainSubstring(`unexpected argument "once"`)))
}
