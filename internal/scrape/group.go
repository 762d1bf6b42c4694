// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// group joins what the pod templates and the own fields of one object say into one report.
type group struct {
	in    *ObjectInput
	parts []*part
	// properties describe the object as a whole.
	properties []evidence.Property
	// failures say what could not be read.
	failures []error
	// imagesNameNoModel says that the kind has a rule of its own for models in image paths.
	imagesNameNoModel bool
}

// part is one pod template of the object, or the object itself.
type part struct {
	pod *pod
	// declared are facts that the kind's own fields state about the part.
	declared []evidence.Finding
	// properties say which role or component the part is; each of its findings gets them.
	properties []evidence.Property
	// infrastructure is true for a part that routes or plans and does not run the model.
	infrastructure bool
	// relocate turns the path that the pod's extraction assumes into the one in the object.
	relocate func(string) string
}

// newGroup begins with a part for the object itself, which holds what is said of it as a
// whole, such as the model in its annotations.
func newGroup(in *ObjectInput) *group {
	g := &group{in: in}
	whole := g.addPart("", &corev1.PodTemplateSpec{})
	annotations := map[string]string{}
	for name := range annotationNames {
		if value := rootField(in.Object).get("metadata", "annotations").get(name).text(); value != "" {
			annotations[name] = value
		}
	}
	whole.pod.readAnnotated(annotations, "metadata.annotations")
	return g
}

var annotationNames = set([]string{AnnotationModelName, AnnotationModelVersion, AnnotationModelSource, AnnotationModelSigned})

// whole is the part for the object itself.
func (g *group) whole() *part { return g.parts[0] }

// set records a property of the object as a whole, unless the field is empty.
func (g *group) set(name string, f field) {
	g.properties = f.addProperty(g.properties, name)
}

// fail records that a part of the object could not be read.
func (g *group) fail(err error) {
	if err != nil && len(g.failures) < maxTemplates {
		g.failures = append(g.failures, err)
	}
}

func (g *group) addPart(at string, template *corev1.PodTemplateSpec) *part {
	p := &part{
		pod: newPod(&Input{
			Workload: g.in.Workload, Template: template, TemplateLocator: at, Rules: g.in.Rules,
		}),
		relocate: func(locator string) string { return locator },
	}
	if len(g.parts) > maxTemplates {
		g.fail(fmt.Errorf("%s and later pod templates were not read: more than %d", at, maxTemplates))
		return p
	}
	g.parts = append(g.parts, p)
	return p
}

// addTemplate reads a pod template. An absent one is left out; what cannot be decoded is
// recorded. prepended are variables that every container gets before its own.
func (g *group) addTemplate(f field, prepended []corev1.EnvVar, prependedAt string) *part {
	template := &corev1.PodTemplateSpec{}
	if f.present() {
		if err := f.decode(template); err != nil {
			g.fail(err)
			template = &corev1.PodTemplateSpec{}
		}
	}
	for i := range template.Spec.Containers {
		c := &template.Spec.Containers[i]
		c.Env = append(prepended[:len(prepended):len(prepended)], c.Env...)
	}
	p := g.addPart(f.at, template)
	if len(prepended) > 0 {
		p.relocate = prependedLocator(f.at+".spec.containers[", len(prepended), prependedAt)
	}
	p.pod.readContainers()
	p.readRest(len(g.whole().pod.annotated) == 0)
	return p
}

// prependedLocator tells the variables that were prepended from the container's own.
func prependedLocator(containers string, n int, at string) func(string) string {
	return func(locator string) string {
		rest, ok := strings.CutPrefix(locator, containers)
		container, item, found := strings.Cut(rest, "].env[")
		var i int
		if _, err := fmt.Sscanf(item, "%d]", &i); !ok || !found || err != nil || strings.Contains(container, ".") {
			return locator
		}
		_, end, _ := strings.Cut(item, "]")
		if i < n {
			return fmt.Sprintf("%s[%d]%s", at, i, end)
		}
		return fmt.Sprintf("%s%s].env[%d]%s", containers, container, i-n, end)
	}
}

// addPodSpec reads a pod's spec that stands in the object without a template around it.
func (g *group) addPodSpec(f field) *part {
	template := &corev1.PodTemplateSpec{}
	if f.present() {
		if err := f.decode(&template.Spec); err != nil {
			g.fail(err)
			template = &corev1.PodTemplateSpec{}
		}
	}
	p := g.addPart(f.at, template)
	p.relocate = prefixLocator(f.at+".spec.", f.at+".")
	p.pod.readContainersAt(f.at)
	p.readRest(false)
	return p
}

