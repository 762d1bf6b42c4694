// SPDX-License-Identifier: Apache-2.0

package bom

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	cdx "github.com/CycloneDX/cyclonedx-go"
	. "github.com/onsi/gomega"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
	"github.com/k8s-aibom/k8s-aibom/test/cdxschema"
)

var update = flag.Bool("update", false, "write the golden files anew")

// validator compiles the schemas once, which takes longer than most tests.
var validator = sync.OnceValues(cdxschema.New)

// mustBuild builds the document of a report and holds it to the official schema.
func mustBuild(t fataler, r evidence.Report, version string) Document {
	t.Helper()
	doc, err := Build(Input{Report: r, SpecVersion: version, Tool: testTool}, firstSeen)
	if err != nil {
		t.Fatalf("Build: %v", err)
	}
	v, err := validator()
	if err != nil {
		t.Fatalf("schemas: %v", err)
	}
	if err := v.Validate(version, doc.Bytes); err != nil {
		t.Fatalf("not valid CycloneDX %s: %v\n%s", version, err, doc.Bytes)
	}
	if !utf8.Valid(doc.Bytes) {
		t.Fatal("not UTF-8")
	}
	return doc
}

func decode(t testing.TB, doc Document) cdx.BOM {
	t.Helper()
	var b cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(doc.Bytes), cdx.BOMFileFormatJSON).Decode(&b); err != nil {
		t.Fatalf("decode: %v", err)
	}
	return b
}

// TestGolden compares whole documents, indented for the reader. Run with -update to accept a
// change, and then raise formatRevision.
func TestGolden(t *testing.T) {
	for _, version := range []string{"1.6", "1.7"} {
		t.Run(version, func(t *testing.T) {
			g := NewWithT(t)
			doc := mustBuild(t, richReport(), version)
			var got bytes.Buffer
			g.Expect(json.Indent(&got, doc.Bytes, "", "  ")).To(Succeed())
			path := filepath.Join("testdata", "rich-"+version+".golden.json")
			if *update {
				g.Expect(os.WriteFile(path, got.Bytes(), 0o600)).To(Succeed())
			}
			want, err := os.ReadFile(path)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got.String()).To(Equal(string(want)))
		})
	}
}

func TestBuildIsCanonical(t *testing.T) {
	g := NewWithT(t)
	want := mustBuild(t, richReport(), "1.6")
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		r := richReport()
		shuffle(random, r.Findings)
		for i := range r.Findings {
			shuffle(random, r.Findings[i].Evidence)
			shuffle(random, r.Findings[i].Properties)
		}
		g.Expect(mustBuild(t, r, "1.6")).To(Equal(want), "seed %d", seed)
	}
	sum := sha256.Sum256(want.Bytes)
	g.Expect(want.SHA256).To(Equal(hex.EncodeToString(sum[:])))
	g.Expect(want.InputHash).To(Equal(InputHash(Input{Report: richReport(), SpecVersion: "1.6", Tool: testTool})))
	g.Expect(want.InputHash).To(MatchRegexp(`^sha256:[0-9a-f]{64}$`))
	g.Expect(bytes.Count(want.Bytes, []byte("\n"))).To(Equal(1), "one line")
}

func shuffle[T any](random *rand.Rand, items []T) {
	random.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
}

func TestInputHash(t *testing.T) {
	base := Input{Report: richReport(), SpecVersion: "1.6", Tool: testTool}
	changes := map[string]func(*Input){
		"spec version": func(in *Input) { in.SpecVersion = "1.7" },
		"tool version": func(in *Input) { in.Tool.Version = "v0.2.0" },
		"tool name":    func(in *Input) { in.Tool.Name = "other" },
		"workload":     func(in *Input) { in.Report.Workload.UID = "other" },
		"category":     func(in *Input) { in.Report.Category = evidence.CategoryAgent },
		"finding":      func(in *Input) { in.Report.Findings = in.Report.Findings[1:] },
		"property":     func(in *Input) { in.Report.Properties = nil },
		"owned":        func(in *Input) { in.Report.Owned = []string{"Job/a"} },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			in := base
			change(&in)
			NewWithT(t).Expect(InputHash(in)).NotTo(Equal(InputHash(base)))
		})
	}
	t.Run("a redacted value's change is no change", func(t *testing.T) {
		a, b := richReport(), richReport()
		a.Properties = []evidence.Property{prop(evidence.PropScrapeError, "https://u:one@h")}
		b.Properties = []evidence.Property{prop(evidence.PropScrapeError, "https://u:two@h")}
		NewWithT(t).Expect(InputHash(Input{Report: a})).To(Equal(InputHash(Input{Report: b})))
	})
}

