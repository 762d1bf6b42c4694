// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"sigs.k8s.io/yaml"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// podPaths are the fields of a pod's spec that the shared extraction reads.
var podPaths = []string{
	"initContainers[].name", "initContainers[].image", "initContainers[].restartPolicy",
	"containers[].name", "containers[].image", "containers[].command", "containers[].args",
	"containers[].env[].name", "containers[].env[].value", "containers[].env[].valueFrom",
	"containers[].envFrom", "containers[].resources.limits", "containers[].resources.requests",
	"containers[].volumeMounts[].name", "containers[].volumeMounts[].mountPath",
	"volumes[].name", "volumes[].persistentVolumeClaim.claimName", "volumes[].hostPath.path",
	"volumes[].image.reference", "volumes[].csi", "volumes[].nfs",
}

func below(prefix string, paths ...string) []string {
	var all []string
	for _, p := range paths {
		all = append(all, prefix+p)
	}
	return all
}

func join(lists ...[]string) []string {
	var all []string
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

func lwsPaths(spec string) []string {
	return join(
		below(spec, "replicas", "leaderWorkerTemplate.size"),
		below(spec+"leaderWorkerTemplate.leaderTemplate.spec.", podPaths...),
		below(spec+"leaderWorkerTemplate.workerTemplate.spec.", podPaths...),
	)
}

// readPaths are the fields that are read of each kind whose CRD is published.
func readPaths() map[string][]string {
	kserve := join(
		below("spec.predictor.", "serviceAccountName", "model.modelFormat.name", "model.modelFormat.version",
			"model.storageUri", "model.storage.key", "model.storage.path", "model.storage.parameters.type",
			"model.runtime", "model.runtimeVersion", "model.name", "model.image", "model.command", "model.args",
			"model.env[].name", "model.resources.limits", "model.volumeMounts[].mountPath"),
		below("spec.predictor.", podPaths...),
		below("spec.predictor.workerSpec.", podPaths...),
		below("spec.transformer.", podPaths...),
		below("spec.explainer.", podPaths...),
	)
	for _, framework := range kserveFrameworks {
		kserve = append(kserve, below("spec.predictor."+framework+".", "storageUri", "runtimeVersion", "storage.path", "args", "env")...)
	}
	return map[string][]string{
		"InferenceService": kserve,
		"NIMService": below("spec.", "image.repository", "image.tag", "env[].name", "env[].value", "env[].valueFrom",
			"args", "command", "resources.limits", "resources.requests", "storage.nimCache.name", "storage.nimCache.profile", "storage.pvc.name",
			"storage.hostPath", "storage.emptyDir.sizeLimit", "multiNode.backendType", "multiNode.parallelism.tensor",
			"multiNode.parallelism.pipeline", "inferencePlatform"),
		"LeaderWorkerSet":  lwsPaths("spec."),
		"DisaggregatedSet": append(lwsPaths("spec.roles[].spec."), "spec.roles[].name", "spec.slices"),
	}
}

// schemaOf is the schema of the version of a kind that is read, from the CRD that its project
// publishes.
func schemaOf(t *testing.T, k kinds.Kind) *apiextensionsv1.JSONSchemaProps {
	t.Helper()
	g := NewWithT(t)
	data, err := os.ReadFile(filepath.Join(upstream(t, "crds"), k.GVK.Group+"_"+k.Resource+".yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	var crd apiextensionsv1.CustomResourceDefinition
	g.Expect(yaml.Unmarshal(data, &crd)).To(Succeed())
	g.Expect(crd.Name).To(Equal(k.CRD()))
	g.Expect(crd.Spec.Names.Kind).To(Equal(k.GVK.Kind))
	g.Expect(crd.Spec.Names.Plural).To(Equal(k.Resource))
	g.Expect(crd.Spec.Scope).To(Equal(apiextensionsv1.NamespaceScoped))
	for _, v := range crd.Spec.Versions {
		if v.Name == k.GVK.Version {
			g.Expect(v.Served).To(BeTrue(), "the version that is read must be served")
			return v.Schema.OpenAPIV3Schema
		}
	}
	t.Fatalf("%s has no version %s", crd.Name, k.GVK.Version)
	return nil
}

// hasPath says whether a schema knows a field, as an error where it does not.
func hasPath(schema *apiextensionsv1.JSONSchemaProps, path string) error {
	for _, name := range strings.Split(path, ".") {
		name, list := strings.CutSuffix(name, "[]")
		next, ok := schema.Properties[name]
		switch {
		case ok:
		case schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil:
			next = *schema.AdditionalProperties.Schema
		default:
			return fmt.Errorf("the schema has no %s in %s", name, path)
		}
		schema = &next
		if list {
			if schema.Items == nil || schema.Items.Schema == nil {
				return fmt.Errorf("%s in %s is no list", name, path)
			}
			schema = schema.Items.Schema
		}
	}
	return nil
}

// inadmissible are published manifests that their own CRD refuses, and why.
var inadmissible = map[string]string{
	"kserve-inferenceservice-6386b69da0.yaml": `resources.requests.cpu in body must be of type integer,string: "number"`,
	"kserve-inferenceservice-b50cee1fa5.yaml": `resources.requests.cpu in body must be of type integer,string: "number"`,
}

// TestUpstreamCRDs holds that every field that is read exists in the CRD that its project
// publishes, and that real manifests fit it.
func TestUpstreamCRDs(t *testing.T) {
	manifests := map[string][]label{}
	for _, l := range labelled(t) {
		manifests[l.kind.Name()] = append(manifests[l.kind.Name()], l)
	}
	for kind, paths := range readPaths() {
		t.Run(kind, func(t *testing.T) {
			g := NewWithT(t)
			published := schemaOf(t, kindNamed(t, kind))
			for _, path := range paths {
				g.Expect(hasPath(published, path)).To(Succeed())
			}
			g.Expect(hasPath(published, "spec.noSuchField")).NotTo(Succeed())

			var internal apiextensions.JSONSchemaProps
			g.Expect(apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(published, &internal, nil)).To(Succeed())
			validator, _, err := validation.NewSchemaValidator(&internal)
			g.Expect(err).NotTo(HaveOccurred())
			structural, err := schema.NewStructural(&internal)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(manifests[kind]).NotTo(BeEmpty())
			for _, l := range manifests[kind] {
				// As the API server does before it validates.
				defaulting.PruneNonNullableNullsWithoutDefaults(l.object, structural)
				defaulting.Default(l.object, structural)
				errs := validation.ValidateCustomResource(nil, l.object, validator)
				if reason, ok := inadmissible[l.File]; ok {
					g.Expect(errs.ToAggregate()).To(MatchError(ContainSubstring(reason)), l.File)
					continue
				}
				if err := errs.ToAggregate(); err != nil {
					t.Errorf("%s: %v", l.File, err)
				}
			}
			broken := map[string]any{"spec": "text"}
			g.Expect(validation.ValidateCustomResource(nil, broken, validator)).NotTo(BeEmpty(), "the validator must be able to refuse")
		})
	}
}
