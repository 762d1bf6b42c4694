// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/k8s-aibom/k8s-aibom/internal/settings"
	"github.com/k8s-aibom/k8s-aibom/internal/sink"
)

// namedSink takes documents or fails.
type namedSink struct {
	name string
	err  error
}

func (s namedSink) Name() string    { return s.name }
func (s namedSink) WriteOnly() bool { return false }
func (s namedSink) Deliver(context.Context, sink.Delivery) (string, error) {
	return "https://example.com/" + s.name, s.err
}

func TestTheGaugeFollowsEachSink(t *testing.T) {
	g := NewWithT(t)
	sinkHealthy.Reset()
	config := settings.Default()
	config.Sinks = []sink.Sink{namedSink{name: "archive"}, namedSink{name: "scanner", err: errors.New("403")}}
	deliver(t.Context(), config, sink.Delivery{})
	g.Expect(testutil.ToFloat64(sinkHealthy.WithLabelValues("archive"))).To(Equal(1.0))
	g.Expect(testutil.ToFloat64(sinkHealthy.WithLabelValues("scanner"))).To(Equal(0.0))

	forgetSinks(config, settings.Default())
	g.Expect(testutil.CollectAndCount(sinkHealthy)).To(BeZero(), "a sink that is not configured any more does not fail for ever")
}
