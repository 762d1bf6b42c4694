// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/yaml"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/settings"
)

// crdSchema is the schema of a CRD that ships.
func crdSchema(t *testing.T, plural string) map[string]any {
	t.Helper()
	g := NewWithT(t)
	content, err := os.ReadFile("../../config/crd/bases/aibom.k8saibom.dev_" + plural + ".yaml")
	g.Expect(err).NotTo(HaveOccurred())
	crd := &apiextensionsv1.CustomResourceDefinition{}
	g.Expect(yaml.UnmarshalStrict(content, crd)).To(Succeed())
	encoded, err := json.Marshal(crd.Spec.Versions[0].Schema.OpenAPIV3Schema)
	g.Expect(err).NotTo(HaveOccurred())
	schema := map[string]any{}
	g.Expect(json.Unmarshal(encoded, &schema)).To(Succeed())
	schema["x-kubernetes-group-version-kind"] = []any{map[string]any{
		"group": v1beta1.GroupVersion.Group, "version": v1beta1.GroupVersion.Version, "kind": crd.Spec.Names.Kind,
	}}
	return schema
}

// without removes a field, given as a path, from a schema.
func without(schema map[string]any, path string) {
	steps := strings.Split(path, ".")
	for i, step := range steps {
		name, list := strings.CutSuffix(step, "[]")
		properties := schema["properties"].(map[string]any)
		if i == len(steps)-1 {
			delete(properties, name)
			return
		}
		schema = properties[name].(map[string]any)
		if list {
			schema = schema["items"].(map[string]any)
		}
	}
}

// openAPI is a document with both kinds, without some fields of each.
func openAPI(t *testing.T, config, aibom []string) []byte {
	t.Helper()
	c, a := crdSchema(t, "aibomcontrollerconfigs"), crdSchema(t, "aiboms")
	for _, path := range config {
		without(c, path)
	}
	for _, path := range aibom {
		without(a, path)
	}
	document, err := json.Marshal(map[string]any{"components": map[string]any{"schemas": map[string]any{
		"dev.k8saibom.aibom.v1beta1.AIBOMControllerConfig": c, "dev.k8saibom.aibom.v1beta1.AIBOM": a,
		"io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions": map[string]any{
			"x-kubernetes-group-version-kind": []any{map[string]any{"group": "", "version": "v1", "kind": "DeleteOptions"}, map[string]any{"group": "apps", "version": "v1", "kind": "DeleteOptions"}},
			"properties":                      map[string]any{"dryRun": map[string]any{"items": map[string]any{"type": "string"}}},
		},
	}}})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return document
}

func answer(document []byte, err error) SchemaReader {
	return func(context.Context) ([]byte, error) { return document, err }
}

// checked is a check after one look at the answer.
func checked(t *testing.T, read SchemaReader) *SchemaCheck {
	t.Helper()
	s := NewSchemaCheck(read, 0, clocktesting.NewFakeClock(time.Unix(0, 0)), logr.Discard())
	s.Check(t.Context())
	return s
}

func TestTheCRDsThatShipHoldEveryField(t *testing.T) {
	NewWithT(t).Expect(checked(t, answer(openAPI(t, nil, nil), nil)).Degraded()).To(BeEmpty())
}

func TestEveryMissingFieldIsNamed(t *testing.T) {
	const remedy = ", so the API server drops what is written there; apply the CRDs of this release: kubectl apply -k config/crd"
	for name, c := range map[string]struct {
		config, aibom []string
		want          string
	}{
		"one": {[]string{"spec.discovery.workloadKinds"}, nil,
			"the served CRD of AIBOMControllerConfig lacks spec.discovery.workloadKinds" + remedy},
		"several, at every depth": {[]string{"spec.logging", "spec.sinks[].http.bearerTokenSecretRef.key", "spec.discovery.workloadKinds"}, nil,
			"the served CRD of AIBOMControllerConfig lacks spec.discovery.workloadKinds, spec.sinks[].http.bearerTokenSecretRef.key, spec.logging" + remedy},
		"of the other kind": {nil, []string{"status.summary.models[].signed"},
			"the served CRD of AIBOM lacks status.summary.models[].signed" + remedy},
		"of both": {[]string{"spec.sinks[].writeOnly"}, []string{"status.inputHash"},
			"the served CRD of AIBOMControllerConfig lacks spec.sinks[].writeOnly; the served CRD of AIBOM lacks status.inputHash" + remedy},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(checked(t, answer(openAPI(t, c.config, c.aibom), nil)).Degraded()).To(Equal([]settings.DegradedReason{
				{Reason: v1beta1.ReasonSchemaPredatesController, Message: c.want},
			}))
		})
	}
}

