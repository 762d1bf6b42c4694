// SPDX-License-Identifier: Apache-2.0

package kinds_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"sigs.k8s.io/yaml"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// fixtures is the folder of the stand-ins for other projects' CRDs.
var fixtures = filepath.Join("..", "..", "config", "crd", "external")

// TestExternalCRDs holds the stand-ins to the catalogue, and to what an API server accepts and
// establishes.
func TestExternalCRDs(t *testing.T) {
	for _, k := range kinds.ThirdParty() {
		t.Run(k.Name(), func(t *testing.T) {
			g := NewWithT(t)
			data, err := os.ReadFile(filepath.Join(fixtures, k.GVK.Group+"_"+k.Resource+".yaml"))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(data)).To(HavePrefix("# DO NOT APPLY TO A CLUSTER."))

			var crd apiextensionsv1.CustomResourceDefinition
			g.Expect(yaml.UnmarshalStrict(data, &crd)).To(Succeed())
			g.Expect(crd.GroupVersionKind()).To(Equal(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition")))
			g.Expect(crd.Name).To(Equal(k.CRD()))
			g.Expect(crd.Spec.Group).To(Equal(k.GVK.Group))
			g.Expect(crd.Spec.Scope).To(Equal(apiextensionsv1.NamespaceScoped))
			g.Expect(crd.Spec.Names).To(Equal(apiextensionsv1.CustomResourceDefinitionNames{
				Plural: k.Resource, Singular: strings.ToLower(k.GVK.Kind), Kind: k.GVK.Kind, ListKind: k.GVK.Kind + "List",
			}))
			g.Expect(served(crd)).To(ContainElement(k.GVK.Version))
			g.Expect(refusals(g, crd)).To(BeEmpty())
		})
	}
	g := NewWithT(t)
	files, err := os.ReadDir(fixtures)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files).To(HaveLen(len(kinds.ThirdParty())), "one file for each kind and nothing else")
}

// TestDynamoFixturesConvert holds that the Dynamo kinds are stored in another version than the
// one that is read, so that reading them needs the conversion.
func TestDynamoFixturesConvert(t *testing.T) {
	for _, resource := range []string{"dynamographdeployments", "dynamocomponentdeployments"} {
		g := NewWithT(t)
		data, err := os.ReadFile(filepath.Join(fixtures, "nvidia.com_"+resource+".yaml"))
		g.Expect(err).NotTo(HaveOccurred())
		var crd apiextensionsv1.CustomResourceDefinition
		g.Expect(yaml.UnmarshalStrict(data, &crd)).To(Succeed())
		g.Expect(served(crd)).To(Equal([]string{"v1alpha1", "v1beta1"}))
		g.Expect(crd.Spec.Versions[0].Storage).To(BeTrue())
		g.Expect(crd.Spec.Conversion.Strategy).To(Equal(apiextensionsv1.NoneConverter))
	}
}

func served(crd apiextensionsv1.CustomResourceDefinition) []string {
	var names []string
	for _, v := range crd.Spec.Versions {
		if v.Served {
			names = append(names, v.Name)
		}
	}
	return names
}

// refusals are an API server's reasons not to accept the CRD.
func refusals(g Gomega, crd apiextensionsv1.CustomResourceDefinition) []error {
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(&crd)
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			crd.Status.StoredVersions = []string{v.Name}
		}
	}
	var internal apiextensions.CustomResourceDefinition
	g.Expect(apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&crd, &internal, nil)).To(Succeed())
	var all []error
	for _, err := range crdvalidation.ValidateCustomResourceDefinition(context.Background(), &internal) {
		all = append(all, err)
	}
	return all
}

func TestRefusalsRefuse(t *testing.T) {
	g := NewWithT(t)
	g.Expect(refusals(g, apiextensionsv1.CustomResourceDefinition{})).NotTo(BeEmpty())
}
