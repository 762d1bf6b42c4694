// SPDX-License-Identifier: Apache-2.0

// Package install_test installs the project as users do, by kustomize and by Helm, and holds
// what the ways to install share to each other.
package install_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/k8s-aibom/k8s-aibom/test/harness"
	"github.com/k8s-aibom/k8s-aibom/test/install/cluster"
)

// root is the repository as seen from this folder, where go test runs.
const root = "../.."

const (
	roleFile  = "config/rbac/role.yaml"
	chartRole = "charts/k8s-aibom/templates/manager-role.yaml"
	csvFile   = "bundle/manifests/k8s-aibom.clusterserviceversion.yaml"
)

func read(g Gomega, path string) string {
	data, err := os.ReadFile(filepath.Join(root, path))
	g.Expect(err).NotTo(HaveOccurred())
	return string(data)
}

// template matches the lines of a chart's template that are not YAML.
var template = regexp.MustCompile(`(?m)^.*\{\{.*\n`)

// roles are the permissions of the roles in a manifest or a template, by the end of their name.
func roles(g Gomega, path string) map[string][]string {
	all := map[string][]string{}
	for _, document := range strings.Split(template.ReplaceAllStringFunc(read(g, path), func(line string) string {
		// A name is a template and matters; what else is one does not.
		if name, ok := strings.CutPrefix(line, `  name: {{ include "k8s-aibom.fullname" . }}-`); ok {
			return "  name: " + name
		}
		return ""
	}), "\n---\n") {
		role := rbacv1.ClusterRole{}
		if err := yaml.Unmarshal([]byte(document), &role); err == nil && strings.HasSuffix(role.Kind, "Role") {
			all[role.Name] = cluster.Permissions(role.Rules)
		}
	}
	return all
}

// permissions are those of a ClusterServiceVersion, in the cluster and in the namespace.
func permissions(g Gomega) (inCluster, inNamespace []string) {
	type granted []struct {
		ServiceAccountName string              `json:"serviceAccountName"`
		Rules              []rbacv1.PolicyRule `json:"rules"`
	}
	csv := struct {
		Spec struct {
			Install struct {
				Spec struct {
					ClusterPermissions granted `json:"clusterPermissions"`
					Permissions        granted `json:"permissions"`
				} `json:"spec"`
			} `json:"install"`
		} `json:"spec"`
	}{}
	g.Expect(yaml.Unmarshal([]byte(read(g, csvFile)), &csv)).To(Succeed())
	rules := func(some granted) []string {
		g.Expect(some).To(HaveLen(1))
		g.Expect(some[0].ServiceAccountName).To(Equal(harness.ManagerAccount))
		return cluster.Permissions(some[0].Rules)
	}
	return rules(csv.Spec.Install.Spec.ClusterPermissions), rules(csv.Spec.Install.Spec.Permissions)
}

// TestPermissionsAreThoseThatTheCatalogueNeeds holds the role that is generated from markers,
// the bundle and the chart to what the kinds need, and so to each other.
func TestPermissionsAreThoseThatTheCatalogueNeeds(t *testing.T) {
	g := NewWithT(t)
	needed := cluster.NeededInCluster()
	inCluster, inNamespace := permissions(g)
	g.Expect(roles(g, roleFile)).To(HaveKeyWithValue("manager-role", Equal(needed)), "the markers")
	g.Expect(roles(g, chartRole)).To(HaveKeyWithValue("manager-role", Equal(needed)), "the chart")
	g.Expect(inCluster).To(Equal(both(needed, cluster.NeededForMetrics())), "the bundle")

	g.Expect(roles(g, "config/rbac/metrics_auth_role.yaml")).To(HaveKeyWithValue("metrics-auth-role", Equal(cluster.NeededForMetrics())))
	g.Expect(roles(g, "charts/k8s-aibom/templates/metrics.yaml")).To(HaveKeyWithValue("metrics-auth-role", Equal(cluster.NeededForMetrics())))

	election := cluster.NeededInNamespace()
	g.Expect(roles(g, "config/rbac/leader_election_role.yaml")).To(HaveKeyWithValue("leader-election-role", Equal(election)))
	g.Expect(roles(g, "charts/k8s-aibom/templates/leader-election.yaml")).To(HaveKeyWithValue("leader-election-role", Equal(election)))
	g.Expect(inNamespace).To(Equal(election), "the bundle")
}

