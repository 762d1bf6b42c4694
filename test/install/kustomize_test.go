// SPDX-License-Identifier: Apache-2.0

package install_test

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

var _ = Describe("kustomize", func() {
	It("installs config/default, which suffices for all that the demo checks, and goes without the inventory", func(ctx context.Context) {
		c.Kubectl(ctx, "apply", "--server-side", "-k", path("config", "default"))
		DeferCleanup(func(ctx context.Context) {
			c.Kubectl(ctx, "delete", "--ignore-not-found", "-k", path("config", "default"))
		})
		available(ctx)
		samples(ctx)
		manager := runAndCheck(ctx)

		By("asking what people may do")
		for role, person := range map[string]string{"view": "viewer", "edit": "editor"} {
			c.Kubectl(ctx, "-n", "ai-demo", "create", "rolebinding", person, "--clusterrole="+role, "--user="+person)
		}
		may := func(person, verb, resource string, more ...string) func() bool {
			return func() bool {
				out, _, _ := c.Plane.Kubectl(ctx, append([]string{"-n", "ai-demo", "auth", "can-i", verb, resource, "--as=" + person}, more...)...)
				return strings.TrimSpace(out) == "yes"
			}
		}
		Eventually(may("viewer", "list", "aiboms")).Should(BeTrue(), "who may view a namespace may view its AIBOMs")
		Eventually(may("editor", "delete", "aiboms")).Should(BeTrue(), "who may edit a namespace may have an AIBOM made anew")
		for _, person := range []string{"viewer", "editor"} {
			Expect(may(person, "patch", "aiboms", "--subresource=status")()).To(BeFalse(), "no %s writes a document", person)
			Expect(may(person, "get", "aibomcontrollerconfigs")()).To(BeFalse(), "the configuration is the cluster's")
		}
		Expect(may("viewer", "delete", "aiboms")()).To(BeFalse())

		By("removing all but the CRDs")
		Expect(manager.Stop()).To(Succeed())
		kept := c.Inventory(ctx)
		c.Kubectl(ctx, "delete", "-k", path("config", "controller"))
		c.Remove(ctx, harness.SystemNamespace)
		Expect(c.Inventory(ctx)).To(Equal(kept), "the inventory stays as long as its CRDs do")
	})

	It("has overlays that an API server accepts", func(ctx context.Context) {
		c.Kubectl(ctx, "apply", "--server-side", "-k", path("config", "default"))
		DeferCleanup(func(ctx context.Context) {
			c.Kubectl(ctx, "delete", "--ignore-not-found", "-k", path("config", "default"))
			c.Remove(ctx, harness.SystemNamespace)
		})
		c.Kubectl(ctx, "apply", "--server-side", "-k", path("config", "ha"))
		c.Kubectl(ctx, "apply", "--server-side", "-k", path("config", "network-policy"))
		c.Kubectl(ctx, "apply", "--server-side", "-k", path("config", "sink-secrets"))
		available(ctx)
		pods := c.Kubectl(ctx, "-n", harness.SystemNamespace, "get", "pods", "-o", "name")
		Expect(strings.Fields(pods)).To(HaveLen(2), "two replicas run")
		Expect(c.Kubectl(ctx, "-n", harness.SystemNamespace, "get", "pdb", harness.ManagerAccount, "-o", "jsonpath={.spec.minAvailable}")).To(Equal("1"))
		c.Kubectl(ctx, "delete", "-k", path("config", "sink-secrets"))
		c.Kubectl(ctx, "delete", "-k", path("config", "network-policy"))
		c.Kubectl(ctx, "delete", "-n", harness.SystemNamespace, "pdb", harness.ManagerAccount)
	})
})