func TestTimeChangesTheTimestampOnly(t *testing.T) {
	g := NewWithT(t)
	in := Input{Report: richReport(), SpecVersion: "1.6", Tool: testTool}
	a, err := Build(in, firstSeen)
	g.Expect(err).NotTo(HaveOccurred())
	b, err := Build(in, firstSeen.Add(time.Hour))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(a.InputHash).To(Equal(b.InputHash))
	g.Expect(string(a.Bytes)).To(ContainSubstring(`"timestamp":"2026-03-04T04:06:07Z"`))
	g.Expect(strings.Replace(string(a.Bytes), "2026-03-04T04:06:07Z", "2026-03-04T05:06:07Z", 1)).To(Equal(string(b.Bytes)))
}

func TestSerialNumber(t *testing.T) {
	g := NewWithT(t)
	a := serialNumber("uid", "sha256:1")
	g.Expect(a).To(Equal(serialNumber("uid", "sha256:1")))
	g.Expect(a).NotTo(Equal(serialNumber("uid2", "sha256:1")))
	g.Expect(a).NotTo(Equal(serialNumber("uid", "sha256:2")))
}

func TestBuildRefuses(t *testing.T) {
	g := NewWithT(t)
	_, err := Build(Input{Report: richReport(), SpecVersion: "1.5"}, firstSeen)
	g.Expect(err).To(MatchError(ContainSubstring(`"1.5"`)))
	_, err = Build(Input{Report: evidence.Report{Findings: []evidence.Finding{{Type: "banana", Name: "b"}}}, SpecVersion: "1.6"}, firstSeen)
	g.Expect(err).To(MatchError(ContainSubstring(`unknown type "banana"`)))
}

func TestUnresolvedKeepsItsZero(t *testing.T) {
	g := NewWithT(t)
	r := evidence.Report{Findings: []evidence.Finding{{
		Type: evidence.TypeModel, Name: "$(M)", Confidence: evidence.Unresolved, Evidence: []evidence.Evidence{read(evidence.SourceArgument, "args[0]")},
		Properties: []evidence.Property{prop(evidence.PropIdentityUnresolved, "M")},
	}}}
	doc := string(mustBuild(t, r, "1.6").Bytes)
	g.Expect(doc).To(ContainSubstring(`"identity":[{"field":"name","confidence":0,"methods":[{"technique":"manifest-analysis","confidence":0,"value":"args[0]"}]}]`))
	g.Expect(doc).To(ContainSubstring(`"value":"unresolved"`))
}

func TestImagesVersionAndHash(t *testing.T) {
	hash := strings.TrimPrefix(testDigest, "sha256:")
	tests := []struct{ name, tag, digest, version, hash string }{
		{"tag and digest", "v1", testDigest, "v1", hash},
		{"digest", "", testDigest, testDigest, hash},
		{"tag", "v1", "", "v1", ""},
		{"no valid digest", "v1", "sha256:abc", "v1", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			r := evidence.Report{Findings: []evidence.Finding{{Type: evidence.TypeContainer, Name: "a", Version: tt.tag, Digest: tt.digest}}}
			c := (*decode(t, mustBuild(t, r, "1.6")).Components)[0]
			g.Expect(c.Version).To(Equal(tt.version))
			if tt.hash == "" {
				g.Expect(c.Hashes).To(BeNil())
				return
			}
			g.Expect(*c.Hashes).To(Equal([]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: tt.hash}}))
			g.Expect((*c.Evidence.Identity.Identities)[0].Field).To(Equal(cdx.EvidenceIdentityFieldTypeHash))
		})
	}
}