// addContainer reads a container whose fields stand at a place of the object, and the volumes
// that it may mount.
func (g *group) addContainer(at string, c corev1.Container, volumes []corev1.Volume) *part {
	template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{c}, Volumes: volumes}}
	p := g.addPart(at, template)
	p.relocate = prefixLocator(at+".spec.containers[0].", at+".")
	p.pod.addContainer(&template.Spec.Containers[0], at, false)
	p.readRest(false)
	return p
}

func prefixLocator(assumed, real string) func(string) string {
	return func(locator string) string {
		if rest, ok := strings.CutPrefix(locator, assumed); ok {
			return real + rest
		}
		return locator
	}
}

func (p *part) readRest(annotations bool) {
	if annotations {
		p.pod.readAnnotations()
	}
	if p.pod.at != "" {
		p.pod.readLabels(p.pod.in.Template.Labels, p.pod.at+".metadata.labels")
	}
	p.pod.readVolumes()
	p.pod.readDevices()
}

// describe adds a property that each of the part's findings gets, unless it is empty.
func (p *part) describe(name, value string) *part {
	if value != "" {
		p.properties = append(p.properties, evidence.Property{Name: name, Value: value})
	}
	return p
}

// declareRuntime states the runtime of the part. A bare name of a model in it is then looked
// up where that runtime looks.
func (p *part) declareRuntime(name, version string, at ...evidence.Evidence) {
	p.declared = append(p.declared, evidence.Finding{
		Type: evidence.TypeRuntime, Name: name, Version: version, Category: evidence.CategoryInference,
		Confidence: evidence.Declared, Evidence: at,
	})
	p.runs(name)
}

// runs says that the part's containers run the runtime, where nothing else shows what they run.
func (p *part) runs(runtime string) {
	for _, c := range p.pod.containers {
		if len(c.products) == 0 && !c.init {
			c.products = append(c.products, productNamed(runtime))
		}
	}
}

// productNamed is what is known of a runtime that a kind names.
func productNamed(name string) *product {
	for i := range patterns.Products {
		if p := &patterns.Products[i]; p.Name == name {
			return p
		}
	}
	return &product{Name: name, Category: evidence.CategoryInference, Type: evidence.TypeRuntime}
}

// declareModel states a model that a field names.
func (p *part) declareModel(identity, revision, container string, at ...evidence.Evidence) *evidence.Finding {
	f := evidence.Finding{
		Type: evidence.TypeModel, Name: identity, Version: revision, Role: evidence.RoleServed,
		Container: container, Confidence: evidence.Declared, Evidence: at,
	}
	if isPlaceholder(identity) || toBeReplaced.MatchString(identity) {
		f.Confidence = evidence.Unresolved
		f.Properties = []evidence.Property{{Name: evidence.PropIdentityUnresolved, Value: identity}}
	} else {
		f.Origin = originOf(identity, evidence.OriginUnknown)
	}
	p.declared = append(p.declared, f)
	return &p.declared[len(p.declared)-1]
}

// report joins the parts. A kind that declares to serve a model is inference, whatever its
// templates run; of others the templates must show that they are an AI workload.
func (g *group) report(declares bool) (evidence.Report, error) {
	report := evidence.Report{Workload: g.in.Workload, Category: evidence.CategoryInference}
	if !declares {
		report.Category = g.category()
	}
	if report.Category != evidence.CategoryNone {
		report.Findings = g.findings(report.Category)
		report.Properties = append(report.Properties, g.properties...)
	}
	if !declares && !anyResolved(report.Findings) && !slices.ContainsFunc(g.parts, func(p *part) bool { return p.pod.evident() }) {
		report.Category = evidence.CategoryNone
	}
	// What could not be read may be what would have shown an AI workload.
	if report.Category == evidence.CategoryNone && len(g.failures) > 0 {
		return evidence.Report{}, errors.Join(g.failures...)
	}
	for _, err := range g.failures {
		report.Properties = append(report.Properties, evidence.Property{Name: evidence.PropScrapeError, Value: err.Error()})
	}
	for _, p := range g.parts {
		for _, n := range p.pod.notes {
			n.Value = p.relocate(n.Value)
			report.Properties = append(report.Properties, n)
		}
	}
	return report, nil
}

// category is that of the strongest signal among all containers.
func (g *group) category() evidence.Category {
	joined := &pod{}
	for _, p := range g.parts {
		joined.containers = append(joined.containers, p.pod.containers...)
		joined.annotated = append(joined.annotated, p.pod.annotated...)
		joined.labelled = append(joined.labelled, p.pod.labelled...)
		joined.signals = append(joined.signals, p.pod.signals...)
	}
	return joined.category()
}
