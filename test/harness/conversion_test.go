// SPDX-License-Identifier: Apache-2.0

package harness_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

const widget = `{"apiVersion":"x.example/v1","kind":"Widget","metadata":{"namespace":"n","name":%q},"spec":{"a":1}}`

// renameField is a conversion that one can see.
func renameField(object *unstructured.Unstructured, _, _ schema.GroupVersion) error {
	value, _, err := unstructured.NestedFieldCopy(object.Object, "spec", "a")
	if err != nil {
		return err
	}
	return unstructured.SetNestedField(object.Object, value, "spec", "b")
}

// review has the webhook convert widgets of these names.
func review(ctx context.Context, conversion *apiextensionsv1.CustomResourceConversion, names ...string) (*apiextensionsv1.ConversionResponse, error) {
	in := apiextensionsv1.ConversionReview{Request: &apiextensionsv1.ConversionRequest{UID: "7", DesiredAPIVersion: "x.example/v2"}}
	for _, name := range names {
		in.Request.Objects = append(in.Request.Objects, runtime.RawExtension{Raw: fmt.Appendf(nil, widget, name)})
	}
	body, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(conversion.Webhook.ClientConfig.CABundle)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authorities}, DisableKeepAlives: true}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, *conversion.Webhook.ClientConfig.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var out apiextensionsv1.ConversionReview
	if err := json.NewDecoder(response.Body).Decode(&out); err != nil {
		return nil, err
	}
	return out.Response, nil
}

func TestConversionWebhook(t *testing.T) {
	g := NewWithT(t)
	noLeaks := harness.LeakCheck()
	webhook, err := harness.NewConversionWebhook(harness.Converters{
		{Group: "x.example", Kind: "Widget"}: renameField,
	}.Convert)
	g.Expect(err).NotTo(HaveOccurred())
	conversion := webhook.Conversion()
	ctx := t.Context()
	g.Expect(webhook.Start()).To(Succeed())

	answer, err := review(ctx, conversion, "one", "two")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(answer.UID).To(BeEquivalentTo("7"))
	g.Expect(answer.Result.Status).To(Equal("Success"))
	g.Expect(answer.ConvertedObjects).To(HaveLen(2))
	g.Expect(answer.ConvertedObjects[0].Raw).To(MatchJSON(
		`{"apiVersion":"x.example/v2","kind":"Widget","metadata":{"namespace":"n","name":"one"},"spec":{"a":1,"b":1}}`))

	webhook.FailFor(types.NamespacedName{Namespace: "n", Name: "two"})
	answer, err = review(ctx, conversion, "one", "two")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(answer.Result.Status).To(Equal("Failure"))
	g.Expect(answer.Result.Message).To(ContainSubstring("Widget n/two cannot be converted"))
	answer, err = review(ctx, conversion, "one")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(answer.Result.Status).To(Equal("Success"), "only the named object fails")
	g.Expect(webhook.Requests()).To(Equal(3))
	webhook.FailFor()

	for range 3 {
		g.Expect(webhook.Stop()).To(Succeed())
		_, err = review(ctx, conversion, "one")
		g.Expect(errors.Is(err, syscall.ECONNREFUSED)).To(BeTrue(), "the port is closed: %v", err)
		g.Expect(webhook.Start()).To(Succeed(), "the same port opens again")
		_, err = review(ctx, conversion, "one")
		g.Expect(err).NotTo(HaveOccurred())
	}

	webhook.Hang(true)
	impatient, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	_, err = review(impatient, conversion, "one")
	g.Expect(err).To(MatchError(context.DeadlineExceeded), "it accepts and never answers")
	answers := make(chan error, 2)
	ask := func() {
		_, err := review(ctx, conversion, "one")
		answers <- err
	}
	before := webhook.Requests()
	go ask()
	g.Eventually(webhook.Requests).Should(Equal(before+1), "the request has come")
	webhook.Hang(false)
	g.Eventually(answers).Should(Receive(BeNil()), "what waited is answered")

	webhook.Hang(true)
	before = webhook.Requests()
	go ask()
	g.Eventually(webhook.Requests).Should(Equal(before+1), "the request has come")
	g.Expect(webhook.Stop()).To(Succeed(), "a webhook that hangs stops as well")
	g.Eventually(answers).Should(Receive(HaveOccurred()))
	g.Expect(webhook.Stop()).To(Succeed(), "a second Stop does nothing")
	g.Eventually(noLeaks).Should(Succeed(), "nothing outlives Stop")
}

func TestDeadConversionIsRefused(t *testing.T) {
	g := NewWithT(t)
	_, err := review(t.Context(), harness.DeadConversion(), "one")
	g.Expect(errors.Is(err, syscall.ECONNREFUSED)).To(BeTrue(), "nobody listens: %v", err)
}
