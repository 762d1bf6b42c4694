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
	"sigs.k8s.io/controller-runtime/pkg/client"

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

var _ = BeforeSuite(func(ctx context.Context) { c = cluster.Start(ctx, "install") })

func helm(ctx context.Context, args ...string) string {
	GinkgoHelper()
	out, err := c.RunTool(ctx, "helm", args...)
	Expect(err).NotTo(HaveOccurred())
	return out
}

func path(parts ...string) string { return filepath.Join(append([]string{c.Root}, parts...)...) }

// available expects the Deployment that was installed to have its pods, which the restricted
// standard lets in, and nothing fixed that OpenShift's restricted-v2 assigns itself.
func available(ctx context.Context) {
	GinkgoHelper()
	c.Kubectl(ctx, "-n", harness.SystemNamespace, "rollout", "status", "deployment", harness.ManagerAccount, "--timeout=90s")
	namespace := &corev1.Namespace{}
	Expect(c.Admin.Get(ctx, client.ObjectKey{Name: harness.SystemNamespace}, namespace)).To(Succeed())
	Expect(namespace.Labels).To(HaveKeyWithValue("pod-security.kubernetes.io/enforce", "restricted"))
	pods := &corev1.PodList{}
	Expect(c.Admin.List(ctx, pods, client.InNamespace(harness.SystemNamespace))).To(Succeed())
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
	c.Kubectl(ctx, "apply", "-k", path("config", "samples", "demo"))
	DeferCleanup(func(ctx context.Context) { c.Remove(ctx, "ai-demo") })
}

// runAndCheck holds the rights of what was installed to what is needed, runs the manager with
// them and makes the demo's checks.
func runAndCheck(ctx context.Context) *harness.ManagerProcess {
	GinkgoHelper()
	granted, here, err := c.Granted(ctx)
	Expect(err).NotTo(HaveOccurred())
	Expect(granted).To(Equal(both(cluster.NeededInCluster(), cluster.NeededForMetrics())), "no right in the cluster is missing or superfluous")
	Expect(here).To(Equal(cluster.NeededInNamespace()), "no right in the namespace is missing or superfluous")

	return c.RunAndCheck(ctx)
}

func writeFile(name, content string) string {
	GinkgoHelper()
	file := filepath.Join(GinkgoT().TempDir(), name)
	Expect(os.WriteFile(file, []byte(content), 0o600)).To(Succeed())
	return file
}
