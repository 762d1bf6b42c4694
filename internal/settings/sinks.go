// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"context"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/clock"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/sink"
)

const (
	maxSinks          = 16
	maxSinkNameLength = 63
	maxURLLength      = 2048
	maxTimeoutSeconds = 60

	// tokenLifetime is how long a bearer token is used before its Secret is read again.
	tokenLifetime = time.Minute
)

func compileSinks(ctx context.Context, s *Snapshot, found *findings, specs []v1beta1.SinkSpec, deps Dependencies, at *field.Path) {
	if len(specs) > maxSinks {
		found.invalid = append(found.invalid, field.TooMany(at, len(specs), maxSinks))
		return
	}
	seen := sets.New[string]()
	for i, spec := range specs {
		found.invalid = append(found.invalid, checkSinkName(spec.Name, seen, at.Index(i).Child("name"))...)
		if spec.HTTP == nil {
			found.invalid = append(found.invalid, field.Required(at.Index(i).Child("http"), "a sink needs a destination"))
			continue
		}
		if made := compileHTTPSink(ctx, found, spec, deps, at.Index(i).Child("http")); made != nil {
			s.Sinks = append(s.Sinks, made)
		}
	}
}

func checkSinkName(name string, seen sets.Set[string], at *field.Path) field.ErrorList {
	switch {
	case name == "":
		return field.ErrorList{field.Required(at, "a sink needs a name")}
	case len(name) > maxSinkNameLength:
		return field.ErrorList{field.TooLong(at, name, maxSinkNameLength)}
	case seen.Has(name):
		return field.ErrorList{field.Duplicate(at, name)}
	}
	seen.Insert(name)
	return nil
}

// compileHTTPSink returns nil when a mistake keeps the sink from being made.
func compileHTTPSink(ctx context.Context, found *findings, spec v1beta1.SinkSpec, deps Dependencies, at *field.Path) sink.Sink {
	options := sink.HTTPOptions{Name: spec.Name, URL: spec.HTTP.URL, WriteOnly: spec.WriteOnly, Client: deps.HTTPClient}
	if len(options.URL) > maxURLLength {
		found.invalid = append(found.invalid, field.TooLong(at.Child("url"), "", maxURLLength))
	} else if err := sink.CheckURL(options.URL); err != nil {
		// Forbidden does not print the value, which may be what must not be shown.
		found.sink = append(found.sink, field.Forbidden(at.Child("url"), err.Error()))
	}
	var seconds int
	found.invalid = append(found.invalid, compileNumber(&seconds, spec.HTTP.TimeoutSeconds, 1, maxTimeoutSeconds, at.Child("timeoutSeconds"))...)
	options.Timeout = time.Duration(seconds) * time.Second
	if ref := spec.HTTP.BearerTokenSecretRef; ref != nil {
		options.Token = compileToken(ctx, found, *ref, deps, at.Child("bearerTokenSecretRef"))
	}
	made, err := sink.NewHTTP(options)
	if err != nil {
		return nil // said above, where the field is known
	}
	return made
}

// compileToken reads the token once, so that a mistake is found before the first delivery.
func compileToken(ctx context.Context, found *findings, ref v1beta1.SecretKeyReference, deps Dependencies, at *field.Path) func(context.Context) (string, error) {
	var errs field.ErrorList
	if problems := validation.IsDNS1123Subdomain(ref.Name); len(problems) > 0 {
		errs = append(errs, field.Invalid(at.Child("name"), ref.Name, strings.Join(problems, "; ")))
	}
	if problems := validation.IsConfigMapKey(ref.Key); len(problems) > 0 {
		errs = append(errs, field.Invalid(at.Child("key"), ref.Key, strings.Join(problems, "; ")))
	}
	if len(errs) > 0 {
		found.invalid = append(found.invalid, errs...)
		return nil
	}
	token := &cachedToken{clock: deps.Clock, read: func(ctx context.Context) (string, error) {
		return deps.Secrets(ctx, ref.Name, ref.Key)
	}}
	value, err := token.get(ctx)
	if err != nil {
		found.secret = append(found.secret, field.Invalid(at, ref.Name+"/"+ref.Key, err.Error()))
		return nil
	}
	if err := sink.CheckToken(strings.TrimSpace(value)); err != nil {
		found.secret = append(found.secret, field.Invalid(at, ref.Name+"/"+ref.Key, "the token "+err.Error()))
		return nil
	}
	return token.get
}

// cachedToken spares the API server a request for every delivery, yet follows a changed
// Secret within tokenLifetime.
type cachedToken struct {
	clock clock.PassiveClock
	read  func(context.Context) (string, error)

	mu     sync.Mutex
	value  string
	readAt time.Time
}

func (t *cachedToken) get(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.readAt.IsZero() && t.clock.Since(t.readAt) < tokenLifetime {
		return t.value, nil
	}
	value, err := t.read(ctx)
	if err != nil {
		return "", err
	}
	t.value, t.readAt = value, t.clock.Now()
	return value, nil
}
