// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// plugin is the kubectl plugin as one user runs it.
type plugin struct{ binary, kubeconfig, home string }

// said is how a run of the plugin ended.
type said struct {
	out, errOut string
	code        int
}

func (p plugin) run(ctx context.Context, args ...string) said {
	GinkgoHelper()
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(ctx, p.binary, args...)
	cmd.Env = append(os.Environ(), "HOME="+p.home, "KUBECONFIG="+p.kubeconfig)
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		Expect(err).NotTo(HaveOccurred())
	}
	return said{out.String(), errOut.String(), cmd.ProcessState.ExitCode()}
}

// succeeds runs the plugin and expects the exit code 0.
func (p plugin) succeeds(ctx context.Context, args ...string) said {
	GinkgoHelper()
	s := p.run(ctx, args...)
	Expect(s.code).To(BeZero(), "kubectl aibom %s: %s", strings.Join(args, " "), s.errOut)
	return s
}

// rows are the rows of a table with single spaces.
func (s said) rows() []string {
	var rows []string
	for line := range strings.Lines(s.out) {
		rows = append(rows, strings.Join(strings.Fields(line), " "))
	}
	return rows
}

// bind gives a user one of the ClusterRoles that config/ ships, until the specs below end.
func bind(ctx context.Context, user, role string) {
	GinkgoHelper()
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "plugin-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}},
	}
	Expect(admin.Create(ctx, binding)).To(Succeed())
	DeferCleanup(func(ctx context.Context) { Expect(admin.Delete(ctx, binding)).To(Succeed()) })
}

