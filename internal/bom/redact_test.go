// SPDX-License-Identifier: Apache-2.0

package bom

import (
	"encoding/base64"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// secret is in parts, lest a scanner of repositories takes the test data for a leak.
func secret(parts ...string) string { return strings.Join(parts, "") }

func TestCredentialsAreRedacted(t *testing.T) {
	jwt := secret("ey", "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P")
	basic := base64.StdEncoding.EncodeToString([]byte("user:passwd"))
	alnum := "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z"
	tests := []struct{ name, in, want, kind string }{
		{"userinfo", "https://user:hunter2@host/model", "https://REDACTED@host/model", "url-userinfo"},
		{"userinfo, token only", "https://mytoken@github.com/a/b", "https://REDACTED@github.com/a/b", "url-userinfo"},
		{"userinfo, @ in password", "s3://key:p@ss@minio:9000/b", "s3://REDACTED@minio:9000/b", "url-userinfo"},
		{"userinfo, / in password", "postgres://u:pa/ss@db/x", "postgres://REDACTED@db/x", "url-userinfo"},
		{"userinfo, no user", "redis://:hunter2@cache:6379/0", "redis://REDACTED@cache:6379/0", "url-userinfo"},
		{"userinfo, image registry", "user:hunter2@registry.example.com/image", "REDACTED@registry.example.com/image", "url-userinfo"},
		{"userinfo and digest", "oci://user:pw@sha256:abc", "oci://REDACTED@sha256:abc", "url-userinfo"},
		{"bearer", "Bearer abcdef123456.xyz", "Bearer REDACTED", "bearer-token"},
		{"bearer after a control character", "bearer\tabcdef123456", "bearer\uFFFDREDACTED", "bearer-token"},
		{"header", "Authorization: Bearer abc", "Authorization: Bearer REDACTED", "authorization"},
		{"api key header", "x-api-key: abcd", "x-api-key: REDACTED", "authorization"},
		{"basic", "Basic " + basic, "Basic REDACTED", "basic-auth"},
		{"hugging face", secret("hf", "_", alnum), "REDACTED", "huggingface-token"},
		{"hugging face in a path", "/models/" + secret("hf", "_", alnum) + "/x", "/models/REDACTED/x", "huggingface-token"},
		{"openai", secret("sk", "-", alnum), "REDACTED", "api-key"},
		{"openai, letters only", secret("sk", "-abcdefghijklmnopqrstuvwx"), "REDACTED", "api-key"},
		{"openai project", secret("sk", "-proj-", alnum), "REDACTED", "api-key"},
		{"anthropic", secret("sk", "-ant-api03-", alnum, "-_A"), "REDACTED", "anthropic-key"},
		{"key with dashes", secret("sk", "-aB3dE5fG7h-J9kL1_mN3"), "REDACTED", "api-key"},
		{"after an underscore", "KEY_" + secret("sk", "-", alnum), "KEY_REDACTED", "api-key"},
		{"github ghp", secret("gh", "p_", alnum), "REDACTED", "github-token"},
		{"github gho", secret("gh", "o_", alnum), "REDACTED", "github-token"},
		{"github pat", secret("github", "_pat_", alnum, "_", alnum), "REDACTED", "github-token"},
		{"gitlab", secret("gl", "pat-", alnum), "REDACTED", "gitlab-token"},
		{"slack", secret("xo", "xb-123456789012-", alnum), "REDACTED", "slack-token"},
		{"aws AKIA", secret("AK", "IAIOSFODNN7EXAMPLE"), "REDACTED", "aws-access-key"},
		{"aws ASIA", "s3://" + secret("AS", "IAIOSFODNN7EXAMPLE") + "/b", "s3://REDACTED/b", "aws-access-key"},
		{"nvidia", secret("nv", "api-", alnum), "REDACTED", "nvidia-key"},
		{"google", secret("AI", "za", alnum), "REDACTED", "google-key"},
		{"groq", secret("gs", "k_", alnum), "REDACTED", "api-key"},
		{"jwt", jwt, "REDACTED", "jwt"},
		{"jwt after an underscore", "t_" + jwt + "/x", "t_REDACTED/x", "jwt"},
		{"pem", "a -----BEGIN RSA PRIVATE KEY-----\nMII\nabc\n-----END RSA PRIVATE KEY----- b", "a REDACTED b", "pem"},
		{"pem without end", "-----BEGIN PRIVATE KEY-----\nMII", "REDACTED", "pem"},
		{"query token", "https://h/m?rev=1&token=abc#x", "https://h/m?rev=1&token=REDACTED#x", "query-secret"},
		{"query key", "https://h/m?key=abc", "https://h/m?key=REDACTED", "query-secret"},
		{"query password", "https://h/m?user=a&PASSWORD=b", "https://h/m?user=a&PASSWORD=REDACTED", "query-secret"},
		{"query signature", "https://h/m?signature=b&x=1", "https://h/m?signature=REDACTED&x=1", "query-secret"},
		{"query code", "https://h/m?code=abc&x=1", "https://h/m?code=REDACTED&x=1", "query-secret"},
		{"s3 presigned", "https://b.s3/m?X-Amz-Signature=ab&X-Amz-Credential=cd", "https://b.s3/m?X-Amz-Signature=REDACTED&X-Amz-Credential=REDACTED", "query-secret"},
		{"sas", "https://a.blob/m?sv=2024&se=1&sig=a%2Fb", "https://a.blob/m?sv=REDACTED&se=1&sig=REDACTED", "query-secret"},
		{"assignment", "HF_TOKEN=abc", "HF_TOKEN=REDACTED", "assigned-secret"},
		{"dsn", "host=db password=abc user=me", "host=db password=REDACTED user=me", "assigned-secret"},
		{"azure connection string", "AccountName=a;AccountKey=b==;x=y", "AccountName=a;AccountKey=REDACTED;x=y", "assigned-secret"},
		{"flag", "serve --api-key abc --port 1", "serve --api-key REDACTED --port 1", "assigned-secret"},
		{"variable's assignment", "PGPASSWORD=abc psql", "PGPASSWORD=REDACTED psql", "assigned-secret"},
		{"variable within a word", "$(MYSQL_PWD=abc mysql)", "$(MYSQL_PWD=REDACTED mysql)", "assigned-secret"},
		{"variable of a token", "VAULT_TOKEN='abc'", "VAULT_TOKEN='REDACTED'", "assigned-secret"},
		{"curl -u", "curl -s -u admin:abc https://h/x", "curl -s -u REDACTED https://h/x", "assigned-secret"},
		{"curl -u, joined", "curl -uadmin:abc https://h/x", "curl -uREDACTED https://h/x", "assigned-secret"},
		{"curl --user", "curl --user=admin:abc", "curl --user=REDACTED", "assigned-secret"},
		{"flag with one dash", "vault read -token abc x", "vault read -token REDACTED x", "assigned-secret"},
		{"flag token", "x --token abc y", "x --token REDACTED y", "assigned-secret"},
		{"userinfo, host without dots", "user:hunter2@host/x", "REDACTED@host/x", "url-userinfo"},
		{"userinfo, host and port", "user:hunter2@host:5000", "REDACTED@host:5000", "url-userinfo"},
		{"userinfo, host only", "user:hunter2@host", "REDACTED@host", "url-userinfo"},
		{"json", `{"password": "abc"}`, `{"password": "REDACTED"}`, "assigned-secret"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			got := clean(tt.in)
			g.Expect(got.text).To(Equal(tt.want))
			g.Expect(got.kinds).To(ContainElement(tt.kind))
			again := clean(got.text)
			g.Expect(again.text).To(Equal(got.text), "redaction must be idempotent")
			g.Expect(again.kinds).To(BeEmpty(), "what was redacted is no credential")
		})
	}
}

