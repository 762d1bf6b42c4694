// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/settings"
)

const (
	// DefaultSchemaInterval is how long a look at the served schemas holds good.
	DefaultSchemaInterval = 10 * time.Minute

	// ApplyCRDs is the command that brings the served CRDs up to date, in a checkout of the
	// controller's release.
	ApplyCRDs = "kubectl apply -k config/crd"

	// schemaTimeout bounds the reading of the served schemas.
	schemaTimeout = 10 * time.Second
)

// ownTypes are the project's kinds with the Go types that this controller reads and writes
// them by.
var ownTypes = []struct {
	kind string
	of   reflect.Type
}{
	{"AIBOMControllerConfig", reflect.TypeFor[v1beta1.AIBOMControllerConfig]()},
	{"AIBOM", reflect.TypeFor[v1beta1.AIBOM]()},
}

// SchemaReader returns the OpenAPI v3 document, in JSON, of the project's API as it is served.
type SchemaReader func(context.Context) ([]byte, error)

// ServedSchema reads the document from the API server. Everybody who is authenticated may
// read it, so no permission is asked for; and it says what is served, which a CRD that was
// just written does not.
func ServedSchema(client rest.Interface) SchemaReader {
	path := "/openapi/v3/apis/" + v1beta1.GroupVersion.String()
	return func(ctx context.Context) ([]byte, error) {
		return client.Get().AbsPath(path).SetHeader("Accept", "application/json").Do(ctx).Raw()
	}
}

// SchemaCheck finds out whether the served CRDs are older than this controller, so that the
// API server silently drops fields that it knows.
type SchemaCheck struct {
	// Read reads the served schemas.
	Read SchemaReader
	// Interval is how long a look holds good; DefaultSchemaInterval when 0.
	Interval time.Duration
	// Clock times the looks.
	Clock clock.WithTicker
	// Log is told when the schemas cannot be read, and when fields are missing.
	Log logr.Logger
	// Changes receives an empty event when Start finds another verdict than the last.
	Changes chan event.GenericEvent

	mu      sync.Mutex
	message string // the verdict: what is missing, empty for nothing
	failure string // why the last look failed, empty when it did not
}

// NewSchemaCheck returns a check that has found nothing yet.
func NewSchemaCheck(read SchemaReader, interval time.Duration, c clock.WithTicker, log logr.Logger) *SchemaCheck {
	return &SchemaCheck{Read: read, Interval: interval, Clock: c, Log: log, Changes: make(chan event.GenericEvent, 1)}
}

// NeedLeaderElection is true: only the leader writes the condition.
func (s *SchemaCheck) NeedLeaderElection() bool { return true }

// Start looks again and again until ctx is done, so that the condition clears by itself. The
// first look is the configuration's reconciliation at start.
func (s *SchemaCheck) Start(ctx context.Context) error {
	interval := s.Interval
	if interval == 0 {
		interval = DefaultSchemaInterval
	}
	ticker := s.Clock.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
		if s.Check(ctx) {
			s.wake()
		}
	}
}

func (s *SchemaCheck) wake() {
	select {
	case s.Changes <- event.GenericEvent{Object: &metav1.PartialObjectMetadata{}}:
	default: // a change that nobody has looked at yet waits already
	}
}

// Check looks once and returns whether the verdict changed. What cannot be read is logged and
// leaves the last verdict.
func (s *SchemaCheck) Check(ctx context.Context) (changed bool) {
	message, err := s.look(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	failure := ""
	if err != nil {
		failure, message = err.Error(), s.message
	}
	if failure != "" && failure != s.failure {
		s.Log.Info("The served schemas could not be read, so what was known of them stays", "reason", failure)
	}
	if message != "" && message != s.message {
		s.Log.Info("The served CRDs are older than this controller", "reason", message)
	}
	changed = message != s.message
	s.message, s.failure = message, failure
	return changed
}

// Degraded is the cause that the last verdict gives, if any.
func (s *SchemaCheck) Degraded() []settings.DegradedReason {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.message == "" {
		return nil
	}
	return []settings.DegradedReason{{Reason: v1beta1.ReasonSchemaPredatesController, Message: s.message}}
}

// look says which fields the API server drops; empty for none.
func (s *SchemaCheck) look(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, schemaTimeout)
	defer cancel()
	document, err := s.Read(ctx)
	if err != nil {
		return "", fmt.Errorf("reading the OpenAPI document of %s: %w", v1beta1.GroupVersion, err)
	}
	schemas, err := servedSchemas(document)
	if err != nil {
		return "", err
	}
	return missingFields(schemas)
}

