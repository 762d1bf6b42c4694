// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
	"github.com/k8s-aibom/k8s-aibom/test/suite"
)

var _ = Describe("Hostile input gives a bounded, valid document", Label("foundation-6"), func() {
	// The API server takes objects of up to about 1.5 MiB and no invalid UTF-8.
	DescribeTable("such as", func(ctx context.Context, mutate func(*corev1.PodSpec)) {
		ns := optedIn(ctx)
		since := mark()
		template := serving(llama)
		mutate(&template.Spec)
		create(ctx, "Deployment", ns, "hostile", template)
		aibom := awaitAIBOM(ctx, ns, "deployment-hostile")
		document := aibom.Status.BOMDocument
		Expect(document.Size).To(BeNumerically("<", 2<<20), "the document is bounded")
		if document.Inline == nil {
			Expect(document.TruncationReason).To(Equal("no external sink is configured"))
		} else {
			Expect(len(*parseDocument(aibom).Components)).To(BeNumerically("<=", 512))
		}
		Expect(len(aibom.Status.Summary.Models)).To(BeNumerically("<=", 64))
		for _, model := range aibom.Status.Summary.Models {
			Expect(len(model.Identity)).To(BeNumerically("<=", 1100), "a value is cut")
		}
		suite.Settled(requests(since, ns)).Should(Equal([]string{
			"create aiboms deployment-hostile", "patch aiboms/status deployment-hostile",
		}), "it costs what any workload costs")
		Expect(manager.Exited()).NotTo(BeClosed(), "the manager runs on")

		By("a neighbour that is not kept waiting")
		deploy(ctx, ns, "neighbour", qwen)
		awaitAIBOM(ctx, ns, "deployment-neighbour", haveModels(qwen))
	},
		Entry("a megabyte of arguments", func(s *corev1.PodSpec) {
			for range 8 {
				s.Containers[0].Args = append(s.Containers[0].Args, strings.Repeat("x", 125<<10))
			}
		}),
		Entry("a model's name of a megabyte", func(s *corev1.PodSpec) {
			s.Containers[0].Args = []string{"--served-model-name", strings.Repeat("y", 500<<10), "--model=" + strings.Repeat("z", 500<<10)}
		}),
		Entry("ten thousand models", func(s *corev1.PodSpec) {
			for i := range 10_000 {
				s.Containers[0].Args = append(s.Containers[0].Args, fmt.Sprintf("--model=org/model-%d", i))
			}
		}),
		Entry("a shell script of a megabyte", func(s *corev1.PodSpec) {
			s.Containers[0].Command = []string{"sh", "-c", "vllm serve " + llama + " " + strings.Repeat("$(( (", 200_000)}
		}),
		Entry("300 containers with 20 variables each", func(s *corev1.PodSpec) {
			for i := range 300 {
				c := corev1.Container{Name: fmt.Sprintf("c-%d", i), Image: fmt.Sprintf("docker.io/vllm/vllm-openai:v0.%d.0", i)}
				for j := range 20 {
					c.Env = append(c.Env, corev1.EnvVar{Name: fmt.Sprintf("MODEL_ID_%d", j), Value: fmt.Sprintf("org/model-%d-%d", i, j)})
				}
				c.Env = append(c.Env, corev1.EnvVar{Name: "MODEL_ID", Value: fmt.Sprintf("org/model-%d", i)})
				s.Containers = append(s.Containers, c)
			}
		}),
		Entry("variables that refer to each other in a circle", func(s *corev1.PodSpec) {
			s.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: "$(B)"}, {Name: "B", Value: "$(A)"}, {Name: "MODEL_ID", Value: "$(A)$(B)"}}
			s.Containers[0].Args = []string{"--model=$(A)", "--tokenizer=$(MODEL_ID)"}
		}),
		Entry("control characters, reversed text and images that do not parse", func(s *corev1.PodSpec) {
			s.Containers[0].Args = []string{"--model=a\u0001\u202e\u2066b\ufffd\U0001f600/\r\n{\"x\":1}"}
			s.Containers = append(s.Containers,
				corev1.Container{Name: "odd", Image: "!!not an image!!@sha256:xyz"},
				corev1.Container{Name: "long", Image: "docker.io/" + strings.Repeat("a/", 5000) + "vllm-openai:v1"})
		}),
	)
})

