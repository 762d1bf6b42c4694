// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"encoding/json"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/internal/controller"
	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
	"github.com/k8s-aibom/k8s-aibom/internal/scrape"
)

// Scrape reads every labelled manifest with the scrapers, without any API server.
func Scrape(folder string, labels []Label) []Observation {
	var all []Observation
	for _, l := range labels {
		report, err := ScrapeFile(folder, l.File)
		if err != nil {
			all = append(all, Observation{File: l.File, Refused: err.Error()})
			continue
		}
		all = append(all, OfReport(l.File, report))
	}
	return all
}

// ScrapeFile reads one manifest as the controller would, had the API server handed it out.
func ScrapeFile(folder, file string) (evidence.Report, error) {
	m, err := ReadManifest(folder, file)
	if err != nil {
		return evidence.Report{}, err
	}
	return m.Scrape()
}

// Scrape reads the manifest as the controller would.
func (m Manifest) Scrape() (evidence.Report, error) {
	read, err := m.Reader()
	if err != nil {
		return evidence.Report{}, err
	}
	return read()
}

// Reader decodes the manifest, as an API server's client does, and returns what reads it.
func (m Manifest) Reader() (func() (evidence.Report, error), error) {
	object := m.Object.DeepCopy()
	object.SetUID("00000000-0000-4000-8000-000000000001")
	if m.Kind.ThirdParty {
		in := scrape.ObjectInput{Workload: m.workload(), Object: object.Object}
		return func() (evidence.Report, error) { return scrape.Object(m.Kind, in) }, nil
	}
	typed, err := typedObject(m.Kind.GVK, object.Object)
	if err != nil {
		return nil, err
	}
	kept, err := cached(typed)
	if err != nil {
		return nil, err
	}
	read := controller.ScrapeBuiltIn(m.Kind)
	return func() (evidence.Report, error) { return read(kept, nil, scrape.Rules{}) }, nil
}

// cached is what the manager's cache keeps of the object: a rule that reads more would hold here and
// never in a cluster.
func cached(object client.Object) (client.Object, error) {
	for like, options := range controller.CacheOptions().ByObject {
		if reflect.TypeOf(like) != reflect.TypeOf(object) {
			continue
		}
		kept, err := options.Transform(object)
		if err != nil {
			return nil, err
		}
		return kept.(client.Object), nil
	}
	return nil, fmt.Errorf("the manager's cache has no %T", object)
}

// typedObject decodes a built-in kind.
func typedObject(gvk schema.GroupVersionKind, content map[string]any) (client.Object, error) {
	object, err := clientgoscheme.Scheme.New(gvk)
	if err != nil {
		return nil, err
	}
	// By way of JSON, as from an API server; a manifest may well hold 1 where a string belongs.
	data, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, object); err != nil {
		return nil, fmt.Errorf("it is no valid %s: %w", gvk.Kind, err)
	}
	typed, ok := object.(client.Object)
	if !ok {
		return nil, fmt.Errorf("%s is no object", gvk.Kind)
	}
	return typed, nil
}

func (m Manifest) workload() evidence.Workload {
	apiVersion, kind := m.Kind.GVK.ToAPIVersionAndKind()
	return evidence.Workload{APIVersion: apiVersion, Kind: kind, Namespace: m.Object.GetNamespace(), Name: m.Object.GetName()}
}