func TestEndpoints(t *testing.T) {
	tests := map[string]bool{
		"https://api.openai.com/v1": true, "http://$(HOST):8000/v1": true, "/v1": true, "http://[::1]:80": true,
		"": false, "http://[::1": false, `http:\\h`: false, "http://a b": false, "http://h:port": false, "http://[v1.x]": false, "a{b}": false,
	}
	for endpoint, want := range tests {
		t.Run(endpoint, func(t *testing.T) {
			g := NewWithT(t)
			r := evidence.Report{Findings: []evidence.Finding{{Type: evidence.TypeService, Name: "s", Endpoint: endpoint}}}
			b := decode(t, mustBuild(t, r, "1.6"))
			g.Expect((*b.Services)[0].Endpoints != nil).To(Equal(want))
		})
	}
}

func TestGraph(t *testing.T) {
	g := NewWithT(t)
	graph := map[string][]string{}
	for _, d := range dependencies(Normalize(richReport())) {
		var targets []string
		if d.Dependencies != nil {
			for _, target := range *d.Dependencies {
				targets = append(targets, strings.SplitN(target, "#", 2)[0])
			}
		}
		ref := strings.SplitN(d.Ref, "#", 2)[0]
		graph[ref] = append(graph[ref], targets...)
	}
	g.Expect(graph["workload:deployment/ml/llama"]).To(ConsistOf(
		"runtime:vllm", "framework:langchain", "container:vllm/vllm-openai", "container:registry.example.com:5000/tools/fetch",
		"model:meta-llama/Llama-3.1-8B-Instruct", "data:squad"),
		"programs, and what belongs to no known container")
	g.Expect(graph["container:vllm/vllm-openai"]).To(ConsistOf(
		"model:meta-llama/Llama-3.1-8B-Instruct", "model:--DRAFT_MODEL-", "model:https://REDACTED@models.example.com/lora.tar-token-REDACTED",
		"data:persistentVolumeClaim/models", "device:nvidia.com/gpu"))
	g.Expect(graph["runtime:vllm"]).To(ConsistOf(graph["container:vllm/vllm-openai"]))
	g.Expect(graph["container:registry.example.com:5000/tools/fetch"]).To(ConsistOf("service:openai", "service:cohere"))
	g.Expect(graph).To(HaveKey("device:nvidia.com/gpu"))
	g.Expect(graph).To(HaveLen(13), "every node is listed")
}

// TestTaxonomy holds every property of a document to the published names.
func TestTaxonomy(t *testing.T) {
	known := map[string]bool{}
	for _, term := range evidence.Taxonomy {
		known[term.Name] = true
	}
	r := richReport()
	for i := range maxFindings {
		r.Findings = append(r.Findings, evidence.Finding{Type: evidence.TypeDevice, Name: strconv.Itoa(i) + strings.Repeat("x", 2*i), Quantity: 1})
	}
	for i := range maxOwned + 1 {
		r.Owned = append(r.Owned, "Job/"+strconv.Itoa(i))
	}
	b := decode(t, mustBuild(t, r, "1.7"))
	used := map[string]bool{}
	note := func(properties *[]cdx.Property) {
		for _, p := range *properties {
			used[family(p.Name)] = true
		}
	}
	note(b.Metadata.Component.Properties)
	for _, c := range *b.Components {
		note(c.Properties)
	}
	for _, s := range *b.Services {
		note(s.Properties)
	}
	g := NewWithT(t)
	for name := range used {
		g.Expect(known).To(HaveKey(name), "in a document, but not in the taxonomy")
	}
	for _, name := range []string{
		evidence.PropConfidence, evidence.PropEvidenceSource, evidence.PropEvidenceLocator, evidence.PropWorkloadUID, evidence.PropRuntimeName,
		evidence.PropIdentityRole, evidence.PropIdentityOrigin, evidence.PropContainerName, evidence.PropContainerTag, evidence.PropDeviceQuantity,
		evidence.PropComponentsDropped, evidence.PropRedactionApplied, evidence.PropValueTruncated,
		evidence.PropRollupOwned + "<i>", evidence.PropRollupDropped,
	} {
		g.Expect(used).To(HaveKey(name), "this package is what writes it")
	}
}

// family is the name as the taxonomy lists it, where that lists a family of names.
func family(name string) string {
	if strings.HasPrefix(name, evidence.PropRollupOwned) {
		return evidence.PropRollupOwned + "<i>"
	}
	return name
}

func BenchmarkBuild(b *testing.B) {
	in := Input{Report: richReport(), SpecVersion: "1.6", Tool: testTool}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Build(in, firstSeen); err != nil {
			b.Fatal(err)
		}
	}
}
