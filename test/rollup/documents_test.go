// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
)

// ownedPrefix begins the properties that name what was absorbed.
const ownedPrefix = "k8s-aibom:rollup:owned:"

// report is what a document says of a workload, as far as this suite goes.
type report struct {
	// owned are the absorbed workloads in the order of their indexes.
	owned []string
	// digests are those of images, sorted.
	digests []string
}

// only expects that the namespace has just these AIBOMs, now and in a while.
func (s *scene) only(ctx context.Context, names ...string) {
	GinkgoHelper()
	Eventually(s.aiboms(ctx)).Should(ConsistOf(names), "these have an AIBOM, and nothing else has")
	Consistently(s.aiboms(ctx)).Should(ConsistOf(names), "and so it stays")
}

// aiboms lists the names of the namespace's AIBOMs.
func (s *scene) aiboms(ctx context.Context) func() ([]string, error) {
	return func() ([]string, error) {
		list := &v1beta1.AIBOMList{}
		err := admin.List(ctx, list, client.InNamespace(s.namespace))
		names := []string{}
		for _, aibom := range list.Items {
			names = append(names, aibom.Name)
		}
		return names, err
	}
}

// says expects that the document of an AIBOM names what was absorbed, and digests.
func (s *scene) says(ctx context.Context, aibom string, want report) {
	GinkgoHelper()
	Eventually(s.report(ctx, aibom)).Should(Equal(want), "%s says what it absorbed, and which images run", aibom)
}

// report reads the document of an AIBOM.
func (s *scene) report(ctx context.Context, name string) func() (report, error) {
	return func() (report, error) {
		aibom := &v1beta1.AIBOM{}
		if err := admin.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, aibom); err != nil {
			return report{}, err
		}
		if aibom.Status.BOMDocument == nil || aibom.Status.BOMDocument.Inline == nil {
			return report{}, fmt.Errorf("AIBOM %s has no document yet", name)
		}
		if err := valid(aibom); err != nil {
			return report{}, err
		}
		document := &cdx.BOM{}
		data := bytes.NewReader([]byte(aibom.Status.BOMDocument.Inline.Data))
		if err := cdx.NewBOMDecoder(data, cdx.BOMFileFormatJSON).Decode(document); err != nil {
			return report{}, err
		}
		owned, err := ownedIn(document)
		return report{owned: owned, digests: digestsIn(document)}, err
	}
}

// valid holds an AIBOM's document, if it has one, to the official schema.
func valid(aibom *v1beta1.AIBOM) error {
	document := aibom.Status.BOMDocument
	if document == nil || document.Inline == nil {
		return nil
	}
	if err := validator.Validate(document.SpecVersion, []byte(document.Inline.Data)); err != nil {
		return fmt.Errorf("AIBOM %s/%s: %w", aibom.Namespace, aibom.Name, err)
	}
	return nil
}

// ownedIn are the absorbed workloads. An index that is not the next one is an error.
func ownedIn(document *cdx.BOM) ([]string, error) {
	var owned []string
	if document.Metadata.Component.Properties == nil {
		return nil, nil
	}
	for _, p := range *document.Metadata.Component.Properties {
		index, ok := strings.CutPrefix(p.Name, ownedPrefix)
		if !ok {
			continue
		}
		if index != fmt.Sprint(len(owned)) {
			return nil, fmt.Errorf("the property after %d absorbed workloads is %s", len(owned), p.Name)
		}
		owned = append(owned, p.Value)
	}
	if !slices.IsSorted(owned) {
		return nil, fmt.Errorf("absorbed workloads are not sorted: %v", owned)
	}
	return owned, nil
}

func digestsIn(document *cdx.BOM) []string {
	var digests []string
	if document.Components == nil {
		return nil
	}
	for _, c := range *document.Components {
		if c.Type != cdx.ComponentTypeContainer || c.Hashes == nil {
			continue
		}
		for _, h := range *c.Hashes {
			digests = append(digests, h.Value)
		}
	}
	slices.Sort(digests)
	return slices.Compact(digests)
}

// isGone is true for the error of an AIBOM that does not exist.
func (s *scene) isGone(ctx context.Context, name string) func() (bool, error) {
	return func() (bool, error) {
		err := admin.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, &v1beta1.AIBOM{})
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	}
}
