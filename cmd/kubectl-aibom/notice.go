// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// theConfig is how messages call the configuration.
const theConfig = "AIBOMControllerConfig " + v1beta1.ConfigName

// degradedReasons are those that a Degraded condition can name in its message, one a line.
var degradedReasons = []string{
	v1beta1.ReasonRunningOnDefaults,
	v1beta1.ReasonRunningOnLastKnownGood,
	v1beta1.ReasonSchemaPredatesController,
	v1beta1.ReasonThirdPartyWatchUnhealthy,
}

// tellOfConfiguration says on standard error what in the configuration may have kept a workload
// out of the inventory. That it may not be read is the common case and no failure.
func (t *tool) tellOfConfiguration(ctx context.Context, i *inventory) {
	config, err := i.config(ctx)
	silence := ""
	switch {
	case apierrors.IsForbidden(err):
		silence = "you may not read it (the ClusterRole k8s-aibom-aibomcontrollerconfig-viewer-role allows it), so whether it limits the inventory is not known"
	case isNotServed(err):
		silence = "this cluster does not serve its kind"
	case apierrors.IsNotFound(err):
		silence = "there is none, so every known kind is inventoried"
	case err != nil:
		t.warn("warning: %s could not be read, so whether it limits the inventory is not known: %s", theConfig, err.Error())
		return
	case len(config.Spec.Discovery.WorkloadKinds) == 0:
		silence = "it lists no workloadKinds, so every known kind is inventoried"
	}
	if silence != "" && t.verbose > 0 {
		t.warn("No notice about %s: %s.", theConfig, silence)
	}
	if err != nil {
		return
	}
	for _, line := range []string{allowlistNotice(config), healthWarning(config)} {
		if line != "" {
			t.warn("%s", line)
		}
	}
}

// allowlistNotice says how many kinds are inventoried, so that a workload that is not found is
// not taken for one that does not exist. It is empty where all are.
func allowlistNotice(config *v1beta1.AIBOMControllerConfig) string {
	entries := slices.Compact(slices.Sorted(slices.Values(config.Spec.Discovery.WorkloadKinds)))
	if len(entries) == 0 {
		return ""
	}
	enabled, also, force := 0, "", ""
	for _, k := range kinds.Catalogue {
		if slices.Contains(entries, k.Key()) {
			enabled++
		}
	}
	if unknown := len(entries) - enabled; unknown > 0 {
		also = fmt.Sprintf(" (and %d listed that this plugin does not know)", unknown)
	}
	if notReady(config) != "" {
		force = "; this list is not known to be in force"
	}
	return fmt.Sprintf("notice: %d of %d known kinds enabled%s by workloadKinds of %s%s: of apps and batch, kinds that are not listed "+
		"are still watched and only not reported; third-party kinds that are not listed are not watched at all",
		enabled, len(kinds.Catalogue), also, theConfig, force)
}

// healthWarning says why the inventory may be incomplete although nothing limits it.
func healthWarning(config *v1beta1.AIBOMControllerConfig) string {
	var states []string
	if reason := notReady(config); reason != "" {
		states = append(states, "is not Ready ("+reason+")")
	}
	degraded := meta.FindStatusCondition(config.Status.Conditions, v1beta1.ConditionDegraded)
	if degraded != nil && degraded.Status == metav1.ConditionTrue {
		states = append(states, "is Degraded ("+strings.Join(reasonsOf(degraded), ", ")+")")
	}
	if len(states) == 0 {
		return ""
	}
	return fmt.Sprintf("warning: %s %s: the inventory may be incomplete or not as configured; kubectl describe aibomcontrollerconfig %s shows why",
		theConfig, strings.Join(states, " and "), v1beta1.ConfigName)
}

// notReady is the reason why the configuration is not in force as it is written, empty where
// it is.
func notReady(config *v1beta1.AIBOMControllerConfig) string {
	ready := meta.FindStatusCondition(config.Status.Conditions, v1beta1.ConditionReady)
	if ready == nil || config.Status.ObservedGeneration != config.Generation {
		return "the controller has not loaded it yet"
	}
	if ready.Status == metav1.ConditionTrue {
		return ""
	}
	return ready.Reason
}

// reasonsOf are the reason of the condition and those that its message tells of besides.
func reasonsOf(c *metav1.Condition) []string {
	reasons := []string{c.Reason}
	for _, reason := range degradedReasons {
		if reason != c.Reason && strings.Contains("\n"+c.Message, "\n"+reason+": ") {
			reasons = append(reasons, reason)
		}
	}
	return reasons
}
