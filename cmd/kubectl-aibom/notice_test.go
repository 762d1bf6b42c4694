// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// said is what summary and find, which find nothing, say of a configuration.
func said(t *testing.T, say func() *server, more ...string) []string {
	t.Helper()
	g := NewWithT(t)
	_, summary, err := say().run(t, append([]string{"summary"}, more...)...)
	g.Expect(err).NotTo(HaveOccurred())
	_, find, err := say().run(t, append([]string{"find", "x"}, more...)...)
	g.Expect(err).NotTo(HaveOccurred())
	all := strings.Split(strings.TrimSpace(summary), "\n")
	g.Expect(strings.Split(strings.TrimSpace(find), "\n")[:len(all)-1]).To(Equal(all[:len(all)-1]), "both say the same")
	return all[:len(all)-1] // the last line says that there is nothing
}

func configured(config *v1beta1.AIBOMControllerConfig) func() *server {
	return func() *server { return serving().with(theConfigPath, always(200, config)) }
}

func TestNoticeCountsEnabledKindsInOneTruthfulLine(t *testing.T) {
	g := NewWithT(t)
	notice := said(t, configured(configOf("apps/Deployment", "batch/Job", "serving.kserve.io/InferenceService")))
	g.Expect(notice).To(HaveExactElements(fmt.Sprintf("notice: 3 of %d known kinds enabled by workloadKinds of AIBOMControllerConfig default: "+
		"of apps and batch, kinds that are not listed are still watched and only not reported; "+
		"third-party kinds that are not listed are not watched at all", len(kinds.Catalogue))))

	g.Expect(said(t, configured(configOf("apps/Deployment", "example.com/Newer")))).To(HaveExactElements(
		HavePrefix("notice: 1 of %d known kinds enabled (and 1 listed that this plugin does not know)", len(kinds.Catalogue))))
}

func TestNoNoticeWhereNothingLimitsTheInventory(t *testing.T) {
	for name, c := range map[string]struct {
		say func() *server
		why string
	}{
		"none":       {func() *server { return serving() }, "there is none"},
		"empty list": {configured(configOf()), "it lists no workloadKinds"},
		"forbidden": {func() *server {
			return serving().with(theConfigPath, failure(403, metav1.StatusReasonForbidden, "forbidden"))
		}, "you may not read it"},
		"not served": {func() *server {
			s := serving()
			delete(s.answers, theConfigPath)
			return s
		}, "this cluster does not serve its kind"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(said(t, c.say)).To(BeEmpty())
			for _, verbose := range []string{"-v=1", "-v", "--verbose"} {
				g.Expect(said(t, c.say, verbose)).To(HaveExactElements(HavePrefix("No notice about AIBOMControllerConfig default: "+c.why)), "%s says why", verbose)
			}
		})
	}
}

func TestFailureToReadTheConfigurationIsTold(t *testing.T) {
	g := NewWithT(t)
	say := func() *server {
		return serving().with(theConfigPath, failure(400, metav1.StatusReasonBadRequest, "odd"))
	}
	g.Expect(said(t, say)).To(HaveExactElements(
		"warning: AIBOMControllerConfig default could not be read, so whether it limits the inventory is not known: odd"))
}

func TestWarningNamesWhyTheInventoryMayBeIncomplete(t *testing.T) {
	set := func(c *v1beta1.AIBOMControllerConfig, kind string, status metav1.ConditionStatus, reason, message string) {
		for i := range c.Status.Conditions {
			if c.Status.Conditions[i].Type == kind {
				c.Status.Conditions[i].Status, c.Status.Conditions[i].Reason, c.Status.Conditions[i].Message = status, reason, message
			}
		}
	}
	for name, c := range map[string]struct {
		change func(*v1beta1.AIBOMControllerConfig)
		want   string
	}{
		"not ready": {func(c *v1beta1.AIBOMControllerConfig) {
			set(c, v1beta1.ConditionReady, metav1.ConditionFalse, v1beta1.ReasonSecretNotFound, "")
		}, "is not Ready (SecretNotFound): the inventory may be incomplete"},
		"degraded": {func(c *v1beta1.AIBOMControllerConfig) {
			set(c, v1beta1.ConditionDegraded, metav1.ConditionTrue, v1beta1.ReasonSchemaPredatesController, "")
		}, "is Degraded (SchemaPredatesController): the inventory may be incomplete"},
		"both, for several reasons": {func(c *v1beta1.AIBOMControllerConfig) {
			set(c, v1beta1.ConditionReady, metav1.ConditionFalse, v1beta1.ReasonConfigInvalid, "")
			set(c, v1beta1.ConditionDegraded, metav1.ConditionTrue, v1beta1.ReasonRunningOnLastKnownGood,
				"RunningOnLastKnownGood: since then\nThirdPartyWatchUnhealthy: NIMService: gone")
		}, "is not Ready (ConfigInvalid) and is Degraded (RunningOnLastKnownGood, ThirdPartyWatchUnhealthy): "},
		"not looked at": {func(c *v1beta1.AIBOMControllerConfig) { c.Generation++ }, "is not Ready (the controller has not loaded it yet)"},
		"no status":     {func(c *v1beta1.AIBOMControllerConfig) { c.Status = v1beta1.AIBOMControllerConfigStatus{} }, "is not Ready (the controller has not loaded it yet)"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			config := configOf()
			c.change(config)
			g.Expect(said(t, configured(config))).To(HaveExactElements(HavePrefix("warning: AIBOMControllerConfig default " + c.want)))
		})
	}
	g := NewWithT(t)
	unread := configOf("apps/Deployment")
	unread.Generation++
	g.Expect(said(t, configured(unread))).To(HaveExactElements(
		ContainSubstring("this list is not known to be in force"), HavePrefix("warning: ")))
}
