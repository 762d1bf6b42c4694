// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
)

var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// answer is what a server of the tests says to a request.
type answer struct {
	code int
	body any
}

// server answers by path; what it does not know it does not serve. It keeps the requests.
type server struct {
	answers map[string]func(url.Values) answer
	asked   []string
}

const (
	inShop        = "/apis/aibom.k8saibom.dev/v1beta1/namespaces/shop/aiboms"
	inAll         = "/apis/aibom.k8saibom.dev/v1beta1/aiboms"
	theConfigPath = "/apis/aibom.k8saibom.dev/v1beta1/aibomcontrollerconfigs/default"
)

func always(code int, body any) func(url.Values) answer {
	return func(url.Values) answer { return answer{code, body} }
}

func failure(code int, reason metav1.StatusReason, message string) func(url.Values) answer {
	return always(code, status(code, reason, message))
}

func status(code int, reason metav1.StatusReason, message string) metav1.Status {
	return metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Code: int32(code), Reason: reason, Message: message,
	}
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked = append(s.asked, r.URL.String())
	say, ok := s.answers[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	a := say(r.URL.Query())
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.code)
	_ = json.NewEncoder(w).Encode(a.body)
}

// run runs the command against the server, with shop as the current namespace.
func (s *server) run(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	httpServer := httptest.NewServer(s)
	defer httpServer.Close()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("HOME", t.TempDir())
	var out, errOut bytes.Buffer
	cmd := newCommand(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}, testingclock.NewFakePassiveClock(now))
	cmd.SetArgs(append([]string{"--server=" + httpServer.URL, "--namespace=shop"}, args...))
	err = cmd.ExecuteContext(t.Context())
	return out.String(), errOut.String(), err
}

func list(next string, items ...v1beta1.AIBOM) v1beta1.AIBOMList {
	return v1beta1.AIBOMList{
		TypeMeta: metav1.TypeMeta{APIVersion: v1beta1.GroupVersion.String(), Kind: "AIBOMList"},
		ListMeta: metav1.ListMeta{Continue: next}, Items: items,
	}
}

// serving is a server with a page of AIBOMs, in one namespace and in all, and no configuration.
func serving(items ...v1beta1.AIBOM) *server {
	return &server{answers: map[string]func(url.Values) answer{
		inShop: always(200, list("", items...)), inAll: always(200, list("", items...)),
		theConfigPath: failure(404, metav1.StatusReasonNotFound, "not found"),
	}}
}

func (s *server) with(path string, say func(url.Values) answer) *server {
	s.answers[path] = say
	return s
}

// aibomOf is the AIBOM of a Deployment, 2 hours old.
func aibomOf(namespace, name, category, runtime string, models ...string) v1beta1.AIBOM {
	a := v1beta1.AIBOM{TypeMeta: metav1.TypeMeta{APIVersion: v1beta1.GroupVersion.String(), Kind: "AIBOM"}}
	a.Namespace, a.Name, a.CreationTimestamp = namespace, "deployment-"+name, metav1.NewTime(now.Add(-2*time.Hour))
	a.Spec.WorkloadRef = v1beta1.WorkloadReference{APIVersion: "apps/v1", Kind: "Deployment", Name: name}
	a.Status.Conditions = []metav1.Condition{{Type: v1beta1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1beta1.ReasonDocumentCurrent}}
	a.Status.Summary = &v1beta1.AIBOMSummary{Confidence: "inferred"}
	a.Status.Summary.Workload.Category = category
	a.Status.Summary.Runtime = v1beta1.RuntimeSummary{Name: runtime, Version: "0.11.0", Confidence: "inferred"}
	for _, m := range models {
		a.Status.Summary.Models = append(a.Status.Summary.Models, v1beta1.ModelSummary{Identity: m, Source: "argument", Confidence: "declared"})
	}
	hold(&a, `{"bomFormat":"CycloneDX","specVersion":"1.6"}`)
	return a
}

// hold puts a document into an AIBOM.
func hold(a *v1beta1.AIBOM, data string) {
	sum := sha256.Sum256([]byte(data))
	a.Status.BOMDocument = &v1beta1.BOMDocument{
		SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data)), Inline: &v1beta1.InlineDocument{Data: data},
	}
}

// configOf is a configuration that is in force and lists kinds.
func configOf(entries ...string) *v1beta1.AIBOMControllerConfig {
	c := &v1beta1.AIBOMControllerConfig{TypeMeta: metav1.TypeMeta{APIVersion: v1beta1.GroupVersion.String(), Kind: "AIBOMControllerConfig"}}
	c.Name, c.Generation, c.Status.ObservedGeneration = v1beta1.ConfigName, 3, 3
	c.Spec.Discovery.WorkloadKinds = entries
	c.Status.Conditions = []metav1.Condition{
		{Type: v1beta1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1beta1.ReasonConfigLoaded},
		{Type: v1beta1.ConditionDegraded, Status: metav1.ConditionFalse, Reason: v1beta1.ReasonAsExpected},
	}
	return c
}
