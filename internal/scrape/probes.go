// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

var (
	// probedModel is the path of one model in the protocols of TensorFlow Serving and KServe. See
	// https://www.tensorflow.org/tfx/serving/api_rest and
	// https://kserve.github.io/website/docs/concepts/architecture/data-plane/v2-protocol
	probedModel = regexp.MustCompile(`^/v[12]/models/(` + pathName + `)(?:/versions/[^/]+|/labels/[^/]+)?(?:/ready|/metadata)?/?$`)
	// managedModel is that of TorchServe's management. See https://pytorch.org/serve/management_api.html
	managedModel = regexp.MustCompile(`^/models/(` + pathName + `)(?:/[^/]+)?/?$`)
)

// ReadsProbe says whether a probe's path may name a model, and is read. A cache that keeps no other path
// holds all that the scrape needs.
func ReadsProbe(path string) bool {
	return probedModel.MatchString(clip(path, maxNameBytes)) || managedModel.MatchString(clip(path, maxNameBytes))
}

// readProbes takes the model that a server is asked for to see whether it is there, where nothing
// else in the workload names one.
func (p *pod) readProbes() {
	if len(p.annotated)+len(p.labelled) > 0 {
		return
	}
	serves := func(m model) bool {
		return !m.dataset && (m.role == evidence.RoleServed || m.role == evidence.RoleCalled) && !isPlace(m.value.text)
	}
	for _, c := range p.containers {
		if len(c.servedNames) > 0 || slices.ContainsFunc(c.models, serves) {
			return
		}
	}
	for i, c := range p.containers {
		if !c.init && c.serves() {
			c.readProbes(p.containerSpec(i))
		}
	}
}

func (c *container) readProbes(spec *corev1.Container) {
	first := len(c.models)
	for _, probe := range []struct {
		name  string
		probe *corev1.Probe
	}{{"startupProbe", spec.StartupProbe}, {"readinessProbe", spec.ReadinessProbe}, {"livenessProbe", spec.LivenessProbe}} {
		if probe.probe == nil || probe.probe.HTTPGet == nil {
			continue
		}
		name := c.probed(clip(probe.probe.HTTPGet.Path, maxNameBytes))
		at := evidence.Evidence{Source: evidence.SourceField, Locator: c.at + "." + probe.name + ".httpGet.path"}
		have := slices.IndexFunc(c.models[first:], func(m model) bool { return m.value.text == name })
		if have >= 0 {
			m := &c.models[first+have]
			m.value.evidence = appendEvidence(m.value.evidence, at)
			continue
		}
		c.addModel(model{value: word{text: name, evidence: []evidence.Evidence{at}}, role: evidence.RoleServed, inferred: true})
	}
}

// probed is the model in the path of a probe.
func (c *container) probed(path string) string {
	if m := probedModel.FindStringSubmatch(path); m != nil {
		return m[1]
	}
	if m := managedModel.FindStringSubmatch(path); m != nil && slices.Contains(c.products, index.products["torchserve"]) {
		return m[1]
	}
	return ""
}
