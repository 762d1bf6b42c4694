// SPDX-License-Identifier: Apache-2.0

package install_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/k8s-aibom/k8s-aibom/test/harness"
	"github.com/k8s-aibom/k8s-aibom/test/install/cluster"
)

const release = "k8s-aibom"

// everything turns on all that is optional and works without other projects' CRDs.
const everything = `
replicas: 2
config: {spec: {discovery: {modelArgFlags: [--checkpoint]}, logging: {level: debug}}}
readiness: {strictConfig: true}
rbac: {sinkSecretAccess: true, sinkSecretNames: [archive]}
image: {tag: v1, digest: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}
networkPolicy: {enabled: true, extraEgress: [{ports: [{port: 8443, protocol: TCP}]}]}
monitoring: {dashboard: {enabled: true}}
podAnnotations: {a: b}
tolerations: [{operator: Exists}]
`

// monitored turns on what needs the CRDs of the Prometheus operator.
const (
	monitored = "monitoring: {serviceMonitor: {enabled: true, interval: 30s, labels: {a: b}}, prometheusRule: {enabled: true}}\n"
	withToken = "monitoring: {serviceMonitor: {enabled: true, authorization: {credentials: {name: prometheus, key: token}}}}\n"
)

var _ = Describe("The Helm chart", func() {
	chart := func() string { return path("charts", "k8s-aibom") }

	It("installs, upgrades with inventory and configuration kept, and leaves both when it goes", func(ctx context.Context) {
		c.RestrictedNamespace(ctx)
		DeferCleanup(func(ctx context.Context) {
			c.Kubectl(ctx, "delete", "--ignore-not-found", "-k", path("config", "crd"))
			c.Remove(ctx, harness.SystemNamespace)
		})
		older := olderChart(chart(), "1.6.0")
		notes := helm(ctx, "install", release, older, "-n", harness.SystemNamespace, "--wait", "--timeout=90s",
			"--set", "config.spec.bomGeneration.specVersion=1.7")
		Expect(notes).To(And(ContainSubstring("kubectl label namespace"), ContainSubstring("leaves the CRDs, every AIBOM")))
		available(ctx)
		samples(ctx)
		manager := runAndCheck(ctx)
		kept := c.Inventory(ctx)
		uid := c.Config(ctx).UID

		By("upgrading as documented: the CRDs first")
		crds := helm(ctx, "show", "crds", chart())
		c.Kubectl(ctx, "apply", "--server-side", "--force-conflicts", "-f", writeFile("crds.yaml", crds))
		helm(ctx, "upgrade", release, chart(), "-n", harness.SystemNamespace, "--wait", "--timeout=90s", "--reset-then-reuse-values")
		Expect(helm(ctx, "list", "-n", harness.SystemNamespace)).To(ContainSubstring("k8s-aibom-1.7.0"))
		available(ctx)
		Expect(manager.Stop()).To(Succeed())
		manager = runAndCheck(ctx)
		Expect(c.Inventory(ctx)).To(Equal(kept), "the inventory is the same")
		config := c.Config(ctx)
		Expect(config.UID).To(Equal(uid), "the configuration is the same object")
		Expect(config.Spec.BOMGeneration.SpecVersion).To(Equal("1.7"))

		By("changing the configuration by values")
		helm(ctx, "upgrade", release, chart(), "-n", harness.SystemNamespace, "--reset-values")
		Expect(c.Config(ctx).Spec.BOMGeneration.SpecVersion).To(BeEmpty(), "what is no value any more is the default again")
		Eventually(c.Inventory).WithContext(ctx).ShouldNot(Equal(kept), "documents are written anew in the other version")

		By("uninstalling")
		Expect(manager.Stop()).To(Succeed())
		kept = c.Inventory(ctx)
		said := helm(ctx, "uninstall", release, "-n", harness.SystemNamespace, "--wait", "--timeout=90s")
		Expect(said).To(ContainSubstring("AIBOMControllerConfig"), "it says what it keeps")
		Expect(c.Inventory(ctx)).To(Equal(kept), "the inventory stays")
		Expect(c.Config(ctx).UID).To(Equal(uid), "the configuration stays")
		granted, here, err := c.Granted(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(append(granted, here...)).To(BeEmpty(), "no right stays")
		c.NotRefused(0)
	})

	It("renders manifests that are valid by the API server's schemas, and that it accepts", func(ctx context.Context) {
		c.RestrictedNamespace(ctx)
		DeferCleanup(func(ctx context.Context) {
			c.Kubectl(ctx, "delete", "--ignore-not-found", "-k", path("config", "crd"))
			c.Remove(ctx, harness.SystemNamespace)
		})
		c.Kubectl(ctx, "apply", "--server-side", "-k", path("config", "crd"))
		c.Kubectl(ctx, "wait", "--for=condition=Established", "--timeout=30s", "crd/aiboms.aibom.k8saibom.dev", "crd/aibomcontrollerconfigs.aibom.k8saibom.dev")
		c.Kubectl(ctx, "apply", "--server-side", "-f", c.Tool("monitoring"))
		DeferCleanup(func(ctx context.Context) { c.Kubectl(ctx, "delete", "-f", c.Tool("monitoring")) })
		c.Kubectl(ctx, "wait", "--for=condition=Established", "--timeout=30s", "-f", c.Tool("monitoring"))
		schemas := writeSchemas(ctx)
		for name, values := range map[string]string{"defaults": "{}", "everything": everything, "monitored": monitored, "with-token": withToken} {
			By(name)
			rendered := writeFile(name+".yaml", helm(ctx, "template", release, chart(), "-n", harness.SystemNamespace, "-f", writeFile("values.yaml", values)))
			kubeconform(ctx, schemas, rendered)
			c.Kubectl(ctx, "apply", "--server-side", "--dry-run=server", "-f", rendered)
		}
		By("the kustomize manifests and the bundle's objects")
		for _, folder := range []string{"default", "ha", "network-policy", "sink-secrets", "samples", "monitoring"} {
			kubeconform(ctx, schemas, writeFile(folder+".yaml", c.Kubectl(ctx, "kustomize", path("config", folder))))
		}
		bundled, err := filepath.Glob(path("bundle", "manifests", "k8s-aibom-*.yaml"))
		Expect(err).NotTo(HaveOccurred())
		Expect(bundled).NotTo(BeEmpty())
		for _, file := range bundled {
			kubeconform(ctx, schemas, file)
		}

		By("the samples, which are the bundle's examples")
		c.Kubectl(ctx, "apply", "--server-side", "--dry-run=server", "-k", path("config", "samples"))

		By("showing that the schemas refuse something")
		wrong := strings.Replace(c.Kubectl(ctx, "kustomize", path("config", "default")), "  replicas: 1\n", "  replicaz: 1\n", 1)
		out, err := conform(ctx, schemas, writeFile("wrong.yaml", wrong))
		Expect(err).To(HaveOccurred())
		Expect(out).To(ContainSubstring("replicaz"))
	})

	It("uses the values", func(ctx context.Context) {
		rendered := helm(ctx, "template", release, chart(), "-n", harness.SystemNamespace, "-f", writeFile("values.yaml", everything))
		Expect(rendered).To(And(
			ContainSubstring("image: ghcr.io/k8s-aibom/k8s-aibom@sha256:0123456789abcdef"), // the digest wins over the tag
			ContainSubstring("- --strict-config-readiness"),
			ContainSubstring("level: debug"),
			ContainSubstring("name: k8s-aibom-sink-secrets"),
			ContainSubstring("kind: PodDisruptionBudget"),
			ContainSubstring("kind: NetworkPolicy"),
		))
		manager, err := c.Plane.ManagerBinary()
		Expect(err).NotTo(HaveOccurred())
		_, err = cluster.Run(ctx, []string{"POD_NAMESPACE=" + harness.SystemNamespace}, manager, append(argumentsOf(rendered), "--version")...)
		Expect(err).NotTo(HaveOccurred(), "the manager knows every flag")

		rendered = helm(ctx, "template", release, chart(), "-n", harness.SystemNamespace, "--set", "config.create=false")
		Expect(rendered).To(ContainSubstring("image: ghcr.io/k8s-aibom/k8s-aibom:v1.7.0"))
		Expect(rendered).NotTo(Or(ContainSubstring("strict-config"), ContainSubstring("kind: AIBOMControllerConfig"), ContainSubstring("secrets"),
			ContainSubstring("PodDisruptionBudget"), ContainSubstring("NetworkPolicy"), ContainSubstring("monitoring.coreos.com")))
	})

	It("allows no traffic that it does not name", func(ctx context.Context) {
		rendered := helm(ctx, "template", release, chart(), "--set", "networkPolicy.enabled=true,networkPolicy.egressPorts=null", "--show-only", "templates/networkpolicy.yaml")
		policy := networkingv1.NetworkPolicy{}
		Expect(yaml.UnmarshalStrict([]byte(rendered), &policy)).To(Succeed())
		Expect(policy.Spec.Egress).To(HaveLen(1), "names are resolved, and nothing else")
		Expect(policy.Spec.Egress[0].Ports).NotTo(BeEmpty(), "a rule without ports would allow everything")
	})

	It("keeps names short enough for a release of any name", func(ctx context.Context) {
		rendered := helm(ctx, "template", "a.release-with-a-name-that-is-as-long-as-helm-allows", chart())
		names := regexp.MustCompile(`(?m)^  name: (\S+)$`).FindAllStringSubmatch(rendered, -1)
		Expect(names).NotTo(BeEmpty())
		for _, name := range names {
			Expect(validation.IsDNS1035Label(name[1])).To(BeEmpty(), name[1])
		}
	})

	DescribeTable("refuses values that are wrong", func(ctx context.Context, set, complaint string) {
		_, err := c.RunTool(ctx, "helm", "template", release, chart(), "--set", set)
		Expect(err).To(MatchError(ContainSubstring(complaint)))
	},
		Entry("an unknown one", "replicaCount=2", "replicaCount"),
		Entry("a digest that is none", "image.digest=latest", "digest"),
		Entry("a negative number of replicas", "replicas=-1", "replicas"),
		Entry("a word for a switch", "readiness.strictConfig=perhaps", "strictConfig"),
		Entry("an unknown section of the configuration", "config.spec.discover.x=1", "discover"),
	)
})

// olderChart is a copy of the chart that says that it is another version.
func olderChart(chart, version string) string {
	GinkgoHelper()
	folder := filepath.Join(GinkgoT().TempDir(), "chart")
	Expect(os.CopyFS(folder, os.DirFS(chart))).To(Succeed())
	file := filepath.Join(folder, "Chart.yaml")
	content, err := os.ReadFile(file)
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(file, []byte(strings.ReplaceAll(string(content), "1.7.0", version)), 0o600)).To(Succeed())
	return folder
}