var _ = Describe("kubectl aibom", Ordered, func() {
	// reader may read AIBOMs and the configuration, viewer AIBOMs only, nobody nothing.
	var reader, viewer, nobody plugin

	BeforeAll(func(ctx context.Context) {
		folder := GinkgoT().TempDir()
		binary := filepath.Join(folder, "kubectl-aibom")
		build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/kubectl-aibom")
		build.Dir = root
		output, err := build.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), "%s", output)
		as := func(user string, roles ...string) plugin {
			for _, role := range roles {
				bind(ctx, user, role)
			}
			config, err := plane.UserConfig(user)
			Expect(err).NotTo(HaveOccurred())
			kubeconfig, err := plane.KubeconfigFor(user, config)
			Expect(err).NotTo(HaveOccurred())
			return plugin{binary, kubeconfig, folder}
		}
		reader = as("plugin-reader", "k8s-aibom-aibom-viewer-role", "k8s-aibom-aibomcontrollerconfig-viewer-role")
		viewer = as("plugin-viewer", "k8s-aibom-aibom-viewer-role")
		nobody = as("plugin-nobody")
	})

	It("lists, finds and prints with the right to read AIBOMs only", func(ctx context.Context) {
		ns := optedIn(ctx)
		deploy(ctx, ns, "llm", llama)
		create(ctx, "StatefulSet", ns, "other", serving(qwen))
		aibom := awaitAIBOM(ctx, ns, "deployment-llm")
		awaitAIBOM(ctx, ns, "statefulset-other")

		summary := viewer.succeeds(ctx, "summary", "-n", ns)
		Expect(summary.errOut).To(BeEmpty())
		Expect(summary.rows()).To(HaveExactElements(
			"NAMESPACE KIND NAME CATEGORY RUNTIME MODELS CONFIDENCE AGE",
			HavePrefix(ns+" Deployment llm inference vllm "+llama+" "),
			HavePrefix(ns+" StatefulSet other inference vllm "+qwen+" "),
			"Total: 2 workloads in 1 namespace (2 inference), 2 models",
		))
		Expect(viewer.succeeds(ctx, "summary", "-A", "-o", "name").rows()).To(ContainElements(
			"aibom.aibom.k8saibom.dev/deployment-llm", "aibom.aibom.k8saibom.dev/statefulset-other"))
		Expect(viewer.succeeds(ctx, "summary", "-n", ns, "-l", v1beta1.KindLabel+"=StatefulSet", "-o", "name").rows()).To(
			HaveExactElements("aibom.aibom.k8saibom.dev/statefulset-other"))

		Expect(viewer.succeeds(ctx, "find", strings.ToUpper(llama), "-n", ns, "-o", "name").rows()).To(
			HaveExactElements("aibom.aibom.k8saibom.dev/deployment-llm"))
		Expect(viewer.succeeds(ctx, "find", "vllm/vllm-openai", "-n", ns, "--no-headers").rows()).To(HaveLen(2), "the documents name the image")
		nothing := viewer.succeeds(ctx, "find", "no-such-model", "-n", ns)
		Expect(nothing.out).To(BeEmpty())
		Expect(nothing.errOut).To(ContainSubstring("no-such-model"))

		for _, reference := range []string{"deployment/llm", "deployment-llm"} {
			Expect(viewer.succeeds(ctx, "document", reference, "-n", ns)).To(Equal(said{out: aibom.Status.BOMDocument.Inline.Data}), "byte for byte")
		}
	})

	It("fails with 1, and says what to do", func(ctx context.Context) {
		ns := optedIn(ctx)
		refused := nobody.run(ctx, "summary", "-A")
		Expect(refused.code).To(Equal(1))
		Expect(refused.out).To(BeEmpty())
		Expect(refused.errOut).To(And(HavePrefix("error: listing the AIBOMs in any namespace: "),
			ContainSubstring(`User "plugin-nobody" cannot list`), ContainSubstring("name a namespace with -n")))
		absent := viewer.run(ctx, "document", "deployment/absent", "-n", ns)
		Expect(absent.code).To(Equal(1))
		Expect(absent.errOut).To(HavePrefix("error: there is no AIBOM " + ns + "/deployment-absent: "))
	})

	It("says where a document is that the AIBOM does not hold, and that it could not search it", func(ctx context.Context) {
		ns := optedIn(ctx)
		deploy(ctx, ns, "llm", llama)
		archive := startStore()
		configure(ctx, into(archive.sink("archive")))
		external := awaitAIBOM(ctx, ns, "deployment-llm", HaveField("Status.BOMDocument.External", Not(BeNil())))
		document := viewer.run(ctx, "document", "deployment/llm", "-n", ns)
		Expect(document.code).To(Equal(1))
		Expect(document.out).To(BeEmpty())
		Expect(document.errOut).To(ContainSubstring(`lies in the sink "archive" at ` + external.Status.BOMDocument.External.URL))
		Expect(viewer.succeeds(ctx, "find", "vllm-openai", "-n", ns).errOut).To(ContainSubstring("(1 external, 0 truncated, 0 absent or unreadable)"))

		apply(ctx, into())
		awaitAIBOM(ctx, ns, "deployment-llm", HaveField("Status.BOMDocument.Truncated", true))
		document = viewer.run(ctx, "document", "deployment/llm", "-n", ns)
		Expect(document.code).To(Equal(1))
		Expect(document.errOut).To(ContainSubstring("because no external sink is configured"))
		found := viewer.succeeds(ctx, "find", llama, "-n", ns)
		Expect(found.out).To(ContainSubstring("llm"), "the summary is searched")
		Expect(found.errOut).To(ContainSubstring("(0 external, 1 truncated, 0 absent or unreadable)"))
	})

	It("tells of an allowlist whoever may read the configuration, and nobody else", Label("design-006"), func(ctx context.Context) {
		ns := optedIn(ctx)
		deploy(ctx, ns, "llm", llama)
		awaitAIBOM(ctx, ns, "deployment-llm")
		commands := [][]string{{"summary", "-n", ns}, {"find", "llama", "-n", ns}}

		for _, command := range commands {
			Expect(reader.succeeds(ctx, command...).errOut).To(BeEmpty(), "there is no configuration")
			Expect(reader.succeeds(ctx, append(command, "-v=1")...).errOut).To(ContainSubstring("there is none"))
		}

		configure(ctx, ofKinds("apps/StatefulSet", "serving.kserve.io/InferenceService"))
		Eventually(listAIBOMs(ctx, ns)).Should(BeEmpty(), "Deployments are not reported any more")
		for _, command := range commands {
			s := reader.succeeds(ctx, command...)
			Expect(s.out).To(BeEmpty())
			Expect(strings.Split(s.errOut, "\n")).To(HaveExactElements(And(
				HavePrefix(fmt.Sprintf("notice: 2 of %d known kinds enabled", len(kinds.Catalogue))),
				ContainSubstring("still watched and only not reported"), ContainSubstring("not watched at all"),
			), HavePrefix("No "), BeEmpty()), "one line, and that there is nothing")
			Expect(viewer.succeeds(ctx, command...).errOut).NotTo(ContainSubstring("known kinds"))
			Expect(viewer.succeeds(ctx, append(command, "--verbose")...).errOut).To(ContainSubstring("you may not read it"))
		}

		write(ctx, ofKinds("apps/StatefulSett"))
		Eventually(configuration(ctx)).Should(haveCondition(v1beta1.ConditionReady, metav1.ConditionFalse, v1beta1.ReasonConfigInvalid))
		for _, command := range commands {
			Expect(reader.succeeds(ctx, command...).errOut).To(And(
				ContainSubstring("warning: AIBOMControllerConfig default is not Ready (ConfigInvalid) and is Degraded (RunningOnLastKnownGood)"),
				ContainSubstring("this list is not known to be in force")))
		}

		apply(ctx, v1beta1.AIBOMControllerConfigSpec{})
		awaitAIBOM(ctx, ns, "deployment-llm")
		for _, command := range commands {
			Expect(reader.succeeds(ctx, command...).errOut).To(BeEmpty(), "it lists nothing")
		}
	})
})
