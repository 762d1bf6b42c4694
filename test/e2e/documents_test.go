// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	cdx "github.com/CycloneDX/cyclonedx-go"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
)

// observer validates every document that any AIBOM ever holds while the suite runs.
type observer struct {
	stop func()

	mu    sync.Mutex
	valid map[string]bool
	wrong []string
}

// observe watches all AIBOMs from now on.
func observe() *observer {
	GinkgoHelper()
	ctx, cancel := context.WithCancel(context.Background())
	watcher, err := admin.Watch(ctx, &v1beta1.AIBOMList{})
	Expect(err).NotTo(HaveOccurred())
	o := &observer{valid: map[string]bool{}}
	ended := make(chan struct{})
	o.stop = func() {
		watcher.Stop()
		cancel()
		<-ended
	}
	go func() {
		defer close(ended)
		for event := range watcher.ResultChan() {
			aibom, ok := event.Object.(*v1beta1.AIBOM)
			if !ok {
				o.complain("the watch of AIBOMs ended: %v", event.Object)
				continue
			}
			o.look(aibom)
		}
	}()
	return o
}

// look validates the document. What does not have the hash that its AIBOM states was not
// written by the controller but by a spec that tampers.
func (o *observer) look(aibom *v1beta1.AIBOM) {
	document := aibom.Status.BOMDocument
	if document == nil || document.Inline == nil {
		return
	}
	sum := sha256.Sum256([]byte(document.Inline.Data))
	hash := hex.EncodeToString(sum[:])
	if hash != document.SHA256 {
		return
	}
	o.mu.Lock()
	known := o.valid[hash]
	o.mu.Unlock()
	if known {
		return
	}
	if err := validator.Validate(document.SpecVersion, []byte(document.Inline.Data)); err != nil {
		o.complain("AIBOM %s: %v", client.ObjectKeyFromObject(aibom), err)
		return
	}
	o.mu.Lock()
	o.valid[hash] = true
	o.mu.Unlock()
}

func (o *observer) complain(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.wrong = append(o.wrong, fmt.Sprintf(format, args...))
}

func (o *observer) complaints() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.wrong
}

// getAIBOM asks the API server; nil stands for one that does not exist.
func getAIBOM(ctx context.Context, namespace, name string) func() (*v1beta1.AIBOM, error) {
	return func() (*v1beta1.AIBOM, error) {
		aibom := &v1beta1.AIBOM{}
		err := admin.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, aibom)
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return aibom, err
	}
}

// listAIBOMs are the names of the AIBOMs of a namespace.
func listAIBOMs(ctx context.Context, namespace string) func() ([]string, error) {
	return func() ([]string, error) {
		list := &v1beta1.AIBOMList{}
		err := admin.List(ctx, list, client.InNamespace(namespace))
		var names []string
		for _, item := range list.Items {
			names = append(names, item.Name)
		}
		return names, err
	}
}

// awaitAIBOM returns the AIBOM once it is ready and is as the matchers want it, and holds its
// document to the schema and to what the AIBOM states about it.
func awaitAIBOM(ctx context.Context, namespace, name string, matchers ...types.GomegaMatcher) *v1beta1.AIBOM {
	GinkgoHelper()
	var found *v1beta1.AIBOM
	want := append([]types.GomegaMatcher{Not(BeNil()), haveCondition(v1beta1.ConditionReady, metav1.ConditionTrue, v1beta1.ReasonDocumentCurrent)}, matchers...)
	Eventually(func() (*v1beta1.AIBOM, error) {
		var err error
		found, err = getAIBOM(ctx, namespace, name)()
		return found, err
	}).Should(And(want...), "AIBOM %s/%s describes its workload", namespace, name)
	if found.Status.BOMDocument.Inline != nil {
		parseDocument(found)
	}
	return found
}

