// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/test/watched"
)

// The six third-party kinds.
var (
	inferenceService = watched.InferenceService
	graph            = watched.Graph
	component        = watched.Component
	nimService       = watched.NIMService
	workerSet        = watched.WorkerSet
	disaggregatedSet = watched.DisaggregatedSet
)

const podTemplate = `{spec: {containers: [{name: server, image: "` + vllmImage + `", command: [vllm, serve, Qwen/Qwen3-8B]}]}}`

// specs are those of one workload of each kind, in the version that is read.
var specs = map[string]string{
	inferenceService.Name(): `{predictor: {model: {modelFormat: {name: huggingface}, storageUri: "hf://Qwen/Qwen3-8B"}}}`,
	graph.Name():            `{backendFramework: vllm, components: [{name: decode, type: worker, podTemplate: ` + podTemplate + `}]}`,
	component.Name():        `{backendFramework: vllm, name: decode, type: worker, podTemplate: ` + podTemplate + `}`,
	nimService.Name():       `{image: {repository: nvcr.io/nim/meta/llama-3.1-8b-instruct, tag: "1.8.3"}}`,
	workerSet.Name():        `{replicas: 1, leaderWorkerTemplate: {size: 2, workerTemplate: ` + podTemplate + `}}`,
	disaggregatedSet.Name(): `{roles: [{name: decode, spec: {replicas: 1, leaderWorkerTemplate: {size: 2, workerTemplate: ` + podTemplate + `}}}]}`,
}

// put creates a workload of a third-party kind.
func (s *scene) put(ctx context.Context, k kinds.Kind, name string, owners ...metav1.OwnerReference) *unstructured.Unstructured {
	GinkgoHelper()
	spec := map[string]any{}
	Expect(yaml.Unmarshal([]byte(specs[k.Name()]), &spec)).To(Succeed())
	return s.custom(ctx, k.GVK, name, spec, owners...)
}

// custom creates a custom object.
func (s *scene) custom(ctx context.Context, of schema.GroupVersionKind, name string, spec map[string]any, owners ...metav1.OwnerReference) *unstructured.Unstructured {
	GinkgoHelper()
	u := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	u.SetGroupVersionKind(of)
	u.SetNamespace(s.namespace)
	u.SetName(name)
	u.SetOwnerReferences(owners)
	Expect(admin.Create(ctx, u)).To(Succeed())
	return u
}

// group is one leader with its workers, as the LeaderWorkerSet controller makes them.
type group struct {
	leaders, workers     *appsv1.StatefulSet
	leaderPod, workerPod *corev1.Pod
}

// materialise makes what the LeaderWorkerSet controller makes of a set: a StatefulSet of
// leaders, and for the leader Pod that this makes a StatefulSet of workers below the Pod.
func (s *scene) materialise(ctx context.Context, set *unstructured.Unstructured) *group {
	GinkgoHelper()
	g := &group{leaders: statefulSet(s.namespace, set.GetName(), 1, ownedBy(set))}
	Expect(admin.Create(ctx, g.leaders)).To(Succeed())
	g.leaderPod = s.podOf(ctx, g.leaders)
	g.workers = statefulSet(s.namespace, g.leaderPod.Name, 1, ownedBy(g.leaderPod))
	g.workers.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: 1}
	Expect(admin.Create(ctx, g.workers)).To(Succeed())
	g.workerPod = s.podOf(ctx, g.workers)
	return g
}

// groveKinds are those between a Dynamo graph and its pods where Grove runs them.
var (
	podCliqueSet          = gvk("grove.io/v1alpha1", "PodCliqueSet")
	podCliqueScalingGroup = gvk("grove.io/v1alpha1", "PodCliqueScalingGroup")
	podClique             = gvk("grove.io/v1alpha1", "PodClique")
)

// runOnGrove makes what Grove makes of a graph: three objects one below the other, and a pod.
func (s *scene) runOnGrove(ctx context.Context, graph *unstructured.Unstructured) *corev1.Pod {
	GinkgoHelper()
	set := s.custom(ctx, podCliqueSet, graph.GetName(), map[string]any{}, ownedBy(graph))
	scaling := s.custom(ctx, podCliqueScalingGroup, graph.GetName()+"-0", map[string]any{}, ownedBy(set))
	clique := s.custom(ctx, podClique, graph.GetName()+"-0-decode", map[string]any{}, ownedBy(scaling))
	return s.pod(ctx, graph.GetName()+"-0-decode-x", ownedBy(clique))
}

// installGrove installs Grove's CRDs until the spec ends.
func installGrove() {
	GinkgoHelper()
	for _, of := range []schema.GroupVersionKind{podCliqueSet, podCliqueScalingGroup, podClique} {
		crd := crdOf(of)
		install(crd)
		DeferCleanup(func(ctx context.Context) { uninstall(ctx, crd) })
	}
}

// crdOf is the least that an API server needs to serve a kind.
func crdOf(of schema.GroupVersionKind) *apiextensionsv1.CustomResourceDefinition {
	singular := strings.ToLower(of.Kind)
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: singular + "s." + of.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: of.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Kind: of.Kind, ListKind: of.Kind + "List", Singular: singular, Plural: singular + "s",
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: of.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: ptr.To(true),
				}},
			}},
		},
	}
}

// uninstall removes a CRD with all of its objects and waits until it is gone.
func uninstall(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) {
	GinkgoHelper()
	Expect(plane.RemoveCRD(ctx, crd.Name)).To(Succeed())
}