func both(a, b []string) []string { return slices.Sorted(slices.Values(append(slices.Clone(a), b...))) }

func TestPermissionsAreLeast(t *testing.T) {
	g := NewWithT(t)
	inCluster, inNamespace := permissions(g)
	for _, permission := range both(inCluster, inNamespace) {
		g.Expect(permission).NotTo(Or(ContainSubstring("*"), ContainSubstring("secrets"), ContainSubstring("finalizers"),
			ContainSubstring("escalate"), ContainSubstring("bind"), ContainSubstring("impersonate")))
		verb, resource, _ := strings.Cut(permission, " ")
		if !slices.Contains([]string{"get", "list", "watch"}, verb) {
			g.Expect(resource).To(MatchRegexp(`^(aibom\.k8saibom\.dev/.*|(events\.k8s\.io)?/events|coordination\.k8s\.io/leases|authentication\.k8s\.io/tokenreviews|authorization\.k8s\.io/subjectaccessreviews)$`),
				"nobody else's objects are written")
		}
	}
}

// TestTheReadOfCRDsIsExplained holds the rule on CRDs to its comment wherever it is read by
// people: the bundle has no comments.
func TestTheReadOfCRDsIsExplained(t *testing.T) {
	g := NewWithT(t)
	for _, path := range []string{roleFile, chartRole} {
		g.Expect(read(g, path)).To(MatchRegexp(`(?s)# apiextensions\.k8s\.io/customresourcedefinitions: CRD discovery\..*Read-only: no CRD is ever written\.`), path)
	}
}

func TestRolesForPeopleAggregate(t *testing.T) {
	g := NewWithT(t)
	chart := roles(g, "charts/k8s-aibom/templates/user-roles.yaml")
	for file, role := range map[string]string{
		"aibom_viewer": "aibom-viewer-role", "aibom_editor": "aibom-editor-role",
		"aibomcontrollerconfig_viewer": "aibomcontrollerconfig-viewer-role", "aibomcontrollerconfig_editor": "aibomcontrollerconfig-editor-role",
	} {
		shipped := roles(g, "config/rbac/"+file+"_role.yaml")
		g.Expect(chart).To(HaveKeyWithValue(role, Equal(shipped[role])), "the chart")
		g.Expect(roles(g, "bundle/manifests/k8s-aibom-"+role+"_rbac.authorization.k8s.io_v1_clusterrole.yaml")).
			To(HaveKeyWithValue("k8s-aibom-"+role, Equal(shipped[role])), "the bundle")
	}
	for file, label := range map[string]string{"aibom_viewer": "aggregate-to-view", "aibom_editor": "aggregate-to-edit"} {
		g.Expect(read(g, "config/rbac/"+file+"_role.yaml")).To(ContainSubstring(`rbac.authorization.k8s.io/` + label + `: "true"`))
	}
}

// TestSecretsAreOptIn holds that the chart's role for the Secrets of sinks is get alone, and
// not there by default.
func TestSecretsAreOptIn(t *testing.T) {
	g := NewWithT(t)
	const path = "charts/k8s-aibom/templates/sink-secrets.yaml"
	g.Expect(read(g, path)).To(HavePrefix("{{- if .Values.rbac.sinkSecretAccess }}"))
	g.Expect(roles(g, path)["sink-secrets"]).To(Equal([]string{"get /secrets"}))
	g.Expect(read(g, "charts/k8s-aibom/values.yaml")).To(ContainSubstring("sinkSecretAccess: false"))
}
