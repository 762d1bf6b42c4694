// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/test/suite"
)

// deliveries is time for a few attempts of a sink with a timeout of a second.
const deliveries = 4 * time.Second

// store is a server that takes documents by HTTP PUT, or refuses to.
type store struct {
	url string

	mu     sync.Mutex
	answer int
	taken  map[string][]byte
}

func startStore() *store {
	s := &store{answer: http.StatusCreated, taken: map[string][]byte{}}
	server := httptest.NewServer(s)
	DeferCleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && r.Method == http.MethodPut && s.answer == http.StatusCreated {
		s.taken[r.URL.Path] = body
	}
	w.WriteHeader(s.answer)
}

func (s *store) answers(code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = code
}

func (s *store) get(path string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken[path]
}

// into is a configuration with the smallest threshold, which no document meets, and the sinks.
func into(sinks ...v1beta1.SinkSpec) v1beta1.AIBOMControllerConfigSpec {
	return v1beta1.AIBOMControllerConfigSpec{
		BOMGeneration: v1beta1.BOMGenerationSpec{InlineThresholdBytes: ptr.To[int32](1024)},
		Sinks:         sinks,
	}
}

func (s *store) sink(name string) v1beta1.SinkSpec {
	return v1beta1.SinkSpec{Name: name, HTTP: &v1beta1.HTTPSink{URL: s.url, TimeoutSeconds: ptr.To[int32](1)}}
}

var _ = Describe("A document over the threshold", Label("foundation-6"), func() {
	It("is truncated with the reason where no sink is configured, and comes back", func(ctx context.Context) {
		ns := optedIn(ctx)
		deploy(ctx, ns, "llm", llama)
		before := awaitAIBOM(ctx, ns, "deployment-llm")
		configure(ctx, into())
		aibom := awaitAIBOM(ctx, ns, "deployment-llm", HaveField("Status.BOMDocument.Truncated", true))
		document := aibom.Status.BOMDocument
		Expect(document.TruncationReason).To(Equal("no external sink is configured"))
		Expect(document.Inline).To(BeNil())
		Expect(document.External).To(BeNil())
		Expect(document.Size).To(BeNumerically(">", 1024))
		Expect(document.SHA256).To(Equal(before.Status.BOMDocument.SHA256), "it is known all the same")
		Expect(aibom.Status.Summary).To(Equal(before.Status.Summary), "and so is its summary")

		apply(ctx, v1beta1.AIBOMControllerConfigSpec{})
		aibom = awaitAIBOM(ctx, ns, "deployment-llm", HaveField("Status.BOMDocument.Truncated", false))
		Expect(aibom.Status.BOMDocument).To(Equal(before.Status.BOMDocument), "byte for byte")
	})

	It("lies in the sink that took it", func(ctx context.Context) {
		target := startStore()
		configure(ctx, into(target.sink("archive")))
		ns := optedIn(ctx)
		since := mark()
		deploy(ctx, ns, "llm", llama)
		aibom := awaitAIBOM(ctx, ns, "deployment-llm",
			haveCondition(v1beta1.ConditionSinkFailed, metav1.ConditionFalse, v1beta1.ReasonDelivered))
		document := aibom.Status.BOMDocument
		path := "/" + ns + "/deployment-llm/" + document.SHA256 + ".cdx.json"
		Expect(document.External).To(Equal(&v1beta1.ExternalDocument{Sink: "archive", URL: target.url + path}))
		Expect(document.Inline).To(BeNil())
		Expect(document.Truncated).To(BeFalse())

		delivered := target.get(path)
		sum := sha256.Sum256(delivered)
		Expect(hex.EncodeToString(sum[:])).To(Equal(document.SHA256), "what lies there has the hash that the AIBOM states")
		Expect(delivered).To(HaveLen(int(document.Size)))
		Expect(validDocument("1.6", delivered).Metadata.Component.Name).To(Equal("llm"))
		suite.Settled(requests(since, ns)).Should(Equal([]string{
			"create aiboms deployment-llm", "patch aiboms/status deployment-llm",
		}), "a sink changes nothing about the two writes")
	})

	It("is truncated while every sink fails, and lies there once one recovers", func(ctx context.Context) {
		target := startStore()
		target.answers(http.StatusServiceUnavailable)
		configure(ctx, into(target.sink("archive")))
		ns := optedIn(ctx)
		since := mark()
		deploy(ctx, ns, "llm", llama)
		failed := awaitAIBOM(ctx, ns, "deployment-llm",
			haveCondition(v1beta1.ConditionSinkFailed, metav1.ConditionTrue, v1beta1.ReasonDeliveryFailed))
		Expect(failed.Status.BOMDocument.Truncated).To(BeTrue())
		Expect(failed.Status.BOMDocument.TruncationReason).To(Equal("every configured sink failed"))
		Expect(conditionMessage(failed, v1beta1.ConditionSinkFailed)).To(And(ContainSubstring("archive"), ContainSubstring("503")))
		Consistently(requestsIn(since, ns)).WithTimeout(deliveries).Should(Equal([]string{
			"create aiboms deployment-llm", "patch aiboms/status deployment-llm",
		}), "trying again costs no write while nothing changes")

		target.answers(http.StatusCreated)
		aibom := awaitAIBOM(ctx, ns, "deployment-llm",
			haveCondition(v1beta1.ConditionSinkFailed, metav1.ConditionFalse, v1beta1.ReasonDelivered))
		Expect(aibom.Status.BOMDocument.External).NotTo(BeNil())
		Expect(aibom.Status.BOMDocument.Truncated).To(BeFalse())
		Expect(aibom.Status.BOMDocument.SHA256).To(Equal(failed.Status.BOMDocument.SHA256), "the document did not change meanwhile")
	})

	It("lies in the second sink where the first fails", func(ctx context.Context) {
		broken, target := startStore(), startStore()
		broken.answers(http.StatusForbidden)
		configure(ctx, into(broken.sink("broken"), target.sink("archive")))
		ns := optedIn(ctx)
		deploy(ctx, ns, "llm", llama)
		aibom := awaitAIBOM(ctx, ns, "deployment-llm",
			haveCondition(v1beta1.ConditionSinkFailed, metav1.ConditionTrue, v1beta1.ReasonDeliveryFailed))
		Expect(aibom.Status.BOMDocument.External).To(HaveField("Sink", "archive"))
		Expect(conditionMessage(aibom, v1beta1.ConditionSinkFailed)).To(ContainSubstring(`sink "broken"`))
	})
})

var _ = Describe("A sink that is configured later", Label("foundation-6"), func() {
	It("takes the documents that are there already", func(ctx context.Context) {
		ns := optedIn(ctx)
		deploy(ctx, ns, "llm", llama)
		before := awaitAIBOM(ctx, ns, "deployment-llm",
			haveCondition(v1beta1.ConditionSinkFailed, metav1.ConditionFalse, v1beta1.ReasonNoSink))
		target := startStore()
		configure(ctx, v1beta1.AIBOMControllerConfigSpec{Sinks: []v1beta1.SinkSpec{target.sink("archive")}})
		after := awaitAIBOM(ctx, ns, "deployment-llm",
			haveCondition(v1beta1.ConditionSinkFailed, metav1.ConditionFalse, v1beta1.ReasonDelivered))
		Expect(after.Status.BOMDocument).To(Equal(before.Status.BOMDocument), "a small document stays inline as well")
		Expect(target.get("/" + ns + "/deployment-llm/" + after.Status.BOMDocument.SHA256 + ".cdx.json")).
			To(Equal([]byte(after.Status.BOMDocument.Inline.Data)))
	})
})
