// SPDX-License-Identifier: Apache-2.0

// Package v1beta1 holds the aibom.k8saibom.dev/v1beta1 API: AIBOM, the inventory of one AI
// workload, and AIBOMControllerConfig, the controller's configuration.
// +kubebuilder:object:generate=true
// +groupName=aibom.k8saibom.dev
package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Group is the API group of every type in this package.
const Group = "aibom.k8saibom.dev"

var (
	// GroupVersion is the group and version of every type in this package.
	GroupVersion = schema.GroupVersion{Group: Group, Version: "v1beta1"}

	schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme registers the types of this package.
	AddToScheme = schemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&AIBOM{}, &AIBOMList{},
		&AIBOMControllerConfig{}, &AIBOMControllerConfigList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
