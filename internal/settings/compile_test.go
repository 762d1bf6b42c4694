// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secretValue = "s3cr3t-t0ken-value"

// secrets answers from a map of name/key.
func secrets(values map[string]string) SecretReader {
	return func(_ context.Context, name, key string) (string, error) {
		value, ok := values[name+"/"+key]
		if !ok {
			return "", errors.New("Secret does not exist")
		}
		return value, nil
	}
}

func withKinds(entries ...string) v1beta1.AIBOMControllerConfigSpec {
	return v1beta1.AIBOMControllerConfigSpec{Discovery: v1beta1.DiscoverySpec{WorkloadKinds: entries}}
}

func withHTTP(url, secretName string) v1beta1.AIBOMControllerConfigSpec {
	http := &v1beta1.HTTPSink{URL: url}
	if secretName != "" {
		http.BearerTokenSecretRef = &v1beta1.SecretKeyReference{Name: secretName, Key: "token"}
	}
	return v1beta1.AIBOMControllerConfigSpec{Sinks: []v1beta1.SinkSpec{{Name: "audit", HTTP: http}}}
}

func TestCompileOfNothingIsTheDefault(t *testing.T) {
	g := gomega.NewWithT(t)
	snapshot, err := Compile(t.Context(), v1beta1.AIBOMControllerConfigSpec{}, Dependencies{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(snapshot).To(gomega.Equal(Default()))
	g.Expect(snapshot.NamespaceSelector.Matches(labels.Set{v1beta1.OptInLabel: "true"})).To(gomega.BeTrue())
	g.Expect(snapshot.NamespaceSelector.Matches(labels.Set{})).To(gomega.BeFalse())
	g.Expect(snapshot.WorkloadKinds.All()).To(gomega.BeTrue())
}

func TestCompileTakesEveryField(t *testing.T) {
	g := gomega.NewWithT(t)
	spec := v1beta1.AIBOMControllerConfigSpec{
		Discovery: v1beta1.DiscoverySpec{
			NamespaceSelector:             &metav1.LabelSelector{MatchLabels: map[string]string{"team": "ml"}},
			WorkloadKinds:                 []string{"apps/Deployment", "batch/Job"},
			InferenceRuntimeImagePatterns: []v1beta1.RuntimeImagePattern{{Runtime: "my-llm", Pattern: "ml-platform/llm-*"}},
			ModelEnvVarNames:              []string{"CHECKPOINT"},
			ModelArgFlags:                 []string{"--checkpoint", "-m"},
			ModelVolumePaths:              []string{"/srv/weights/"},
		},
		BOMGeneration: v1beta1.BOMGenerationSpec{InlineThresholdBytes: new(int32(2048)), StaleThresholdReconciles: new(int32(7)), SpecVersion: "1.7"},
		Logging:       v1beta1.LoggingSpec{Level: "debug", Format: "text"},
		Sinks: []v1beta1.SinkSpec{
			{Name: "one", HTTP: &v1beta1.HTTPSink{URL: "https://one.example.com", TimeoutSeconds: new(int32(3)), BearerTokenSecretRef: &v1beta1.SecretKeyReference{Name: "s", Key: "token"}}},
			{Name: "two", HTTP: &v1beta1.HTTPSink{URL: "http://localhost:1"}, WriteOnly: true},
		},
	}
	snapshot, err := Compile(t.Context(), spec, Dependencies{Secrets: secrets(map[string]string{"s/token": secretValue + "\n"})})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(snapshot.NamespaceSelector.String()).To(gomega.Equal("team=ml"))
	g.Expect(snapshot.WorkloadKinds.Allows(schema.GroupKind{Group: "batch", Kind: "Job"})).To(gomega.BeTrue())
	g.Expect(snapshot.WorkloadKinds.Allows(schema.GroupKind{Group: "batch", Kind: "CronJob"})).To(gomega.BeFalse())
	g.Expect(snapshot.RuntimeImagePatterns).To(gomega.Equal([]RuntimeImagePattern{{"my-llm", "ml-platform/llm-*"}}))
	g.Expect(snapshot.ModelEnvVarNames).To(gomega.Equal([]string{"CHECKPOINT"}))
	g.Expect(snapshot.ModelArgFlags).To(gomega.Equal([]string{"--checkpoint", "-m"}))
	g.Expect(snapshot.ModelVolumePaths).To(gomega.Equal([]string{"/srv/weights"}))
	g.Expect(snapshot.InlineThresholdBytes).To(gomega.Equal(2048))
	g.Expect(snapshot.StaleThresholdReconciles).To(gomega.Equal(7))
	g.Expect(snapshot.SpecVersion).To(gomega.Equal("1.7"))
	g.Expect(snapshot.LogLevel).To(gomega.Equal("debug"))
	g.Expect(snapshot.LogFormat).To(gomega.Equal("text"))
	g.Expect(snapshot.Sinks).To(gomega.HaveLen(2))
	g.Expect(snapshot.Sinks[0].Name()).To(gomega.Equal("one"))
	g.Expect(snapshot.Sinks[1].WriteOnly()).To(gomega.BeTrue())

	spec.Discovery.ModelEnvVarNames[0] = "CHANGED"
	g.Expect(snapshot.ModelEnvVarNames).To(gomega.Equal([]string{"CHECKPOINT"}), "a snapshot shares nothing with what it was made from")
}

func TestCompileRefusesEachField(t *testing.T) {
	many := func(n int) []string {
		entries := make([]string, n)
		for i := range entries {
			entries[i] = fmt.Sprintf("entry%d", i)
		}
		return entries
	}
	discovery := func(d v1beta1.DiscoverySpec) v1beta1.AIBOMControllerConfigSpec {
		return v1beta1.AIBOMControllerConfigSpec{Discovery: d}
	}
	pattern := func(runtime, pattern string) v1beta1.AIBOMControllerConfigSpec {
		return discovery(v1beta1.DiscoverySpec{InferenceRuntimeImagePatterns: []v1beta1.RuntimeImagePattern{{Runtime: runtime, Pattern: pattern}}})
	}
	timeout := withHTTP("https://example.com", "")
	timeout.Sinks[0].HTTP.TimeoutSeconds = new(int32(61))
	badKey := withHTTP("https://example.com", "s")
	badKey.Sinks[0].HTTP.BearerTokenSecretRef.Key = "a/b"
	twice := withHTTP("https://example.com", "")
	twice.Sinks = append(twice.Sinks, twice.Sinks[0])

	for _, c := range []struct {
		name   string
		spec   v1beta1.AIBOMControllerConfigSpec
		reason string
		want   string
	}{
		{"unknown kind", withKinds("apps/Deploymnt"), v1beta1.ReasonConfigInvalid, `spec.discovery.workloadKinds[0]: Invalid value: "apps/Deploymnt": is not a known kind; the nearest one is apps/Deployment`},
		{"kind without group", withKinds("statefulset"), v1beta1.ReasonConfigInvalid, "must be Group/Kind; the nearest known kind is apps/StatefulSet"},
		{"kind with version", withKinds("batch/v1/CronJob"), v1beta1.ReasonConfigInvalid, "the nearest known kind is batch/CronJob"},
		{"core kind", withKinds("core/Pod"), v1beta1.ReasonConfigInvalid, `"core/Pod": is not a known kind`},
		{"kind twice", withKinds("batch/Job", "batch/Job"), v1beta1.ReasonConfigInvalid, `spec.discovery.workloadKinds[1]: Duplicate value: "batch/Job"`},
		{"too many kinds", withKinds(many(65)...), v1beta1.ReasonConfigInvalid, "spec.discovery.workloadKinds: Too many"},
		{"long kind", withKinds(strings.Repeat("x", 1<<20)), v1beta1.ReasonConfigInvalid, "workloadKinds[0]: Too long"},
		{"selector", discovery(v1beta1.DiscoverySpec{NamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}}), v1beta1.ReasonConfigInvalid, "spec.discovery.namespaceSelector.matchExpressions[0].operator"},
		{"runtime name", pattern("My LLM", "a/b"), v1beta1.ReasonConfigInvalid, "inferenceRuntimeImagePatterns[0].runtime"},
		{"pattern with tag", pattern("x", "a/b:v1"), v1beta1.ReasonConfigInvalid, "inferenceRuntimeImagePatterns[0].pattern"},
		{"pattern with registry", pattern("x", "ghcr.io/a/b"), v1beta1.ReasonConfigInvalid, "must begin after the registry"},
		{"pattern that takes everything", pattern("x", "*/*"), v1beta1.ReasonConfigInvalid, "must name at least a part"},
		{"pattern with empty segment", pattern("x", "a//b"), v1beta1.ReasonConfigInvalid, "must consist of segments"},
		{"env name", discovery(v1beta1.DiscoverySpec{ModelEnvVarNames: []string{"A", "B=C"}}), v1beta1.ReasonConfigInvalid, "spec.discovery.modelEnvVarNames[1]"},
		{"empty env name", discovery(v1beta1.DiscoverySpec{ModelEnvVarNames: []string{""}}), v1beta1.ReasonConfigInvalid, "spec.discovery.modelEnvVarNames[0]"},
		{"env name twice", discovery(v1beta1.DiscoverySpec{ModelEnvVarNames: []string{"A", "A"}}), v1beta1.ReasonConfigInvalid, "spec.discovery.modelEnvVarNames[1]: Duplicate"},
		{"flag without dash", discovery(v1beta1.DiscoverySpec{ModelArgFlags: []string{"model"}}), v1beta1.ReasonConfigInvalid, "spec.discovery.modelArgFlags[0]"},
		{"flag with value", discovery(v1beta1.DiscoverySpec{ModelArgFlags: []string{"--model=x"}}), v1beta1.ReasonConfigInvalid, "spec.discovery.modelArgFlags[0]"},
		{"relative path", discovery(v1beta1.DiscoverySpec{ModelVolumePaths: []string{"models"}}), v1beta1.ReasonConfigInvalid, "spec.discovery.modelVolumePaths[0]"},
		{"root path", discovery(v1beta1.DiscoverySpec{ModelVolumePaths: []string{"//"}}), v1beta1.ReasonConfigInvalid, "spec.discovery.modelVolumePaths[0]"},
		{"same path twice", discovery(v1beta1.DiscoverySpec{ModelVolumePaths: []string{"/a", "/a/"}}), v1beta1.ReasonConfigInvalid, "spec.discovery.modelVolumePaths[1]: Duplicate"},
		{"too many paths", discovery(v1beta1.DiscoverySpec{ModelVolumePaths: many(257)}), v1beta1.ReasonConfigInvalid, "spec.discovery.modelVolumePaths: Too many"},
		{"inline threshold", v1beta1.AIBOMControllerConfigSpec{BOMGeneration: v1beta1.BOMGenerationSpec{InlineThresholdBytes: new(int32(1 << 21))}}, v1beta1.ReasonConfigInvalid, "spec.bomGeneration.inlineThresholdBytes: Invalid value: 2097152: must be between 1024 and 1048576"},
		{"stale threshold", v1beta1.AIBOMControllerConfigSpec{BOMGeneration: v1beta1.BOMGenerationSpec{StaleThresholdReconciles: new(int32(0))}}, v1beta1.ReasonConfigInvalid, "spec.bomGeneration.staleThresholdReconciles"},
		{"spec version", v1beta1.AIBOMControllerConfigSpec{BOMGeneration: v1beta1.BOMGenerationSpec{SpecVersion: "2.0"}}, v1beta1.ReasonConfigInvalid, "spec.bomGeneration.specVersion"},
		{"log level", v1beta1.AIBOMControllerConfigSpec{Logging: v1beta1.LoggingSpec{Level: "loud"}}, v1beta1.ReasonConfigInvalid, "spec.logging.level"},
		{"log format", v1beta1.AIBOMControllerConfigSpec{Logging: v1beta1.LoggingSpec{Format: "xml"}}, v1beta1.ReasonConfigInvalid, "spec.logging.format"},
		{"sink without destination", v1beta1.AIBOMControllerConfigSpec{Sinks: []v1beta1.SinkSpec{{Name: "a"}}}, v1beta1.ReasonConfigInvalid, "spec.sinks[0].http: Required"},
		{"sink without name", v1beta1.AIBOMControllerConfigSpec{Sinks: []v1beta1.SinkSpec{{HTTP: &v1beta1.HTTPSink{URL: "https://example.com"}}}}, v1beta1.ReasonConfigInvalid, "spec.sinks[0].name: Required"},
		{"sink twice", twice, v1beta1.ReasonConfigInvalid, "spec.sinks[1].name: Duplicate"},
		{"too many sinks", v1beta1.AIBOMControllerConfigSpec{Sinks: make([]v1beta1.SinkSpec, 17)}, v1beta1.ReasonConfigInvalid, "spec.sinks: Too many"},
		{"timeout", timeout, v1beta1.ReasonConfigInvalid, "spec.sinks[0].http.timeoutSeconds"},
		{"secret key", badKey, v1beta1.ReasonConfigInvalid, "spec.sinks[0].http.bearerTokenSecretRef.key"},
		{"secret name", withHTTP("https://example.com", "No Name"), v1beta1.ReasonConfigInvalid, "spec.sinks[0].http.bearerTokenSecretRef.name"},
		{"plain http", withHTTP("http://example.com", ""), v1beta1.ReasonSinkConstructionFailed, "spec.sinks[0].http.url: Forbidden: must use https"},
		{"credentials in the URL", withHTTP("https://u:"+secretValue+"@example.com", ""), v1beta1.ReasonSinkConstructionFailed, "must not hold a user name or password"},
		{"URL that does not parse", withHTTP("https://u:"+secretValue+"@exa mple.com", ""), v1beta1.ReasonSinkConstructionFailed, "must be a URL"},
		{"secret is missing", withHTTP("https://example.com", "gone"), v1beta1.ReasonSecretNotFound, `spec.sinks[0].http.bearerTokenSecretRef: Invalid value: "gone/token": Secret does not exist`},
		{"secret is empty", withHTTP("https://example.com", "empty"), v1beta1.ReasonSecretNotFound, "the token must not be empty"},
		{"secret cannot be a token", withHTTP("https://example.com", "lines"), v1beta1.ReasonSecretNotFound, "the token must consist of printable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			snapshot, err := Compile(t.Context(), c.spec, Dependencies{Secrets: secrets(map[string]string{
				"s/token": secretValue, "empty/token": "\n", "lines/token": secretValue + "\n" + secretValue,
			})})
			g.Expect(snapshot).To(gomega.BeNil())
			g.Expect(err).To(gomega.HaveOccurred())
			g.Expect(err.Reason).To(gomega.Equal(c.reason))
			g.Expect(err.Fields).To(gomega.HaveLen(1))
			g.Expect(err.Error()).To(gomega.ContainSubstring(c.want))
			g.Expect(err.Error()).NotTo(gomega.ContainSubstring(secretValue))
			g.Expect(err.Retry).To(gomega.Equal(c.reason == v1beta1.ReasonSecretNotFound))
		})
	}
}

