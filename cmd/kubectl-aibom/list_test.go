// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"net/url"
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// lines are the lines of a table with single spaces.
func lines(table string) []string {
	var all []string
	for line := range strings.Lines(table) {
		all = append(all, strings.Join(strings.Fields(line), " "))
	}
	return all
}

func TestSummaryPrintsARowForEachWorkloadAndTotals(t *testing.T) {
	unresolved := aibomOf("lab", "eval", "evaluation", "", "$(MODEL)")
	unresolved.Status.Summary.Models[0].Confidence = "unresolved"
	fresh := aibomOf("lab", "fresh", "", "")
	fresh.Status = v1beta1.AIBOMStatus{}
	s := serving(aibomOf("shop", "llm", "inference", "vllm", "a/one", "b/two", "c/three"), unresolved, fresh)

	t.Run("table", func(t *testing.T) {
		g := NewWithT(t)
		out, errOut, err := s.run(t, "summary", "-A")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(errOut).To(BeEmpty())
		g.Expect(lines(out)).To(Equal([]string{
			"NAMESPACE KIND NAME CATEGORY RUNTIME MODELS CONFIDENCE AGE",
			"shop Deployment llm inference vllm a/one,b/two + 1 more inferred 120m",
			"lab Deployment eval evaluation <none> $(MODEL) (unresolved) inferred 120m",
			"lab Deployment fresh <none> <none> <none> <none> 120m",
			"Total: 3 workloads in 2 namespaces (1 evaluation, 1 inference, 1 uncategorised), 4 models",
		}))
	})
	t.Run("wide", func(t *testing.T) {
		g := NewWithT(t)
		out, _, err := s.run(t, "summary", "-A", "-o", "wide")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(lines(out)[:2]).To(Equal([]string{
			"NAMESPACE KIND NAME CATEGORY RUNTIME VERSION MODELS CONFIDENCE AGE READY AIBOM",
			"shop Deployment llm inference vllm 0.11.0 a/one,b/two,c/three inferred 120m True deployment-llm",
		}))
	})
	t.Run("no headers", func(t *testing.T) {
		g := NewWithT(t)
		out, _, err := s.run(t, "summary", "-A", "--no-headers")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(lines(out)).To(And(HaveLen(3), ContainElement(HavePrefix("shop Deployment llm"))))
	})
	t.Run("name", func(t *testing.T) {
		g := NewWithT(t)
		out, _, err := s.run(t, "summary", "-A", "-o", "name")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(lines(out)).To(HaveExactElements("aibom.aibom.k8saibom.dev/deployment-llm",
			"aibom.aibom.k8saibom.dev/deployment-eval", "aibom.aibom.k8saibom.dev/deployment-fresh"))
	})
	for format, unmarshal := range map[string]func([]byte, any) error{
		"json": json.Unmarshal, "yaml": func(data []byte, into any) error { return yaml.Unmarshal(data, into) },
	} {
		t.Run(format, func(t *testing.T) {
			g := NewWithT(t)
			out, _, err := s.run(t, "summary", "-A", "-o", format)
			g.Expect(err).NotTo(HaveOccurred())
			var got result
			g.Expect(unmarshal([]byte(out), &got)).To(Succeed())
			g.Expect(got.Totals).To(Equal(totalsOf(got.Workloads)))
			g.Expect(got.Workloads).To(HaveLen(3))
			g.Expect(got.Workloads[0]).To(And(HaveField("AIBOM", "deployment-llm"), HaveField("Ready", "True"),
				HaveField("Workload.Namespace", "shop"), HaveField("Models", HaveLen(3))))
			g.Expect(out).NotTo(ContainSubstring("notSearched"))
		})
	}
}

func TestNothingIsSaidOnStandardErrorOnly(t *testing.T) {
	g := NewWithT(t)
	out, errOut, err := serving().run(t, "summary", "-l", "team=ml")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out).To(BeEmpty())
	g.Expect(errOut).To(Equal("No workload in namespace \"shop\" with the labels team=ml has an AIBOM.\n"))
	out, _, err = serving().run(t, "summary", "-o", "json")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out).To(ContainSubstring(`"workloads": []`), "a list and not null")
	_, errOut, err = serving().run(t, "find", "llama", "-A")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(errOut).To(Equal("No AIBOM in any namespace names \"llama\".\n"))
}

func TestListsArePagedAndGoOnAfterAnExpiredPage(t *testing.T) {
	g := NewWithT(t)
	expired := status(410, metav1.StatusReasonExpired, "too old")
	expired.Continue = "anew"
	s := serving().with(inAll, func(q url.Values) answer {
		switch q.Get("continue") {
		case "":
			return answer{200, list("second", aibomOf("shop", "one", "inference", "vllm"))}
		case "second":
			return answer{410, expired}
		}
		return answer{200, list("", aibomOf("shop", "two", "inference", "vllm"))}
	})
	out, _, err := s.run(t, "summary", "-A", "-l", "a=b", "-o", "name")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(lines(out)).To(HaveLen(2), "what was read before is not read again")
	g.Expect(s.asked[:3]).To(HaveExactElements(
		inAll+"?labelSelector=a%3Db&limit=500",
		inAll+"?continue=second&labelSelector=a%3Db&limit=500",
		inAll+"?continue=anew&labelSelector=a%3Db&limit=500"))
}

