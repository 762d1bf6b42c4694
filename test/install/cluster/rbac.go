// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

// Permissions lists what rules allow, one line for each verb on each resource, sorted: for
// example "get apps/deployments". Restrictions to names are shown.
func Permissions(rules []rbacv1.PolicyRule) []string {
	seen := map[string]bool{}
	var all []string
	add := func(line string) {
		if !seen[line] {
			seen[line] = true
			all = append(all, line)
		}
	}
	for _, rule := range rules {
		names := ""
		if len(rule.ResourceNames) > 0 {
			names = " named " + strings.Join(rule.ResourceNames, ",")
		}
		for _, verb := range rule.Verbs {
			for _, url := range rule.NonResourceURLs {
				add(verb + " " + url)
			}
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					add(verb + " " + group + "/" + resource + names)
				}
			}
		}
	}
	slices.Sort(all)
	return all
}

// NeededInCluster is what the manager needs in the whole cluster: to read every kind of the
// catalogue and what leads to their pods, to find out which are installed, and to write what
// is its own. What may stand between a kind and its pods is read, and not watched.
func NeededInCluster() []string {
	read := []string{"get", "list", "watch"}
	own := v1beta1.GroupVersion.Group
	rules := []rbacv1.PolicyRule{
		rule(read, "", "namespaces", "pods"),
		// From a Deployment to its pods.
		rule(read, "apps", "replicasets"),
		rule(read, "apiextensions.k8s.io", "customresourcedefinitions"),
		rule(append([]string{"create", "delete", "patch"}, read...), own, "aiboms"),
		rule(read, own, "aibomcontrollerconfigs"),
		rule([]string{"patch"}, own, "aiboms/status", "aibomcontrollerconfigs/status"),
		rule([]string{"create", "patch"}, "events.k8s.io", "events"),
	}
	for _, kind := range kinds.Catalogue {
		rules = append(rules, rule(read, kind.GVK.Group, kind.Resource))
		for _, between := range kind.Intermediates {
			resource, _ := meta.UnsafeGuessKindToResource(between)
			rules = append(rules, rule([]string{"get", "list"}, resource.Group, resource.Resource))
		}
	}
	return Permissions(rules)
}

// NeededForMetrics is what authenticated metrics need in the whole cluster.
func NeededForMetrics() []string {
	return Permissions([]rbacv1.PolicyRule{
		rule([]string{"create"}, "authentication.k8s.io", "tokenreviews"),
		rule([]string{"create"}, "authorization.k8s.io", "subjectaccessreviews"),
	})
}

// NeededInNamespace is what leader election needs in the manager's own namespace.
func NeededInNamespace() []string {
	return Permissions([]rbacv1.PolicyRule{
		rule([]string{"create", "get", "update"}, "coordination.k8s.io", "leases"),
		rule([]string{"create", "patch"}, "", "events"),
		rule([]string{"create", "patch"}, "events.k8s.io", "events"),
	})
}

func rule(verbs []string, group string, resources ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs}
}

// Granted is what the manager's ServiceAccount may do by the bindings in the cluster: in the
// whole cluster, and in its own namespace besides that.
func (c *Cluster) Granted(ctx context.Context) (inCluster, inNamespace []string, err error) {
	clusterBindings, bindings := &rbacv1.ClusterRoleBindingList{}, &rbacv1.RoleBindingList{}
	if err := c.Admin.List(ctx, clusterBindings); err != nil {
		return nil, nil, err
	}
	if err := c.Admin.List(ctx, bindings); err != nil {
		return nil, nil, err
	}
	var everywhere, here []rbacv1.PolicyRule
	for _, b := range clusterBindings.Items {
		if !bindsManager(b.Subjects) {
			continue
		}
		rules, err := c.rulesOf(ctx, "", b.RoleRef)
		if err != nil {
			return nil, nil, err
		}
		everywhere = append(everywhere, rules...)
	}
	for _, b := range bindings.Items {
		if !bindsManager(b.Subjects) {
			continue
		}
		rules, err := c.rulesOf(ctx, b.Namespace, b.RoleRef)
		if err != nil {
			return nil, nil, err
		}
		here = append(here, rules...)
	}
	return Permissions(everywhere), Permissions(here), nil
}

func bindsManager(subjects []rbacv1.Subject) bool {
	return slices.ContainsFunc(subjects, func(s rbacv1.Subject) bool {
		return s.Kind == rbacv1.ServiceAccountKind && s.Namespace == harness.SystemNamespace && s.Name == harness.ManagerAccount
	})
}

func (c *Cluster) rulesOf(ctx context.Context, namespace string, ref rbacv1.RoleRef) ([]rbacv1.PolicyRule, error) {
	if ref.Kind == "ClusterRole" {
		role := &rbacv1.ClusterRole{}
		err := c.Admin.Get(ctx, client.ObjectKey{Name: ref.Name}, role)
		return role.Rules, err
	}
	role := &rbacv1.Role{}
	err := c.Admin.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, role)
	return role.Rules, err
}