func TestCompileNamesEveryFailingField(t *testing.T) {
	g := gomega.NewWithT(t)
	spec := withHTTP("http://example.com", "gone")
	spec.Discovery.WorkloadKinds = []string{"apps/Nope", "batch/Job"}
	spec.BOMGeneration.SpecVersion = "0.9"
	spec.Logging.Level = "loud"
	_, err := Compile(t.Context(), spec, Dependencies{Secrets: secrets(nil)})
	g.Expect(err.Reason).To(gomega.Equal(v1beta1.ReasonConfigInvalid))
	g.Expect(err.Retry).To(gomega.BeTrue(), "a missing Secret can appear, whatever else is wrong")
	for _, name := range []string{"spec.discovery.workloadKinds[0]", "spec.bomGeneration.specVersion", "spec.logging.level", "spec.sinks[0].http.url", "spec.sinks[0].http.bearerTokenSecretRef"} {
		g.Expect(err.Error()).To(gomega.ContainSubstring(name))
	}
	g.Expect(err.Fields).To(gomega.HaveLen(5))

	spec = withHTTP("http://example.com", "gone")
	_, err = Compile(t.Context(), spec, Dependencies{Secrets: secrets(nil)})
	g.Expect(err.Reason).To(gomega.Equal(v1beta1.ReasonSinkConstructionFailed))
}
