// SPDX-License-Identifier: Apache-2.0

package cdxschema

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
)

func TestValidate(t *testing.T) {
	validator, err := New()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())

	bom := func(version, rest string) string {
		return fmt.Sprintf(`{"bomFormat":"CycloneDX","specVersion":%q,"version":1%s}`, version, rest)
	}
	tests := []struct {
		name, rest string
		wantErr    string
	}{
		{"minimal", ``, ""},
		{"component", `,"components":[{"type":"container","name":"a","bom-ref":"a"}]`, ""},
		{"unknown component type", `,"components":[{"type":"banana","name":"a"}]`, "type"},
		{"unknown field", `,"banana":1`, "banana"},
		{"timestamp that is no date-time", `,"metadata":{"timestamp":"yesterday"}`, "date-time"},
		{"endpoint that is no IRI reference", `,"services":[{"name":"a","endpoints":["http://[::1"]}]`, "iri-reference"},
		{"hash of the wrong length", `,"components":[{"type":"file","name":"a","hashes":[{"alg":"SHA-256","content":"ab"}]}]`, "pattern"},
		{"bom-ref twice", `,"components":[{"type":"file","name":"a","bom-ref":"x"},{"type":"file","name":"b","bom-ref":"x"}]`, `"x" occurs 2 times`},
		{"dependency of nothing", `,"dependencies":[{"ref":"ghost"}]`, `unknown bom-ref "ghost"`},
		{"dependency on nothing", `,"components":[{"type":"file","name":"a","bom-ref":"x"}],"dependencies":[{"ref":"x","dependsOn":["ghost"]}]`, `unknown bom-ref "ghost"`},
	}
	for _, version := range []string{"1.6", "1.7"} {
		for _, tt := range tests {
			t.Run(version+" "+tt.name, func(t *testing.T) {
				g := NewWithT(t)
				err := validator.Validate(version, []byte(bom(version, tt.rest)))
				if tt.wantErr == "" {
					g.Expect(err).NotTo(HaveOccurred())
					return
				}
				g.Expect(err).To(MatchError(ContainSubstring(tt.wantErr)))
			})
		}
	}

	t.Run("1.7 cryptography is refused, its schema is not at hand", func(t *testing.T) {
		doc := bom("1.7", `,"components":[{"type":"cryptographic-asset","name":"a","cryptoProperties":{"assetType":"algorithm","algorithmProperties":{"algorithmFamily":"AES"}}}]`)
		NewWithT(t).Expect(validator.Validate("1.7", []byte(doc))).To(HaveOccurred())
	})
	t.Run("another version", func(t *testing.T) {
		g := NewWithT(t)
		g.Expect(validator.Validate("1.5", []byte(bom("1.5", "")))).To(MatchError(ContainSubstring("no schema")))
		g.Expect(validator.Validate("1.6", []byte(bom("1.7", "")))).To(MatchError(ContainSubstring("want 1.6")))
	})
	t.Run("not JSON", func(t *testing.T) {
		NewWithT(t).Expect(validator.Validate("1.6", []byte("{"))).To(MatchError(ContainSubstring("not JSON")))
	})
}
