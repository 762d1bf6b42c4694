// SPDX-License-Identifier: Apache-2.0

// Package watched is what the suites about third-party watches share: the real manager under
// the RBAC that ships, what it tells of its watches from outside, and namespaces with
// workloads of every kind.
package watched

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/k8s-aibom/k8s-aibom/internal/health"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// The six third-party kinds.
var (
	InferenceService = kindOf("serving.kserve.io", "InferenceService")
	Graph            = kindOf("nvidia.com", "DynamoGraphDeployment")
	Component        = kindOf("nvidia.com", "DynamoComponentDeployment")
	NIMService       = kindOf("apps.nvidia.com", "NIMService")
	WorkerSet        = kindOf("leaderworkerset.x-k8s.io", "LeaderWorkerSet")
	DisaggregatedSet = kindOf("disaggregatedset.x-k8s.io", "DisaggregatedSet")
)

// CRDDiscovery stands among the kinds in events, conditions and metrics.
var CRDDiscovery = kinds.Kind{GVK: schema.GroupVersionKind{Kind: health.CRDDiscovery}}

func kindOf(group, kind string) kinds.Kind {
	k, known := kinds.For(schema.GroupKind{Group: group, Kind: kind})
	if !known {
		panic("the catalogue lost " + kind)
	}
	return k
}

// AllBut lists the third-party kinds except some.
func AllBut(some ...kinds.Kind) []kinds.Kind {
	except := map[string]bool{}
	for _, k := range some {
		except[k.Name()] = true
	}
	var rest []kinds.Kind
	for _, k := range kinds.ThirdParty() {
		if !except[k.Name()] {
			rest = append(rest, k)
		}
	}
	return rest
}

// Empty is an object of a kind in one of its versions.
func Empty(k kinds.Kind, version string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(k.GVK.GroupKind().WithVersion(version))
	return u
}