// kubeconform holds a manifest to the schemas, strictly.
func kubeconform(ctx context.Context, schemas, manifest string) {
	GinkgoHelper()
	out, err := conform(ctx, schemas, manifest)
	Expect(err).NotTo(HaveOccurred(), out)
	Expect(out).To(And(ContainSubstring("Invalid: 0, Errors: 0, Skipped: 0"), Not(ContainSubstring("Valid: 0"))))
}

func conform(ctx context.Context, schemas, manifest string) (string, error) {
	out, err := exec.CommandContext(ctx, os.Getenv("KUBECONFORM"), "-strict", "-summary", "-schema-location",
		filepath.Join(schemas, "{{.Group}}-{{.ResourceAPIVersion}}-{{.ResourceKind}}.json"), manifest).CombinedOutput()
	return string(out), err
}

// argumentsOf are those of the manager in a Deployment among manifests.
func argumentsOf(manifests string) []string {
	GinkgoHelper()
	for _, document := range strings.Split(manifests, "\n---\n") {
		deployment := appsv1.Deployment{}
		if yaml.Unmarshal([]byte(document), &deployment) == nil && deployment.Kind == "Deployment" {
			return deployment.Spec.Template.Spec.Containers[0].Args
		}
	}
	Fail("there is no Deployment")
	return nil
}