// Every path that the API types have can be missed, so that none is forgotten.
func TestNoFieldCanBeMissingUnnoticed(t *testing.T) {
	for _, own := range ownTypes {
		plural := strings.ToLower(own.kind) + "s"
		for _, path := range leaves(t, plural) {
			t.Run(own.kind+" "+path, func(t *testing.T) {
				var config, aibom []string
				if own.kind == "AIBOM" {
					aibom = []string{path}
				} else {
					config = []string{path}
				}
				degraded := checked(t, answer(openAPI(t, config, aibom), nil)).Degraded()
				g := NewWithT(t)
				g.Expect(degraded).To(HaveLen(1))
				g.Expect(degraded[0].Message).To(HavePrefix("the served CRD of " + own.kind + " lacks " + path + ", so"))
			})
		}
	}
}

// leaves are the paths below spec and status of the schema that ships.
func leaves(t *testing.T, plural string) []string {
	t.Helper()
	var paths []string
	var visit func(path string, schema map[string]any)
	visit = func(path string, schema map[string]any) {
		if items, ok := schema["items"].(map[string]any); ok {
			visit(path+"[]", items)
			return
		}
		properties, _ := schema["properties"].(map[string]any)
		for name, property := range properties {
			below := name
			if path != "" {
				below = path + "." + name
			}
			if path == "" && name != "spec" && name != "status" {
				continue
			}
			paths = append(paths, below)
			visit(below, property.(map[string]any))
		}
	}
	visit("", crdSchema(t, plural))
	NewWithT(t).Expect(len(paths)).To(BeNumerically(">", 10))
	return paths
}

func TestWhatKeepsUnknownFieldsLacksNone(t *testing.T) {
	g := NewWithT(t)
	g.Expect(prunedField("spec", reflect.TypeFor[v1beta1.AIBOMControllerConfigSpec](), &schemaNode{KeepsUnknown: true})).To(BeEmpty())
	type inlined struct {
		metav1.TypeMeta `json:",inline"`
		Other           string `json:"-"`
		unexported      int
	}
	g.Expect(prunedField("spec", reflect.TypeFor[inlined](), &schemaNode{Properties: map[string]*schemaNode{"kind": {}}})).
		To(Equal([]string{"spec.apiVersion"}), "fields of an embedded type are those of the type")
	_ = inlined{}.unexported
}

func TestWhatCannotBeReadLeavesTheLastVerdict(t *testing.T) {
	g := NewWithT(t)
	var logged []string
	log := funcr.New(func(_, args string) { logged = append(logged, args) }, funcr.Options{})
	documents := []func() ([]byte, error){
		func() ([]byte, error) { return openAPI(t, []string{"spec.discovery.workloadKinds"}, nil), nil },
		func() ([]byte, error) { return nil, errors.New("the server is away") },
		func() ([]byte, error) { return nil, errors.New("the server is away") },
		func() ([]byte, error) { return []byte("<html>"), nil },
		func() ([]byte, error) { return []byte(`{"components":{"schemas":{"none":null}}}`), nil },
		func() ([]byte, error) { return openAPI(t, nil, nil), nil },
	}
	at := -1
	s := NewSchemaCheck(func(context.Context) ([]byte, error) { return documents[at]() }, 0, clocktesting.NewFakeClock(time.Unix(0, 0)), log)
	g.Expect(s.Degraded()).To(BeEmpty(), "nothing is known yet")
	look := func() bool { at++; return s.Check(t.Context()) }

	g.Expect(look()).To(BeTrue())
	before := s.Degraded()
	g.Expect(before).To(HaveLen(1))
	for range 4 {
		g.Expect(look()).To(BeFalse())
		g.Expect(s.Degraded()).To(Equal(before))
	}
	g.Expect(look()).To(BeTrue())
	g.Expect(s.Degraded()).To(BeEmpty())
	g.Expect(logged).To(HaveExactElements(
		ContainSubstring("older than this controller"),
		ContainSubstring("the server is away"),
		ContainSubstring("not what it should be"),
		ContainSubstring("does not describe AIBOMControllerConfig"),
	), "a failure is told once as long as it stays the same")
}

