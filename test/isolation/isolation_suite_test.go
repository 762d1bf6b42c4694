// SPDX-License-Identifier: Apache-2.0

// Package isolation breaks third-party kinds on a real control plane and holds the real
// manager, under the RBAC that ships, to what watch isolation promises: the kind that fails
// says so, keeps what it knew and heals by itself, and nothing else notices.
package isolation

import (
	"context"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
	"github.com/k8s-aibom/k8s-aibom/test/watched"
)

// label marks the specs of this suite by the design that they hold.
const label = "design-004"

// compaction is how often etcd forgets the past: what was written is forgotten between one and
// two of these later. An API server does so every 5 minutes by default.
const compaction = 5 * time.Second

var (
	system *watched.System

	// graphs converts DynamoGraphDeployments: it is the operator that specs take down.
	// others converts the other five kinds.
	graphs, others *webhook
)

func TestIsolation(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(20 * time.Second)
	SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	SetDefaultConsistentlyDuration(2 * probeInterval)
	SetDefaultConsistentlyPollingInterval(200 * time.Millisecond)
	RunSpecs(t, "Watch isolation")
}

var _ = BeforeSuite(func(ctx context.Context) {
	system = watched.Install(ctx, harness.Options{
		APIServerFlags: map[string][]string{"etcd-compaction-interval": {compaction.String()}},
	})
	graphs, others = newWebhook(), newWebhook()
	installThirdParties()
})

// olderVersion is the version that objects are stored in: every kind gets one besides the
// version that is read, so that every kind can fail by its conversion.
func olderVersion(k kinds.Kind) string {
	if k.GVK.Group == "nvidia.com" {
		return "v1alpha1" // Dynamo's own
	}
	return "v0"
}

// installThirdParties installs the fixtures of the six kinds, each with a conversion webhook.
func installThirdParties() {
	GinkgoHelper()
	crds, err := harness.ExternalCRDs()
	Expect(err).NotTo(HaveOccurred())
	Expect(crds).To(HaveLen(len(kinds.ThirdParty())), "one fixture for each kind")
	for _, crd := range crds {
		i := slices.IndexFunc(kinds.ThirdParty(), func(k kinds.Kind) bool { return k.CRD() == crd.Name })
		Expect(i).NotTo(Equal(-1), "%s is one of the catalogue's CRDs", crd.Name)
		k := kinds.ThirdParty()[i]
		storeOlderVersion(crd, k)
		crd.Spec.Conversion = webhookOf(k).Conversion()
	}
	Expect(system.Plane.InstallCRDs(crds...)).To(Succeed())
}

// storeOlderVersion makes the older version the stored one, and adds it where the fixture has
// the one that is read only.
func storeOlderVersion(crd *apiextensionsv1.CustomResourceDefinition, k kinds.Kind) {
	older := olderVersion(k)
	has := func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == older }
	if !slices.ContainsFunc(crd.Spec.Versions, has) {
		version := *crd.Spec.Versions[0].DeepCopy()
		version.Name = older
		crd.Spec.Versions = append(crd.Spec.Versions, version)
	}
	for i := range crd.Spec.Versions {
		crd.Spec.Versions[i].Storage = crd.Spec.Versions[i].Name == older
		crd.Spec.Versions[i].Served = true
	}
}

func webhookOf(k kinds.Kind) *webhook {
	if k.Name() == graph.Name() {
		return graphs
	}
	return others
}
