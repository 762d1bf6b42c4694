// SPDX-License-Identifier: Apache-2.0

package bom

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// oddities are strings that have broken programs before, and pieces that make credentials
// where they meet.
var oddities = []string{
	"", "m", "a/b", "org/name", "vllm/vllm-openai", "$(MODEL)", testDigest, testCommit, "sha256:", "\x00", "\xff\xfe", "\u202e", "\u2028", "�",
	"https://", "://", "user:pw@", "@", ":", "/", "?token=", "&sig=", "Bearer ", "hf_", "sk-", "AKIA", "eyJ", ".", "-----BEGIN A-----", "-----END A-----",
	"Zq7Zq7Zq7Zq7Zq7Zq7Zq7Zq7", "REDACTED", cutMarker, "api_key=", "--token ", "\"", "\\", "<script>", "&", "[", "]", "{", "%", "%zz", "模型", "🤖", " ", "\n", "urn:cdx:",
	strings.Repeat("x", maxValue-1), strings.Repeat("模", 400), strings.Repeat("a/", window/2), strings.Repeat("\xff", maxValue),
}

func text() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom(oddities),
		rapid.String(),
		rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(oddities), 1, 6).Draw(t, "pieces"), "")
		}),
		rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) }),
	)
}

// either draws one of the usual values, or any text.
func either[T ~string](usual ...T) *rapid.Generator[T] {
	return rapid.OneOf(rapid.SampledFrom(usual), rapid.SampledFrom(usual), rapid.Custom(func(t *rapid.T) T { return T(text().Draw(t, "text")) }))
}

func place() *rapid.Generator[evidence.Evidence] {
	return rapid.Custom(func(t *rapid.T) evidence.Evidence {
		return evidence.Evidence{
			Source:  either(evidence.SourceArgument, evidence.SourceEnvironment, evidence.SourceImage).Draw(t, "source"),
			Locator: text().Draw(t, "locator"),
		}
	})
}

func property() *rapid.Generator[evidence.Property] {
	return rapid.Custom(func(t *rapid.T) evidence.Property {
		return evidence.Property{
			Name: either(evidence.PropContainerName, evidence.PropIdentityRole, evidence.PropRedactionApplied, evidence.PropValueTruncated,
				evidence.PropComponentsDropped, evidence.PropIdentitySigned).Draw(t, "name"),
			Value: text().Draw(t, "value"),
		}
	})
}

func finding() *rapid.Generator[evidence.Finding] {
	return rapid.Custom(func(t *rapid.T) evidence.Finding {
		return evidence.Finding{
			Type: rapid.SampledFrom([]evidence.Type{
				evidence.TypeRuntime, evidence.TypeFramework, evidence.TypeContainer, evidence.TypeModel,
				evidence.TypeData, evidence.TypeDevice, evidence.TypeService,
			}).Draw(t, "type"),
			Name:       either("a", "b", "org/name").Draw(t, "name"),
			Version:    either("", "v1", testCommit).Draw(t, "version"),
			Digest:     either("", testDigest).Draw(t, "digest"),
			Role:       either(evidence.RoleServed, evidence.RoleDraft, evidence.RoleMain, evidence.RoleInit, "").Draw(t, "role"),
			Origin:     either(evidence.OriginHuggingFace, evidence.OriginUnknown).Draw(t, "origin"),
			Container:  either("", "c1", "c2").Draw(t, "container"),
			Quantity:   rapid.SampledFrom([]int64{0, 1, -1, math.MaxInt64}).Draw(t, "quantity"),
			Endpoint:   either("", "https://api.openai.com/v1").Draw(t, "endpoint"),
			Confidence: either(evidence.Declared, evidence.Inferred, evidence.Unresolved).Draw(t, "confidence"),
			Evidence:   rapid.SliceOfN(place(), 0, maxEvidence+4).Draw(t, "evidence"),
			Properties: rapid.SliceOfN(property(), 0, 8).Draw(t, "properties"),
		}
	})
}

