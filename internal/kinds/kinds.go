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
	// OwnsWorkloads is true for a kind whose controller makes objects of other workload kinds.
	OwnsWorkloads bool
	// Intermediates are the kinds that its controller may put between its objects and their
	// pods and that the manager's cache does not hold. They can be absent.
	Intermediates []schema.GroupVersionKind
}

// What other kinds' controllers materialise besides what every cluster has.
var (
	inferenceService = schema.GroupVersionKind{Group: "serving.kserve.io", Version: "v1beta1", Kind: "InferenceService"}
	dynamoComponent  = schema.GroupVersionKind{Group: "nvidia.com", Version: "v1beta1", Kind: "DynamoComponentDeployment"}
	leaderWorkerSet  = schema.GroupVersionKind{Group: "leaderworkerset.x-k8s.io", Version: "v1", Kind: "LeaderWorkerSet"}

	podCliqueSet          = schema.GroupVersionKind{Group: "grove.io", Version: "v1alpha1", Kind: "PodCliqueSet"}
	podCliqueScalingGroup = schema.GroupVersionKind{Group: "grove.io", Version: "v1alpha1", Kind: "PodCliqueScalingGroup"}
	podClique             = schema.GroupVersionKind{Group: "grove.io", Version: "v1alpha1", Kind: "PodClique"}
)

// Catalogue lists every known kind, in the order in which documentation shows them.
var Catalogue = []Kind{
	builtIn("apps", "Deployment", "deployments", "spec", "template"),
	builtIn("apps", "StatefulSet", "statefulsets", "spec", "template"),
	builtIn("apps", "DaemonSet", "daemonsets", "spec", "template"),
	builtIn("batch", "Job", "jobs", "spec", "template"),
	builtIn("batch", "CronJob", "cronjobs", "spec", "jobTemplate", "spec", "template").owner(),
	thirdParty(inferenceService, "inferenceservices").owner(),
	thirdParty(schema.GroupVersionKind{Group: "nvidia.com", Version: "v1beta1", Kind: "DynamoGraphDeployment"}, "dynamographdeployments").owner(dynamoComponent, leaderWorkerSet, podCliqueSet, podCliqueScalingGroup, podClique),
	thirdParty(dynamoComponent, "dynamocomponentdeployments").owner(leaderWorkerSet, podCliqueSet, podCliqueScalingGroup, podClique),
	thirdParty(schema.GroupVersionKind{Group: "apps.nvidia.com", Version: "v1alpha1", Kind: "NIMService"}, "nimservices").owner(leaderWorkerSet, inferenceService),
	thirdParty(leaderWorkerSet, "leaderworkersets").owner(),
	thirdParty(schema.GroupVersionKind{Group: "disaggregatedset.x-k8s.io", Version: "v1", Kind: "DisaggregatedSet"}, "disaggregatedsets").owner(leaderWorkerSet),
}

func builtIn(group, kind, resource string, template ...string) Kind {
	return Kind{GVK: schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind}, Resource: resource, PodTemplate: template}
}

func thirdParty(gvk schema.GroupVersionKind, resource string) Kind {
	return Kind{GVK: gvk, Resource: resource, ThirdParty: true}
}

// owner is the kind as one that makes other workloads, with what stands in between.
func (k Kind) owner(intermediates ...schema.GroupVersionKind) Kind {
	k.OwnsWorkloads, k.Intermediates = true, intermediates
	return k
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

// MayStandBetween says whether objects of a kind may stand between a workload and its pods
// without being a workload of the catalogue: those that other kinds materialise.
func MayStandBetween(gk schema.GroupKind) bool {
	for _, k := range Catalogue {
		for _, between := range k.Intermediates {
			if between.GroupKind() == gk {
				return true
			}
		}
	}
	return false
}
