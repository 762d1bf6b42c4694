// SPDX-License-Identifier: Apache-2.0

package bom

import (
	"encoding/base64"
	"regexp"
	"strings"
)

// redacted stands where a credential was.
const redacted = "REDACTED"

// rule removes one kind of credential. Every expression runs in linear time (RE2). Only
// userinfo is recognised by what follows it, so cutting a value makes no new credential.
type rule struct {
	// kind is what k8s-aibom:redaction:applied records.
	kind string
	// hints are lower-case substrings; a value with none of them cannot match.
	hints []string
	// pattern finds the credential. Where replace is nil, group 1 is what stands before
	// it and stays.
	pattern *regexp.Regexp
	// replace, where set, decides about a match by its groups.
	replace func(groups []string) string
}

// start stands before a token: letters and digits there make it part of a longer word, as the
// "sk-" in "risk-model".
const start = `(^|[^A-Za-z0-9])`

// space separates words; control characters may already be U+FFFD.
const space = `[\s\x{FFFD}]`

// secretName matches names whose value is a secret wherever it is assigned. A bare "token" or
// "key" is not among them, since a model has tokens and a map has keys.
const secretName = `(?:[A-Za-z0-9]+[_-])*(?:api[_-]?key|apikey|password|passwd|client[_-]?secret|secret[_-]?key|` +
	`secret[_-]?access[_-]?key|account[_-]?key|shared[_-]?access[_-]?key|shared[_-]?access[_-]?signature|private[_-]?key|` +
	`(?:access|auth|api|bearer|hf|hub|hugging[_-]?face|id|refresh|session|security|secret)[_-]?token)`

// secretVariable matches names of environment variables that hold a secret and are too short or
// too general to be told by their words in small letters: PGPASSWORD, MYSQL_PWD, VAULT_TOKEN.
const secretVariable = `(?:[A-Z0-9_]*(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|APIKEY)|[A-Z0-9_]+(?:PWD|PASS|_PAT|_CREDENTIALS?|_AUTH))`

// queryName matches names of query parameters whose value is a secret.
const queryName = `(?:[A-Za-z0-9]+[_-])*(?:token|key|apikey|sig|sv|signature|secret|password|passwd|pwd|pass|auth|credentials?|` +
	`awsaccesskeyid|googleaccessid)|code|x-(?:amz|goog)-[A-Za-z0-9-]+`

