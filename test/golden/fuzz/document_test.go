// SPDX-License-Identifier: Apache-2.0

// Package fuzz holds that whatever an API server can hand over gives a valid document. It is
// apart from the golden documents because fuzzing builds everything that it imports anew.
package fuzz

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/k8s-aibom/k8s-aibom/internal/bom"
	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
	"github.com/k8s-aibom/k8s-aibom/internal/scrape"
	"github.com/k8s-aibom/k8s-aibom/test/cdxschema"
)

// FuzzDocument takes a Deployment in JSON all the way to its document, where it gives one.
func FuzzDocument(f *testing.F) {
	validator, err := cdxschema.New()
	if err != nil {
		f.Fatal(err)
	}
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		object := &appsv1.Deployment{}
		if json.Unmarshal(data, object) != nil {
			return
		}
		report := scrape.PodWorkload(scrape.Input{
			Workload: evidence.Workload{
				APIVersion: "apps/v1", Kind: "Deployment",
				Namespace: object.Namespace, Name: object.Name, UID: string(object.UID),
			},
			Annotations: object.Annotations, Template: &object.Spec.Template, TemplateLocator: "spec.template",
			Running: running(object),
		})
		if report.Category == evidence.CategoryNone {
			return
		}
		for _, version := range []string{"1.6", "1.7"} {
			document, err := bom.Build(bom.Input{Report: report, SpecVersion: version, Tool: bom.Tool{Name: "k8s-aibom"}}, time.Unix(0, 0))
			if err != nil {
				t.Fatal(err)
			}
			if err := validator.Validate(version, document.Bytes); err != nil {
				t.Errorf("%v\n%s", err, document.Bytes)
			}
		}
	})
}

// running is what pods would report whose status held the containers' working directories.
func running(object *appsv1.Deployment) []scrape.RunningImage {
	var all []scrape.RunningImage
	for _, c := range object.Spec.Template.Spec.Containers {
		all = append(all, scrape.RunningImage{Container: c.Name, Image: c.Image, ImageID: c.WorkingDir})
	}
	return all
}

// seeds are a Deployment of the samples and one with something of everything.
func seeds(f *testing.F) {
	add := func(object *appsv1.Deployment) {
		data, err := json.Marshal(object)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	rich := &appsv1.Deployment{}
	if err := yaml.UnmarshalStrict([]byte(richManifest), rich); err != nil {
		f.Fatal(err)
	}
	add(rich)
	rich.Spec.Template.Spec.Containers[0].Args = []string{"--model", strings.Repeat("é", 5000), "--served-model-name", "\x00\u2028"}
	rich.Spec.Template.Spec.Containers[0].WorkingDir = "a@sha256:" + strings.Repeat("0", 64)
	add(rich)
	rich.Spec.Template.Spec.Containers = []corev1.Container{{Name: "a", Image: "vllm/vllm-openai@sha256:" + strings.Repeat("f", 64), Args: []string{"--model=https://user:password@example.com/m?token=abc"}}}
	add(rich)
}

const richManifest = `
metadata:
  name: rich
  namespace: ns
  uid: 00000000-0000-4000-8000-000000000002
  annotations:
    model.k8saibom.dev/name: org/m
    model.k8saibom.dev/source: hf://org/m
    model.k8saibom.dev/signed: "true"
spec:
  template:
    spec:
      initContainers:
      - name: fetch
        image: alpine
        command: [sh, -c, 'hf download org/m && aws s3 cp s3://b/m /models']
      containers:
      - name: server
        image: vllm/vllm-openai:v0.11.0
        args: [--model, $(MODEL), --lora-modules, a=org/a, --speculative-model, org/d, --tokenizer, org/t]
        env:
        - {name: MODEL, value: org/m}
        - {name: OPENAI_API_KEY, value: sk-abcdefghijklmnopqrstuvwx}
        - {name: AZURE_OPENAI_ENDPOINT, value: 'https://x.openai.azure.com'}
        - {name: DATASET, valueFrom: {configMapKeyRef: {name: c, key: k}}}
        resources: {limits: {nvidia.com/gpu: 1}}
        volumeMounts:
        - {name: models, mountPath: /models}
        - {name: image, mountPath: /model}
      volumes:
      - {name: models, persistentVolumeClaim: {claimName: models}}
      - {name: image, image: {reference: 'ghcr.io/org/m:v1'}}
`
