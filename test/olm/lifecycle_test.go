// SPDX-License-Identifier: Apache-2.0

package olm_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
	"github.com/k8s-aibom/k8s-aibom/test/install/cluster"
)

// subscription is the name of the Subscription.
const subscription = "k8s-aibom"

var _ = Describe("OLM", func() {
	BeforeEach(func(ctx context.Context) {
		c.RestrictedNamespace(ctx)
		create(ctx, map[string]any{
			"apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup",
			"metadata": map[string]any{"namespace": harness.SystemNamespace, "name": "all-namespaces"},
			"spec":     map[string]any{},
		})
	})
	AfterEach(func(ctx context.Context) {
		if CurrentSpecReport().Failed() {
			out, _, _ := c.Plane.Kubectl(ctx, "-n", harness.SystemNamespace, "get", "sub,ip,csv,deploy,pods", "-o", "wide")
			AddReportEntry("objects", out)
		}
		for _, name := range []string{harness.SystemNamespace, "ai-demo"} {
			c.Remove(ctx, name)
		}
		c.Kubectl(ctx, "delete", "--ignore-not-found", "-k", filepath.Join(c.Root, "config", "crd"))
	})

	It("installs an older version from stable and upgrades it, and the same goes on in candidate", func(ctx context.Context) {
		subscribe(ctx, "stable", "1.6.0")
		approve(ctx, "1.6.0")
		succeeded(ctx, "1.6.0")
		manager := runAndCheck(ctx)
		kept, uid := configure(ctx), configUID(ctx)

		By("upgrading through the channel, with the manager running")
		mark := c.Mark()
		approve(ctx, "1.7.0")
		succeeded(ctx, "1.7.0")
		c.Gone(ctx, named("ClusterServiceVersion", "1.6.0"))
		Expect(manager.Stop()).To(Succeed())
		c.NotRefused(mark)
		manager = runAndCheck(ctx)
		Expect(c.Inventory(ctx)).To(Equal(kept), "the inventory is kept")
		Expect(configUID(ctx)).To(Equal(uid), "the configuration is kept")

		By("switching to candidate, which has nothing newer")
		change(ctx, map[string]any{"channel": "candidate"})
		Eventually(field(ctx, "Subscription", subscription, "status", "state")).Should(Equal("AtLatestKnown"), "candidate has nothing newer")
		succeeded(ctx, "1.7.0")
		Expect(manager.Stop()).To(Succeed())
		manager = runAndCheck(ctx)
		Expect(c.Inventory(ctx)).To(Equal(kept), "the inventory is kept")
		Expect(manager.Stop()).To(Succeed())
		uninstall(ctx, kept, uid)
	})

	It("takes any older version to the newest in one step when the subscription switches to candidate", func(ctx context.Context) {
		subscribe(ctx, "stable", "1.5.0")
		approve(ctx, "1.5.0")
		succeeded(ctx, "1.5.0")
		manager := runAndCheck(ctx)
		kept, uid := configure(ctx), configUID(ctx)

		mark := c.Mark()
		change(ctx, map[string]any{"channel": "candidate"})
		approve(ctx, "1.7.0")
		succeeded(ctx, "1.7.0")
		c.Gone(ctx, named("ClusterServiceVersion", "1.5.0"))
		Expect(manager.Stop()).To(Succeed())
		c.NotRefused(mark)
		manager = runAndCheck(ctx)
		Expect(c.Inventory(ctx)).To(Equal(kept), "the inventory is kept")
		Expect(configUID(ctx)).To(Equal(uid), "the configuration is kept")
		Expect(manager.Stop()).To(Succeed())
		uninstall(ctx, kept, uid)
	})
})

var _ = Describe("The catalog of a release", func() {
	It("has the bundle's image in both channels, in the place of any older version", func(ctx context.Context) {
		const image = "example.com/bundle@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
		folder := GinkgoT().TempDir()
		_, err := cluster.Run(ctx, nil, filepath.Join(c.Root, "hack", "catalog.sh"), c.Tool("opm"), folder, "1.7.0", image)
		Expect(err).NotTo(HaveOccurred(), "opm finds it valid")
		content, err := os.ReadFile(filepath.Join(folder, "configs", packageName, "catalog.yaml"))
		Expect(err).NotTo(HaveOccurred())
		channels := map[string]any{}
		for _, document := range strings.Split(string(content), "\n---\n") {
			blob := struct {
				Schema, Name, Image string
				Entries             []any
				Properties          []struct{ Type string }
				RelatedImages       []struct{ Image string }
			}{}
			Expect(yaml.Unmarshal([]byte(document), &blob)).To(Succeed())
			switch blob.Schema {
			case "olm.channel":
				channels[blob.Name] = blob.Entries
			case "olm.bundle":
				Expect(blob.Name).To(Equal(csvName("1.7.0")))
				Expect(blob.Image).To(Equal(image))
				Expect(blob.RelatedImages).To(ContainElement(HaveField("Image", image)), "who mirrors the catalog has the bundle")
				Expect(blob.RelatedImages).To(HaveLen(2), "and the manager")
				Expect(blob.Properties).NotTo(ContainElement(HaveField("Type", "olm.bundle.object")), "what the image has is not repeated")
			}
		}
		entry := map[string]any{"name": csvName("1.7.0"), "skipRange": ">=1.0.0 <1.7.0"}
		Expect(channels).To(Equal(map[string]any{"stable": []any{entry}, "candidate": []any{entry}}))
	})
})

