// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// CRDPhase is what is known of a candidate's CustomResourceDefinition.
type CRDPhase int

const (
	// Unknown means that the CRD was never seen Ready: it is absent, or present and was never
	// servable.
	Unknown CRDPhase = iota
	// Ready means that the API server serves the kind as it was compiled in.
	Ready
	// Unservable means that the CRD was Ready, still exists and now fails a condition of that.
	Unservable
	// Removed means that the CRD was Ready or Unservable and is gone or on its way out.
	Removed
)

// String is the phase's name.
func (p CRDPhase) String() string {
	return [...]string{"Unknown", "Ready", "Unservable", "Removed"}[p]
}

// CRDState is a phase with the CRD that it is about: a CRD that is deleted and created again
// has another UID. The zero value is Unknown.
type CRDState struct {
	Phase CRDPhase
	UID   types.UID
}

// present says whether the CRD was seen Ready and exists: the kind has workloads that count.
func (s CRDState) present() bool { return s.Phase == Ready || s.Phase == Unservable }

// Verdict is what one look at a CRD came to.
type Verdict int

const (
	// Unreadable means that the look failed, so that nothing is known.
	Unreadable Verdict = iota
	// Absent means that the API server has no CRD of that name.
	Absent
	// Terminating means that the CRD is being deleted. It may go on being served for long.
	Terminating
	// NotServable means that the CRD exists and the kind cannot be read as it was compiled in.
	NotServable
	// Servable means that it can.
	Servable
)

// Observation is one look at a CRD.
type Observation struct {
	Verdict Verdict
	// UID is the CRD's; empty when it could not be read or is absent.
	UID types.UID
	// Problem says why the verdict is not Servable.
	Problem error
}

// Observe judges what a GET of the kind's CRD returned. A CRD is servable when it is
// Established, names the kind and has it accepted, is namespaced, and serves the version that
// was compiled in.
func Observe(k kinds.Kind, crd *apiextensionsv1.CustomResourceDefinition, err error) Observation {
	if apierrors.IsNotFound(err) {
		return Observation{Verdict: Absent, Problem: err}
	}
	if err != nil {
		return Observation{Verdict: Unreadable, Problem: err}
	}
	o := Observation{Verdict: Servable, UID: crd.UID}
	if !crd.DeletionTimestamp.IsZero() {
		o.Verdict, o.Problem = Terminating, fmt.Errorf("CustomResourceDefinition %s is being deleted", crd.Name)
		return o
	}
	if problem := unservable(k, crd); problem != "" {
		o.Verdict, o.Problem = NotServable, fmt.Errorf("CustomResourceDefinition %s %s", crd.Name, problem)
	}
	return o
}

// unservable says what keeps the kind from being read, or nothing.
func unservable(k kinds.Kind, crd *apiextensionsv1.CustomResourceDefinition) string {
	switch {
	case crd.Spec.Names.Kind != k.GVK.Kind:
		return fmt.Sprintf("is of kind %s, not %s", crd.Spec.Names.Kind, k.GVK.Kind)
	case crd.Spec.Scope != apiextensionsv1.NamespaceScoped:
		return fmt.Sprintf("has the scope %s, not %s", crd.Spec.Scope, apiextensionsv1.NamespaceScoped)
	case !serves(crd, k.GVK.Version):
		return fmt.Sprintf("does not serve the version %s", k.GVK.Version)
	}
	for _, c := range crd.Status.Conditions {
		if c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue {
			// A kind that was established keeps its names when new ones are not accepted.
			if crd.Status.AcceptedNames.Kind != k.GVK.Kind {
				return fmt.Sprintf("is served as kind %s, not %s", crd.Status.AcceptedNames.Kind, k.GVK.Kind)
			}
			return ""
		}
	}
	for _, c := range crd.Status.Conditions {
		if c.Status == apiextensionsv1.ConditionFalse && c.Message != "" {
			return fmt.Sprintf("is not Established: %s", c.Message)
		}
	}
	return "is not Established"
}

func serves(crd *apiextensionsv1.CustomResourceDefinition, version string) bool {
	for i := range crd.Spec.Versions {
		if crd.Spec.Versions[i].Name == version {
			return crd.Spec.Versions[i].Served
		}
	}
	return false
}

// Classify is the state of a CRD after a look at it, given the state before. A look that
// failed changes nothing.
func Classify(before CRDState, o Observation) CRDState {
	switch o.Verdict {
	case Servable:
		return CRDState{Ready, o.UID}
	case NotServable:
		switch {
		case !before.present():
			return before
		case before.UID == o.UID:
			return CRDState{Unservable, o.UID}
		default: // the CRD that was seen is gone; this one was never Ready
			return CRDState{Removed, before.UID}
		}
	case Absent, Terminating:
		if before.present() {
			return CRDState{Removed, before.UID}
		}
		return before
	default:
		return before
	}
}