func TestTheSchemaIsLookedAtAgainAndAgain(t *testing.T) {
	g := NewWithT(t)
	old, current := openAPI(t, []string{"spec.discovery.workloadKinds"}, nil), openAPI(t, nil, nil)
	var served atomic.Pointer[[]byte]
	var looks atomic.Int64
	served.Store(&old)
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	s := NewSchemaCheck(func(context.Context) ([]byte, error) { looks.Add(1); return *served.Load(), nil }, time.Minute, clock, logr.Discard())
	g.Expect(s.NeedLeaderElection()).To(BeTrue())
	ctx, cancel := context.WithCancel(t.Context())
	done := inBackground(func() error { return s.Start(ctx) })
	g.Eventually(clock.HasWaiters).Should(BeTrue(), "it waits first")
	g.Expect(looks.Load()).To(BeZero())

	clock.Step(time.Minute)
	g.Eventually(s.Changes).Should(Receive(), "the verdict is told")
	g.Expect(s.Degraded()).To(HaveLen(1))
	clock.Step(time.Minute)
	g.Eventually(looks.Load).Should(BeEquivalentTo(2))
	g.Consistently(s.Changes, "50ms").ShouldNot(Receive(), "the same is told once")
	served.Store(&current)
	clock.Step(time.Minute)
	g.Eventually(s.Changes).Should(Receive(), "it clears by itself")
	g.Expect(s.Degraded()).To(BeEmpty())
	cancel()
	g.Eventually(done).Should(Receive(BeNil()))
}

func TestTheSchemaIsComparedOncePerConfiguration(t *testing.T) {
	w := newConfigWorld(t, configWith(func(s *v1beta1.AIBOMControllerConfigSpec) { s.Logging.Level = "loud" }))
	looks := 0
	w.Schema = NewSchemaCheck(func(context.Context) ([]byte, error) {
		looks++
		return openAPI(t, []string{"spec.discovery.workloadKinds"}, nil), nil
	}, 0, clocktesting.NewFakeClock(time.Unix(0, 0)), logr.Discard())
	w.DegradedSources = append(w.DegradedSources, w.Schema.Degraded, func() []settings.DegradedReason {
		return []settings.DegradedReason{{Reason: v1beta1.ReasonThirdPartyWatchUnhealthy, Message: "a watch fails"}}
	})
	w.reconcile(t)
	w.reconcile(t)
	w.g.Expect(looks).To(Equal(1))
	degraded := w.condition(t, v1beta1.ConditionDegraded)
	w.g.Expect(degraded.Reason).To(Equal(v1beta1.ReasonRunningOnDefaults))
	w.g.Expect(degraded.Message).To(And(
		ContainSubstring("RunningOnDefaults: "),
		ContainSubstring("\nSchemaPredatesController: the served CRD of AIBOMControllerConfig lacks spec.discovery.workloadKinds, so"),
		ContainSubstring("\nThirdPartyWatchUnhealthy: a watch fails"),
	), "all hold at once")

	config := &v1beta1.AIBOMControllerConfig{}
	config.Name = v1beta1.ConfigName
	w.g.Expect(w.api.Delete(t.Context(), config)).To(Succeed())
	w.reconcile(t)
	w.reconcile(t)
	w.g.Expect(looks).To(Equal(2), "and once without a configuration, for the log")
}
