// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/controller"
	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/internal/scrape"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
	"github.com/k8s-aibom/k8s-aibom/test/suite"
)

// saboteur reads workloads as the controller does until it is told to fail. No object that
// the API server accepts makes the built-in kinds fail, so the failure is injected.
type saboteur struct {
	mu       sync.Mutex
	scraping error
	building bool
}

func (s *saboteur) failScraping(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scraping, s.building = err, false
}

// failBuilding makes every report hold a finding that no document can express.
func (s *saboteur) failBuilding() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scraping, s.building = nil, true
}

func (s *saboteur) scrape(kind kinds.Kind) controller.ScrapeFunc {
	read := controller.ScrapeBuiltIn(kind)
	return func(object client.Object, running []scrape.RunningImage, rules scrape.Rules) (evidence.Report, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.scraping != nil {
			return evidence.Report{}, s.scraping
		}
		report, err := read(object, running, rules)
		if s.building {
			report.Findings = append(report.Findings, evidence.Finding{
				Type: "riddle", Name: "sphinx", Confidence: evidence.Declared,
				Evidence: []evidence.Evidence{{Source: evidence.SourceField, Locator: "spec"}},
			})
		}
		return report, err
	}
}

var _ = Describe("A failure keeps the last document and sets Ready=False with the reason", Label("foundation-6"), Ordered, func() {
	var faults *saboteur

	BeforeAll(withoutManager)
	BeforeEach(func(ctx context.Context) {
		faults = &saboteur{}
		startInProcess(ctx, faults.scrape)
	})

	DescribeTable("in", func(ctx context.Context, fail func(), reason, message string) {
		ns := optedIn(ctx)
		deployment := deploy(ctx, ns, "llm", llama)
		before := awaitAIBOM(ctx, ns, "deployment-llm")

		fail()
		since := mark()
		serve(ctx, deployment, qwen)
		Eventually(getAIBOM(ctx, ns, "deployment-llm")).Should(And(
			haveCondition(v1beta1.ConditionReady, metav1.ConditionFalse, reason),
			haveCondition(v1beta1.ConditionSynced, metav1.ConditionFalse, reason),
			haveCondition(v1beta1.ConditionStale, metav1.ConditionFalse, v1beta1.ReasonDocumentCurrent),
			HaveField("Status.ConsecutiveErrors", BeEquivalentTo(1)),
		), "the AIBOM says that and why it is not up to date")
		suite.Settled(requestsAbout(since, ns, "aiboms")).Should(Equal([]string{"patch aiboms/status deployment-llm"}),
			"the same failure is written once")
		failed, err := getAIBOM(ctx, ns, "deployment-llm")()
		Expect(err).NotTo(HaveOccurred())
		Expect(failed.Status.BOMDocument).To(Equal(before.Status.BOMDocument), "the last document is kept")
		Expect(failed.Status.BOMHash).To(Equal(before.Status.BOMHash))
		Expect(failed.Status.InputHash).To(Equal(before.Status.InputHash))
		Expect(failed.Status.Summary).To(Equal(before.Status.Summary))
		parseDocument(failed)
		Expect(meta.FindStatusCondition(failed.Status.Conditions, v1beta1.ConditionReady).Message).To(ContainSubstring(message))
		Eventually(eventReasons(ctx, ns)).Should(ContainElement(reason), "an event on the workload tells of it")

		faults.failScraping(nil)
		serve(ctx, deployment, "example/after")
		awaitAIBOM(ctx, ns, "deployment-llm", haveModels("example/after"),
			HaveField("Status.ConsecutiveErrors", BeZero()),
			haveCondition(v1beta1.ConditionSynced, metav1.ConditionTrue, v1beta1.ReasonDocumentCurrent))
	},
		Entry("scraping", func() { faults.failScraping(errors.New("the template is a riddle")) },
			v1beta1.ReasonScrapeFailed, "the template is a riddle"),
		Entry("building the document", func() { faults.failBuilding() },
			v1beta1.ReasonBuildFailed, "riddle"),
	)

	DescribeTable("and never creates an AIBOM, in", func(ctx context.Context, fail func(), reason string) {
		fail()
		ns := optedIn(ctx)
		since := mark()
		deployment := deploy(ctx, ns, "llm", llama)
		Eventually(eventReasons(ctx, ns)).Should(ContainElement(reason), "an event on the workload tells of it")
		Consistently(listAIBOMs(ctx, ns)).Should(BeEmpty(), "there is no document to keep")
		Expect(requestsAbout(since, ns, "aiboms")()).To(BeEmpty(), "and nothing is asked for")

		faults.failScraping(nil)
		serve(ctx, deployment, qwen)
		awaitAIBOM(ctx, ns, "deployment-llm", haveModels(qwen))
	},
		Entry("scraping", func() { faults.failScraping(errors.New("the template is a riddle")) }, v1beta1.ReasonScrapeFailed),
		Entry("building the document", func() { faults.failBuilding() }, v1beta1.ReasonBuildFailed),
	)

	It("counts different failures and says when there were too many", func(ctx context.Context) {
		ns := optedIn(ctx)
		deployment := deploy(ctx, ns, "llm", llama)
		awaitAIBOM(ctx, ns, "deployment-llm")
		stale := haveCondition(v1beta1.ConditionStale, metav1.ConditionFalse, v1beta1.ReasonDocumentCurrent)
		for i, cause := range []string{"first", "second", "third"} {
			if i+1 == v1beta1.DefaultStaleThresholdReconciles {
				stale = haveCondition(v1beta1.ConditionStale, metav1.ConditionTrue, v1beta1.ReasonTooManyFailures)
			}
			faults.failScraping(errors.New(cause))
			serve(ctx, deployment, "example/"+cause)
			Eventually(getAIBOM(ctx, ns, "deployment-llm")).Should(And(
				HaveField("Status.ConsecutiveErrors", BeEquivalentTo(i+1)), stale), "the %s failure counts", cause)
		}
		faults.failScraping(nil)
		serve(ctx, deployment, qwen)
		awaitAIBOM(ctx, ns, "deployment-llm", haveModels(qwen),
			HaveField("Status.ConsecutiveErrors", BeZero()),
			haveCondition(v1beta1.ConditionStale, metav1.ConditionFalse, v1beta1.ReasonDocumentCurrent))
	})

	It("shows no credential that a failure's text repeats", func(ctx context.Context) {
		ns := optedIn(ctx)
		deployment := deploy(ctx, ns, "llm", llama)
		awaitAIBOM(ctx, ns, "deployment-llm")
		const token = "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH"
		faults.failScraping(errors.New("cannot read " + token))
		serve(ctx, deployment, qwen)
		Eventually(getAIBOM(ctx, ns, "deployment-llm")).Should(
			haveCondition(v1beta1.ConditionReady, metav1.ConditionFalse, v1beta1.ReasonScrapeFailed), "the failure is reported")
		Eventually(eventReasons(ctx, ns)).Should(ContainElement(v1beta1.ReasonScrapeFailed), "by an event, too")
		Expect(kubectl(ctx, "-n", ns, "get", "aiboms,events.events.k8s.io", "-o", "yaml")).NotTo(ContainSubstring(token))
	})
})

// requestsAbout are the manager's requests since the mark about one resource of a namespace.
func requestsAbout(since harness.Mark, namespace, resource string) func() ([]string, error) {
	return func() ([]string, error) {
		all, err := requestsIn(since, namespace)()
		var about []string
		for _, request := range all {
			if strings.Contains(request, " "+resource) {
				about = append(about, request)
			}
		}
		return about, err
	}
}

// eventReasons are the reasons of the events in a namespace.
func eventReasons(ctx context.Context, namespace string) func() ([]string, error) {
	return func() ([]string, error) {
		list := &eventsv1.EventList{}
		err := admin.List(ctx, list, client.InNamespace(namespace))
		var reasons []string
		for _, event := range list.Items {
			reasons = append(reasons, event.Reason)
		}
		return reasons, err
	}
}
