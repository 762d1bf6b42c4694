// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

// TestEveryCandidateIsAFixtureAndMayBeRead holds the catalogue, the fixtures and the ClusterRole
// that ships to each other.
func TestEveryCandidateIsAFixtureAndMayBeRead(t *testing.T) {
	g := NewWithT(t)
	root, err := harness.RepoRoot()
	g.Expect(err).NotTo(HaveOccurred())
	content, err := os.ReadFile(filepath.Join(root, "config", "rbac", "role.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	role := &rbacv1.ClusterRole{}
	g.Expect(yaml.UnmarshalStrict(content, role)).To(Succeed())

	readOnly := []string{"get", "list", "watch"}
	g.Expect(verbs(role, crds.Group, crds.Resource)).To(Equal(readOnly), "CRDs are read only")
	for _, k := range kinds.ThirdParty() {
		crd, err := harness.ExternalCRD(k.CRD())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(crd.Spec.Group).To(Equal(k.GVK.Group))
		g.Expect(crd.Spec.Names.Plural).To(Equal(k.Resource))
		g.Expect(crd.Spec.Names.Kind).To(Equal(k.GVK.Kind))
		g.Expect(crd.Spec.Scope).To(Equal(apiextensionsv1.NamespaceScoped))
		g.Expect(crd.Spec.Versions).To(ContainElement(And(HaveField("Name", k.GVK.Version), HaveField("Served", true))))
		g.Expect(verbs(role, k.GVK.Group, k.Resource)).To(Equal(readOnly), "%s is read only", k.Key())
	}
}

// verbs are what the role allows on a resource, and fail to be found when a rule is narrowed by
// names.
func verbs(role *rbacv1.ClusterRole, group, resource string) []string {
	var all []string
	for _, r := range role.Rules {
		if slices.Contains(r.APIGroups, group) && slices.Contains(r.Resources, resource) && len(r.ResourceNames) == 0 {
			all = append(all, r.Verbs...)
		}
	}
	slices.Sort(all)
	return all
}
