// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// The six third-party kinds.
var (
	inferenceService = kindOf("serving.kserve.io", "InferenceService")
	graph            = kindOf("nvidia.com", "DynamoGraphDeployment")
	component        = kindOf("nvidia.com", "DynamoComponentDeployment")
	nimService       = kindOf("apps.nvidia.com", "NIMService")
	workerSet        = kindOf("leaderworkerset.x-k8s.io", "LeaderWorkerSet")
	disaggregatedSet = kindOf("disaggregatedset.x-k8s.io", "DisaggregatedSet")
)

func kindOf(group, kind string) kinds.Kind {
	k, known := kinds.For(schema.GroupKind{Group: group, Kind: kind})
	if !known {
		panic("the catalogue lost " + kind)
	}
	return k
}

// allBut lists the third-party kinds except one.
func allBut(one kinds.Kind) []kinds.Kind {
	var rest []kinds.Kind
	for _, k := range kinds.ThirdParty() {
		if k.Name() != one.Name() {
			rest = append(rest, k)
		}
	}
	return rest
}

const podTemplate = `{spec: {containers: [{name: server, image: "docker.io/vllm/vllm-openai:v0.11.0", command: [vllm, serve, Qwen/Qwen3-8B]}]}}`

// specs are those of one workload of each kind, in the version that is stored.
var specs = map[string]string{
	inferenceService.Name(): `{predictor: {model: {modelFormat: {name: sklearn}, storageUri: "gs://models/iris"}}}`,
	graph.Name():            `{backendFramework: vllm, services: {decode: {componentType: worker, modelRef: {name: Qwen/Qwen3-8B}, podTemplate: ` + podTemplate + `}}}`,
	component.Name():        `{backendFramework: vllm, serviceName: decode, componentType: worker, modelRef: {name: Qwen/Qwen3-8B}, podTemplate: ` + podTemplate + `}`,
	nimService.Name():       `{image: {repository: nvcr.io/nim/meta/llama-3.1-8b-instruct, tag: "1.8.3"}}`,
	workerSet.Name():        `{replicas: 1, leaderWorkerTemplate: {size: 2, workerTemplate: ` + podTemplate + `}}`,
	disaggregatedSet.Name(): `{roles: [{name: decode, spec: {replicas: 1, leaderWorkerTemplate: {size: 2, workerTemplate: ` + podTemplate + `}}}]}`,
}

func empty(k kinds.Kind, version string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(k.GVK.GroupKind().WithVersion(version))
	return u
}

// scene is a namespace of a spec's own.
type scene struct{ namespace string }

// newScene is an opted-in namespace. When the spec, or the container whose BeforeAll calls
// it, ends, every conversion fault is undone and what was put there is removed.
func newScene(ctx context.Context) *scene {
	GinkgoHelper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "isolation-", Labels: map[string]string{v1beta1.OptInLabel: v1beta1.OptInValue},
	}}
	Expect(admin.Create(ctx, ns)).To(Succeed())
	s := &scene{namespace: ns.Name}
	DeferCleanup(func(ctx context.Context) {
		mend(ctx)
		for _, k := range kinds.ThirdParty() {
			s.removeAll(ctx, k)
		}
	})
	return s
}

// put creates a workload of a third-party kind in the stored version, which needs no
// conversion.
func (s *scene) put(ctx context.Context, k kinds.Kind, name string) types.NamespacedName {
	GinkgoHelper()
	u := empty(k, olderVersion(k))
	u.SetNamespace(s.namespace)
	u.SetName(name)
	spec := map[string]any{}
	Expect(yaml.Unmarshal([]byte(specs[k.Name()]), &spec)).To(Succeed())
	u.Object["spec"] = spec
	Expect(admin.Create(ctx, u)).To(Succeed())
	return client.ObjectKeyFromObject(u)
}

// putAll puts one workload of each third-party kind.
func (s *scene) putAll(ctx context.Context, name string) {
	GinkgoHelper()
	for _, k := range kinds.ThirdParty() {
		s.put(ctx, k, name)
	}
}

// removeAll removes the workloads of a kind, in the stored version.
func (s *scene) removeAll(ctx context.Context, k kinds.Kind) {
	GinkgoHelper()
	Expect(admin.DeleteAllOf(ctx, empty(k, olderVersion(k)), client.InNamespace(s.namespace))).To(Succeed())
}

// deploy creates a Deployment that serves a model.
func (s *scene) deploy(ctx context.Context, name string) {
	GinkgoHelper()
	var template corev1.PodTemplateSpec
	Expect(yaml.Unmarshal([]byte(podTemplate), &template)).To(Succeed())
	labels := map[string]string{"app": name}
	template.Labels = labels
	Expect(admin.Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec:       appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template},
	})).To(Succeed())
}

// optOut takes the namespace out of the inventory.
func (s *scene) optOut(ctx context.Context) {
	GinkgoHelper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	Expect(admin.Patch(ctx, ns, client.RawPatch(types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"`+v1beta1.OptInLabel+`":null}}}`)))).To(Succeed())
}

// document reads the hash of the document in the AIBOM of a workload.
func (s *scene) document(ctx context.Context, kind, workload string) func() (string, error) {
	return func() (string, error) {
		aibom := &v1beta1.AIBOM{}
		key := client.ObjectKey{Namespace: s.namespace, Name: strings.ToLower(kind) + "-" + workload}
		if err := admin.Get(ctx, key, aibom); err != nil {
			return "", err
		}
		return ptr.Deref(aibom.Status.BOMDocument, v1beta1.BOMDocument{}).SHA256, nil
	}
}

// documented expects the AIBOM of a workload, with its document, within a time.
func (s *scene) documented(ctx context.Context, kind, workload string) {
	GinkgoHelper()
	Eventually(s.document(ctx, kind, workload)).Should(Not(BeEmpty()),
		"%s %s has its AIBOM", kind, workload)
}

// deployed expects that a Deployment that is created now has its AIBOM within seconds: the
// built-in kinds are served.
func (s *scene) deployed(ctx context.Context, name string) {
	GinkgoHelper()
	s.deploy(ctx, name)
	Eventually(s.document(ctx, "Deployment", name)).WithTimeout(seconds).Should(Not(BeEmpty()),
		"Deployment %s has its AIBOM within seconds", name)
}

// aiboms lists the names of the namespace's AIBOMs.
func (s *scene) aiboms(ctx context.Context) func() ([]string, error) {
	return func() ([]string, error) {
		list := &v1beta1.AIBOMList{}
		err := admin.List(ctx, list, client.InNamespace(s.namespace))
		names := []string{}
		for _, aibom := range list.Items {
			names = append(names, aibom.Name)
		}
		return names, err
	}
}