// missingFields says which fields of the project's types the schemas lack, and what to do.
func missingFields(served map[string]*schemaNode) (string, error) {
	var lacking []string
	for _, own := range ownTypes {
		schema, ok := served[own.kind]
		if !ok {
			return "", fmt.Errorf("the OpenAPI document of %s does not describe %s", v1beta1.GroupVersion, own.kind)
		}
		if missing := pruned(own.of, schema); len(missing) > 0 {
			lacking = append(lacking, fmt.Sprintf("the served CRD of %s lacks %s", own.kind, strings.Join(missing, ", ")))
		}
	}
	if len(lacking) == 0 {
		return "", nil
	}
	return strings.Join(lacking, "; ") + ", so the API server drops what is written there; apply the CRDs of this release: " + ApplyCRDs, nil
}

// schemaNode is what the comparison reads of a schema.
type schemaNode struct {
	Properties map[string]*schemaNode `json:"properties"`
	Items      *schemaNode            `json:"items"`
	// KeepsUnknown is true where nothing is dropped.
	KeepsUnknown bool                      `json:"x-kubernetes-preserve-unknown-fields"`
	Kinds        []metav1.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
}

// servedSchemas are the schemas of the project's kinds in an OpenAPI v3 document, by kind.
func servedSchemas(document []byte) (map[string]*schemaNode, error) {
	var parsed struct {
		Components struct {
			Schemas map[string]*schemaNode `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(document, &parsed); err != nil {
		return nil, fmt.Errorf("the OpenAPI document of %s is not what it should be: %w", v1beta1.GroupVersion, err)
	}
	found := map[string]*schemaNode{}
	for _, schema := range parsed.Components.Schemas {
		// Shared types, such as DeleteOptions, name the kinds of many groups.
		if schema == nil || len(schema.Kinds) != 1 {
			continue
		}
		k := schema.Kinds[0]
		if k.Group == v1beta1.GroupVersion.Group && k.Version == v1beta1.GroupVersion.Version {
			found[k.Kind] = schema
		}
	}
	return found, nil
}

// pruned are the paths of the fields of a kind's Go type that the schema does not have, in
// the order of the type. Of an object that is missing as a whole only its own path is named.
// What every kind has (apiVersion, kind and metadata) is left out.
func pruned(kind reflect.Type, schema *schemaNode) []string {
	var missing []string
	for _, name := range []string{"spec", "status"} {
		field, ok := fieldByJSONName(kind, name)
		if ok {
			missing = append(missing, prunedField(name, field.Type, schema.Properties[name])...)
		}
	}
	return missing
}

func prunedField(path string, t reflect.Type, schema *schemaNode) []string {
	switch {
	case schema == nil:
		return []string{path}
	case schema.KeepsUnknown:
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return prunedField(path, t.Elem(), schema)
	case reflect.Slice:
		if schema.Items == nil {
			return nil
		}
		return prunedField(path+"[]", t.Elem(), schema.Items)
	case reflect.Struct:
		return prunedStruct(path, t, schema)
	default:
		return nil
	}
}

func prunedStruct(path string, t reflect.Type, schema *schemaNode) []string {
	// A type with a form of its own, such as a time, has no fields in JSON.
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()) {
		return nil
	}
	var missing []string
	for i := range t.NumField() {
		field := t.Field(i)
		name := jsonName(field)
		switch {
		case name != "":
			missing = append(missing, prunedField(path+"."+name, field.Type, schema.Properties[name])...)
		case field.Anonymous: // its fields are in JSON those of the type that embeds it
			missing = append(missing, prunedField(path, field.Type, schema)...)
		}
	}
	return missing
}

func fieldByJSONName(t reflect.Type, name string) (reflect.StructField, bool) {
	i := slices.IndexFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return jsonName(f) == name })
	if i < 0 {
		return reflect.StructField{}, false
	}
	return reflect.VisibleFields(t)[i], true
}

// jsonName is the name of a field in JSON; empty where it has none of its own.
func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	if name == "-" {
		return ""
	}
	return name
}