func TestFindLooksIntoSummariesAndDocuments(t *testing.T) {
	golden, err := os.ReadFile("../../test/golden/testdata/vllm-llama-with-pods.1.6.cdx.json")
	if err != nil {
		t.Fatal(err)
	}
	sample := aibomOf("shop", "vllm-llama", "inference", "vllm", "meta-llama/Llama-3.1-8B-Instruct")
	hold(&sample, string(golden))
	called := aibomOf("shop", "agent", "agent", "langchain", "gpt-4o-mini")
	hold(&called, `{"bomFormat":"CycloneDX","specVersion":"1.7","services":[{"name":"openai","endpoints":["https://api.openai.com/v1"]}]}`)

	for text, want := range map[string]string{
		"LLAMA-3.1":        "meta-llama/Llama-3.1-8B-Instruct",
		"llama-3.1-8b":     "meta-llama/Llama-3.1-8B-Instruct,llama-3.1-8b",
		"vllm:0.11":        "vllm:0.11.0",
		"vllm-openai:v0":   "docker.io/vllm/vllm-openai:v0.11.0",
		"pkg:huggingface/": "pkg:huggingface/meta-llama/Llama-3.1-8B-Instruct",
		"api.openai.com":   "https://api.openai.com/v1",
		"gpt-4o":           "gpt-4o-mini",
		"@sha256:":         "@sha256:",
	} {
		t.Run(text, func(t *testing.T) {
			g := NewWithT(t)
			s := serving(sample, called, aibomOf("shop", "other", "vectordb", "qdrant"))
			out, errOut, err := s.run(t, "find", text, "-o", "json")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(errOut).To(BeEmpty())
			var got result
			g.Expect(json.Unmarshal([]byte(out), &got)).To(Succeed())
			g.Expect(got.Workloads).To(HaveLen(1))
			g.Expect(strings.Join(got.Workloads[0].Matches, ",")).To(ContainSubstring(want))
			g.Expect(got.NotSearched).To(Equal(&notSearched{}))
		})
	}
	t.Run("table", func(t *testing.T) {
		g := NewWithT(t)
		out, _, err := serving(sample, called).run(t, "find", "openai")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(lines(out)[0]).To(Equal("NAMESPACE KIND NAME CATEGORY RUNTIME MODELS CONFIDENCE MATCH AGE"))
		g.Expect(out).To(And(ContainSubstring("agent"), Not(ContainSubstring("Total"))))
	})
}

func TestFindCountsWhatItCouldNotSearch(t *testing.T) {
	g := NewWithT(t)
	var all []v1beta1.AIBOM
	for name, document := range map[string]*v1beta1.BOMDocument{
		"external-1": {External: &v1beta1.ExternalDocument{Sink: "archive"}},
		"external-2": {External: &v1beta1.ExternalDocument{Sink: "archive"}},
		"truncated":  {Truncated: true, TruncationReason: "no external sink is configured"},
		"broken":     {Inline: &v1beta1.InlineDocument{Data: "{"}},
		"fresh":      nil,
	} {
		a := aibomOf("shop", name, "inference", "vllm", "m/"+name)
		a.Status.BOMDocument = document
		all = append(all, a)
	}
	out, errOut, err := serving(all...).run(t, "find", "m/external-2", "-o", "name")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(lines(out)).To(HaveExactElements("aibom.aibom.k8saibom.dev/deployment-external-2"), "its summary says it")
	g.Expect(errOut).To(HavePrefix("warning: 5 documents could not be searched (2 external, 1 truncated, 2 absent or unreadable)"))
}

func TestWhatIsSearchedIsSpeltAsInTheTaxonomy(t *testing.T) {
	NewWithT(t).Expect(servedName).To(Equal(evidence.PropIdentityServedName))
	NewWithT(t).Expect("unresolved").To(BeEquivalentTo(evidence.Unresolved))
}

func TestMistakesAreNamed(t *testing.T) {
	forbidden := func() *server {
		refusal := failure(403, metav1.StatusReasonForbidden, `aiboms is forbidden: User "eve" cannot list`)
		return serving().with(inAll, refusal).with(inShop, refusal)
	}
	for name, c := range map[string]struct {
		server *server
		args   []string
		want   string
	}{
		"format":                {serving(), []string{"summary", "-o", "xml"}, `--output is "xml", want table, wide, json, yaml or name`},
		"selector":              {serving(), []string{"find", "x", "-l", "=="}, `--selector "==" is no label selector`},
		"nothing to find":       {serving(), []string{"find"}, "kubectl aibom find llama -A"},
		"empty text":            {serving(), []string{"find", ""}, "name one text to find"},
		"unknown command":       {serving(), []string{"summarise"}, `unknown command "summarise"`},
		"argument of summary":   {serving(), []string{"summary", "x"}, "x"},
		"everywhere forbidden":  {forbidden(), []string{"summary", "-A"}, "name a namespace with -n instead of -A"},
		"one forbidden":         {forbidden(), []string{"find", "x"}, `listing the AIBOMs in namespace "shop": aiboms is forbidden: User "eve" cannot list; have the ClusterRole view`},
		"not installed":         {&server{}, []string{"summary"}, "this cluster does not serve aibom.k8saibom.dev/v1beta1, Kind=AIBOM; is k8s-aibom installed"},
		"an expired first page": {serving().with(inShop, failure(410, metav1.StatusReasonExpired, "too old")), []string{"summary"}, "too old"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			out, errOut, err := c.server.run(t, c.args...)
			g.Expect(err).To(MatchError(ContainSubstring(c.want)))
			g.Expect(out+errOut).To(BeEmpty(), "the error is all that is said")
		})
	}
}

func TestHelpHasExamplesAndCompletionKnowsFormats(t *testing.T) {
	g := NewWithT(t)
	for _, command := range []string{"summary", "find", "document"} {
		out, _, err := serving().run(t, command, "--help")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(out).To(And(ContainSubstring("kubectl aibom "+command), ContainSubstring("Examples:"), ContainSubstring("--context")))
	}
	out, _, err := serving().run(t, "__complete", "summary", "-o", "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(lines(out)).To(ContainElements("table", "wide", "json", "yaml", "name"))
}
