// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/settings"
)

func TestConfigurationValid(t *testing.T) {
	g := NewWithT(t)
	var logged []string
	log := funcr.New(func(_, args string) { logged = append(logged, args) }, funcr.Options{})
	store := settings.NewStore()
	check := ConfigurationValid(store, log)
	invalid := func(kind string) settings.Outcome {
		_, err := settings.Compile(t.Context(), v1beta1.AIBOMControllerConfigSpec{
			Discovery: v1beta1.DiscoverySpec{WorkloadKinds: []string{kind}},
		}, settings.Dependencies{})
		return settings.Invalid(err)
	}

	g.Expect(check(nil)).To(Succeed(), "a replica that does not lead was never given a configuration")
	store.Apply(settings.Absent())
	g.Expect(check(nil)).To(Succeed(), "none is a valid one")
	store.Apply(invalid("apps/Deploymant"))
	g.Expect(check(nil)).To(MatchError(And(ContainSubstring("ConfigInvalid"), ContainSubstring("apps/Deploymant"))))
	g.Expect(check(nil)).NotTo(Succeed())
	store.Apply(invalid("apps/StatefulSat"))
	g.Expect(check(nil)).To(MatchError(ContainSubstring("apps/StatefulSat")))
	store.Apply(settings.Absent())
	g.Expect(check(nil)).To(Succeed())
	g.Expect(logged).To(HaveExactElements(ContainSubstring("apps/Deploymant"), ContainSubstring("apps/StatefulSat")), "each reason once")
}

func TestTheLogFormatThatIsNotInUseIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		inUse string
		fixed bool
		asked string
		want  string
	}{
		"as asked":                        {"text", false, "text", "the configuration is in force"},
		"the default, not asked for":      {"json", false, "", "the configuration is in force"},
		"changed since the start":         {"json", false, "text", "the configuration is in force; spec.logging.format (text) takes effect when the controller restarts, until then the log is written as json"},
		"taken back since the start":      {"text", false, "", "the configuration is in force; spec.logging.format (json) takes effect when the controller restarts, until then the log is written as text"},
		"a flag that says something else": {"json", true, "text", "the configuration is in force; spec.logging.format (text) has no effect, because --log-format=json wins over it"},
		"a flag that says the same":       {"text", true, "text", "the configuration is in force"},
		"a flag alone":                    {"text", true, "", "the configuration is in force"},
		"nobody knows":                    {"", false, "text", "the configuration is in force"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newConfigWorld(t, configWith(func(s *v1beta1.AIBOMControllerConfigSpec) { s.Logging.Format = c.asked }))
			w.LogFormat, w.LogFormatFixed = c.inUse, c.fixed
			w.reconcile(t)
			w.g.Expect(w.condition(t, v1beta1.ConditionReady).Message).To(Equal(c.want))
			w.g.Expect(w.condition(t, v1beta1.ConditionReady).Reason).To(Equal(v1beta1.ReasonConfigLoaded))
			w.g.Expect(w.events.Events).NotTo(Receive())
		})
	}
}
