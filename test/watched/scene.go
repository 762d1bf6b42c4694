// SPDX-License-Identifier: Apache-2.0

package watched

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

const podTemplate = `{spec: {containers: [{name: server, image: "docker.io/vllm/vllm-openai:v0.11.0", command: [vllm, serve, Qwen/Qwen3-8B]}]}}`

// specs are those of one workload of each kind, by the kind and, where the versions differ, by
// its version.
var specs = map[string]string{
	InferenceService.Name():        `{predictor: {model: {modelFormat: {name: sklearn}, storageUri: "gs://models/iris"}}}`,
	Graph.Name() + "/v1alpha1":     `{backendFramework: vllm, services: {decode: {componentType: worker, modelRef: {name: Qwen/Qwen3-8B}, podTemplate: ` + podTemplate + `}}}`,
	Graph.Name() + "/v1beta1":      `{backendFramework: vllm, components: [{name: decode, type: worker, modelRef: {name: Qwen/Qwen3-8B}, podTemplate: ` + podTemplate + `}]}`,
	Component.Name() + "/v1alpha1": `{backendFramework: vllm, serviceName: decode, componentType: worker, modelRef: {name: Qwen/Qwen3-8B}, podTemplate: ` + podTemplate + `}`,
	Component.Name() + "/v1beta1":  `{backendFramework: vllm, name: decode, type: worker, modelRef: {name: Qwen/Qwen3-8B}, podTemplate: ` + podTemplate + `}`,
	NIMService.Name():              `{image: {repository: nvcr.io/nim/meta/llama-3.1-8b-instruct, tag: "1.8.3"}}`,
	WorkerSet.Name():               `{replicas: 1, leaderWorkerTemplate: {size: 2, workerTemplate: ` + podTemplate + `}}`,
	DisaggregatedSet.Name():        `{roles: [{name: decode, spec: {replicas: 1, leaderWorkerTemplate: {size: 2, workerTemplate: ` + podTemplate + `}}}]}`,
}

func specOf(k kinds.Kind, version string) map[string]any {
	GinkgoHelper()
	text, ok := specs[k.Name()]
	if !ok {
		text = specs[k.Name()+"/"+version]
	}
	spec := map[string]any{}
	Expect(yaml.Unmarshal([]byte(text), &spec)).To(Succeed())
	return spec
}

// Scene is a namespace of a spec's own, which is opted in.
type Scene struct {
	Namespace string
	system    *System
	version   func(kinds.Kind) string
}

// NewScene is a scene whose workloads are written in the version of their kind that a function
// names; nil means the version that the controller reads. They are the caller's to remove.
func (s *System) NewScene(ctx context.Context, version func(kinds.Kind) string) *Scene {
	GinkgoHelper()
	if version == nil {
		version = func(k kinds.Kind) string { return k.GVK.Version }
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "scene-", Labels: map[string]string{v1beta1.OptInLabel: v1beta1.OptInValue},
	}}
	Expect(s.Admin.Create(ctx, ns)).To(Succeed())
	return &Scene{Namespace: ns.Name, system: s, version: version}
}

// Workload is a workload of a third-party kind that is not created yet.
func (s *Scene) Workload(k kinds.Kind, name string) *unstructured.Unstructured {
	GinkgoHelper()
	u := Empty(k, s.version(k))
	u.SetNamespace(s.Namespace)
	u.SetName(name)
	u.Object["spec"] = specOf(k, s.version(k))
	return u
}

// Put creates a workload of a third-party kind.
func (s *Scene) Put(ctx context.Context, k kinds.Kind, name string) types.NamespacedName {
	GinkgoHelper()
	u := s.Workload(k, name)
	Expect(s.system.Admin.Create(ctx, u)).To(Succeed())
	return client.ObjectKeyFromObject(u)
}

// PutAll puts one workload of each third-party kind.
func (s *Scene) PutAll(ctx context.Context, name string) {
	GinkgoHelper()
	for _, k := range kinds.ThirdParty() {
		s.Put(ctx, k, name)
	}
}

// RemoveAll removes the workloads of a kind.
func (s *Scene) RemoveAll(ctx context.Context, k kinds.Kind) {
	GinkgoHelper()
	Expect(s.system.Admin.DeleteAllOf(ctx, Empty(k, s.version(k)), client.InNamespace(s.Namespace))).To(Succeed())
}

// Deploy creates a Deployment that serves a model.
func (s *Scene) Deploy(ctx context.Context, name string) {
	GinkgoHelper()
	labels := map[string]string{"app": name}
	Expect(s.system.Admin.Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: PodTemplate(labels),
		},
	})).To(Succeed())
}

// PodTemplate is that of a server of a model.
func PodTemplate(labels map[string]string) corev1.PodTemplateSpec {
	GinkgoHelper()
	var template corev1.PodTemplateSpec
	Expect(yaml.Unmarshal([]byte(podTemplate), &template)).To(Succeed())
	template.Labels = labels
	return template
}

// OptOut takes the namespace out of the inventory.
func (s *Scene) OptOut(ctx context.Context) {
	GinkgoHelper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}
	Expect(s.system.Admin.Patch(ctx, ns, client.RawPatch(types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"`+v1beta1.OptInLabel+`":null}}}`)))).To(Succeed())
}

// Document reads the hash of the document in the AIBOM of a workload.
func (s *Scene) Document(ctx context.Context, kind, workload string) func() (string, error) {
	return func() (string, error) {
		aibom := &v1beta1.AIBOM{}
		key := client.ObjectKey{Namespace: s.Namespace, Name: strings.ToLower(kind) + "-" + workload}
		if err := s.system.Admin.Get(ctx, key, aibom); err != nil {
			return "", err
		}
		return ptr.Deref(aibom.Status.BOMDocument, v1beta1.BOMDocument{}).SHA256, nil
	}
}

// Documented expects the AIBOM of a workload, with its document, within a time.
func (s *Scene) Documented(ctx context.Context, kind, workload string) {
	GinkgoHelper()
	Eventually(s.Document(ctx, kind, workload)).Should(Not(BeEmpty()),
		"%s %s has its AIBOM", kind, workload)
}

// Deployed expects that a Deployment that is created now has its AIBOM within seconds: the
// built-in kinds are served.
func (s *Scene) Deployed(ctx context.Context, name string) {
	GinkgoHelper()
	s.Deploy(ctx, name)
	Eventually(s.Document(ctx, "Deployment", name)).WithTimeout(Patience).Should(Not(BeEmpty()),
		"Deployment %s has its AIBOM within seconds", name)
}

// AIBOMs lists the names of the namespace's AIBOMs.
func (s *Scene) AIBOMs(ctx context.Context) func() ([]string, error) {
	return func() ([]string, error) {
		list := &v1beta1.AIBOMList{}
		err := s.system.Admin.List(ctx, list, client.InNamespace(s.Namespace))
		names := []string{}
		for _, aibom := range list.Items {
			names = append(names, aibom.Name)
		}
		return names, err
	}
}