// subscribe subscribes to a channel, beginning with a version. Every step waits for approval,
// as the next one would follow at once otherwise.
func subscribe(ctx context.Context, channel, version string) {
	GinkgoHelper()
	create(ctx, map[string]any{
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription",
		"metadata": map[string]any{"namespace": harness.SystemNamespace, "name": subscription},
		"spec": map[string]any{
			"name": packageName, "source": catalogSource, "sourceNamespace": olmNamespace,
			"channel": channel, "startingCSV": csvName(version), "installPlanApproval": "Manual",
		},
	})
}

// approve waits for the plan that installs a version, and for nothing else, and approves it.
func approve(ctx context.Context, version string) {
	GinkgoHelper()
	plan := &unstructured.Unstructured{}
	Eventually(func(g Gomega) {
		name, err := field(ctx, "Subscription", subscription, "status", "installPlanRef", "name")()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(name).NotTo(BeEmpty())
		plan = object("InstallPlan")
		g.Expect(c.Admin.Get(ctx, client.ObjectKey{Namespace: harness.SystemNamespace, Name: name}, plan)).To(Succeed())
		names, _, err := unstructured.NestedStringSlice(plan.Object, "spec", "clusterServiceVersionNames")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(names).To(Equal([]string{csvName(version)}))
	}).Should(Succeed(), "there is a plan for %s", version)
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"approved":true}}`))
	Expect(c.Admin.Patch(ctx, plan, patch)).To(Succeed())
}

// succeeded waits until OLM says that a version is installed.
func succeeded(ctx context.Context, version string) {
	GinkgoHelper()
	Eventually(field(ctx, "ClusterServiceVersion", csvName(version), "status", "phase")).Should(Equal("Succeeded"), "%s is installed", version)
	Eventually(field(ctx, "Subscription", subscription, "status", "installedCSV")).Should(Equal(csvName(version)), "the subscription knows")
	c.Kubectl(ctx, "-n", harness.SystemNamespace, "rollout", "status", "deployment", harness.ManagerAccount, "--timeout=90s")
}

func change(ctx context.Context, spec map[string]any) {
	GinkgoHelper()
	o := object("Subscription")
	Expect(c.Admin.Get(ctx, client.ObjectKey{Namespace: harness.SystemNamespace, Name: subscription}, o)).To(Succeed())
	before := o.DeepCopy()
	for key, value := range spec {
		Expect(unstructured.SetNestedField(o.Object, value, "spec", key)).To(Succeed())
	}
	Expect(c.Admin.Patch(ctx, o, client.MergeFrom(before))).To(Succeed())
}

func named(kind, version string) *unstructured.Unstructured {
	o := object(kind)
	o.SetNamespace(harness.SystemNamespace)
	o.SetName(csvName(version))
	return o
}

// runAndCheck holds the rights that OLM gave to what is needed, runs the manager with them and
// makes the demo's checks.
func runAndCheck(ctx context.Context) *harness.ManagerProcess {
	GinkgoHelper()
	// OLM clears away what an older version had a moment after the newer one succeeded. To an
	// operator of all namespaces it gives in all of them what the bundle asks for in its own.
	Eventually(func(g Gomega) {
		granted, here, err := c.Granted(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		needed := slices.Concat(cluster.NeededInCluster(), cluster.NeededForMetrics(), cluster.NeededInNamespace())
		slices.Sort(needed)
		g.Expect(granted).To(Equal(slices.Compact(needed)))
		g.Expect(here).To(Equal(cluster.NeededInNamespace()))
	}).Should(Succeed(), "no right is missing or superfluous")
	c.Kubectl(ctx, "apply", "-k", filepath.Join(c.Root, "config", "samples", "demo"))

	return c.RunAndCheck(ctx)
}

// configure creates the configuration that must be kept, waits until it is in force and
// returns the inventory that must be kept.
func configure(ctx context.Context) map[string]string {
	GinkgoHelper()
	before := c.Inventory(ctx)
	config := &v1beta1.AIBOMControllerConfig{
		ObjectMeta: metav1.ObjectMeta{Name: v1beta1.ConfigName},
		Spec:       v1beta1.AIBOMControllerConfigSpec{BOMGeneration: v1beta1.BOMGenerationSpec{SpecVersion: "1.7"}},
	}
	Expect(c.Admin.Create(ctx, config)).To(Succeed())
	after := map[string]string{}
	Eventually(func(g Gomega) {
		after = c.Inventory(ctx)
		g.Expect(after).To(HaveLen(len(before)))
		for name, was := range before {
			g.Expect(after).To(HaveKeyWithValue(name, Not(Equal(was))))
		}
	}).Should(Succeed(), "every document is written anew in the version that is configured")
	return after
}

func configUID(ctx context.Context) string {
	GinkgoHelper()
	config := c.Config(ctx)
	Expect(config.Spec.BOMGeneration.SpecVersion).To(Equal("1.7"))
	return string(config.UID)
}

// uninstall does what the documentation says, and expects the inventory and the configuration
// to stay, and no right.
func uninstall(ctx context.Context, kept map[string]string, uid string) {
	GinkgoHelper()
	By("uninstalling")
	o := object("Subscription")
	o.SetNamespace(harness.SystemNamespace)
	o.SetName(subscription)
	Expect(c.Admin.Delete(ctx, o)).To(Succeed())
	Expect(c.Admin.Delete(ctx, named("ClusterServiceVersion", "1.7.0"))).To(Succeed())
	c.Gone(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: harness.SystemNamespace, Name: harness.ManagerAccount}})
	Eventually(func(g Gomega) {
		granted, here, err := c.Granted(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(append(granted, here...)).To(BeEmpty())
	}).Should(Succeed(), "no right stays")
	Expect(c.Inventory(ctx)).To(Equal(kept), "the inventory stays")
	Expect(configUID(ctx)).To(Equal(uid), "the configuration stays")
	c.NotRefused(0)
}