var _ = Describe("No secret of a manifest leaves it", Label("foundation-6"), func() {
	It("is in no AIBOM, no log line, no event and no metric", func(ctx context.Context) {
		configure(ctx, v1beta1.AIBOMControllerConfigSpec{Logging: v1beta1.LoggingSpec{Level: "debug"}})
		ns := optedIn(ctx)
		const (
			canary = "canary4e1f9c"
			hf     = "hf_canaryABCDEFGHIJKLMNOPQRSTUVWX"
			openai = "sk-proj-canary0123456789abcdefghijABCDEFGHIJ"
		)
		template := serving(llama)
		server := &template.Spec.Containers[0]
		server.Args = []string{
			"--api-key=" + canary, "--hf-token", hf, "--api-key", openai,
			"--tokenizer=https://user:" + canary + "@models.example.com/t?token=" + canary,
		}
		server.Env = []corev1.EnvVar{
			{Name: "HF_TOKEN", Value: hf},
			{Name: "OPENAI_API_KEY", Value: openai},
			{Name: "ANTHROPIC_API_KEY", Value: canary},
			{Name: "DB_PASSWORD", Value: canary},
			{Name: "OPENAI_BASE_URL", Value: "https://user:" + canary + "@api.example.com/v1?api_key=" + canary},
			{Name: "MODEL_URI", Value: "s3://bucket/model?X-Amz-Signature=" + canary},
			{Name: "GOOGLE_API_KEY", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: "keys"}, Key: "google",
			}}},
		}
		template.Spec.InitContainers = []corev1.Container{{
			Name: "download", Image: "docker.io/library/python:3.13",
			Command: []string{"sh", "-c", "HF_TOKEN=" + hf + " huggingface-cli download --token " + hf + " " + qwen +
				" && curl -H 'Authorization: Bearer " + openai + "' https://example.com/w"},
		}}
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "keys"}, StringData: map[string]string{"google": canary},
		}
		Expect(admin.Create(ctx, secret)).To(Succeed())
		workload := builders["Deployment"](metav1.ObjectMeta{
			Namespace: ns, Name: "llm", Annotations: map[string]string{"model.k8saibom.dev/source": "https://x:" + canary + "@example.com/m"},
		}, template)
		Expect(admin.Create(ctx, workload)).To(Succeed())
		aibom := awaitAIBOM(ctx, ns, "deployment-llm")
		Expect(*parseDocument(aibom).Services).To(ContainElement(HaveField("Name", "anthropic")), "that there is a key is known")

		log, err := manager.Log()
		Expect(err).NotTo(HaveOccurred())
		_, exposed := metrics(ctx, metricsToken(ctx))
		for place, text := range map[string]string{
			"the AIBOM":   kubectl(ctx, "-n", ns, "get", "aibom", "-o", "yaml"),
			"the log":     log,
			"the events":  kubectl(ctx, "-n", ns, "get", "events.events.k8s.io", "-o", "yaml"),
			"the metrics": exposed,
		} {
			Expect(text).NotTo(BeEmpty())
			for _, secret := range []string{canary, hf, openai} {
				Expect(strings.Contains(text, secret)).To(BeFalse(), "%s holds %s", place, secret)
			}
		}
		seen, err := plane.Requests(0, harness.Filter{User: harness.ManagerUser, Resource: "secrets"})
		Expect(err).NotTo(HaveOccurred())
		Expect(seen).To(BeEmpty(), "the manager never asks for a Secret")
	})
})
