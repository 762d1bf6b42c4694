// SPDX-License-Identifier: Apache-2.0

// Package settings turns an AIBOMControllerConfig into an immutable Snapshot and keeps the
// one that is in force.
package settings

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/sink"
)

// Defaults of spec.logging.
const (
	DefaultLogLevel  = "info"
	DefaultLogFormat = "json"
)

// RuntimeImagePattern is an image that is recognised as an inference runtime, as
// v1beta1.RuntimeImagePattern describes it.
type RuntimeImagePattern struct {
	// Runtime is the name to report.
	Runtime string
	// Pattern is a repository path without registry, tag and digest; * stands for any
	// characters within one segment.
	Pattern string
}

// Snapshot is a complete, valid configuration. Nobody changes it, or anything that it refers
// to, after it was made; take it once for each piece of work.
type Snapshot struct {
	// NamespaceSelector selects, by their labels, the namespaces that are opted in.
	NamespaceSelector labels.Selector
	// WorkloadKinds are the kinds that are inventoried.
	WorkloadKinds KindSet

	// RuntimeImagePatterns add to the compiled image patterns and win over them.
	RuntimeImagePatterns []RuntimeImagePattern
	// ModelEnvVarNames add environment variables that hold a model's identity.
	ModelEnvVarNames []string
	// ModelArgFlags add flags, with their dashes, that hold a model's identity.
	ModelArgFlags []string
	// ModelVolumePaths add absolute, cleaned mount paths below which volumes hold models.
	ModelVolumePaths []string

	// InlineThresholdBytes is the largest document, in bytes as encoded in the AIBOM, that is
	// held inline: 1024 to v1beta1.MaxInlineThresholdBytes.
	InlineThresholdBytes int
	// StaleThresholdReconciles is how many failed attempts in a row make a document stale: 1
	// to 1000.
	StaleThresholdReconciles int
	// SpecVersion is the CycloneDX version of documents: 1.6 or 1.7.
	SpecVersion string

	// LogLevel is error, info or debug; empty where the configuration does not say.
	LogLevel string
	// LogFormat is json or text; empty where the configuration does not say. Only its value
	// at start takes effect.
	LogFormat string

	// Sinks take every document, in this order.
	Sinks []sink.Sink

	// spec is what the snapshot was made from, for Equal.
	spec v1beta1.AIBOMControllerConfigSpec
}

// Default returns the configuration that is in force without an AIBOMControllerConfig.
func Default() *Snapshot {
	return &Snapshot{
		NamespaceSelector:        labels.SelectorFromSet(labels.Set{v1beta1.OptInLabel: v1beta1.OptInValue}),
		InlineThresholdBytes:     v1beta1.DefaultInlineThresholdBytes,
		StaleThresholdReconciles: v1beta1.DefaultStaleThresholdReconciles,
		SpecVersion:              v1beta1.DefaultSpecVersion,
	}
}

// Equal is true when both snapshots were made from the same specification. What a Secret
// holds is not part of a snapshot: sinks read their tokens when they deliver.
func (s *Snapshot) Equal(other *Snapshot) bool {
	return equality.Semantic.DeepEqual(s.spec, other.spec)
}

// OnlyKindsDiffer is true when the snapshots differ, and in nothing but how
// spec.discovery.workloadKinds is written.
func (s *Snapshot) OnlyKindsDiffer(other *Snapshot) bool {
	mine, others := s.spec, other.spec
	if equality.Semantic.DeepEqual(mine.Discovery.WorkloadKinds, others.Discovery.WorkloadKinds) {
		return false
	}
	mine.Discovery.WorkloadKinds, others.Discovery.WorkloadKinds = nil, nil
	return equality.Semantic.DeepEqual(mine, others)
}