var rules = []rule{
	{"pem", []string{"-----begin"}, regexp.MustCompile(`()-----BEGIN [A-Z0-9 ]*-----(?s:.*?)(?:-----END [A-Z0-9 ]*-----|\z)`), nil},
	{"url-userinfo", []string{"://"}, regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*)://([^\s/?#]*)@(sha\d{3}:)?`), keepHarmlessUser},
	{"url-userinfo", []string{"://"}, regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^\s/?#@:]*:([^\s@]+)@`), keepPort},
	{"url-userinfo", []string{"@"}, regexp.MustCompile(`(^|[\s"'=,(/])[^\s/:@"'=,(]+:[^\s/@"']+(@[A-Za-z0-9][A-Za-z0-9.-]*(?:[:/\s"',)\x{FFFD}]|$))`), keepHost},
	{"query-secret", []string{"?", "&", ";"}, regexp.MustCompile(`(?i)([?&;](?:` + queryName + `)=)[^&#\s"']+`), nil},
	{"assigned-secret", []string{"="}, regexp.MustCompile(`(?i)` + start + `(` + secretName + `=["']?)[^&\s"';,]+`), keepTwo},
	{"assigned-secret", []string{":"}, regexp.MustCompile(`(?i)(["']` + secretName + `["']` + space + `*:` + space + `*["'])[^"']+`), nil},
	{"assigned-secret", []string{"="}, regexp.MustCompile(start + `(` + secretVariable + `=["']?)[^&\s"';,]+`), keepTwo},
	{"assigned-secret", []string{"-"}, regexp.MustCompile(`(?i)(^|["']|` + space + `)(--?(?:` + secretName + `|token|secret|pass|passphrase|pat|credentials?)(?:=|` + space + `+)["']?)[^\s"']+`), keepTwo},
	{"assigned-secret", []string{"-u", "user"}, regexp.MustCompile(`(^|["']|` + space + `)((?:-u|--user|--proxy-user)(?:=|` + space + `*)["']?)[^\s"':@/]+:[^\s"']+`), keepTwo},
	{"authorization", []string{"authorization", "api-key", "auth-token"},
		regexp.MustCompile(`(?i)((?:authorization|x-api-key|api-key|x-auth-token)["']?` + space + `*:` + space + `*["']?(?:(?:bearer|basic|token)` + space + `+)?)[^\s"',;\x{FFFD}]+`), nil},
	{"bearer-token", []string{"bearer"}, regexp.MustCompile(`(?i)` + start + `(bearer(?:` + space + `|%20)+)[A-Za-z0-9._~+/=-]{8,}`), keepTwo},
	{"basic-auth", []string{"basic"}, regexp.MustCompile(`(?i)` + start + `(basic(?:` + space + `|%20)+)([A-Za-z0-9+/_-]{4,}={0,2})`), keepIfNotBasic},
	{"jwt", []string{"eyj"}, regexp.MustCompile(`()eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)*`), nil},
	token("huggingface-token", `(?:hf_|api_org_)[A-Za-z0-9]{20,}`, "hf_", "api_org_"),
	token("anthropic-key", `sk-ant-[a-z]+[0-9]+-[A-Za-z0-9_-]{8,}`, "sk-ant-"),
	token("api-key", `sk-(?:proj|svcacct|admin|lf|or-v[0-9])-[A-Za-z0-9_-]{16,}`, "sk-"),
	{"api-key", []string{"sk-"}, regexp.MustCompile(start + `(sk-[A-Za-z0-9_-]{16,})`), keepIfWords},
	token("api-key", `[sr]k_(?:live|test)_[A-Za-z0-9]{16,}`, "k_live_", "k_test_"),
	token("github-token", `(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})`, "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
	token("gitlab-token", `gl(?:pat|dt|rt|ptt|cbt|ft|soat|agent)-[A-Za-z0-9_-]{16,}`, "gl"),
	token("slack-token", `(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}`, "xox", "xapp-"),
	token("aws-access-key", `(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16,}`, "akia", "asia", "abia", "acca"),
	token("nvidia-key", `nvapi-[A-Za-z0-9_-]{16,}`, "nvapi-"),
	token("google-key", `(?:AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{16,}|GOCSPX-[A-Za-z0-9_-]{16,})`, "aiza", "ya29.", "gocspx-"),
	token("api-key", `(?:gsk_[A-Za-z0-9]{20,}|r8_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,}|xai-[A-Za-z0-9]{40,}|pplx-[A-Za-z0-9]{40,}|dckr_pat_[A-Za-z0-9_-]{16,}|pypi-AgE[A-Za-z0-9_-]{16,}|lsv2_(?:pt|sk)_[A-Za-z0-9_]{20,})`,
		"gsk_", "r8_", "npm_", "xai-", "pplx-", "dckr_pat_", "pypi-age", "lsv2_"),
}

// cutUserinfo matches what can only be userinfo that a cut parted from its @: no host has more
// than 253 characters.
var cutUserinfo = regexp.MustCompile(`(://)[^\s/?#@]{254,}`)

// token is the rule of a provider's token, which its first characters give away.
func token(kind, pattern string, hints ...string) rule {
	return rule{kind, hints, regexp.MustCompile(start + pattern), nil}
}

// Redact removes credentials and control characters from a text that is shown outside a
// document, such as an error's, and cuts it as values in documents are cut.
func Redact(s string) string { return clean(s).text }

// redact removes every credential from s and says which kinds there were. cut says that s is
// the beginning of a longer value.
func redact(s string, cut bool) (string, []string) {
	lower := strings.ToLower(s)
	var kinds []string
	apply := func(r rule) {
		if out, found := r.apply(s); found {
			s, lower = out, strings.ToLower(out)
			kinds = append(kinds, r.kind)
		}
	}
	for _, r := range rules {
		if containsAny(lower, r.hints) {
			apply(r)
		}
	}
	if cut {
		apply(rule{kind: "url-userinfo", pattern: cutUserinfo})
	}
	return s, kinds
}

// apply returns s without the rule's credentials, and whether there was one.
func (r rule) apply(s string) (string, bool) {
	matches := r.pattern.FindAllStringSubmatchIndex(s, -1)
	if matches == nil {
		return s, false
	}
	var out strings.Builder
	end, found := 0, false
	for _, m := range matches {
		groups := groupsOf(s, m)
		replacement := groups[1] + redacted
		if r.replace != nil {
			replacement = r.replace(groups)
		}
		found = found || replacement != groups[0]
		out.WriteString(s[end:m[0]])
		out.WriteString(replacement)
		end = m[1]
	}
	out.WriteString(s[end:])
	return out.String(), found
}

// groupsOf is the text of a match and its groups; a group that took no part is empty.
func groupsOf(s string, match []int) []string {
	groups := make([]string, len(match)/2)
	for i := range groups {
		if match[2*i] >= 0 {
			groups[i] = s[match[2*i]:match[2*i+1]]
		}
	}
	return groups
}

func keepTwo(g []string) string { return g[1] + g[2] + redacted }

// keepHost leaves an image's name and tag before its digest.
func keepHost(g []string) string {
	if strings.HasPrefix(g[2], "@sha256:") || strings.HasPrefix(g[2], "@sha512:") {
		return g[0]
	}
	return g[1] + redacted + g[2]
}

// keepHarmlessUser leaves what stands before an @ without being a credential: an image's name
// before its digest, and a user or Azure container without a password (abfss://container@host,
// ssh://git@host). In an http URL a lone user is mostly a token.
func keepHarmlessUser(g []string) string {
	scheme, user, digest := g[1], g[2], g[3]
	if !strings.Contains(user, ":") && (digest != "" || !strings.Contains(strings.ToLower(scheme), "http")) {
		return g[0]
	}
	return scheme + "://" + redacted + "@" + digest
}

// keepPort leaves a host and port whose path holds an @; anything else before the @ is a
// password with characters that a URL should have escaped.
func keepPort(g []string) string {
	port, _, _ := strings.Cut(g[2], "/")
	if strings.Trim(port, "0123456789") == "" || strings.HasPrefix(port, "$") {
		return g[0]
	}
	return g[1] + redacted + "@"
}

// keepIfNotBasic leaves the word "basic" before another word: credentials of the Basic scheme
// are a user, a colon and a password in base64 (RFC 7617, section 2).
func keepIfNotBasic(g []string) string {
	decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(g[3], "="))
	if err != nil {
		decoded, err = base64.RawURLEncoding.DecodeString(strings.TrimRight(g[3], "="))
	}
	if err != nil || !strings.Contains(string(decoded), ":") {
		return g[0]
	}
	return g[1] + g[2] + redacted
}

// keepIfWords leaves names such as sk-learn-model-v2, whose parts are words, where a key has
// a long part or one that mixes capitals, small letters and digits.
func keepIfWords(g []string) string {
	for _, part := range strings.FieldsFunc(g[2][len("sk-"):], func(r rune) bool { return r == '-' || r == '_' }) {
		mixed := strings.ContainsAny(part, "0123456789") && strings.ToLower(part) != part && strings.ToUpper(part) != part
		if len(part) >= 20 || len(part) >= 10 && mixed {
			return g[1] + redacted
		}
	}
	return g[0]
}

func containsAny(s string, needles []string) bool {
	for _, needle := range needles {
		if strings.Contains(s, needle) {
			return true
		}
	}
	return false
}
