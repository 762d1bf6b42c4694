// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"cmp"
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// The annotations by which a workload's owner declares its model, on the workload or on its
// pod template; the workload's own win.
const (
	// AnnotationPrefix begins the name of each.
	AnnotationPrefix = "model.k8saibom.dev/"
	// AnnotationModelName is the model's identity; without it the source is.
	AnnotationModelName = AnnotationPrefix + "name"
	// AnnotationModelVersion is the model's version or revision.
	AnnotationModelVersion = AnnotationPrefix + "version"
	// AnnotationModelSource is where the model comes from, as a URI; hf:// says Hugging Face.
	AnnotationModelSource = AnnotationPrefix + "source"
	// AnnotationModelSigned is true where the model is signed.
	AnnotationModelSigned = AnnotationPrefix + "signed"
)

func (p *pod) readAnnotations() {
	p.readAnnotated(p.in.Annotations, "metadata.annotations")
	if len(p.annotated) == 0 {
		p.readAnnotated(p.in.Template.Annotations, p.at+".metadata.annotations")
	}
}

func (p *pod) readAnnotated(annotations map[string]string, at string) {
	value := func(name string) string { return strings.TrimSpace(clip(annotations[name], maxValueBytes)) }
	source := value(AnnotationModelSource)
	name := cmp.Or(value(AnnotationModelName), source)
	if name == "" {
		return
	}
	f := evidence.Finding{
		Type: evidence.TypeModel, Name: name, Role: evidence.RoleServed,
		Version:    value(AnnotationModelVersion),
		Origin:     originOf(name, evidence.OriginUnknown),
		Confidence: evidence.Declared,
	}
	for _, annotation := range []string{AnnotationModelName, AnnotationModelSource} {
		if value(annotation) != "" {
			f.Evidence = append(f.Evidence, evidence.Evidence{
				Source: evidence.SourceAnnotation, Locator: at + "[" + annotation + "]",
			})
		}
	}
	if source != "" && !isPlaceholder(source) {
		f.Origin = originOf(source, evidence.OriginUnknown)
	}
	if isPlaceholder(f.Version) {
		f.Version = ""
	}
	if isPlaceholder(name) {
		f.Name, f.Origin, f.Confidence = maskCommands(name), evidence.OriginUnknown, evidence.Unresolved
		f.Properties = append(f.Properties, evidence.Property{Name: evidence.PropIdentityUnresolved, Value: f.Name})
	}
	if value(AnnotationModelSigned) == "true" {
		f.Properties = append(f.Properties, evidence.Property{Name: evidence.PropIdentitySigned, Value: "true"})
	}
	p.annotated = append(p.annotated, f)
}
