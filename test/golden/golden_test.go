// SPDX-License-Identifier: Apache-2.0

// Package golden holds the way from a manifest to a document to documents that were reviewed
// by eye. Run its tests with -update to write them anew, and review the difference.
package golden

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/k8s-aibom/k8s-aibom/internal/bom"
	"github.com/k8s-aibom/k8s-aibom/internal/controller"
	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/internal/scrape"
	"github.com/k8s-aibom/k8s-aibom/test/cdxschema"
)

var update = flag.Bool("update", false, "write the golden documents instead of comparing with them")

const (
	samples = "../../config/samples/demo"
	// The samples say in their annotations what is expected of them.
	expectCategory = "demo.k8saibom.dev/expect"
	expectModel    = "demo.k8saibom.dev/expect-model"
)

var (
	firstSeen = time.Date(2026, time.January, 2, 3, 4, 5, 0, time.UTC)
	tool      = bom.Tool{Name: "k8s-aibom", Vendor: "k8s-aibom", Version: "v0.0.0-golden"}
	versions  = []string{"1.6", "1.7"}
)

// sample is one workload of the demo, and what its pods report.
type sample struct {
	name    string
	object  client.Object
	kind    kinds.Kind
	running []scrape.RunningImage
}

// read decodes a file's workloads with the decoders that a client uses.
func read(t *testing.T, path string) []sample {
	t.Helper()
	g := NewWithT(t)
	data, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	decoder := serializer.NewCodecFactory(clientgoscheme.Scheme).UniversalDeserializer()
	var all []sample
	for document := range bytes.SplitSeq(data, []byte("\n---\n")) {
		decoded, gvk, err := decoder.Decode(document, nil, nil)
		g.Expect(err).NotTo(HaveOccurred(), path)
		kind, known := kinds.For(gvk.GroupKind())
		if !known {
			continue
		}
		object := decoded.(client.Object)
		object.SetNamespace("ai-demo")
		object.SetUID("00000000-0000-4000-8000-000000000001")
		all = append(all, sample{object.GetName(), object, kind, nil})
	}
	return all
}

func readSamples(t *testing.T) []sample {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(samples, "*-*.yaml"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	var all []sample
	for _, file := range files {
		all = append(all, read(t, file)...)
	}
	return append(all, withPods(t))
}

// withPods is the vLLM sample in the middle of a rollout: pods of the new and the old template,
// images reported in each of the ways in which container runtimes do.
func withPods(t *testing.T) sample {
	t.Helper()
	s := read(t, filepath.Join(samples, "inference-vllm.yaml"))[0]
	s.name += "-with-pods"
	image := s.object.(*appsv1.Deployment).Spec.Template.Spec.Containers[0].Image
	digest := func(digit byte) string { return "sha256:" + string(bytes.Repeat([]byte{digit}, 64)) }
	s.running = []scrape.RunningImage{
		{Container: "vllm", Image: image, ImageID: "docker.io/vllm/vllm-openai@" + digest('a')},
		{Container: "vllm", Image: image, ImageID: "docker-pullable://vllm/vllm-openai@" + digest('a')},
		{Container: "vllm", Image: image, ImageID: digest('c')},
		{Container: "vllm", Image: "docker.io/vllm/vllm-openai:v0.10.2", ImageID: "docker.io/vllm/vllm-openai@" + digest('b')},
	}
	return s
}

func scrapeSample(t *testing.T, s sample) evidence.Report {
	t.Helper()
	report, err := controller.ScrapeBuiltIn(s.kind)(s.object, s.running, scrape.Rules{})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return report
}

func build(t *testing.T, report evidence.Report, version string) []byte {
	t.Helper()
	document, err := bom.Build(bom.Input{Report: report, SpecVersion: version, Tool: tool}, firstSeen)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return document.Bytes
}

func TestSamples(t *testing.T) {
	validator, err := cdxschema.New()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for _, s := range readSamples(t) {
		t.Run(s.name, func(t *testing.T) {
			g := NewWithT(t)
			report := scrapeSample(t, s)
			expected := s.object.GetAnnotations()[expectCategory]
			if expected == "none" {
				g.Expect(report.Category).To(BeEmpty(), "a workload that must not appear")
				return
			}
			g.Expect(string(report.Category)).To(Equal(expected))
			if model := s.object.GetAnnotations()[expectModel]; model != "" {
				g.Expect(models(report)).To(ContainElement(model))
			}
			for _, version := range versions {
				document := build(t, report, version)
				g.Expect(validator.Validate(version, document)).To(Succeed())
				compare(t, s.name+"."+version+".cdx.json", document)
			}
		})
	}
}

func models(r evidence.Report) []string {
	var names []string
	for _, f := range r.Findings {
		if f.Type == evidence.TypeModel {
			names = append(names, f.Name)
		}
	}
	return names
}

// compare holds a document, indented for the reader, to the golden one.
func compare(t *testing.T, name string, document []byte) {
	t.Helper()
	g := NewWithT(t)
	var indented bytes.Buffer
	g.Expect(json.Indent(&indented, document, "", "  ")).To(Succeed())
	path := filepath.Join("testdata", name)
	if *update {
		g.Expect(os.WriteFile(path, indented.Bytes(), 0o644)).To(Succeed())
		return
	}
	golden, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred(), "run with -update and review the difference")
	g.Expect(indented.String()).To(Equal(string(golden)), "run with -update and review the difference")
}

// Every golden document must still be made by a test.
func TestNoGoldenDocumentIsLeftOver(t *testing.T) {
	g := NewWithT(t)
	expected := map[string]bool{}
	for _, s := range readSamples(t) {
		if s.object.GetAnnotations()[expectCategory] == "none" {
			continue
		}
		for _, version := range versions {
			expected[s.name+"."+version+".cdx.json"] = true
		}
	}
	entries, err := os.ReadDir("testdata")
	g.Expect(err).NotTo(HaveOccurred())
	var documents []string
	for _, e := range entries {
		if !e.IsDir() {
			documents = append(documents, e.Name())
		}
	}
	g.Expect(documents).To(HaveLen(len(expected)))
	for _, name := range documents {
		g.Expect(expected).To(HaveKey(name))
	}
}

// A round trip must not change what is read: the API server hands objects over as JSON.
func TestSamplesSurviveARoundTrip(t *testing.T) {
	for _, s := range readSamples(t) {
		g := NewWithT(t)
		data, err := yaml.Marshal(s.object)
		g.Expect(err).NotTo(HaveOccurred())
		copied, err := clientgoscheme.Scheme.New(s.kind.GVK)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(yaml.Unmarshal(data, copied)).To(Succeed())
		again := s
		again.object = copied.(client.Object)
		g.Expect(scrapeSample(t, again)).To(Equal(scrapeSample(t, s)))
	}
}
