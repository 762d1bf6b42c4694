// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"fmt"
	"slices"

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
	// labelled are the models that labels name; runtimes and signals are what labels say of
	// the runtime where no container shows one.
	labelled []model
	runtimes []evidence.Finding
	signals  []signal
	volumes  []evidence.Finding
	// sources are those of the volumes that outlive the pod, once somebody has asked for them.
	sources map[string]string
	devices []evidence.Finding
	notes   []evidence.Property
	// full is true once a container was left out.
	full bool
	// modelEnv and modelFlags are the user's additions; running is by container.
	modelEnv, modelFlags map[string]bool
	running              map[string][]RunningImage
	// words, bytes and scripts are what has been read of the command lines.
	words, bytes, scripts int
}

func newPod(in *Input) *pod {
	p := &pod{
		in: in, spec: &in.Template.Spec, at: in.TemplateLocator,
		modelEnv: set(in.Rules.ModelEnvVarNames), modelFlags: map[string]bool{},
		running: map[string][]RunningImage{},
	}
	for _, f := range in.Rules.ModelArgFlags {
		p.modelFlags[flagName(f)] = true
	}
	for _, r := range in.Running {
		p.running[r.Container] = append(p.running[r.Container], r)
	}
	return p
}

// afford says whether so much more of the command lines can be read.
func (p *pod) afford(words, bytes int) bool {
	p.words += words
	p.bytes += bytes
	return p.words <= maxWords && p.bytes <= maxWordBytes
}

// affordScript says whether so much more of the scripts can be read.
func (p *pod) affordScript(bytes int) bool {
	p.scripts += bytes
	return p.scripts <= maxScripts
}

// note records a part of the workload that was not read.
func (p *pod) note(format string, args ...any) {
	if len(p.notes) == maxNotes {
		return
	}
	p.notes = append(p.notes, evidence.Property{
		Name: evidence.PropScrapeError, Value: fmt.Sprintf(format, args...),
	})
}

func (p *pod) readContainers() { p.readContainersAt(p.at + ".spec") }

// readContainersAt reads the containers of a pod's spec that stands at the path.
func (p *pod) readContainersAt(spec string) {
	for i := range p.spec.InitContainers {
		c := &p.spec.InitContainers[i]
		// An init container that restarts always is a sidecar: it runs beside the others.
		sidecar := c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
		p.addContainer(c, fmt.Sprintf("%s.initContainers[%d]", spec, i), !sidecar)
	}
	for i := range p.spec.Containers {
		p.addContainer(&p.spec.Containers[i], fmt.Sprintf("%s.containers[%d]", spec, i), false)
	}
	p.resolvePlaces()
	for _, c := range p.containers {
		if !c.init {
			c.nameByName()
		}
	}
}

func (p *pod) addContainer(c *corev1.Container, at string, init bool) {
	switch {
	case len(p.containers) < maxContainers:
		p.containers = append(p.containers, readContainer(p, c, at, init))
	case !p.full:
		p.full = true
		p.note("%s and later containers were not read: more than %d containers", at, maxContainers)
	}
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
	if best.category == evidence.CategoryNone {
		for _, s := range p.signals {
			if s.strongerThan(best) {
				best = s
			}
		}
	}
	if best.category == evidence.CategoryNone && len(p.annotated)+len(p.labelled) > 0 {
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
		all = append(all, c.imageFindings(p.running[c.name])...)
		all = append(all, c.runtimes...)
		all = append(all, c.services...)
		all = append(all, c.stores...)
		all = append(all, c.configs...)
	}
	all = append(all, p.runtimes...)
	models := append(p.modelFindings(category), p.annotated...)
	models = append(models, p.labelledFindings(models)...)
	settlePlaces(models)
	all = append(all, models...)
	for _, v := range p.volumes {
		// An agent looks things up in its data, and neither trains on it nor is measured with it.
		if v.Role != evidence.RoleDataset || category != evidence.CategoryAgent {
			all = append(all, v)
		}
	}
	return append(all, p.devices...)
}

// modelFindings are the models and datasets of all containers. A served name becomes a
// property of the one model it names, and an identity only where nothing else names a model.
func (p *pod) modelFindings(category evidence.Category) []evidence.Finding {
	var all []evidence.Finding
	named := slices.ContainsFunc(p.annotated, func(f evidence.Finding) bool { return f.Confidence != evidence.Unresolved })
	own := make([][]evidence.Finding, len(p.containers))
	for i, c := range p.containers {
		for _, m := range c.models {
			f := m.finding(c, category)
			if f.Type == evidence.TypeModel && f.Confidence != evidence.Unresolved &&
				(f.Role == evidence.RoleServed || f.Role == evidence.RoleCalled) {
				named = true
			}
			own[i] = append(own[i], f)
		}
	}
	for i, c := range p.containers {
		for _, served := range c.servedNames {
			if !attachServedName(own[i], served) && !named {
				own[i] = append(own[i], served.finding(c, category))
			}
		}
		all = append(all, own[i]...)
	}
	return all
}

// attachServedName adds the served name to a container's served models, and says whether
// there was one.
func attachServedName(findings []evidence.Finding, served model) bool {
	attached := false
	for i := range findings {
		f := &findings[i]
		if f.Type != evidence.TypeModel || f.Role != evidence.RoleServed || f.Confidence == evidence.Unresolved {
			continue
		}
		attached = true
		if len(served.value.missing) == 0 {
			f.Properties = append(f.Properties, evidence.Property{
				Name: evidence.PropIdentityServedName, Value: served.value.text,
			})
		}
	}
	return attached
}
