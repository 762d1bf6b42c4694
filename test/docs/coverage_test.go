// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"
)

// patterns is what the coverage page shows of internal/scrape/patterns.yaml.
type patterns struct {
	Products []product `json:"products"`
	Services []struct {
		Name       string   `json:"name"`
		Keys       []string `json:"keys"`
		BaseURLs   []string `json:"baseURLs"`
		Hosts      []string `json:"hosts"`
		SharedKeys []string `json:"sharedKeys"`
		Packages   []string `json:"packages"`
		Models     []string `json:"models"`
	} `json:"services"`
	ModelFlags      map[string]string `json:"modelFlags"`
	ModelEnv        map[string]string `json:"modelEnv"`
	DatasetFlags    []string          `json:"datasetFlags"`
	DatasetEnv      []string          `json:"datasetEnv"`
	ServedNameFlags []string          `json:"servedNameFlags"`
	ServedNameEnv   []string          `json:"servedNameEnv"`
	RevisionFlags   []string          `json:"revisionFlags"`
	ModelPaths      []string          `json:"modelPaths"`
	DatasetPaths    []string          `json:"datasetPaths"`
	ModelCacheEnv   []string          `json:"modelCacheEnv"`
	Accelerators    []string          `json:"accelerators"`
	CredentialWords []string          `json:"credentialWords"`
	VendorImages    []string          `json:"vendorImages"`
	// CredentialEndings end such words.
	CredentialEndings []string `json:"credentialEndings"`
	Entrypoints       []struct {
		Exec   string   `json:"exec"`
		Images []string `json:"images"`
	} `json:"entrypoints"`
	DownloadNames []string `json:"downloadNames"`
	PythonRules   []struct {
		Call string `json:"call"`
		Role string `json:"role"`
	} `json:"pythonRules"`
	BooleanFlags    []string `json:"booleanFlags"`
	ModelLabels     []string `json:"modelLabels"`
	RuntimeLabels   []string `json:"runtimeLabels"`
	ModelEnvEndings []string `json:"modelEnvEndings"`
	ModelFamilies   []string `json:"modelFamilies"`
	HostedFamilies  []string `json:"hostedFamilies"`
	VectorStores    []string `json:"vectorStores"`
	RetrievalNames  []string `json:"retrievalNames"`
	FrontEnds       []string `json:"frontEnds"`
	Endpoints       []string `json:"endpoints"`
	TrainingScripts []string `json:"trainingScripts"`
	ServingScripts  []string `json:"servingScripts"`
	RevisionEnv     []string `json:"revisionEnv"`
}

type product struct {
	Name        string   `json:"name"`
	Category    string   `json:"category"`
	Images      []string `json:"images"`
	BaseImages  []string `json:"baseImages"`
	Packages    []string `json:"packages"`
	Plugins     []string `json:"plugins"`
	Imports     []string `json:"imports"`
	EnvPrefixes []string `json:"envPrefixes"`
	// MirrorImages count beside a variable of MirrorEnvPrefixes.
	MirrorImages      []string `json:"mirrorImages"`
	MirrorEnvPrefixes []string `json:"mirrorEnvPrefixes"`
	// ModelImages name the one model that they are made for.
	ModelImages []string `json:"modelImages"`
	// TagModels name it in their tags.
	TagModels []string `json:"tagModels"`
	// Names and Flags suggest the product; Labels are values of runtime labels.
	Names    []string `json:"names"`
	Flags    []string `json:"flags"`
	Labels   []string `json:"labels"`
	Programs []struct {
		Exec   string   `json:"exec"`
		Sub    []string `json:"sub"`
		Module string   `json:"module"`
		// Download programs fetch a model; that shows no product.
		Download bool `json:"download"`
	} `json:"programs"`
}

const (
	generatedBegin = "<!-- generated from internal/scrape/patterns.yaml by: go test ./test/docs -update -->\n"
	generatedEnd   = "<!-- end of what is generated -->\n"
)

func TestCoverageIsWhatIsRecognised(t *testing.T) {
	g := NewWithT(t)
	var p patterns
	g.Expect(yaml.Unmarshal([]byte(read(t, "internal/scrape/patterns.yaml")), &p)).To(Succeed())
	g.Expect(p.Products).NotTo(BeEmpty())
	for i := range p.Products {
		g.Expect(p.Products[i].recognisedBy()).NotTo(BeEmpty(), p.Products[i].Name)
	}
	page := read(t, coveragePage)
	before, rest, begins := strings.Cut(page, generatedBegin)
	_, after, ends := strings.Cut(rest, generatedEnd)
	g.Expect(begins && ends).To(BeTrue(), "%s has its two marks", coveragePage)

	want := before + generatedBegin + coverage(p) + generatedEnd + after
	if *update && page != want {
		g.Expect(os.WriteFile(filepath.Join(root, coveragePage), []byte(want), 0o644)).To(Succeed())
		return
	}
	if page != want {
		t.Errorf("%s is not what patterns.yaml says; run: go test ./test/docs -update", coveragePage)
	}
}

