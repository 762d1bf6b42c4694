// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// Annotations by which a sample says what the inventory must say about it.
const (
	expectAnnotation      = "demo.k8saibom.dev/expect"
	expectModelAnnotation = "demo.k8saibom.dev/expect-model"
	// expectNone is the value of expectAnnotation on what is no AI workload.
	expectNone = "none"
)

// expectation is what one workload says the inventory must say about it.
type expectation struct {
	namespace, kind, name string
	// category is the expected category, or expectNone.
	category string
	// model must be among the models; empty: no claim.
	model string
}

func (e expectation) String() string {
	return fmt.Sprintf("%s/%s in namespace %s", e.kind, e.name, e.namespace)
}

// listExpectations reads what the workloads in the cluster say. At least one must be an AI
// workload and one must not, as the checks would show nothing otherwise.
func listExpectations(ctx context.Context, reader client.Reader) ([]expectation, error) {
	var expected []expectation
	for _, kind := range kinds.Catalogue {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GVK.GroupVersion().WithKind(kind.GVK.Kind + "List"))
		err := reader.List(ctx, list)
		if kind.ThirdParty && meta.IsNoMatchError(err) {
			continue // the demo's control plane has no CRDs but the project's own
		}
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", kind.Resource, err)
		}
		for _, object := range list.Items {
			category, ok := object.GetAnnotations()[expectAnnotation]
			if !ok {
				continue
			}
			expected = append(expected, expectation{
				namespace: object.GetNamespace(), kind: kind.GVK.Kind, name: object.GetName(),
				category: category, model: object.GetAnnotations()[expectModelAnnotation],
			})
		}
	}
	isNone := func(e expectation) bool { return e.category == expectNone }
	if !slices.ContainsFunc(expected, isNone) {
		return nil, errors.New("no sample has the annotation " + expectAnnotation + "=" + expectNone)
	}
	if !slices.ContainsFunc(expected, func(e expectation) bool { return !isNone(e) }) {
		return nil, errors.New("no sample has the annotation " + expectAnnotation + " with a category")
	}
	return expected, nil
}

// compare returns a line for every difference between what is expected and the inventory.
// An AIBOM of a workload that expects nothing is a difference too.
func compare(expected []expectation, aiboms []v1beta1.AIBOM) []string {
	found := map[expectation]v1beta1.AIBOM{}
	for _, aibom := range aiboms {
		found[workloadOf(aibom)] = aibom
	}
	var differences []string
	for _, e := range expected {
		key := expectation{namespace: e.namespace, kind: e.kind, name: e.name}
		aibom, ok := found[key]
		delete(found, key)
		if difference := differs(e, aibom, ok); difference != "" {
			differences = append(differences, fmt.Sprintf("%s: %s", e, difference))
		}
	}
	for key, aibom := range found {
		differences = append(differences, fmt.Sprintf("%s: expected nothing, seen AIBOM %s", key, aibom.Name))
	}
	slices.Sort(differences)
	return differences
}

func workloadOf(aibom v1beta1.AIBOM) expectation {
	ref := aibom.Spec.WorkloadRef
	return expectation{namespace: aibom.Namespace, kind: ref.Kind, name: ref.Name}
}

// differs says how an AIBOM (if exists) departs from an expectation; empty: it does not.
func differs(e expectation, aibom v1beta1.AIBOM, exists bool) string {
	if e.category == expectNone {
		if exists {
			return fmt.Sprintf("expected no AIBOM, seen %s with category %q", aibom.Name, category(aibom))
		}
		return ""
	}
	if !exists {
		return fmt.Sprintf("expected category %s, seen no AIBOM", e.category)
	}
	ready := meta.FindStatusCondition(aibom.Status.Conditions, v1beta1.ConditionReady)
	if ready == nil {
		return fmt.Sprintf("expected AIBOM %s to be Ready, seen no such condition", aibom.Name)
	}
	if !meta.IsStatusConditionTrue(aibom.Status.Conditions, v1beta1.ConditionReady) {
		return fmt.Sprintf("expected AIBOM %s to be Ready, seen %s %s: %s", aibom.Name, ready.Status, ready.Reason, ready.Message)
	}
	if got := category(aibom); got != e.category {
		return fmt.Sprintf("expected category %s, seen %q", e.category, got)
	}
	if models := modelsOf(aibom); e.model != "" && !slices.Contains(models, e.model) {
		return fmt.Sprintf("expected model %s, seen [%s]", e.model, strings.Join(models, ", "))
	}
	return ""
}

func category(aibom v1beta1.AIBOM) string {
	if aibom.Status.Summary == nil {
		return ""
	}
	return aibom.Status.Summary.Workload.Category
}

func modelsOf(aibom v1beta1.AIBOM) []string {
	if aibom.Status.Summary == nil {
		return nil
	}
	var names []string
	for _, model := range aibom.Status.Summary.Models {
		names = append(names, model.Identity)
	}
	return names
}
