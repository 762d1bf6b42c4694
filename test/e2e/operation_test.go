// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

// crdTimeout covers the ten seconds after which controller-runtime looks again for a kind
// that was not there.
const crdTimeout = 45 * time.Second

var _ = Describe("The manager tells how it is", Label("foundation-3"), func() {
	It("serves /healthz and /readyz", func(ctx context.Context) {
		Expect(manager.Probe(ctx, "/healthz")).To(Succeed())
		Expect(manager.Probe(ctx, "/readyz")).To(Succeed())
		Expect(manager.Probe(ctx, "/livez")).NotTo(Succeed(), "and nothing else")
	})

	It("fails /readyz until its informers of AIBOM and AIBOMControllerConfig are synced, asked per probe", func(ctx context.Context) {
		bare, err := harness.Start(ctx, harness.Options{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(bare.Stop)
		m, err := bare.StartManager(ctx, harness.ManagerOptions{NoWait: true, LeaderElect: true})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() {
			if CurrentSpecReport().Failed() {
				AddReportEntry("the manager without CRDs", m.LogTail())
			}
		})
		Eventually(m.Probe).WithArguments(ctx, "/healthz").Should(Succeed(), "the manager lives without CRDs")

		crds := filepath.Join(root, "config", "crd", "bases")
		status := func() (string, error) { return get(ctx, m.ProbeURL+"/readyz/informers") }
		Eventually(status).Should(And(HavePrefix("500 "), ContainSubstring("v1beta1.AIBOM cannot be had")), "no kind is known")
		Expect(m.Probe(ctx, "/readyz")).To(MatchError(ContainSubstring("500")), "so it is not ready")

		By("one of the two CRDs")
		_, _, err = bare.Kubectl(ctx, "apply", "-f", filepath.Join(crds, "aibom.k8saibom.dev_aiboms.yaml"))
		Expect(err).NotTo(HaveOccurred())
		Eventually(status).WithTimeout(crdTimeout).Should(And(HavePrefix("500 "), ContainSubstring("v1beta1.AIBOMControllerConfig")),
			"the other kind is missing")
		Consistently(m.Probe).WithArguments(ctx, "/readyz").ShouldNot(Succeed(), "one of two is not enough")

		By("both")
		_, _, err = bare.Kubectl(ctx, "apply", "-f", crds)
		Expect(err).NotTo(HaveOccurred())
		Eventually(m.Probe).WithArguments(ctx, "/readyz").WithTimeout(crdTimeout).Should(Succeed(), "it becomes ready by itself")
		Expect(m.Exited()).NotTo(BeClosed(), "without a restart")
		Expect(m.Probe(ctx, "/healthz")).To(Succeed())

		By("working")
		for _, args := range [][]string{
			{"create", "deployment", "llm", "--image=" + vllmImage, "--", "vllm", "serve", llama},
			{"label", "namespace", "default", "aibom.k8saibom.dev/enabled=true"},
		} {
			_, _, err = bare.Kubectl(ctx, args...)
			Expect(err).NotTo(HaveOccurred())
		}
		Eventually(func() string {
			out, _, _ := bare.Kubectl(ctx, "get", "aibom", "deployment-llm", "-o", "jsonpath={.status.summary.models[0].identity}")
			return out
		}).WithTimeout(crdTimeout).Should(Equal(llama), "the inventory is kept from then on")
	})
})

var _ = Describe("The command line", Label("foundation-3"), func() {
	It("explains its flags with --help", func() {
		out, code := runManager(nil, "--help")
		Expect(code).To(BeZero())
		for _, flag := range []string{
			"-metrics-bind-address", "-metrics-secure", "-health-probe-bind-address", "-leader-elect",
			"-leader-elect-lease-duration", "-log-level", "-log-format", "-kubeconfig", "-version",
		} {
			Expect(out).To(ContainSubstring("  "+flag), "the help names %s", flag)
		}
		Expect(out).To(ContainSubstring("POD_NAMESPACE"), "and the environment")
	})

	It("prints its version", func() {
		out, code := runManager(nil, "--version")
		Expect(code).To(BeZero())
		Expect(out).To(Equal("dev\n"))
	})

	DescribeTable("refuses what it does not understand, saying what", func(complaint string, env []string, args ...string) {
		out, code := runManager(env, args...)
		Expect(code).To(Equal(2))
		Expect(out).To(ContainSubstring(complaint))
	},
		Entry("an unknown flag", "-no-such-flag", nil, "--no-such-flag"),
		Entry("a stray argument", `unexpected argument "now"`, nil, "now"),
		Entry("a log level", `--log-level is "loud", want error, info or debug`, nil, "--log-level=loud"),
		Entry("a log format", `--log-format is "xml", want json or text`, nil, "--log-format=xml"),
		Entry("a lease that is too short", "want at least 3s", nil, "--leader-elect-lease-duration=1s"),
		Entry("leader election without a namespace", "--leader-elect needs POD_NAMESPACE", []string{"POD_NAMESPACE="}, "--leader-elect"),
	)

	It("says where it runs by the downward API", func(ctx context.Context) {
		shipped := &appsv1.Deployment{}
		Expect(admin.Get(ctx, client.ObjectKey{Namespace: harness.SystemNamespace, Name: harness.ManagerAccount}, shipped)).To(Succeed())
		Expect(shipped.Spec.Template.Spec.Containers).To(HaveLen(1))
		container := shipped.Spec.Template.Spec.Containers[0]
		fields := map[string]string{}
		for _, variable := range container.Env {
			if variable.ValueFrom != nil && variable.ValueFrom.FieldRef != nil {
				fields[variable.Name] = variable.ValueFrom.FieldRef.FieldPath
			}
		}
		Expect(fields).To(Equal(map[string]string{"POD_NAME": "metadata.name", "POD_NAMESPACE": "metadata.namespace"}))
		Expect(container.Args).To(ContainElement("--leader-elect"), "what ships has leader election on")
		_, code := runManager([]string{"POD_NAMESPACE=" + harness.SystemNamespace}, append(container.Args, "--version")...)
		Expect(code).To(BeZero(), "the manager understands the flags that ship")

		log, err := manager.Log()
		Expect(err).NotTo(HaveOccurred())
		Expect(log).To(MatchRegexp(`"msg":"Starting".*"pod":"%s","namespace":"%s"`, harness.ManagerAccount, harness.SystemNamespace))
	})
})

// runManager runs the binary until it ends and returns what it wrote and its exit code.
func runManager(env []string, args ...string) (string, int) {
	GinkgoHelper()
	binary, err := plane.ManagerBinary()
	Expect(err).NotTo(HaveOccurred())
	cmd := exec.Command(binary, args...)
	cmd.Env = append(cmd.Environ(), env...)
	out, err := cmd.CombinedOutput()
	var failure *exec.ExitError
	if errors.As(err, &failure) {
		return string(out), failure.ExitCode()
	}
	Expect(err).NotTo(HaveOccurred())
	return string(out), 0
}

// get returns the status and the body of an answer.
func get(ctx context.Context, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.Status + "\n" + string(body), err
}
