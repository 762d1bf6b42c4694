// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestIdentity(t *testing.T) {
	for _, same := range [][2]string{
		{"hf://Org/M", "org/m"}, {"https://huggingface.co/org/m", "org/m"}, {"org/m@main", "org/m"}, {"org/m:Q4", "org/m"}, {"/data/m/", "/data/m"}, {" s3://b/m ", "s3://b/m"},
	} {
		NewWithT(t).Expect(Identity(same[0])).To(Equal(Identity(same[1])), same[0])
	}
	for _, other := range [][2]string{
		{"org/m", "m"}, {"/models/m", "m"}, {"org/m-it", "org/m"}, {"s3://b/m", "gs://b/m"}, {"llama3:8b", "llama3"}, {"s3://b/m@v1", "s3://b/m"},
	} {
		NewWithT(t).Expect(Identity(other[0])).NotTo(Equal(Identity(other[1])), other[0])
	}
	NewWithT(t).Expect(Name("TF_Serving")).To(Equal(Name("tf-serving")))
}

func TestScore(t *testing.T) {
	labels := []Label{
		{File: "right", AI: true, Category: "inference", Runtime: "vllm", Models: []string{"org/m"}},
		{File: "missed", AI: true, Category: "training", Models: []string{"org/a"}},
		{File: "half", AI: true, Category: "agent", Models: []string{"org/a", "$(M)"}, ExternalAPIs: []string{"OpenAI"}},
		{File: "false", Category: "none", Models: []string{"org/download"}},
		{File: "none", Category: "none"},
		{File: "refused", AI: true, Category: "inference"},
		{File: "disputed", AI: true, Category: "inference", Runtime: "wrong"},
	}
	observations := []Observation{
		{File: "right", Found: true, Category: "inference", Runtime: "vLLM", Models: []string{"hf://org/m"}},
		{File: "half", Found: true, Category: "inference", Models: []string{"org/a", "org/b"}, Unresolved: []string{"$(M)"}, APIs: []string{"openai", "cohere"}},
		{File: "false", Found: true, Category: "inference", Models: []string{"org/x"}},
		{File: "none"},
		{File: "refused", Refused: "no"},
		{File: "disputed", Found: true, Category: "inference", Runtime: "right"},
	}
	g := NewWithT(t)
	s := Of(labels, observations, []Dispute{{File: "disputed", Field: FieldRuntime, Reason: "it is"}})
	g.Expect(s.Detection).To(Equal(Ratio{3, 4}))
	g.Expect(s.Category).To(Equal(Ratio{2, 4}))
	g.Expect(s.Runtime).To(Equal(Ratio{2, 3}), "the missed one names none but has no AIBOM")
	g.Expect(s.FalseAIBOMs).To(Equal(Ratio{1, 2}))
	g.Expect(s.ModelRecall).To(Equal(Ratio{3, 4}), "an unresolved reference that the label names is found")
	g.Expect(s.ModelPrecision).To(Equal(Ratio{2, 4}))
	g.Expect(s.APIRecall).To(Equal(Ratio{1, 1}))
	g.Expect(s.APIPrecision).To(Equal(Ratio{1, 2}))
	g.Expect(s.Disputed).To(HaveLen(1))
	g.Expect(s.Refused).To(HaveLen(1))
	g.Expect(s.Reached()).To(BeFalse())

	var table strings.Builder
	s.Print(&table)
	g.Expect(table.String()).To(ContainSubstring("98 not reached"))
	g.Expect(table.String()).To(ContainSubstring("expected  org/a"))

	path := filepath.Join(t.TempDir(), "result.json")
	g.Expect(Result{Score: s, Observations: observations}.Write(path)).To(Succeed())
	again, err := ReadResult(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.Score).To(Equal(s))

	better := Of(labels[:1], observations[:1], nil)
	table.Reset()
	PrintComparison(&table, s, better)
	g.Expect(table.String()).To(ContainSubstring("Misses that are gone"))
	g.Expect(table.String()).NotTo(ContainSubstring("Misses that are new"))
	g.Expect(better.Reached()).To(BeTrue())
}

// TestUpstreamCorpus holds the scrapers to the goals on other projects' manifests, which this
// project does not ship: $K8S_AIBOM_UPSTREAM, or shared/upstream beside the repository. Without
// them it is skipped.
func TestUpstreamCorpus(t *testing.T) {
	folder := upstream(t)
	g := NewWithT(t)
	labels, err := ReadLabels(folder)
	g.Expect(err).NotTo(HaveOccurred())
	disputes, err := ReadDisputes("disputed.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	s := Of(labels, Scrape(folder, labels), disputes)
	var table strings.Builder
	s.Print(&table)
	g.Expect(s.Reached()).To(BeTrue(), table.String())
	g.Expect(len(s.Disputed)).To(BeNumerically("<=", len(disputes)))
	for _, d := range disputes {
		g.Expect(d.Reason).NotTo(BeEmpty(), d.File)
	}
}

func upstream(t testing.TB) string {
	t.Helper()
	folder := os.Getenv("K8S_AIBOM_UPSTREAM")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "shared", "upstream")
	}
	folder = filepath.Join(folder, "workloads")
	if _, err := os.Stat(filepath.Join(folder, LabelsFile)); err != nil {
		t.Skipf("the manifests of other projects are not here (set K8S_AIBOM_UPSTREAM to their folder): %v", err)
	}
	return folder
}
