// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"context"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/clock"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
)

// SecretReader returns the value at a key of a Secret in the controller's namespace. Its
// errors are shown to users: they say what is missing and hold no value.
type SecretReader func(ctx context.Context, name, key string) (string, error)

// Dependencies are what Compile and the sinks it makes need from outside.
type Dependencies struct {
	// Secrets reads bearer tokens, once while compiling to find mistakes, then for
	// deliveries; required when a sink names a Secret.
	Secrets SecretReader
	// HTTPClient is shared by all HTTP sinks; one of their own when nil.
	HTTPClient *http.Client
	// Clock ages tokens; the real clock when nil.
	Clock clock.PassiveClock
}

// InvalidError says everything that is wrong with a configuration.
type InvalidError struct {
	// Reason is v1beta1.ReasonConfigInvalid, ReasonSinkConstructionFailed or
	// ReasonSecretNotFound: the first of these that applies.
	Reason string
	// Fields names every failing field. No text in it holds a credential.
	Fields field.ErrorList
	// Retry is true when a Secret could not be read, so that the same configuration may
	// become valid without being changed.
	Retry bool
}

// Error names every failing field.
func (e *InvalidError) Error() string { return e.Fields.ToAggregate().Error() }

// findings collects mistakes by the reason that they give.
type findings struct{ invalid, sink, secret field.ErrorList }

func (f *findings) err() *InvalidError {
	all := slices.Concat(f.invalid, f.sink, f.secret)
	if len(all) == 0 {
		return nil
	}
	reason := v1beta1.ReasonSecretNotFound
	if len(f.sink) > 0 {
		reason = v1beta1.ReasonSinkConstructionFailed
	}
	if len(f.invalid) > 0 {
		reason = v1beta1.ReasonConfigInvalid
	}
	return &InvalidError{Reason: reason, Fields: all, Retry: len(f.secret) > 0}
}

// Compile validates a specification and makes a Snapshot of it. It checks everything, also
// what the CRD's schema checks, because the schema that the cluster serves may be older. Its
// only effect is to read the Secrets that sinks name. Exactly one result is nil.
func Compile(ctx context.Context, spec v1beta1.AIBOMControllerConfigSpec, deps Dependencies) (*Snapshot, *InvalidError) {
	if deps.Clock == nil {
		deps.Clock = clock.RealClock{}
	}
	root := field.NewPath("spec")
	snapshot, found := Default(), &findings{}
	snapshot.spec = *spec.DeepCopy()

	compileDiscovery(snapshot, found, spec.Discovery, root.Child("discovery"))
	compileBOMGeneration(snapshot, found, spec.BOMGeneration, root.Child("bomGeneration"))
	compileLogging(snapshot, found, spec.Logging, root.Child("logging"))
	compileSinks(ctx, snapshot, found, spec.Sinks, deps, root.Child("sinks"))

	if err := found.err(); err != nil {
		return nil, err
	}
	return snapshot, nil
}

func compileDiscovery(s *Snapshot, found *findings, spec v1beta1.DiscoverySpec, at *field.Path) {
	var errs field.ErrorList
	if spec.NamespaceSelector != nil {
		errs = append(errs, compileSelector(s, spec.NamespaceSelector, at.Child("namespaceSelector"))...)
	}
	set, kindErrs := ParseKinds(spec.WorkloadKinds, at.Child("workloadKinds"))
	s.WorkloadKinds = set
	errs = append(errs, kindErrs...)
	errs = append(errs, compilePatterns(s, spec.InferenceRuntimeImagePatterns, at.Child("inferenceRuntimeImagePatterns"))...)
	for _, list := range []struct {
		into   *[]string
		values []string
		rule   stringRule
		name   string
	}{
		{&s.ModelEnvVarNames, spec.ModelEnvVarNames, envVarName, "modelEnvVarNames"},
		{&s.ModelArgFlags, spec.ModelArgFlags, argFlag, "modelArgFlags"},
		{&s.ModelVolumePaths, spec.ModelVolumePaths, volumePath, "modelVolumePaths"},
	} {
		values, listErrs := list.rule.apply(list.values, at.Child(list.name))
		*list.into = values
		errs = append(errs, listErrs...)
	}
	found.invalid = append(found.invalid, errs...)
}

func compileSelector(s *Snapshot, spec *metav1.LabelSelector, at *field.Path) field.ErrorList {
	errs := metav1validation.ValidateLabelSelector(spec, metav1validation.LabelSelectorValidationOptions{}, at)
	if len(errs) > 0 {
		return errs
	}
	selector, err := metav1.LabelSelectorAsSelector(spec)
	if err != nil {
		return field.ErrorList{field.Invalid(at, spec, err.Error())}
	}
	s.NamespaceSelector = selector
	return nil
}

func compileBOMGeneration(s *Snapshot, found *findings, spec v1beta1.BOMGenerationSpec, at *field.Path) {
	found.invalid = append(found.invalid, compileNumber(&s.InlineThresholdBytes, spec.InlineThresholdBytes, 1024, v1beta1.MaxInlineThresholdBytes, at.Child("inlineThresholdBytes"))...)
	found.invalid = append(found.invalid, compileNumber(&s.StaleThresholdReconciles, spec.StaleThresholdReconciles, 1, 1000, at.Child("staleThresholdReconciles"))...)
	found.invalid = append(found.invalid, compileChoice(&s.SpecVersion, spec.SpecVersion, []string{"1.6", "1.7"}, at.Child("specVersion"))...)
}

func compileLogging(s *Snapshot, found *findings, spec v1beta1.LoggingSpec, at *field.Path) {
	found.invalid = append(found.invalid, compileChoice(&s.LogLevel, spec.Level, []string{"error", "info", "debug"}, at.Child("level"))...)
	found.invalid = append(found.invalid, compileChoice(&s.LogFormat, spec.Format, []string{"json", "text"}, at.Child("format"))...)
}
