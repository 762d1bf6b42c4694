// SPDX-License-Identifier: Apache-2.0

package kinds_test

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

func TestIntermediatesOfTheCatalogueAreReadAsTheCatalogueReadsThem(t *testing.T) {
	g := NewWithT(t)
	for _, k := range kinds.Catalogue {
		if len(k.Intermediates) > 0 {
			g.Expect(k.OwnsWorkloads).To(BeTrue(), "%s has something below it", k.Key())
		}
		for _, gvk := range k.Intermediates {
			if known, ok := kinds.For(gvk.GroupKind()); ok {
				g.Expect(gvk).To(Equal(known.GVK), "%s", k.Key())
				g.Expect(k.Intermediates).To(ContainElements(known.Intermediates), "%s reaches what %s reaches", k.Key(), known.Key())
			} else {
				g.Expect(gvk.Group).To(Equal("grove.io"), "%s", k.Key())
			}
		}
	}
}

func TestOwnersOfWorkloads(t *testing.T) {
	g := NewWithT(t)
	var owners []string
	for _, k := range kinds.Catalogue {
		if k.OwnsWorkloads {
			owners = append(owners, k.Name())
		}
	}
	g.Expect(owners).To(Equal([]string{
		"CronJob", "InferenceService", "DynamoGraphDeployment", "DynamoComponentDeployment", "NIMService",
		"LeaderWorkerSet", "DisaggregatedSet",
	}))
}

func TestMayStandBetween(t *testing.T) {
	g := NewWithT(t)
	g.Expect(kinds.MayStandBetween(schema.GroupKind{Group: "grove.io", Kind: "PodClique"})).To(BeTrue())
	g.Expect(kinds.MayStandBetween(schema.GroupKind{Group: "leaderworkerset.x-k8s.io", Kind: "LeaderWorkerSet"})).To(BeTrue())
	g.Expect(kinds.MayStandBetween(schema.GroupKind{Group: "argoproj.io", Kind: "Rollout"})).To(BeFalse())
	g.Expect(kinds.MayStandBetween(schema.GroupKind{Kind: "Node"})).To(BeFalse())
}
