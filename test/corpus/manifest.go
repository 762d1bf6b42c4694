// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// Manifest is the workload in one file.
type Manifest struct {
	File   string
	Object *unstructured.Unstructured
	Kind   kinds.Kind
	// Others are objects of the file that are no workloads of a known kind, as kind/name.
	Others []string
}

// ReadManifest reads the first workload of a known kind in a file. The other objects, which
// are not needed to read it, are only listed.
func ReadManifest(folder, file string) (Manifest, error) {
	m := Manifest{File: file}
	data, err := os.ReadFile(filepath.Join(folder, file))
	if err != nil {
		return m, err
	}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return m, fmt.Errorf("%s: %w", file, err)
		}
		object, err := parse(document)
		if err != nil {
			return m, fmt.Errorf("%s: %w", file, err)
		}
		if object == nil {
			continue
		}
		kind, known := kinds.For(object.GroupVersionKind().GroupKind())
		if !known || m.Object != nil {
			m.Others = append(m.Others, object.GetKind()+"/"+object.GetName())
			continue
		}
		m.Object, m.Kind = object, kind
	}
	if m.Object == nil {
		return m, fmt.Errorf("%s holds no workload of a known kind, only %v", file, m.Others)
	}
	return m, nil
}

// parse reads one document as a client reads what an API server hands out, and returns nil
// for an empty one.
func parse(document []byte) (*unstructured.Unstructured, error) {
	data, err := yaml.YAMLToJSON(document)
	if err != nil {
		return nil, err
	}
	if string(bytes.TrimSpace(data)) == "null" {
		return nil, nil
	}
	object := &unstructured.Unstructured{}
	return object, object.UnmarshalJSON(data)
}
