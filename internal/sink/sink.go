// SPDX-License-Identifier: Apache-2.0

// Package sink delivers documents to places outside the cluster's API.
package sink

import (
	"context"
	"fmt"
)

// Delivery is one document on its way to a sink.
type Delivery struct {
	// Namespace of the AIBOM.
	Namespace string
	// Name of the AIBOM.
	Name string
	// SHA256 of Document, in lower-case hexadecimal.
	SHA256 string
	// Document is the CycloneDX JSON document.
	Document []byte
}

// Sink takes documents. Its methods are safe for concurrent use.
type Sink interface {
	// Name of the sink, unique within one configuration.
	Name() string
	// WriteOnly is true when documents cannot be read back by the URL that Deliver returns.
	WriteOnly() bool
	// Deliver puts the document and returns the URL where it lies. It returns within the
	// sink's deadline; every error is a *DeliveryError. Delivering the same document again
	// has no further effect.
	Deliver(ctx context.Context, d Delivery) (url string, err error)
}

// DeliveryError says why a sink did not take a document. Its text holds no credential, so
// that it can be shown in a condition, an event or a log.
type DeliveryError struct {
	// Sink is the name of the sink.
	Sink string
	// Status is the last HTTP status that the server answered, 0 when it never answered.
	Status int
	// Retryable is true when the same delivery may succeed later without a change of the
	// configuration.
	Retryable bool
	// Err is the cause.
	Err error
}

// Error names the sink and the cause.
func (e *DeliveryError) Error() string { return fmt.Sprintf("sink %q: %v", e.Sink, e.Err) }

// Unwrap returns the cause, so that errors.Is finds context.DeadlineExceeded and
// context.Canceled.
func (e *DeliveryError) Unwrap() error { return e.Err }
