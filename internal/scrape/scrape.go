// SPDX-License-Identifier: Apache-2.0

// Package scrape reads a workload's manifest and says what it runs. It is pure: the object
// and what its pods report go in, findings come out; no client, no clock, no network.
package scrape

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// Rules are the user's additions to the compiled patterns. The zero value adds nothing.
type Rules struct {
	// RuntimeImages win over the compiled image patterns.
	RuntimeImages []ImagePattern
	// ModelEnvVarNames are environment variables that hold a model's identity.
	ModelEnvVarNames []string
	// ModelArgFlags are command-line flags, with or without dashes, that hold a model's identity.
	ModelArgFlags []string
	// ModelVolumePaths are mount paths below which volumes hold models.
	ModelVolumePaths []string
}

// ImagePattern recognises an inference runtime by its image.
type ImagePattern struct {
	// Runtime is the name to report.
	Runtime string
	// Pattern is a repository path; see matchesImage.
	Pattern string
}

// RunningImage is what a pod's status says about one container.
type RunningImage struct {
	// Container is the container's name.
	Container string
	// Image is the image in the pod's spec.
	Image string
	// ImageID is the image in the pod's status, as the container runtime reports it.
	ImageID string
}

// Input is one pod-shaped workload.
type Input struct {
	// Workload identifies the object.
	Workload evidence.Workload
	// Annotations are those of the object itself.
	Annotations map[string]string
	// Template is the pod template and TemplateLocator the path to it, such as spec.template.
	Template        *corev1.PodTemplateSpec
	TemplateLocator string
	// VolumeClaimTemplates are the names of a StatefulSet's claim templates.
	VolumeClaimTemplates []string
	// Running is what the workload's pods report, in any order.
	Running []RunningImage
	// Rules are the user's additions.
	Rules Rules
}

// Bounds on what is read from one workload. Kubernetes limits an object to a few megabytes;
// these keep the work proportional to what a person could have written by hand.
const (
	maxContainers   = 128
	maxEnvironment  = 2048      // variables of a container
	maxWords        = 16 << 10  // words of all command lines of a workload
	maxWordBytes    = 2 << 20   // bytes of these words
	maxScripts      = 256 << 10 // bytes of all scripts of a workload
	maxScriptBytes  = 32 << 10  // bytes of a script or word
	maxScriptDepth  = 3         // shells within shells
	maxNesting      = 100       // brackets within brackets in a script
	maxValueBytes   = 16 << 10  // bytes of a variable's value or an image reference
	maxNameBytes    = 1 << 10   // bytes of anything that is a name to a person
	maxModels       = 256       // models and datasets of a container
	maxServedNames  = 16        // names for its model
	maxVolumes      = 512       // mounted volumes of a workload
	maxEvidence     = 16        // places of a finding
	maxMissing      = 8         // variables that one word lacks
	maxMissingBytes = 256       // bytes of why a variable is not known
	maxNotes        = 128       // notes on what was not read
)

// PodWorkload reads one pod-shaped workload. The report's category is CategoryNone when
// nothing shows that it is an AI workload; its findings are then of no use.
func PodWorkload(in Input) evidence.Report {
	report := evidence.Report{Workload: in.Workload}
	if in.Template == nil {
		return report
	}
	pod := newPod(&in)
	pod.readContainers()
	pod.namePlaces()
	pod.readAnnotations()
	pod.readLabels(in.Template.Labels, pod.at+".metadata.labels")
	pod.readProbes()
	pod.readVolumes()
	pod.readDevices()

	report.Category = pod.category()
	report.Findings = pod.findings(report.Category)
	report.Properties = pod.notes
	if !anyResolved(report.Findings) && !pod.evident() {
		report.Category = evidence.CategoryNone
	}
	return report
}

// evident says whether a container is evidently an AI workload, although nothing in it has a name.
func (p *pod) evident() bool {
	return slices.ContainsFunc(p.containers, func(c *container) bool { return c.evident })
}

// anyResolved says whether at least one finding that can make a workload an AI workload is
// known.
func anyResolved(findings []evidence.Finding) bool {
	for _, f := range findings {
		switch f.Type {
		case evidence.TypeRuntime, evidence.TypeFramework, evidence.TypeModel, evidence.TypeService:
			if f.Confidence != evidence.Unresolved {
				return true
			}
		case evidence.TypeData:
			if f.Role == evidence.RoleVectorStore || f.Role == evidence.RoleEndpoint {
				return true
			}
		}
	}
	return false
}
