// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/k8s-aibom/k8s-aibom/internal/controller"
)

func TestPermissionsAreTheTable(t *testing.T) {
	g := NewWithT(t)
	role := rbacv1.ClusterRole{}
	g.Expect(yaml.UnmarshalStrict([]byte(read(t, "config/rbac/role.yaml")), &role)).To(Succeed())
	var want []string
	for _, rule := range role.Rules {
		want = append(want, permission(rule.APIGroups, rule.Resources, rule.Verbs))
	}
	var documented []string
	for _, row := range table(t, securityPage, "API group") {
		documented = append(documented, permission([]string{plain(row[0])}, code(row[1]), code(row[2])))
		g.Expect(row[3]).NotTo(BeEmpty(), "every rule has its reason")
	}
	g.Expect(documented).To(ConsistOf(want))
}

// permission is a rule in one line.
func permission(groups, resources, verbs []string) string {
	groups = slices.Clone(groups)
	for i := range groups {
		if groups[i] == "" {
			groups[i] = "core"
		}
	}
	return strings.Join(groups, ",") + " " + strings.Join(slices.Sorted(slices.Values(resources)), ",") +
		": " + strings.Join(slices.Sorted(slices.Values(verbs)), ",")
}

func TestSinkSecretsAreWhatTheCodeNames(t *testing.T) {
	g := NewWithT(t)
	role, binding := rbacv1.Role{}, rbacv1.RoleBinding{}
	g.Expect(yaml.UnmarshalStrict([]byte(read(t, "config/sink-secrets/role.yaml")), &role)).To(Succeed())
	g.Expect(yaml.UnmarshalStrict([]byte(read(t, "config/sink-secrets/role_binding.yaml")), &binding)).To(Succeed())
	install := struct{ Namespace, NamePrefix string }{}
	g.Expect(yaml.Unmarshal([]byte(read(t, "config/default/kustomization.yaml")), &install)).To(Succeed())

	g.Expect(role.Name).To(Equal(controller.SinkSecretRole))
	g.Expect(role.Namespace).To(Equal(install.Namespace))
	g.Expect(role.Rules).To(Equal([]rbacv1.PolicyRule{{
		APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"},
	}}))
	g.Expect(binding.Namespace).To(Equal(install.Namespace))
	g.Expect(binding.RoleRef).To(Equal(rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: controller.SinkSecretRole}))
	g.Expect(binding.Subjects).To(Equal([]rbacv1.Subject{{
		Kind: "ServiceAccount", Name: install.NamePrefix + "controller-manager", Namespace: install.Namespace,
	}}))
	g.Expect(read(t, configurationPage)).To(ContainSubstring("`" + controller.SinkSecretRole + "`"))
	g.Expect(read(t, "config/default/kustomization.yaml")).NotTo(ContainSubstring("sink-secrets"), "reading Secrets is opted in to")
}
