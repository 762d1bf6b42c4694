// SPDX-License-Identifier: Apache-2.0

package install_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
	"github.com/k8s-aibom/k8s-aibom/test/install/cluster"
)

var c *cluster.Cluster

func TestInstall(t *testing.T) {
	if !cluster.Available() {
		t.Skip("needs make test-olm")
	}
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(90 * time.Second)
	SetDefaultEventuallyPollingInterval(250 * time.Millisecond)
	RunSpecs(t, "Installation by kustomize and Helm")
}

var _ = BeforeSuite(func(ctx context.Context) {
	var err error
	c, err = cluster.Start(ctx, "install")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(c.Plane.Stop()).To(Succeed()) })
})

func kubectl(ctx context.Context, args ...string) string {
	GinkgoHelper()
	out, err := c.Kubectl(ctx, args...)
	Expect(err).NotTo(HaveOccurred())
	return out
}

func helm(ctx context.Context, args ...string) string {
	GinkgoHelper()
	out, err := c.RunTool(ctx, "helm", args...)
	Expect(err).NotTo(HaveOccurred())
	return out
}

func path(parts ...string) string { return filepath.Join(append([]string{c.Root}, parts...)...) }

// restrictedNamespace makes the manager's namespace, which enforces the restricted standard.
func restrictedNamespace(ctx context.Context) {
	GinkgoHelper()
	Expect(c.Admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: cluster.Namespace, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}})).To(Succeed())
}

// removed waits until a namespace is gone. Nothing is deleted twice.
func removed(ctx context.Context, namespace string) {
	GinkgoHelper()
	key := client.ObjectKey{Name: namespace}
	if err := c.Admin.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); !apierrors.IsNotFound(err) {
		Expect(err).NotTo(HaveOccurred())
	}
	Eventually(func() error { return c.Admin.Get(ctx, key, &corev1.Namespace{}) }).
		Should(Satisfy(apierrors.IsNotFound), "namespace %s goes", namespace)
}

// available expects the Deployment that was installed to have its pods, which the restricted
// standard lets in, and nothing fixed that OpenShift's restricted-v2 assigns itself.
func available(ctx context.Context) {
	GinkgoHelper()
	kubectl(ctx, "-n", cluster.Namespace, "rollout", "status", "deployment", cluster.Account, "--timeout=90s")
	namespace := &corev1.Namespace{}
	Expect(c.Admin.Get(ctx, client.ObjectKey{Name: cluster.Namespace}, namespace)).To(Succeed())
	Expect(namespace.Labels).To(HaveKeyWithValue("pod-security.kubernetes.io/enforce", "restricted"))
	pods := &corev1.PodList{}
	Expect(c.Admin.List(ctx, pods, client.InNamespace(cluster.Namespace))).To(Succeed())
	Expect(pods.Items).NotTo(BeEmpty())
	for _, pod := range pods.Items {
		Expect(restrictedV2(pod.Spec)).To(BeEmpty(), "pod %s", pod.Name)
	}
}

// restrictedV2 are the ways in which a pod departs from what OpenShift's restricted-v2 accepts
// from anybody, and from the operator's own rule of a read-only root.
func restrictedV2(pod corev1.PodSpec) []string {
	var departures []string
	note := func(departs bool, what string) {
		if departs {
			departures = append(departures, what)
		}
	}
	own := pod.SecurityContext
	note(own == nil || own.RunAsNonRoot == nil || !*own.RunAsNonRoot, "may run as root")
	note(own == nil || own.SeccompProfile == nil || own.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault, "has no default seccomp profile")
	note(own != nil && (own.RunAsUser != nil || own.RunAsGroup != nil || own.FSGroup != nil || len(own.SupplementalGroups) > 0 || own.SELinuxOptions != nil), "fixes a user, group or label")
	note(pod.HostNetwork || pod.HostPID || pod.HostIPC, "shares the host's namespaces")
	for _, volume := range pod.Volumes {
		note(volume.HostPath != nil, "mounts the host's files")
	}
	for _, container := range append(pod.InitContainers, pod.Containers...) {
		s := container.SecurityContext
		if s == nil {
			departures = append(departures, container.Name+" has no security context")
			continue
		}
		note(s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation, "may escalate privileges")
		note(s.Privileged != nil && *s.Privileged, "is privileged")
		note(s.RunAsUser != nil || s.RunAsGroup != nil, "fixes a user or group")
		note(s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem, "has a writable root")
		note(s.Capabilities == nil || len(s.Capabilities.Add) > 0 || len(s.Capabilities.Drop) != 1 || s.Capabilities.Drop[0] != "ALL", "keeps capabilities")
	}
	return departures
}

// samples applies those of the demo and takes them away at the end of the spec.
func samples(ctx context.Context) {
	GinkgoHelper()
	kubectl(ctx, "apply", "-k", path("config", "samples", "demo"))
	DeferCleanup(func(ctx context.Context) { removed(ctx, "ai-demo") })
}

// runAndCheck runs the manager as what was installed and makes the demo's checks.
func runAndCheck(ctx context.Context) *harness.ManagerProcess {
	GinkgoHelper()
	granted, here, err := c.Granted(ctx)
	Expect(err).NotTo(HaveOccurred())
	Expect(granted).To(Equal(both(cluster.NeededInCluster(), cluster.NeededForMetrics())), "no right in the cluster is missing or superfluous")
	Expect(here).To(Equal(cluster.NeededInNamespace()), "no right in the namespace is missing or superfluous")

	mark, err := c.Plane.Mark()
	Expect(err).NotTo(HaveOccurred())
	manager, err := c.RunManager(ctx)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { _ = manager.Kill() })
	Expect(c.Check(ctx, manager, mark, GinkgoT().TempDir(), say)).To(Succeed())
	return manager
}

// inventory is the UID and the document of each AIBOM, by namespace and name.
func inventory(ctx context.Context) map[string]string {
	GinkgoHelper()
	list := &v1beta1.AIBOMList{}
	Expect(c.Admin.List(ctx, list)).To(Succeed())
	all := map[string]string{}
	for _, aibom := range list.Items {
		all[aibom.Namespace+"/"+aibom.Name] = string(aibom.UID) + " " + aibom.Status.BOMHash
	}
	Expect(all).NotTo(BeEmpty())
	return all
}

func config(ctx context.Context) (types.UID, v1beta1.AIBOMControllerConfigSpec) {
	GinkgoHelper()
	object := &v1beta1.AIBOMControllerConfig{}
	Expect(c.Admin.Get(ctx, client.ObjectKey{Name: v1beta1.ConfigName}, object)).To(Succeed())
	return object.UID, object.Spec
}

func writeFile(name, content string) string {
	GinkgoHelper()
	file := filepath.Join(GinkgoT().TempDir(), name)
	Expect(os.WriteFile(file, []byte(content), 0o600)).To(Succeed())
	return file
}

func say(format string, args ...any) { GinkgoWriter.Printf(format+"\n", args...) }
