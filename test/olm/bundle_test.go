// SPDX-License-Identifier: Apache-2.0

package olm_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
)

// root is the repository as seen from this folder, where go test runs.
const root = "../.."

// csv holds the fields of a ClusterServiceVersion that the tests ask for.
type csv struct {
	Metadata struct {
		Name        string            `json:"name"`
		Annotations map[string]string `json:"annotations"`
		Labels      map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		CustomResourceDefinitions struct {
			Owned []ownedCRD `json:"owned"`
		} `json:"customresourcedefinitions"`
		Description string `json:"description"`
		Icon        []struct {
			Data      string `json:"base64data"`
			MediaType string `json:"mediatype"`
		} `json:"icon"`
		Install struct {
			Spec struct {
				Deployments []struct {
					Spec struct {
						Template corev1.PodTemplateSpec `json:"template"`
					} `json:"spec"`
				} `json:"deployments"`
			} `json:"spec"`
		} `json:"install"`
		InstallModes []struct {
			Type      string `json:"type"`
			Supported bool   `json:"supported"`
		} `json:"installModes"`
		Webhooks      []any                    `json:"webhookdefinitions"`
		Required      []any                    `json:"required"`
		RelatedImages []struct{ Image string } `json:"relatedImages"`
		Replaces      string                   `json:"replaces"`
		Version       string                   `json:"version"`
	} `json:"spec"`
}

type ownedCRD struct {
	Name      string       `json:"name"`
	Resources []any        `json:"resources"`
	Spec      []descriptor `json:"specDescriptors"`
	Status    []descriptor `json:"statusDescriptors"`
}

type descriptor struct {
	Path        string `json:"path"`
	DisplayName string `json:"displayName"`
	Description string `json:"description"`
}

func read(g Gomega, path string) []byte {
	data, err := os.ReadFile(filepath.Join(root, path))
	g.Expect(err).NotTo(HaveOccurred())
	return data
}

func readCSV(g Gomega) csv {
	var c csv
	g.Expect(yaml.Unmarshal(read(g, "bundle/manifests/k8s-aibom.clusterserviceversion.yaml"), &c)).To(Succeed())
	return c
}

// TestDescriptorsAreTheSchemasFields holds the descriptors of each CRD to the fields at the
// top of its spec and status.
func TestDescriptorsAreTheSchemasFields(t *testing.T) {
	g := NewWithT(t)
	owned := readCSV(g).Spec.CustomResourceDefinitions.Owned
	g.Expect(owned).To(HaveLen(2))
	for _, o := range owned {
		plural, _, _ := strings.Cut(o.Name, ".")
		crd := apiextensionsv1.CustomResourceDefinition{}
		g.Expect(yaml.UnmarshalStrict(read(g, "config/crd/bases/aibom.k8saibom.dev_"+plural+".yaml"), &crd)).To(Succeed())
		schema := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
		g.Expect(o.Resources).NotTo(BeEmpty())
		for part, descriptors := range map[string][]descriptor{"spec": o.Spec, "status": o.Status} {
			var described, fields []string
			for _, d := range descriptors {
				g.Expect(d.DisplayName).NotTo(BeEmpty())
				g.Expect(d.Description).NotTo(BeEmpty())
				described = append(described, d.Path)
			}
			for field := range schema.Properties[part].Properties {
				fields = append(fields, field)
			}
			g.Expect(described).To(ConsistOf(fields), "%s of %s", part, o.Name)
		}
	}
}

// TestAnyOlderVersionIsUpgraded holds the version to what it says of older ones.
func TestAnyOlderVersionIsUpgraded(t *testing.T) {
	g := NewWithT(t)
	c := readCSV(g)
	g.Expect(c.Metadata.Name).To(Equal("k8s-aibom.v" + c.Spec.Version))
	g.Expect(c.Metadata.Annotations).To(HaveKeyWithValue("olm.skipRange", ">=1.0.0 <"+c.Spec.Version))
	g.Expect(c.Spec.Replaces).NotTo(BeEmpty())
}

