// SPDX-License-Identifier: Apache-2.0

// Package kinds is the catalogue: one table of every workload kind that the controller knows.
package kinds

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kind is one workload kind.
type Kind struct {
	// GVK is the version of the kind that is read; the API server converts to it.
	GVK schema.GroupVersionKind
	// Resource is the plural name in the API.
	Resource string
	// PodTemplate is the path to the pod template within the object.
	PodTemplate []string
}

// Catalogue lists every known kind, in the order in which documentation shows them.
var Catalogue = []Kind{
	{schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, "deployments", []string{"spec", "template"}},
	{schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "StatefulSet"}, "statefulsets", []string{"spec", "template"}},
	{schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "DaemonSet"}, "daemonsets", []string{"spec", "template"}},
	{schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}, "jobs", []string{"spec", "template"}},
	{schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "CronJob"}, "cronjobs", []string{"spec", "jobTemplate", "spec", "template"}},
}

// Key is the kind as configuration spells it: Group/Kind, the core group as core.
func (k Kind) Key() string {
	if k.GVK.Group == "" {
		return "core/" + k.GVK.Kind
	}
	return k.GVK.Group + "/" + k.GVK.Kind
}

// TemplateLocator is the path to the pod template as a locator, for example spec.template.
func (k Kind) TemplateLocator() string { return strings.Join(k.PodTemplate, ".") }

// For returns the kind of a GroupKind, and false when the catalogue does not have it.
func For(gk schema.GroupKind) (Kind, bool) {
	for _, k := range Catalogue {
		if k.GVK.GroupKind() == gk {
			return k, true
		}
	}
	return Kind{}, false
}