func TestOrdinaryValuesSurvive(t *testing.T) {
	values := []string{
		"", "meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen2.5-72B-Instruct-AWQ", "gpt-4o-mini", "llama3.2:3b-instruct-q4_K_M",
		"sk-learn-model", "sk-learn-model-classifier-v2", "acme/sk-learn-Classifier-V2", "risk-model", "task-abcdefghijklmnopqrstuvwxyz", "disk-aB3dE5fG7hJ9kL1mN3pQ5rS7tU9v",
		"hf_hub", "hf_transformers", "hf-internal-testing/tiny-random-gpt2", "shf_abcdefghijklmnopqrstuvwxyz", "hf://meta-llama/Llama-3.1-8B",
		"ghp_short", "asia-northeast1-docker.pkg.dev/p/r/i", "ASIA", "AKIA", "AKIAmodel", "nvapi-docs", "glpat-docs", "xoxo-model", "eyJ", "keyJungle/model",
		testDigest, "vllm/vllm-openai:v0.11.0@" + testDigest, "docker://debian@" + testDigest, "oci://registry.example.com/m@" + testDigest, testCommit,
		"7b0f3f5e-8f0e-4a37-9d6c-0d3f0c5a2b11", "abfss://models@account.dfs.core.windows.net/llama", "wasbs://m@a.blob.core.windows.net/x", "ssh://git@github.com/a/b",
		"s3://bucket/models/llama?versionId=3", "https://h/m?language_code=en", "gs://bucket/a@b", "pvc://claim/path", "https://host:8080/a@b", "https://api.openai.com/v1", "http://$(HOST):$(PORT)/a@b",
		"basic authentication", "Basic tutorials", "bearer", "the bearer of it", "--tokenizer=org/tok", "--max-tokens=512", "pad_token=x", "monkey=1", "key=value", "token", "password",
		"$(MODEL_ID)", "secret/model-credentials", "secretKeyRef hf/token", "spec.template.spec.containers[0].env[HF_TOKEN]", "metadata.annotations[model.k8saibom.dev/name]",
		"debian:12@" + testDigest, "llama3:8b", "PWD=/models", "OLDTOKENIZER=x", "-u 1000", "--user admin", "a-token b", "pre-pass filter", "--max-token 5",
		"nvcr.io/nim/meta/llama-3.1-8b-instruct", "模型/中文-7B", "modèle", "a&b<c>",
	}
	for _, v := range values {
		t.Run(v, func(t *testing.T) {
			g := NewWithT(t)
			got := clean(v)
			g.Expect(got.text).To(Equal(v))
			g.Expect(got.kinds).To(BeEmpty())
			g.Expect(got.truncated).To(BeFalse())
		})
	}
}
