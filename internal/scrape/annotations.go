// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"cmp"

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
	source := clip(annotations[AnnotationModelSource], maxValueBytes)
	name := cmp.Or(clip(annotations[AnnotationModelName], maxValueBytes), source)
	if name == "" {
		return
	}
	f := evidence.Finding{
		Type: evidence.TypeModel, Name: name, Role: evidence.RoleServed,
		Version:    clip(annotations[AnnotationModelVersion], maxValueBytes),
		Origin:     originOf(name, evidence.OriginUnknown),
		Confidence: evidence.Declared,
	}
	for _, annotation := range []string{AnnotationModelName, AnnotationModelSource} {
		if annotations[annotation] != "" {
			f.Evidence = append(f.Evidence, evidence.Evidence{
				Source: evidence.SourceAnnotation, Locator: at + "[" + annotation + "]",
			})
		}
	}
	if source != "" {
		f.Origin = originOf(source, evidence.OriginUnknown)
	}
	if annotations[AnnotationModelSigned] == "true" {
		f.Properties = append(f.Properties, evidence.Property{Name: evidence.PropIdentitySigned, Value: "true"})
	}
	p.annotated = append(p.annotated, f)
}
