// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

const olderGraph = `
kind: DynamoGraphDeployment
apiVersion: nvidia.com/v1alpha1
spec:
  backendFramework: vllm
  services:
    decode: {componentType: worker, modelRef: {name: m}}
    Frontend: {componentType: frontend}
`

const newerGraph = `
kind: DynamoGraphDeployment
apiVersion: nvidia.com/v1beta1
spec:
  backendFramework: vllm
  components:
  - {name: Frontend, type: frontend}
  - {name: decode, type: worker, modelRef: {name: m}}
`

const olderComponent = `
kind: DynamoComponentDeployment
apiVersion: nvidia.com/v1alpha1
spec: {serviceName: decode, componentType: worker}
`

const newerComponent = `
kind: DynamoComponentDeployment
apiVersion: nvidia.com/v1beta1
spec: {name: decode, type: worker}
`

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	NewWithT(t).Expect(yaml.Unmarshal([]byte(text), &u.Object)).To(Succeed())
	return u
}

func TestDynamoConversionGoesThereAndBack(t *testing.T) {
	older, newer := schema.GroupVersion{Group: "nvidia.com", Version: "v1alpha1"}, schema.GroupVersion{Group: "nvidia.com", Version: "v1beta1"}
	for name, tc := range map[string]struct{ older, newer string }{
		"graph":     {olderGraph, newerGraph},
		"component": {olderComponent, newerComponent},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			u := object(t, tc.older)
			u.SetAPIVersion(newer.String())
			g.Expect(DynamoConverters().Convert(u, older, newer)).To(Succeed())
			g.Expect(u.Object).To(Equal(object(t, tc.newer).Object))
			u.SetAPIVersion(older.String())
			g.Expect(DynamoConverters().Convert(u, newer, older)).To(Succeed())
			g.Expect(u.Object).To(Equal(object(t, tc.older).Object))
		})
	}
}

func TestDynamoConversionRefusesWhatItDoesNotUnderstand(t *testing.T) {
	older, newer := schema.GroupVersion{Version: "v1alpha1"}, schema.GroupVersion{Version: "v1beta1"}
	for name, tc := range map[string]struct {
		object   string
		from, to schema.GroupVersion
	}{
		"another kind":             {"{kind: Pod, apiVersion: v1}", older, newer},
		"no spec":                  {"{kind: DynamoGraphDeployment, apiVersion: nvidia.com/v1}", older, newer},
		"services that are a list": {"{kind: DynamoGraphDeployment, apiVersion: nvidia.com/v1, spec: {services: []}}", older, newer},
		"a component without name": {"{kind: DynamoGraphDeployment, apiVersion: nvidia.com/v1, spec: {components: [{}]}}", newer, older},
		"another version":          {"{kind: DynamoComponentDeployment, apiVersion: nvidia.com/v1, spec: {}}", older, schema.GroupVersion{Version: "v2"}},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(DynamoConverters().Convert(object(t, tc.object), tc.from, tc.to)).NotTo(Succeed())
		})
	}
}
