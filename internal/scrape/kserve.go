// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// kserveContainer is the name that KServe gives a model server's container where the
// InferenceService gives it none.
const kserveContainer = "kserve-container"

// kserveFrameworks are the predictors of the days before spec.predictor.model, each named
// after its model format.
var kserveFrameworks = []string{
	"sklearn", "xgboost", "lightgbm", "tensorflow", "pytorch", "triton", "onnx", "pmml", "paddle", "huggingface",
}

// storageParameters are those that say where a model lies; others may hold credentials.
var storageParameters = []string{"type", "bucket", "region"}

// readInferenceService reads a KServe InferenceService. See
// https://kserve.github.io/website/docs/reference/crd-api
func readInferenceService(g *group, object field) error {
	spec := object.get("spec")
	predictor := spec.get("predictor")
	if err := predictor.object(); err != nil {
		return err
	}
	g.set(evidence.PropKServeRuntime, predictor.get("model", "runtime"))
	g.set(evidence.PropKServeServiceAccount, predictor.get("serviceAccountName"))

	pods := g.addPodSpec(predictor).describe(evidence.PropKServeComponent, "predictor")
	volumes := pods.pod.spec.Volumes
	if model := predictor.get("model"); model.present() {
		readPredictorModel(g, model, model.get("modelFormat", "name"), volumes)
	}
	for _, framework := range kserveFrameworks {
		if f := predictor.get(framework); f.present() {
			readPredictorModel(g, f, field{value: framework, at: f.at}, volumes)
		}
	}
	for _, c := range []struct {
		name string
		spec field
	}{
		{"worker", predictor.get("workerSpec")},
		{"transformer", spec.get("transformer")},
		{"explainer", spec.get("explainer")},
	} {
		if c.spec.present() {
			p := g.addPodSpec(c.spec).describe(evidence.PropKServeComponent, c.name)
			if c.name == "explainer" {
				readExplainer(p, c.spec)
			}
		}
	}
	inferServer(g)
	return nil
}

// readPredictorModel reads spec.predictor.model or a framework's predictor: a container with
// a model format and a place where the model is stored.
func readPredictorModel(g *group, f, format field, volumes []corev1.Volume) {
	var c corev1.Container
	if err := f.decode(&c); err != nil {
		g.fail(err)
		c = corev1.Container{}
	}
	c.Name = cmp.Or(c.Name, kserveContainer)
	p := g.addContainer(f.at, c, volumes).describe(evidence.PropKServeComponent, "predictor")
	readFormat(p, f, format, c.Name)
	if uri := f.get("storageUri"); uri.text() != "" {
		p.declareModel(uri.text(), "", c.Name, uri.evidence())
	}
	if storage := f.get("storage"); storage.get("path").text() != "" {
		readStorage(p, storage, c.Name)
	}
}

// readFormat states the model's format as the runtime. Its version is the format's, or else
// the version of the runtime that is asked for.
func readFormat(p *part, f, format field, container string) {
	if format.text() == "" {
		return
	}
	formatVersion, runtimeVersion := f.get("modelFormat", "version"), f.get("runtimeVersion")
	at := []evidence.Evidence{format.evidence()}
	for _, version := range []field{formatVersion, runtimeVersion} {
		if version.text() != "" {
			at = append(at, version.evidence())
		}
	}
	if format.text() == "huggingface" {
		p.runs("huggingfaceserver")
	}
	product := inferFormatModel(p, f, format, container)
	p.declareRuntime(cmp.Or(product, canonicalRuntime(format.text())), cmp.Or(formatVersion.text(), runtimeVersion.text()), at...)
	runtime := &p.declared[len(p.declared)-1]
	runtime.Container = container
	runtime.Properties = formatVersion.addProperty(nil, evidence.PropKServeFormatVersion)
	runtime.Properties = runtimeVersion.addProperty(runtime.Properties, evidence.PropKServeRuntimeVersion)
}

// inferFormatModel takes the model from a format or runtime that is made for it, where nothing that
// is stored and no argument names one, and returns the product that serves it.
func inferFormatModel(p *part, f, format field, name string) string {
	from := format
	product, model := madeFor(format.text())
	if product == nil {
		from = f.get("runtime")
		if product, model = madeFor(versionAtEnd.ReplaceAllString(from.text(), "")); product == nil {
			return ""
		}
	}
	uri := f.get("storageUri").text()
	stored := (uri != "" && !isPlace(uri)) || f.get("storage", "path").present()
	if !stored && !slices.ContainsFunc(p.pod.containers, func(c *container) bool { return c.namesModel(evidence.RoleServed) }) {
		f := p.declareModel(model, "", name, from.evidence())
		f.Confidence, f.Origin = evidence.Inferred, product.Hub
	}
	return product.Name
}

// versionAtEnd is the version of a runtime behind its name.
var versionAtEnd = regexp.MustCompile(`-v?[0-9]+(\.[0-9]+)+$`)

// madeFor is the product, and the model that the name of a format says it is made for.
func madeFor(format string) (*product, string) {
	for i := range patterns.Products {
		for _, prefix := range patterns.Products[i].ModelFormats {
			if rest, ok := strings.CutPrefix(format, prefix); ok && rest != "" {
				return &patterns.Products[i], rest
			}
		}
	}
	return nil, ""
}

// canonicalRuntime is the name of a known runtime, however it is spelt, and any other as written.
func canonicalRuntime(name string) string {
	if _, ok := index.products[strings.ToLower(name)]; ok {
		return strings.ToLower(name)
	}
	return name
}

// readStorage reads a model that lies at a path of a configured storage.
func readStorage(p *part, storage field, container string) {
	path := storage.get("path")
	model := p.declareModel(path.text(), "", container, path.evidence())
	model.Properties = storage.get("key").addProperty(model.Properties, evidence.PropKServeStorageKey)
	model.Properties = path.addProperty(model.Properties, evidence.PropKServeStoragePath)
	if kind := storage.get("parameters", "type").text(); model.Confidence != evidence.Unresolved && kind != "" {
		model.Origin = originOf(kind+"://"+path.text(), evidence.OriginUnknown)
	}
	for _, name := range storageParameters {
		if value := storage.get("parameters", name).text(); value != "" {
			model.Properties = append(model.Properties, evidence.Property{
				Name: evidence.PropKServeStorageParam, Value: name + "=" + value,
			})
		}
	}
}
