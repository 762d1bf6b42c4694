// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The two versions of Dynamo's kinds: the stored one of platforms up to 1.4, with a map of
// services, and the one that is read, with a list of components.
const (
	dynamoServices   = "services"
	dynamoComponents = "components"
)

// dynamoFields are the fields that the versions call differently, the older name first.
var dynamoFields = map[string]string{"componentType": "type"}

// DynamoConverters converts Dynamo's two kinds between v1alpha1 and v1beta1, as the Dynamo
// operator does, and loses nothing on the way there and back: of a graph the order of its
// components only, which their names replace.
func DynamoConverters() Converters {
	return Converters{
		{Group: "nvidia.com", Kind: "DynamoGraphDeployment"}:     convertDynamoGraph,
		{Group: "nvidia.com", Kind: "DynamoComponentDeployment"}: convertDynamoComponent,
	}
}

func convertDynamoGraph(object *unstructured.Unstructured, from, to schema.GroupVersion) error {
	spec, err := specOf(object)
	if err != nil {
		return err
	}
	switch from.Version + to.Version {
	case "v1alpha1v1beta1":
		return servicesToComponents(spec)
	case "v1beta1v1alpha1":
		return componentsToServices(spec)
	}
	return fmt.Errorf("nothing is known about %s", from)
}

func convertDynamoComponent(object *unstructured.Unstructured, from, to schema.GroupVersion) error {
	spec, err := specOf(object)
	if err != nil {
		return err
	}
	switch from.Version + to.Version {
	case "v1alpha1v1beta1":
		rename(spec, "serviceName", "name")
		upgrade(spec)
	case "v1beta1v1alpha1":
		rename(spec, "name", "serviceName")
		downgrade(spec)
	default:
		return fmt.Errorf("nothing is known about %s", from)
	}
	return nil
}

// specOf is the object's spec itself, not a copy.
func specOf(object *unstructured.Unstructured) (map[string]any, error) {
	spec, ok := object.Object["spec"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("spec is %T", object.Object["spec"])
	}
	return spec, nil
}

func servicesToComponents(spec map[string]any) error {
	value, present := spec[dynamoServices]
	if !present {
		return nil
	}
	services, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("spec.%s is %T", dynamoServices, value)
	}
	components := make([]any, 0, len(services))
	for _, name := range slices.Sorted(maps.Keys(services)) {
		component, ok := services[name].(map[string]any)
		if !ok {
			return fmt.Errorf("spec.%s.%s is %T", dynamoServices, name, services[name])
		}
		component["name"] = name
		upgrade(component)
		components = append(components, component)
	}
	delete(spec, dynamoServices)
	spec[dynamoComponents] = components
	return nil
}

func componentsToServices(spec map[string]any) error {
	value, present := spec[dynamoComponents]
	if !present {
		return nil
	}
	components, ok := value.([]any)
	if !ok {
		return fmt.Errorf("spec.%s is %T", dynamoComponents, value)
	}
	services := make(map[string]any, len(components))
	for i, c := range components {
		component, _ := c.(map[string]any)
		name, ok := component["name"].(string)
		if !ok {
			return fmt.Errorf("spec.%s[%d] has no name", dynamoComponents, i)
		}
		delete(component, "name")
		downgrade(component)
		services[name] = component
	}
	delete(spec, dynamoComponents)
	spec[dynamoServices] = services
	return nil
}

func upgrade(component map[string]any) {
	for older, newer := range dynamoFields {
		rename(component, older, newer)
	}
}

func downgrade(component map[string]any) {
	for older, newer := range dynamoFields {
		rename(component, newer, older)
	}
}

func rename(object map[string]any, from, to string) {
	if value, ok := object[from]; ok {
		delete(object, from)
		object[to] = value
	}
}