// coverage is the generated part of the page.
func coverage(p patterns) string {
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }

	line("\n## Products\n\n| Product | Category | Recognised by |\n|---|---|---|")
	for i := range p.Products {
		product := &p.Products[i]
		category := product.Category
		if category == "" {
			category = "none: it only fetches models"
		}
		line("| %s | %s | %s |", product.Name, category, product.recognisedBy())
	}
	line("\nThe tags of these images are not the version of the product in them: %s.", spans(p.VendorImages))
	line("\n## Hosted APIs\n\n| API | Variables that hold a key or the like | Variables that hold the address | The provider's hosts |\n|---|---|---|---|")
	for _, s := range p.Services {
		line("| %s | %s | %s | %s |", s.Name, spans(s.Keys), spans(s.BaseURLs), spans(s.Hosts))
	}
	for _, s := range p.Services {
		if len(s.SharedKeys) > 0 {
			line("\n%s counts for %s only beside an agent's framework, one of the packages %s, or a variable that names a model like %s.",
				spans(s.SharedKeys), s.Name, spans(s.Packages), spans(s.Models))
		}
	}
	line("\n## Flags and variables\n\n| What they hold | Flags | Variables |\n|---|---|---|")
	for _, role := range []string{"served", "called", "draft", "adapter", "tokenizer", "output"} {
		line("| a model, role `%s` | %s | %s |", role, flags(namesOf(p.ModelFlags, role)), spans(namesOf(p.ModelEnv, role)))
	}
	line("| a dataset | %s | %s |", flags(p.DatasetFlags), spans(p.DatasetEnv))
	line("| a served name | %s | %s |", flags(p.ServedNameFlags), spans(p.ServedNameEnv))
	line("| a model's revision | %s | %s |", flags(p.RevisionFlags), spans(p.RevisionEnv))
	line("| a folder of models | | %s |", spans(p.ModelCacheEnv))
	line("\nA variable whose name ends in a word of %s holds a model as well, where its value is a repository or begins with one of %s; with one of %s a hosted API is asked for it.", spans(p.ModelEnvEndings), spans(p.ModelFamilies), spans(p.HostedFamilies))
	line("\n## Labels\n\n| What they name | Labels of the pod template |\n|---|---|")
	line("| the model, where nothing else names one but by a path | %s |", spans(p.ModelLabels))
	line("| the runtime, where no container shows one | %s |", spans(p.RuntimeLabels))
	line("\n## Names that suggest a workload\n\n| What they suggest | Names | Only beside |\n|---|---|---|")
	line("| a training | scripts with a word that begins with %s | an accelerator or a hub's token |", spans(p.TrainingScripts))
	line("| inference | scripts with a word that begins with %s | an accelerator |", spans(p.ServingScripts))
	line("| retrieval for a language model | programs, images and containers with a word of %s | a variable that begins with one of %s |", spans(p.RetrievalNames), spans(p.VectorStores))
	line("| a chat's front end | programs, images and containers with a word of %s | a model server's address in one of %s |", spans(p.FrontEnds), spans(p.Endpoints))
	line("\nA variable with one of these words in its name, %s, or with a word that ends in %s, is a secret and is not read.", spans(p.CredentialWords), spans(p.CredentialEndings))
	line("\nFlags that take no value: %s.", flags(p.BooleanFlags))
	line("\n## Python\n\n| A call in code names | Functions |\n|---|---|")
	for _, role := range []string{"served", "called", "adapter", "output", "dataset", "download"} {
		var calls []string
		for _, rule := range p.PythonRules {
			if rule.Role == role {
				calls = append(calls, rule.Call)
			}
		}
		line("| role `%s` | %s |", role, spans(calls))
	}
	line("\n## Downloads\n\nPrograms and images named %s..., and the Python functions above; what code loads in an init container, or in a Job without an accelerator, counts as downloaded.", spans(p.DownloadNames))
	line("\n| Program | Images that run it |\n|---|---|")
	for _, e := range p.Entrypoints {
		line("| `%s` | %s |", e.Exec, spans(e.Images))
	}
	line("\n## Mount paths\n\n| What lies there | Paths |\n|---|---|")
	line("| models | %s |", spans(p.ModelPaths))
	line("| datasets | %s |", spans(p.DatasetPaths))
	line("\n## Accelerators\n\n%s\n", spans(p.Accelerators))
	return out.String()
}

// recognisedBy says how a product is recognised, in the order of what counts most.
func (p *product) recognisedBy() string {
	var commands, fetches []string
	for _, program := range p.Programs {
		words := append([]string{program.Exec}, program.Sub...)
		if program.Module != "" {
			words[0] = "python -m " + program.Module
		}
		if command := strings.Join(words, " "); program.Download {
			fetches = append(fetches, command)
		} else {
			commands = append(commands, command)
		}
	}
	prefixes := make([]string, len(p.EnvPrefixes))
	for i, prefix := range p.EnvPrefixes {
		prefixes[i] = prefix + "*"
	}
	var ways []string
	for _, way := range []struct {
		name  string
		items []string
	}{
		{"command", commands}, {"pip install", slices.Concat(p.Packages, p.Plugins)}, {"import in python -c", p.Imports},
		{"image", p.Images}, {"image of a mirror", p.MirrorImages}, {"the latter beside a variable", p.MirrorEnvPrefixes},
		{"image beside a sign of training", p.BaseImages}, {"variable", prefixes}, {"a model is fetched by", fetches},
		{"a model is named by the image", p.ModelImages}, {"a model is named by the tag of", p.TagModels},
		{"flag", dashed(p.Flags)}, {"word in an image's name beside an accelerator or hub's token", p.Names}, {"runtime label", p.Labels},
	} {
		if len(way.items) > 0 {
			ways = append(ways, way.name+" "+spans(way.items))
		}
	}
	return strings.Join(ways, "; ")
}

// namesOf are the keys that have the role, sorted.
func namesOf(roles map[string]string, role string) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(roles)) {
		if roles[name] == role {
			names = append(names, name)
		}
	}
	return names
}

func flags(names []string) string { return spans(dashed(names)) }

func dashed(names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = "--" + name
	}
	return all
}

func spans(items []string) string {
	if len(items) == 0 {
		return ""
	}
	return "`" + strings.Join(items, "`, `") + "`"
}
