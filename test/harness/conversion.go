// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// conversionPath is where the webhook converts.
const conversionPath = "/convert"

// maxReview bounds a ConversionReview, in bytes: more than etcd takes in many objects.
const maxReview = 64 << 20

// Convert changes an object in place from one version of its kind to another. The caller has
// set the new apiVersion already. It must not touch other metadata than labels and
// annotations (apiextensions.k8s.io/v1, ConversionReview).
type Convert func(object *unstructured.Unstructured, from, to schema.GroupVersion) error

// ConversionWebhook is a conversion webhook on loopback, with an authority of its own. It
// keeps its port for life, so that it can go away and come back without a change of any CRD.
// Its methods are safe for concurrent use, except Start and Stop.
type ConversionWebhook struct {
	convert  Convert
	server   *tlsServer
	requests atomic.Int64

	mu      sync.Mutex
	failing map[types.NamespacedName]bool
	// answering is closed while the webhook answers, and open while it hangs.
	answering chan struct{}
}

// NewConversionWebhook returns a webhook that is not started yet.
func NewConversionWebhook(convert Convert) (*ConversionWebhook, error) {
	w := &ConversionWebhook{convert: convert, failing: map[types.NamespacedName]bool{}, answering: make(chan struct{})}
	close(w.answering)
	mux := http.NewServeMux()
	mux.Handle("POST "+conversionPath, w)
	var err error
	w.server, err = newTLSServer(mux)
	return w, err
}

// Start serves until Stop. A webhook that was stopped can be started again on its port.
func (w *ConversionWebhook) Start() error { return w.server.start() }

// Stop closes the port and every connection, and awaits all that Start began. A webhook that
// does not serve is no error.
func (w *ConversionWebhook) Stop() error { return w.server.stop() }

// Requests counts the ConversionReviews that were received.
func (w *ConversionWebhook) Requests() int { return int(w.requests.Load()) }

// FailFor makes these objects, and no others, inconvertible. Without an argument all convert.
func (w *ConversionWebhook) FailFor(objects ...types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.failing)
	for _, o := range objects {
		w.failing[o] = true
	}
}

// Hang makes the webhook accept requests and never answer them. Those that wait are answered
// when it ends.
func (w *ConversionWebhook) Hang(hang bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	hangs := false
	select {
	case <-w.answering:
	default:
		hangs = true
	}
	switch {
	case hang && !hangs:
		w.answering = make(chan struct{})
	case !hang && hangs:
		close(w.answering)
	}
}

// Conversion is what a CRD says in spec.conversion to be converted by this webhook.
func (w *ConversionWebhook) Conversion() *apiextensionsv1.CustomResourceConversion {
	return conversionAt("https://"+w.server.address+conversionPath, w.server.authority)
}

// DeadConversion is what a CRD says to be converted by a webhook that nobody serves: no
// program listens on the port of TCP multiplexing (RFC 1078).
func DeadConversion() *apiextensionsv1.CustomResourceConversion {
	return conversionAt("https://127.0.0.1:1"+conversionPath, nil)
}

// NoConversion is what a CRD says to have only the apiVersion changed.
func NoConversion() *apiextensionsv1.CustomResourceConversion {
	return &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
}

func conversionAt(url string, authority []byte) *apiextensionsv1.CustomResourceConversion {
	return &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: &url, CABundle: authority},
			ConversionReviewVersions: []string{"v1"},
		},
	}
}

// ServeHTTP implements http.Handler for one ConversionReview.
func (w *ConversionWebhook) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	w.requests.Add(1)
	body, err := io.ReadAll(io.LimitReader(in.Body, maxReview))
	if err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	if !w.await(in) {
		return
	}
	var review apiextensionsv1.ConversionReview
	if err := json.Unmarshal(body, &review); err != nil || review.Request == nil {
		http.Error(out, fmt.Sprintf("no ConversionReview with a request: %v", err), http.StatusBadRequest)
		return
	}
	review.Response = w.answer(review.Request)
	review.Request = nil
	out.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(out).Encode(review); err != nil {
		panic(http.ErrAbortHandler) // the client is gone
	}
}

// await waits while the webhook hangs, and is false when the client does not wait any more.
func (w *ConversionWebhook) await(in *http.Request) bool {
	w.mu.Lock()
	answering := w.answering
	w.mu.Unlock()
	select {
	case <-answering:
		return true
	case <-in.Context().Done():
		return false
	}
}

func (w *ConversionWebhook) answer(request *apiextensionsv1.ConversionRequest) *apiextensionsv1.ConversionResponse {
	response := &apiextensionsv1.ConversionResponse{UID: request.UID}
	converted := make([]runtime.RawExtension, 0, len(request.Objects))
	for _, object := range request.Objects {
		raw, err := w.convertOne(object.Raw, request.DesiredAPIVersion)
		if err != nil {
			response.Result = metav1.Status{Status: metav1.StatusFailure, Message: err.Error()}
			return response
		}
		converted = append(converted, runtime.RawExtension{Raw: raw})
	}
	response.Result = metav1.Status{Status: metav1.StatusSuccess}
	response.ConvertedObjects = converted
	return response
}

func (w *ConversionWebhook) convertOne(raw []byte, desired string) ([]byte, error) {
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(raw); err != nil {
		return nil, err
	}
	key := types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
	w.mu.Lock()
	failing := w.failing[key]
	w.mu.Unlock()
	if failing {
		return nil, fmt.Errorf("%s %s cannot be converted to %s", object.GetKind(), key, desired)
	}
	from := object.GroupVersionKind().GroupVersion()
	to, err := schema.ParseGroupVersion(desired)
	if err != nil {
		return nil, err
	}
	object.SetAPIVersion(desired)
	if from != to {
		if err := w.convert(object, from, to); err != nil {
			return nil, fmt.Errorf("%s %s: %w", object.GetKind(), key, err)
		}
	}
	return object.MarshalJSON()
}

// ConvertNothing is a Convert for versions that differ in nothing but their name.
func ConvertNothing(*unstructured.Unstructured, schema.GroupVersion, schema.GroupVersion) error {
	return nil
}

// Converters is a Convert that leads each kind to its own.
type Converters map[schema.GroupKind]Convert

// Convert implements the function of that name; a kind without a converter is an error.
func (c Converters) Convert(object *unstructured.Unstructured, from, to schema.GroupVersion) error {
	convert, ok := c[object.GroupVersionKind().GroupKind()]
	if !ok {
		return errors.New("nobody converts this kind")
	}
	return convert(object, from, to)
}
