// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// dynamoFrameworks are Dynamo's own names of runtimes that are known by another here.
var dynamoFrameworks = map[string]string{"trtllm": "tensorrt-llm"}

// dynamoInfrastructure are the types of components that route requests or plan capacity.
var dynamoInfrastructure = set([]string{"frontend", "planner", "epp", "operator"})

// infrastructureImages are repository paths, see matchesImage, of images that run no model.
var infrastructureImages = []string{
	"ai-dynamo/*frontend*", "ai-dynamo/*planner*", "ai-dynamo/*operator*", "ai-dynamo/*epp*",
	"gateway-api-inference-extension/epp", "inference/sax-admin-server",
}

func isInfrastructure(img image) bool {
	for _, pattern := range infrastructureImages {
		if matchesImage(pattern, img) {
			return true
		}
	}
	return false
}

// readDynamoGraph reads a DynamoGraphDeployment in v1beta1. See
// https://docs.nvidia.com/dynamo
func readDynamoGraph(g *group, object field) error {
	spec := object.get("spec")
	components, err := spec.get("components").items()
	if err != nil && components == nil {
		return err
	}
	g.fail(err)
	graph := newDynamoGraph(g, spec)
	for _, c := range components {
		if err := c.object(); err != nil {
			g.fail(err)
			continue
		}
		graph.readComponent(c)
	}
	return nil
}

// readDynamoComponent reads a DynamoComponentDeployment as a graph of one component.
func readDynamoComponent(g *group, object field) error {
	spec := object.get("spec")
	newDynamoGraph(g, spec).readComponent(spec)
	return nil
}

// dynamoGraph is what all components of a graph share.
type dynamoGraph struct {
	*group
	// runtime is what the graph declares to serve with, empty where it does not.
	runtime string
	env     []corev1.EnvVar
	envAt   string
}

func newDynamoGraph(g *group, spec field) *dynamoGraph {
	// Dynamo's runtime images carry no model.
	g.imagesNameNoModel = true
	graph := &dynamoGraph{group: g, envAt: spec.get("env").at}
	if framework := spec.get("backendFramework"); framework.text() != "" {
		g.set(evidence.PropDynamoBackendFramework, framework)
		graph.runtime = framework.text()
		if known, ok := dynamoFrameworks[graph.runtime]; ok {
			graph.runtime = known
		}
		g.whole().declareRuntime(graph.runtime, "", framework.evidence())
	}
	holder, err := containerOf(spec.get("env"), "env")
	g.fail(err)
	graph.env = holder.Env
	return graph
}

// readComponent reads an entry of spec.components, or the spec of a component of its own.
func (g *dynamoGraph) readComponent(f field) {
	name, kind := f.get("name"), f.get("type")
	g.set(evidence.PropDynamoComponent, name)
	template := func(at field) *part {
		p := g.addTemplate(at, g.env, g.envAt)
		p.describe(evidence.PropDynamoComponent, name.text()).describe(evidence.PropDynamoComponentType, kind.text())
		p.infrastructure = dynamoInfrastructure[kind.text()]
		if !p.infrastructure && g.runtime != "" {
			p.runs(g.runtime)
		}
		return p
	}
	p := template(f.get("podTemplate"))
	if model := f.get("modelRef", "name"); model.text() != "" {
		at := []evidence.Evidence{model.evidence()}
		revision := f.get("modelRef", "revision")
		if revision.text() != "" {
			at = append(at, revision.evidence())
		}
		p.declareModel(model.text(), revision.text(), "", at...)
	}
	roles, err := f.get("roles").items()
	g.fail(err)
	for _, role := range roles {
		if err := role.object(); err != nil {
			g.fail(err)
			continue
		}
		if at := role.get("podTemplate"); at.present() {
			template(at).describe(evidence.PropDynamoRole, role.get("name").text())
		}
	}
}
