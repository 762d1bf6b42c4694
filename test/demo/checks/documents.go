// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/test/cdxschema"
)

// documentSuffix is the file name that CycloneDX recommends for JSON.
const documentSuffix = ".cdx.json"

// writeDocuments writes each document to <out>/<namespace>/<name>.cdx.json as it is in the
// AIBOM, holds all of them to the schema, and returns their paths. An invalid document is
// written too, so that it can be looked at.
func writeDocuments(out string, aiboms []v1beta1.AIBOM) ([]string, error) {
	validator, err := cdxschema.New()
	if err != nil {
		return nil, err
	}
	var paths []string
	var errs []error
	for _, aibom := range aiboms {
		path := filepath.Join(out, aibom.Namespace, aibom.Name+documentSuffix)
		paths = append(paths, path)
		if err := writeDocument(path, aibom, validator); err != nil {
			errs = append(errs, fmt.Errorf("AIBOM %s/%s: %w", aibom.Namespace, aibom.Name, err))
		}
	}
	return paths, errors.Join(errs...)
}

func writeDocument(path string, aibom v1beta1.AIBOM, validator *cdxschema.Validator) error {
	document := aibom.Status.BOMDocument
	if document == nil || document.Inline == nil {
		return errors.New("it holds no document")
	}
	data := []byte(document.Inline.Data)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != document.SHA256 || int64(len(data)) != document.Size {
		return fmt.Errorf("it states sha256 %s and %d bytes, the document has %x and %d",
			document.SHA256, document.Size, sum, len(data))
	}
	if err := validator.Validate(document.SpecVersion, data); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
