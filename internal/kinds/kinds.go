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
	// PodTemplate is the path to the pod template of a built-in kind; third-party kinds have
	// readers of their own.
	PodTemplate []string
	// ThirdParty is true for a kind of another project's CRD, which may be absent, broken or
	// removed at any time. Its watch is isolated from all others.
	ThirdParty bool
}

// Catalogue lists every known kind, in the order in which documentation shows them.
var Catalogue = []Kind{
	builtIn("apps", "Deployment", "deployments", "spec", "template"),
	builtIn("apps", "StatefulSet", "statefulsets", "spec", "template"),
	builtIn("apps", "DaemonSet", "daemonsets", "spec", "template"),
	builtIn("batch", "Job", "jobs", "spec", "template"),
	builtIn("batch", "CronJob", "cronjobs", "spec", "jobTemplate", "spec", "template"),
	thirdParty("serving.kserve.io", "v1beta1", "InferenceService", "inferenceservices"),
	thirdParty("nvidia.com", "v1beta1", "DynamoGraphDeployment", "dynamographdeployments"),
	thirdParty("nvidia.com", "v1beta1", "DynamoComponentDeployment", "dynamocomponentdeployments"),
	thirdParty("apps.nvidia.com", "v1alpha1", "NIMService", "nimservices"),
	thirdParty("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets"),
	thirdParty("disaggregatedset.x-k8s.io", "v1", "DisaggregatedSet", "disaggregatedsets"),
}

func builtIn(group, kind, resource string, template ...string) Kind {
	return Kind{GVK: schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind}, Resource: resource, PodTemplate: template}
}

func thirdParty(group, version, kind, resource string) Kind {
	return Kind{GVK: schema.GroupVersionKind{Group: group, Version: version, Kind: kind}, Resource: resource, ThirdParty: true}
}

// BuiltIn lists the kinds that every cluster has.
func BuiltIn() []Kind { return where(false) }

// ThirdParty lists the kinds of other projects' CRDs.
func ThirdParty() []Kind { return where(true) }

func where(third bool) []Kind {
	var some []Kind
	for _, k := range Catalogue {
		if k.ThirdParty == third {
			some = append(some, k)
		}
	}
	return some
}

// Key is the kind as configuration spells it: Group/Kind, the core group as core.
func (k Kind) Key() string {
	if k.GVK.Group == "" {
		return "core/" + k.GVK.Kind
	}
	return k.GVK.Group + "/" + k.GVK.Kind
}

// Name is the kind without its group, unique in the catalogue: what conditions, events and
// metrics call it.
func (k Kind) Name() string { return k.GVK.Kind }

// CRD is the name of the CustomResourceDefinition of a third-party kind.
func (k Kind) CRD() string { return k.Resource + "." + k.GVK.Group }

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