// TestBundleIsForOLMv1 holds the bundle to what OLM v1 installs: all namespaces, no webhooks,
// no dependencies.
func TestBundleIsForOLMv1(t *testing.T) {
	g := NewWithT(t)
	c := readCSV(g)
	for _, mode := range c.Spec.InstallModes {
		g.Expect(mode.Supported).To(Equal(mode.Type == "AllNamespaces"), mode.Type)
	}
	g.Expect(c.Spec.InstallModes).To(HaveLen(4))
	g.Expect(c.Spec.Webhooks).To(BeEmpty())
	g.Expect(c.Spec.Required).To(BeEmpty())
	g.Expect(filepath.Join(root, "bundle", "metadata", "dependencies.yaml")).NotTo(BeAnExistingFile())
	files, err := filepath.Glob(filepath.Join(root, "bundle", "manifests", "*"))
	g.Expect(err).NotTo(HaveOccurred())
	for _, file := range files {
		g.Expect(filepath.Base(file)).To(Or(HaveSuffix("_clusterrole.yaml"), HaveSuffix("_service.yaml"),
			HavePrefix("aibom.k8saibom.dev_"), HaveSuffix(".clusterserviceversion.yaml")), "OLM v1 knows every kind of object in the bundle")
	}
}

func TestIconAndImagesAreEverywhereTheSame(t *testing.T) {
	g := NewWithT(t)
	c := readCSV(g)
	g.Expect(c.Spec.Icon).To(HaveLen(1))
	g.Expect(c.Spec.Icon[0].MediaType).To(Equal("image/svg+xml"))
	icon, err := base64.StdEncoding.DecodeString(c.Spec.Icon[0].Data)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(icon)).To(Equal(string(read(g, "config/manifests/icon.svg"))))

	g.Expect(c.Spec.Install.Spec.Deployments).To(HaveLen(1))
	image := c.Spec.Install.Spec.Deployments[0].Spec.Template.Spec.Containers[0].Image
	g.Expect(c.Metadata.Annotations).To(HaveKeyWithValue("containerImage", image))
	g.Expect(c.Spec.RelatedImages).To(HaveLen(1))
	g.Expect(c.Spec.RelatedImages[0].Image).To(Equal(image))
}

// TestExamplesAreTheSamples holds alm-examples to strict reading by the API types.
func TestExamplesAreTheSamples(t *testing.T) {
	g := NewWithT(t)
	var examples []json.RawMessage
	g.Expect(json.Unmarshal([]byte(readCSV(g).Metadata.Annotations["alm-examples"]), &examples)).To(Succeed())
	g.Expect(examples).To(HaveLen(2))
	g.Expect(yaml.UnmarshalStrict(examples[0], &v1beta1.AIBOM{})).To(Succeed())
	g.Expect(yaml.UnmarshalStrict(examples[1], &v1beta1.AIBOMControllerConfig{})).To(Succeed())
}

// TestOpenShiftIsToldWhatItAsks holds the bundle to the annotations that OpenShift's catalog
// shows, and to the suggested namespace.
func TestOpenShiftIsToldWhatItAsks(t *testing.T) {
	g := NewWithT(t)
	annotations := readCSV(g).Metadata.Annotations
	for _, feature := range []string{"disconnected", "fips-compliant", "proxy-aware", "tls-profiles",
		"token-auth-aws", "token-auth-azure", "token-auth-gcp", "cnf", "cni", "csi"} {
		g.Expect(annotations).To(HaveKeyWithValue("features.operators.openshift.io/"+feature, Or(Equal("true"), Equal("false"))))
	}
	g.Expect(annotations).To(HaveKeyWithValue("operatorframework.io/suggested-namespace", "k8s-aibom-system"))
	var namespace corev1.Namespace
	g.Expect(json.Unmarshal([]byte(annotations["operatorframework.io/suggested-namespace-template"]), &namespace)).To(Succeed())
	g.Expect(namespace.Name).To(Equal("k8s-aibom-system"))
	g.Expect(namespace.Labels).To(HaveKeyWithValue("pod-security.kubernetes.io/enforce", "restricted"))

	bundle := struct{ Annotations map[string]string }{}
	g.Expect(yaml.Unmarshal(read(g, "bundle/metadata/annotations.yaml"), &bundle)).To(Succeed())
	dockerfile := string(read(g, "bundle.Dockerfile"))
	for key, value := range bundle.Annotations {
		g.Expect(dockerfile).To(ContainSubstring("LABEL " + key + "=" + value + "\n"))
	}
	g.Expect(bundle.Annotations).To(HaveKeyWithValue("com.redhat.openshift.versions", MatchRegexp(`^v4\.\d+$`)))
	channels := strings.Split(bundle.Annotations["operators.operatorframework.io.bundle.channels.v1"], ",")
	g.Expect(slices.Sorted(slices.Values(channels))).To(Equal([]string{"candidate", "stable"}))
}

func TestUninstallIsTold(t *testing.T) {
	g := NewWithT(t)
	g.Expect(readCSV(g).Spec.Description).To(And(ContainSubstring("The CRDs stay"), ContainSubstring("## First steps")))
}
