// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// pod collects what is found in one pod template.
type pod struct {
	in         *Input
	spec       *corev1.PodSpec
	at         string
	containers []*container
	annotated  []evidence.Finding
	volumes    []evidence.Finding
	devices    []evidence.Finding
	notes      []evidence.Property
}

func newPod(in *Input) *pod {
	return &pod{in: in, spec: &in.Template.Spec, at: in.TemplateLocator}
}

// note records a part of the workload that was not read.
func (p *pod) note(format string, args ...any) {
	p.notes = append(p.notes, evidence.Property{
		Name: evidence.PropScrapeError, Value: fmt.Sprintf(format, args...),
	})
}

func (p *pod) readContainers() {
	for i := range p.spec.InitContainers {
		c := &p.spec.InitContainers[i]
		// An init container that restarts always is a sidecar: it runs beside the others.
		sidecar := c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
		p.addContainer(c, fmt.Sprintf("%s.spec.initContainers[%d]", p.at, i), !sidecar)
	}
	for i := range p.spec.Containers {
		p.addContainer(&p.spec.Containers[i], fmt.Sprintf("%s.spec.containers[%d]", p.at, i), false)
	}
}

func (p *pod) addContainer(c *corev1.Container, at string, init bool) {
	if len(p.containers) == maxContainers {
		p.note("%s and later containers were not read: more than %d containers", at, maxContainers)
		return
	}
	if len(p.containers) > maxContainers {
		return
	}
	p.containers = append(p.containers, readContainer(p, c, at, init))
}

// category is that of the strongest signal among the containers that run, and
// CategoryNone where there is none.
func (p *pod) category() evidence.Category {
	var best signal
	for _, c := range p.containers {
		if c.init {
			continue
		}
		for _, s := range c.signals {
			if s.strongerThan(best) {
				best = s
			}
		}
	}
	if best.category == evidence.CategoryNone && len(p.annotated) > 0 {
		return evidence.CategoryInference
	}
	return best.category
}

// findings joins what the containers, annotations and volumes say, seen in the light of what
// the workload is for.
func (p *pod) findings(category evidence.Category) []evidence.Finding {
	if category == evidence.CategoryNone {
		return nil
	}
	var all []evidence.Finding
	for _, c := range p.containers {
		all = append(all, c.imageFindings(p.in.Running)...)
		all = append(all, c.runtimes...)
		all = append(all, c.services...)
	}
	all = append(all, p.modelFindings(category)...)
	all = append(all, p.annotated...)
	all = append(all, p.volumes...)
	return append(all, p.devices...)
}

// modelFindings are the models and datasets of all containers. A served name becomes a
// property of the one model it names, and an identity only where nothing else names a model.
func (p *pod) modelFindings(category evidence.Category) []evidence.Finding {
	var all []evidence.Finding
	named := len(p.annotated) > 0
	for _, c := range p.containers {
		for _, m := range c.models {
			f := m.finding(c, category)
			if f.Type == evidence.TypeModel && f.Confidence != evidence.Unresolved &&
				(f.Role == evidence.RoleServed || f.Role == evidence.RoleCalled) {
				named = true
			}
			all = append(all, f)
		}
	}
	for _, c := range p.containers {
		for _, served := range c.servedNames {
			if attachServedName(all, c.name, served) || named {
				continue
			}
			all = append(all, served.finding(c, category))
		}
	}
	return all
}

// attachServedName adds the served name to the served models of the container.
func attachServedName(findings []evidence.Finding, container string, served model) bool {
	attached := false
	for i := range findings {
		f := &findings[i]
		if f.Type != evidence.TypeModel || f.Container != container || f.Role != evidence.RoleServed {
			continue
		}
		if f.Confidence == evidence.Unresolved {
			continue
		}
		f.Properties = append(f.Properties, evidence.Property{
			Name: evidence.PropIdentityServedName, Value: served.value.text,
		})
		attached = true
	}
	return attached
}