// parseDocument returns the document of an AIBOM that holds it inline, after holding it to
// the schema and to the size and the hash that the AIBOM states.
func parseDocument(aibom *v1beta1.AIBOM) *cdx.BOM {
	GinkgoHelper()
	Expect(sound(aibom)).To(Succeed(), "the AIBOM states the truth about its document")
	document := aibom.Status.BOMDocument
	return validDocument(document.SpecVersion, []byte(document.Inline.Data))
}

// sound says what an AIBOM states wrongly about the document that it holds inline.
func sound(aibom *v1beta1.AIBOM) error {
	document := aibom.Status.BOMDocument
	if document == nil || document.Inline == nil {
		return errors.New("no document is held inline")
	}
	sum := sha256.Sum256([]byte(document.Inline.Data))
	hash := hex.EncodeToString(sum[:])
	if document.SHA256 != hash || aibom.Status.BOMHash != "sha256:"+hash || document.Size != int64(len(document.Inline.Data)) {
		return fmt.Errorf("the document has the hash %s and %d bytes, the AIBOM says %s, %s and %d",
			hash, len(document.Inline.Data), document.SHA256, aibom.Status.BOMHash, document.Size)
	}
	return nil
}

func validDocument(specVersion string, data []byte) *cdx.BOM {
	GinkgoHelper()
	Expect(validator.Validate(specVersion, data)).To(Succeed(), "the document is valid against the schema")
	parsed := &cdx.BOM{}
	Expect(cdx.NewBOMDecoder(bytes.NewReader(data), cdx.BOMFileFormatJSON).Decode(parsed)).To(Succeed())
	return parsed
}

// haveModels matches an AIBOM whose summary names exactly these models.
func haveModels(identities ...string) types.GomegaMatcher {
	return WithTransform(func(aibom *v1beta1.AIBOM) []string {
		if aibom == nil || aibom.Status.Summary == nil {
			return nil
		}
		var names []string
		for _, m := range aibom.Status.Summary.Models {
			names = append(names, m.Identity)
		}
		return names
	}, ConsistOf(identities))
}

// haveCondition matches an AIBOM or a configuration whose condition is so.
func haveCondition(kind string, status metav1.ConditionStatus, reason string) types.GomegaMatcher {
	return WithTransform(func(object client.Object) string {
		var conditions []metav1.Condition
		switch o := object.(type) {
		case *v1beta1.AIBOM:
			if o != nil {
				conditions = o.Status.Conditions
			}
		case *v1beta1.AIBOMControllerConfig:
			conditions = o.Status.Conditions
		}
		c := meta.FindStatusCondition(conditions, kind)
		if c == nil {
			return kind + " is not set"
		}
		return fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason)
	}, Equal(fmt.Sprintf("%s=%s %s", kind, status, reason)))
}

// imageHashes are the SHA-256 hashes of the image components of the document.
func imageHashes(aibom *v1beta1.AIBOM) []string {
	GinkgoHelper()
	var hashes []string
	for _, c := range *parseDocument(aibom).Components {
		if c.Type != cdx.ComponentTypeContainer || c.Hashes == nil {
			continue
		}
		for _, h := range *c.Hashes {
			hashes = append(hashes, h.Value)
		}
	}
	return hashes
}

// awaitDigest returns the AIBOM once its document states exactly this image digest.
func awaitDigest(ctx context.Context, namespace, name, digest string) *v1beta1.AIBOM {
	GinkgoHelper()
	aibom := awaitAIBOM(ctx, namespace, name, HaveField("Status.BOMDocument.Inline.Data", ContainSubstring(digest)))
	Expect(imageHashes(aibom)).To(ConsistOf(digest), "the image has this digest and no other")
	return aibom
}

// conditionMessage is the message of a condition of the AIBOM.
func conditionMessage(aibom *v1beta1.AIBOM, kind string) string {
	GinkgoHelper()
	c := meta.FindStatusCondition(aibom.Status.Conditions, kind)
	Expect(c).NotTo(BeNil(), "the condition %s is set", kind)
	return c.Message
}
