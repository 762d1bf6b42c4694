// SPDX-License-Identifier: Apache-2.0

// Package olm_test installs the bundle by the real Operator Lifecycle Manager, from a catalog
// that opm serves, and runs the manager with the rights that OLM gives it.
package olm_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/test/harness"
	"github.com/k8s-aibom/k8s-aibom/test/install/cluster"
)

const (
	olmNamespace  = "olm"
	catalogSource = "k8s-aibom"
	packageName   = "k8s-aibom"
)

// versions are those in the catalog, the oldest first. The last one is the bundle that ships,
// the others are the same with another number.
var versions = []string{"1.5.0", "1.6.0", "1.7.0"}

var (
	c        *cluster.Cluster
	programs []*harness.Program
)

func TestOLM(t *testing.T) {
	if !cluster.Available() {
		t.Skip("needs make test-olm")
	}
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(2 * time.Minute)
	SetDefaultEventuallyPollingInterval(500 * time.Millisecond)
	RunSpecs(t, "Installation by OLM")
}

var _ = BeforeSuite(func(ctx context.Context) {
	c = cluster.Start(ctx, "olm")
	c.Kubectl(ctx, "apply", "--server-side", "-f", c.Tool("crds"))
	c.Kubectl(ctx, "wait", "--for=condition=Established", "--timeout=60s", "crd", "--all")
	for _, name := range []string{olmNamespace, "operators"} {
		Expect(c.Admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
	}
	startOLM()
	serveCatalog(ctx)
})

var _ = AfterEach(func() {
	for _, program := range programs {
		Expect(program.Running()).To(Succeed())
		if CurrentSpecReport().Failed() {
			AddReportEntry("log", program.LogTail())
		}
	}
})

// startOLM starts OLM's two operators.
func startOLM() {
	GinkgoHelper()
	kubeconfig := c.Plane.AdminKubeconfig()
	start("catalog", nil, "--kubeconfig", kubeconfig, "--namespace", olmNamespace)
	start("olm", []string{"KUBECONFIG=" + kubeconfig}, "--namespace", olmNamespace,
		"--writeStatusName", "", "--writePackageServerStatusName", "")
}

func start(name string, env []string, args ...string) {
	GinkgoHelper()
	program, err := c.StartTool(name, env, args...)
	Expect(err).NotTo(HaveOccurred())
	programs = append(programs, program)
}

// serveCatalog makes a catalog of every version, has opm validate and serve it, and tells OLM.
func serveCatalog(ctx context.Context) {
	GinkgoHelper()
	folder := GinkgoT().TempDir()
	catalog := filepath.Join(folder, "catalog")
	Expect(os.Mkdir(catalog, 0o755)).To(Succeed())
	content := []string{"schema: olm.package\nname: " + packageName + "\ndefaultChannel: stable\n"}
	for _, channel := range []string{"stable", "candidate"} {
		content = append(content, channelOf(channel))
	}
	for _, version := range versions {
		bundle := filepath.Join(folder, version)
		copyBundle(bundle, version)
		rendered, err := c.RunTool(ctx, "opm", "render", bundle, "-o", "yaml")
		Expect(err).NotTo(HaveOccurred())
		content = append(content, strings.TrimPrefix(rendered, "---\n"))
	}
	Expect(os.WriteFile(filepath.Join(catalog, "catalog.yaml"), []byte(strings.Join(content, "---\n")), 0o600)).To(Succeed())
	_, err := c.RunTool(ctx, "opm", "validate", catalog)
	Expect(err).NotTo(HaveOccurred())

	port, err := harness.FreePort()
	Expect(err).NotTo(HaveOccurred())
	start("opm", nil, "serve", catalog, "--port", port, "--cache-dir", filepath.Join(folder, "cache"),
		"--cache-enforce-integrity=false", "--pprof-addr", "", "--termination-log", filepath.Join(folder, "termination.log"))
	// OLM backs off for minutes from a catalog that does not answer at first.
	Eventually(func() error {
		connection, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err != nil {
			return err
		}
		return connection.Close()
	}).Should(Succeed(), "opm serves the catalog")
	create(ctx, map[string]any{
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": "CatalogSource",
		"metadata": map[string]any{"namespace": olmNamespace, "name": catalogSource},
		"spec":     map[string]any{"sourceType": "grpc", "address": "127.0.0.1:" + port, "displayName": "k8s-aibom"},
	})
}

// channelOf is a channel with every version: each replaces the one before it, and the last
// one takes the place of any.
func channelOf(name string) string {
	lines := []string{"schema: olm.channel", "package: " + packageName, "name: " + name, "entries:"}
	for i, version := range versions {
		lines = append(lines, "- name: "+csvName(version))
		if i > 0 {
			lines = append(lines, "  replaces: "+csvName(versions[i-1]))
		}
		if i == len(versions)-1 {
			lines = append(lines, "  skipRange: '>=1.0.0 <"+version+"'")
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

func csvName(version string) string { return packageName + ".v" + version }

// copyBundle copies the bundle that ships and changes its version where that is another one.
func copyBundle(folder, version string) {
	GinkgoHelper()
	Expect(os.CopyFS(folder, os.DirFS(filepath.Join(c.Root, "bundle")))).To(Succeed())
	newest := versions[len(versions)-1]
	if version == newest {
		return
	}
	path := filepath.Join(folder, "manifests", packageName+".clusterserviceversion.yaml")
	content, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	text := strings.ReplaceAll(string(content), "  replaces: k8s-aibom.v1.6.0\n", "")
	text = strings.ReplaceAll(text, newest, version)
	Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
}

func create(ctx context.Context, content map[string]any) *unstructured.Unstructured {
	GinkgoHelper()
	object := &unstructured.Unstructured{Object: content}
	Expect(c.Admin.Create(ctx, object)).To(Succeed())
	return object
}

// object is an empty object of one of OLM's kinds.
func object(kind string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(schema.GroupVersionKind{Group: "operators.coreos.com", Version: "v1alpha1", Kind: kind})
	return o
}

// field is a string in an object of OLM in the manager's namespace; what is not there is empty.
func field(ctx context.Context, kind, name string, path ...string) func() (string, error) {
	return func() (string, error) {
		o := object(kind)
		if err := c.Admin.Get(ctx, client.ObjectKey{Namespace: harness.SystemNamespace, Name: name}, o); err != nil {
			return "", client.IgnoreNotFound(err)
		}
		value, _, err := unstructured.NestedString(o.Object, path...)
		return value, err
	}
}
