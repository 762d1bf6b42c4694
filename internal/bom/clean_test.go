// SPDX-License-Identifier: Apache-2.0

package bom

import (
	"strings"
	"testing"
	"unicode/utf8"

	. "github.com/onsi/gomega"
)

func TestCleanSanitises(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"invalid UTF-8", "a\xff\xfeb", "a\uFFFDb"},
		{"controls", "a\x00b\nc\x7fd\u0085e", "a\uFFFDb\uFFFDc\uFFFDd\uFFFDe"},
		{"bidirectional override", "a\u202eb\u2066c", "a\uFFFDb\uFFFDc"},
		{"line separator", "a\u2028b\u2029c", "a\uFFFDb\uFFFDc"},
		{"text", "naïve 模型 🤖", "naïve 模型 🤖"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			NewWithT(t).Expect(clean(tt.in).text).To(Equal(tt.want))
		})
	}
}

func TestCleanCuts(t *testing.T) {
	tests := []struct {
		name, in string
		cut      bool
	}{
		{"at the bound", strings.Repeat("a", maxValue), false},
		{"one above", strings.Repeat("a", maxValue+1), true},
		{"runes of three bytes", strings.Repeat("模", maxValue), true},
		{"invalid bytes that grow", strings.Repeat("a\x00", maxValue/2), true},
		{"continuation bytes only", strings.Repeat("\x80", 1<<20), true},
		{"above the window", strings.Repeat("a", window+1), true},
		{"huge", strings.Repeat("a", 10<<20), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			got := clean(tt.in)
			g.Expect(len(got.text)).To(BeNumerically("<=", maxValue))
			g.Expect(utf8.ValidString(got.text)).To(BeTrue())
			g.Expect(got.truncated).To(Equal(tt.cut))
			g.Expect(strings.HasSuffix(got.text, cutMarker)).To(Equal(tt.cut))
			again := clean(got.text)
			g.Expect(again.text).To(Equal(got.text))
			g.Expect(again.truncated).To(BeFalse())
		})
	}
}

// TestCutLeavesNoHalfSecret moves a credential over every bound at which a value is cut.
func TestCutLeavesNoHalfSecret(t *testing.T) {
	const body = "Zq7Zq7Zq7Zq7Zq7Zq7Zq7Zq7Zq7Zq7Zq7Zq7"
	secrets := map[string]string{
		"token":         "hf_" + body,
		"userinfo":      "https://user:" + strings.Repeat(body, 60) + "@host/",
		"no userinfo":   "https://" + strings.Repeat(body, 60) + "@host/",
		"query":         "?token=" + strings.Repeat(body, 60),
		"long pem":      "-----BEGIN PRIVATE KEY-----" + strings.Repeat(body, 600) + "-----END PRIVATE KEY-----",
		"many redacted": strings.Repeat("hf_"+body+strings.Repeat("Q", 900)+"/", 40),
	}
	for name, s := range secrets {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			for _, bound := range []int{maxValue - len(cutMarker), maxValue, window - margin, window} {
				for offset := -80; offset <= 10; offset++ {
					in := strings.Repeat("x/", (bound+offset)/2) + s + strings.Repeat("/y", window)
					g.Expect(clean(in).text).NotTo(ContainSubstring("Zq7"), "bound %d, offset %d", bound, offset)
				}
			}
		})
	}
}

// What lies beyond the window is not looked at, so that the cost does not grow with the value.
func TestCleanLooksAtAWindowOnly(t *testing.T) {
	inputs := map[string]string{
		"one letter":  strings.Repeat("a", 10<<20),
		"userinfo":    strings.Repeat("https://a:b@", 1<<20),
		"query":       strings.Repeat("?a_b_c_token=", 1<<20),
		"pem":         strings.Repeat("-----BEGIN A-----", 1<<20),
		"keys":        strings.Repeat("sk-", 3<<20),
		"assignments": strings.Repeat("a-", 5<<20) + "=",
	}
	for name, in := range inputs {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(clean(in)).To(Equal(clean(in[:window+1])))
		})
	}
}
