// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/settings"
	"github.com/k8s-aibom/k8s-aibom/internal/sink"
)

// The reasons why a document lies nowhere.
const (
	truncatedNoSink    = "no external sink is configured"
	truncatedSinksFail = "every configured sink failed"
)

// maxEncodedBytes bounds what an inline document may take up within the AIBOM, where JSON
// escapes its quotes: etcd refuses objects of more than 1.5 MiB by default.
const maxEncodedBytes = 1400 << 10

// delivered says where a document ended.
type delivered struct {
	inline     *v1beta1.InlineDocument
	external   *v1beta1.ExternalDocument
	truncation string
	// reason and message are those of the SinkFailed condition.
	reason, message string
	// retry is the failure that may go away by trying again.
	retry error
}

func (d delivered) failed() bool { return d.reason == v1beta1.ReasonDeliveryFailed }

// everySinkTookIt is how a delivery ends that no sink fails.
func everySinkTookIt(config *settings.Snapshot) delivered {
	n := len(config.Sinks)
	if n == 0 {
		return delivered{reason: v1beta1.ReasonNoSink, message: "No sink is configured."}
	}
	return delivered{reason: v1beta1.ReasonDelivered, message: fmt.Sprintf("%d of %d sinks took the document.", n, n)}
}

// deliver gives the document to every configured sink, and decides where it lies: inline
// where it is small enough, else in the first sink that took it.
func deliver(ctx context.Context, config *settings.Snapshot, d sink.Delivery) delivered {
	out := everySinkTookIt(config)
	var failures []string
	for _, s := range config.Sinks {
		url, err := s.Deliver(ctx, d)
		noteDelivery(s.Name(), err)
		if err != nil {
			failures = append(failures, err.Error())
			var failure *sink.DeliveryError
			if !errors.As(err, &failure) || failure.Retryable {
				out.retry = errors.Join(out.retry, err)
			}
			continue
		}
		if out.external == nil {
			out.external = &v1beta1.ExternalDocument{Sink: s.Name(), URL: url, WriteOnly: s.WriteOnly()}
		}
	}
	if len(failures) > 0 {
		out.reason, out.message = v1beta1.ReasonDeliveryFailed, bounded(strings.Join(failures, "; "), maxMessage)
	}
	if fitsInline(d.Document, config.InlineThresholdBytes) {
		out.inline, out.external = &v1beta1.InlineDocument{Data: string(d.Document)}, nil
		return out
	}
	if out.external == nil {
		out.truncation = truncatedNoSink
		if len(config.Sinks) > 0 {
			out.truncation = truncatedSinksFail
		}
	}
	return out
}

func fitsInline(document []byte, threshold int) bool {
	if len(document) > threshold {
		return false
	}
	encoded, err := json.Marshal(string(document))
	return err == nil && len(encoded) <= maxEncodedBytes
}