func report() *rapid.Generator[evidence.Report] {
	return rapid.Custom(func(t *rapid.T) evidence.Report {
		return evidence.Report{
			Workload: evidence.Workload{
				APIVersion: text().Draw(t, "apiVersion"), Kind: text().Draw(t, "kind"), Namespace: text().Draw(t, "namespace"),
				Name: text().Draw(t, "name"), UID: text().Draw(t, "uid"),
			},
			Category:   either(evidence.CategoryInference, evidence.CategoryNone).Draw(t, "category"),
			Findings:   rapid.SliceOfN(finding(), 0, 12).Draw(t, "findings"),
			Properties: rapid.SliceOfN(property(), 0, 8).Draw(t, "properties"),
			Owned:      rapid.SliceOfN(text(), 0, 8).Draw(t, "owned"),
		}
	})
}

// TestAnyReport draws reports that no scraper would make and checks all that this package
// promises.
func TestAnyReport(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := report().Draw(rt, "report")
		before := mustJSON(rt, r)
		normal := Normalize(r)

		if again := Normalize(normal); !reflect.DeepEqual(again, normal) {
			rt.Fatalf("not idempotent:\n%#v\n%#v", normal, again)
		}
		shuffled := r
		shuffled.Findings = rapid.Permutation(r.Findings).Draw(rt, "findings order")
		shuffled.Properties = rapid.Permutation(r.Properties).Draw(rt, "properties order")
		shuffled.Owned = rapid.Permutation(r.Owned).Draw(rt, "owned order")
		for i := range shuffled.Findings {
			f := &shuffled.Findings[i]
			f.Evidence = rapid.Permutation(f.Evidence).Draw(rt, "evidence order")
			f.Properties = rapid.Permutation(f.Properties).Draw(rt, "finding properties order")
		}
		if other := Normalize(shuffled); !reflect.DeepEqual(other, normal) {
			rt.Fatalf("order matters:\n%#v\n%#v", normal, other)
		}
		if mustJSON(rt, r) != before {
			rt.Fatal("Normalize changed its argument")
		}
		checkBounds(rt, normal)

		version := rapid.SampledFrom([]string{"1.6", "1.7"}).Draw(rt, "version")
		doc := mustBuild(rt, r, version)
		if other := mustBuild(rt, shuffled, version); string(other.Bytes) != string(doc.Bytes) {
			rt.Fatalf("not canonical:\n%s\n%s", doc.Bytes, other.Bytes)
		}
	})
}

// fataler is what rapid's and testing's T share.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// checkBounds checks every string and list of a normalised report.
func checkBounds(t fataler, r evidence.Report) {
	if len(r.Findings) > maxFindings {
		t.Fatalf("%d findings", len(r.Findings))
	}
	for _, f := range r.Findings {
		if len(f.Evidence) > maxEvidence || len(f.Properties) > maxProperties+maxNotes {
			t.Fatalf("%d places, %d properties", len(f.Evidence), len(f.Properties))
		}
	}
	eachString(reflect.ValueOf(r), func(s string) {
		if len(s) > maxValue || sanitise(s) != s {
			t.Fatalf("unclean value %q", s)
		}
	})
}

func eachString(v reflect.Value, visit func(string)) {
	switch v.Kind() {
	case reflect.String:
		visit(v.String())
	case reflect.Struct:
		for i := range v.NumField() {
			eachString(v.Field(i), visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachString(v.Index(i), visit)
		}
	}
}

func mustJSON(t fataler, v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("marshal: %v", err)
	}
	return string(data)
}

// TestAnyTextCleansToAFixedPoint looks at strings alone, so at many more of them.
func TestAnyTextCleansToAFixedPoint(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := text().Draw(rt, "text")
		once := clean(s)
		if again := clean(once.text); again.text != once.text || again.truncated || len(again.kinds) > 0 {
			rt.Fatalf("clean(%q) = %q, then %+v", s, once.text, again)
		}
		if len(once.text) > maxValue || !utf8.ValidString(once.text) {
			rt.Fatalf("clean(%q) = %q", s, once.text)
		}
	})
}
