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
		Companions []string `json:"companions"`
		ByName     bool     `json:"byName"`
		// BesideOthers says that the shared keys count beside those of other APIs.
		BesideOthers bool     `json:"besideOthers"`
		OtherUses    []string `json:"otherUses"`
		Switches     []string `json:"switches"`
		Names        []string `json:"names"`
		// SharedHosts are those of other services as well.
		SharedHosts []string `json:"sharedHosts"`
		Servers     []string `json:"servers"`
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
		Call string   `json:"call"`
		Role string   `json:"role"`
		Of   []string `json:"of"`
	} `json:"pythonRules"`
	BooleanFlags    []string `json:"booleanFlags"`
	ModelLabels     []string `json:"modelLabels"`
	RuntimeLabels   []string `json:"runtimeLabels"`
	ModelEnvEndings []string `json:"modelEnvEndings"`
	ModelFamilies   []string `json:"modelFamilies"`
	HostedFamilies  []string `json:"hostedFamilies"`
	VectorStores    []string `json:"vectorStores"`
	RetrievalNames  []string `json:"retrievalNames"`
	// CommonVectorStores and SearchStores are variables about databases that others use too.
	CommonVectorStores  []string `json:"commonVectorStores"`
	StoreEndings        []string `json:"storeEndings"`
	StoreNames          []string `json:"storeNames"`
	SearchStores        []string `json:"searchStores"`
	PlainRetrievalNames []string `json:"plainRetrievalNames"`
	IndexReaders        []string `json:"indexReaders"`
	KeeperEnv           []string `json:"keeperEnv"`
	DocumentNames       []string `json:"documentNames"`
	OtherEmbeddings     []string `json:"otherEmbeddings"`
	// GeneralNames are flags and variables that show a model only by their value.
	GeneralNames    []string `json:"generalNames"`
	OtherModelFiles []string `json:"otherModelFiles"`
	ModelMakers     []string `json:"modelMakers"`
	ModelWords      []string `json:"modelWords"`
	ThingNames      []string `json:"thingNames"`
	FrontEnds       []string `json:"frontEnds"`
	FrontEndEnv     []string `json:"frontEndEnv"`
	Endpoints       []string `json:"endpoints"`
	// EndpointSubjects before AddressEndings make further ones; the others only may be one.
	EndpointSubjects  []string `json:"endpointSubjects"`
	AddressEndings    []string `json:"addressEndings"`
	GeneralEndpoints  []string `json:"generalEndpoints"`
	ProtocolEndpoints []string `json:"protocolEndpoints"`
	EndpointPrefixes  []string `json:"endpointPrefixes"`
	// CommonEndpoints need a sign of a model's server.
	CommonEndpoints        []string `json:"commonEndpoints"`
	CommonEndpointSubjects []string `json:"commonEndpointSubjects"`
	Forwarders             []string `json:"forwarders"`
	EmbeddingNames         []string `json:"embeddingNames"`
	ServerNames            []string `json:"serverNames"`
	AssistantNames         []string `json:"assistantNames"`
	AssistantParts         []string `json:"assistantParts"`
	// CommonAssistantParts count beside AssistantStores.
	CommonAssistantParts []string `json:"commonAssistantParts"`
	AssistantStores      []string `json:"assistantStores"`
	HostedModels         []string `json:"hostedModels"`
	ProviderEnv          []string `json:"providerEnv"`
	ModelProviders       []struct {
		Prefix     string   `json:"prefix"`
		Models     []string `json:"models"`
		Repository bool     `json:"repository"`
	} `json:"modelProviders"`
	TrainingScripts []string `json:"trainingScripts"`
	ServingScripts  []string `json:"servingScripts"`
	// CommonServingScripts count before ServingObjects or nothing.
	CommonServingScripts []string `json:"commonServingScripts"`
	ServingObjects       []string `json:"servingObjects"`
	RevisionEnv          []string `json:"revisionEnv"`
	// NoRuntimes are no names of runtimes; PredictionScripts predict over a batch.
	NoRuntimes        []string `json:"noRuntimes"`
	PredictionScripts []string `json:"predictionScripts"`
	// FamilyNames and the like are words in names that people give.
	FamilyNames       []string `json:"familyNames"`
	CommonFamilyNames []string `json:"commonFamilyNames"`
	Architectures     []string `json:"architectures"`
	ServingSubjects   []string `json:"servingSubjects"`
	ServingWords      []string `json:"servingWords"`
	OtherPurposes     []string `json:"otherPurposes"`
	OtherWork         []string `json:"otherWork"`
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
	Names  []string `json:"names"`
	Flags  []string `json:"flags"`
	Labels []string `json:"labels"`
	// CommonNames and what is Shared mean other things as well, unless one of the Signs is there.
	CommonNames []string `json:"commonNames"`
	NotPlugins  []string `json:"notPlugins"`
	Shared      struct {
		Images      []string `json:"images"`
		BaseImages  []string `json:"baseImages"`
		EnvPrefixes []string `json:"envPrefixes"`
		Flags       []string `json:"flags"`
		Imports     []string `json:"imports"`
	} `json:"shared"`
	Signs []string `json:"signs"`
	// Managers are values of the label of the tool that made the object.
	Managers []string `json:"managers"`
	Programs []struct {
		Exec   string   `json:"exec"`
		Sub    []string `json:"sub"`
		Module string   `json:"module"`
		// Download programs fetch a model; that shows no product. Shared ones are others' as well.
		Download bool `json:"download"`
		Shared   bool `json:"shared"`
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
	line("\nWhat others share, and a word of other meanings, counts only beside something else: what others share beside an " +
		"accelerator, a hub's token, a flag for a served model, the product's name in that of the image, or one of the signs; " +
		"an import beside a call that loads a model; a word where it is the whole name, or beside a word for a server, a family of models or a model.")
	line("\nThe tags of these images are not the version of the product in them: %s.", spans(p.VendorImages))
	line("\n## Hosted APIs\n\n| API | Variables that hold a key or the like | Variables that hold the address | The provider's hosts |\n|---|---|---|---|")
	for _, s := range p.Services {
		line("| %s | %s | %s | %s |", s.Name, spans(append(s.Keys[:len(s.Keys):len(s.Keys)], s.Switches...)), spans(s.BaseURLs), spans(append(s.Hosts[:len(s.Hosts):len(s.Hosts)], s.SharedHosts...)))
	}
	for _, s := range p.Services {
		if len(s.SharedKeys) > 0 {
			line("\n%s counts for %s only beside %s.", spans(s.SharedKeys), s.Name, companionsOf(s.Packages, s.Models, s.Companions))
		}
		if s.BesideOthers {
			line("So it does beside a key for another of the APIs.")
		}
		if s.ByName {
			line("So it does beside an agent's framework, or where the workload, container, image or program is named like an assistant%s.", unless(s.OtherUses))
		}
		if len(s.SharedHosts) > 0 {
			line("\n%s of %s count only in a variable for this API or a model server.", spans(s.SharedHosts), s.Name)
		}
		if len(s.Servers) > 0 {
			line("\nThe key of %s shows nothing where variables like %s are there and all hold addresses elsewhere.", s.Name, spans(s.Servers))
		}
	}
	line("\nA program is named like an assistant with a word of %s or a name with %s in it, or beside a variable that begins with one of %s also with %s.",
		spans(p.AssistantNames), spans(p.AssistantParts), spans(p.AssistantStores), spans(p.CommonAssistantParts))
	line("\nThe variables %s name the API:\n\n| Value | API |\n|---|---|", spans(p.ProviderEnv))
	for _, s := range p.Services {
		if len(s.Names) > 0 {
			line("| %s | %s |", spans(s.Names), s.Name)
		}
	}
	line("\nBefore the name of a model for LiteLLM, these are no part of it:\n\n| Prefix | Only before |\n|---|---|")
	for _, m := range p.ModelProviders {
		only := spans(m.Models)
		if m.Repository {
			only = "an `owner/name`"
		}
		line("| `%s` | %s |", m.Prefix, only)
	}
	line("\nA model whose name begins with one of %s shows an agent by itself.", spans(p.HostedModels))
	line("\n## Flags and variables\n\n| What they hold | Flags | Variables |\n|---|---|---|")
	for _, role := range []string{"served", "called", "draft", "adapter", "tokenizer", "output"} {
		line("| a model, role `%s` | %s | %s |", role, flags(namesOf(p.ModelFlags, role)), spans(namesOf(p.ModelEnv, role)))
	}
	line("| a dataset | %s | %s |", flags(p.DatasetFlags), spans(p.DatasetEnv))
	line("| a served name | %s | %s |", flags(p.ServedNameFlags), spans(p.ServedNameEnv))
	line("| a model's revision | %s | %s |", flags(p.RevisionFlags), spans(p.RevisionEnv))
	line("| a folder of models | | %s |", spans(p.ModelCacheEnv))
	line("\nA variable whose name ends in a word of %s holds a model as well, where its value is a repository or begins with one of %s; with one of %s a hosted API is asked for it.", spans(p.ModelEnvEndings), spans(p.ModelFamilies), spans(p.HostedFamilies))
	line("With one of %s in its name, or at its end `DEPLOYMENT_NAME`, only the latter two count.", spans(p.ThingNames))
	line("\nBeside an accelerator or a hub's token %s, and flags that are called so, show a model or dataset only where their value is like one: a repository, a known family or a path that says so, and not one that ends in %s. A dataset's repository needs the token; a model beside it is enough as well.", spans(p.GeneralNames), spans(p.OtherModelFiles))
	line("\n## Labels\n\n| What they name | Labels of the pod template |\n|---|---|")
	line("| the model, where nothing else names one but by a path | %s |", spans(p.ModelLabels))
	line("| the runtime, where no container shows one; also one that is not in the table, unless the value is one of %s | %s |", spans(p.NoRuntimes), spans(p.RuntimeLabels))
	line("\n## Names that suggest a workload\n\n| What they suggest | Names | Only beside |\n|---|---|---|")
	line("| a training | scripts with a word that begins with %s | an accelerator or a hub's token |", spans(p.TrainingScripts))
	line("| inference | scripts with a word that begins with %s; with the word %s and nothing behind it but a number, a word for a model or its server, or one of %s; no shell script that is only called `serve` | an accelerator |",
		spans(p.ServingScripts), spans(p.CommonServingScripts), spans(p.ServingObjects))
	line("| neither of the two | a word of %s in the name of a container, image, script or workload | |", spans(p.OtherWork))
	line("| inference with the framework of a base image | scripts of a Job with a word that begins with %s | an accelerator |", spans(p.PredictionScripts))
	line("| inference | a word of %s in the name of a container, image or workload; one of %s beside one of %s | an accelerator, in a Deployment or StatefulSet, and none of %s in a name |",
		spans(p.FamilyNames), spans(slices.Concat(p.CommonFamilyNames, p.ServingSubjects)), spans(p.ServingWords), spans(slices.Concat(p.OtherPurposes, p.OtherWork)))
	line("| the model of an image in a folder that is called like a server | one of %s, with or without a version | |", spans(slices.Concat(p.Architectures, p.FamilyNames, p.CommonFamilyNames)))
	line("| retrieval for a language model | programs, images and containers with a word of %s | a variable that begins with one of %s; one that begins with one of %s and ends in a word of %s or holds one of %s |",
		spans(p.RetrievalNames), spans(p.VectorStores), spans(p.CommonVectorStores), spans(p.StoreEndings), spans(p.StoreNames))
	line("| retrieval from a database for any search | the same with a word of %s, or of %s beside a variable for an index | a variable that begins with one of %s |",
		spans(p.PlainRetrievalNames), spans(p.IndexReaders), spans(p.SearchStores))
	line("| retrieval, by the name alone | the same with a word of %s and one of %s, and none of %s | a variable like one of %s or of one of these databases |",
		spans(p.EmbeddingNames), spans(p.DocumentNames), spans(p.OtherEmbeddings), spans(p.KeeperEnv))
	line("| a chat's front end | programs, images and containers with a word of %s; variables that begin with one of %s | a model server's address |", spans(p.FrontEnds), spans(p.FrontEndEnv))
	line("| retrieval, without an accelerator | a variable that names a model and has a word of %s; with such a word and one of %s in a name it is a server of embeddings | |", spans(p.EmbeddingNames), spans(p.ServerNames))
	line("| no client | programs, images and containers with a word of %s | |", spans(p.Forwarders))
	line("\nA model server's address is in one of %s, or in a variable that ends in one of %s before one of %s.", spans(p.Endpoints), spans(p.EndpointSubjects), spans(p.AddressEndings))
	line("In one of %s, or one that ends in one of %s before such a word, it is one with a path of a model server's API, the name of a server for its host, a front end's name, or beside a variable that begins with one of %s or the name of a model on a hub.",
		spans(p.CommonEndpoints), spans(p.CommonEndpointSubjects), spans(p.EndpointPrefixes))
	line("In one of %s it is one beside a variable that begins with one of %s, or beside the name of a model, at a server of one's own or with a path of `/v1`; in one of %s only with that path and a known model.",
		spans(p.GeneralEndpoints), spans(p.EndpointPrefixes), spans(p.ProtocolEndpoints))
	line("An `owner/name` is a model there where the owner is one of %s, or the name says its size or has a word of %s.", spans(p.ModelMakers), spans(p.ModelWords))
	line("\nA variable with one of these words in its name, %s, or with a word that ends in %s, is a secret and is not read.", spans(p.CredentialWords), spans(p.CredentialEndings))
	line("\nFlags that take no value: %s.", flags(p.BooleanFlags))
	line("\n## Python\n\n| A call in code names | Functions |\n|---|---|")
	for _, role := range []string{"served", "called", "adapter", "output", "dataset", "download"} {
		var calls []string
		for _, rule := range p.PythonRules {
			if rule.Role == role {
				for _, of := range rule.Of {
					calls = append(calls, of+"."+rule.Call)
				}
				if len(rule.Of) == 0 {
					calls = append(calls, rule.Call)
				}
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

// companionsOf says what a shared key counts beside.
func companionsOf(packages, models, companions []string) string {
	var all []string
	if len(packages) > 0 {
		all = append(all, "one of the packages "+spans(packages))
	}
	if len(models) > 0 {
		all = append(all, "a variable that names a model like "+spans(models))
	}
	if len(companions) > 0 {
		all = append(all, "a variable that begins with one of "+spans(companions))
	}
	return strings.Join(all, ", or ")
}

// recognisedBy says how a product is recognised, in the order of what counts most.
func (p *product) recognisedBy() string {
	var commands, shared, fetches []string
	for _, program := range p.Programs {
		words := append([]string{program.Exec}, program.Sub...)
		if program.Module != "" {
			words[0] = "python -m " + program.Module
		}
		if command := strings.Join(words, " "); program.Download {
			fetches = append(fetches, command)
		} else if program.Shared {
			shared = append(shared, command)
		} else {
			commands = append(commands, command)
		}
	}
	var ways []string
	for _, way := range []struct {
		name  string
		items []string
	}{
		{"command", commands}, {"pip install", slices.Concat(p.Packages, p.Plugins)}, {"import in python -c", p.Imports},
		{"image", p.Images}, {"image of a mirror", p.MirrorImages}, {"the latter beside a variable", p.MirrorEnvPrefixes},
		{"image beside a sign of training", p.BaseImages}, {"variable", begun(p.EnvPrefixes)}, {"a model is fetched by", fetches},
		{"a model is named by the image", p.ModelImages}, {"a model is named by the tag of", p.TagModels},
		{"flag", dashed(p.Flags)}, {"word in an image's name beside an accelerator or hub's token", p.Names}, {"runtime label", p.Labels}, {"label `app.kubernetes.io/managed-by`", p.Managers},
		{"no package", p.NotPlugins}, {"word of other meanings as well", p.CommonNames},
		{"what others share", slices.Concat(shared, p.Shared.Imports, p.Shared.Images, p.Shared.BaseImages, begun(p.Shared.EnvPrefixes), dashed(p.Shared.Flags))},
		{"signs beside that", p.Signs},
	} {
		if len(way.items) > 0 {
			ways = append(ways, way.name+" "+spans(way.items))
		}
	}
	return strings.Join(ways, "; ")
}

// unless says which variables speak against something.
func unless(others []string) string {
	if len(others) == 0 {
		return ""
	}
	return ", unless a variable like " + spans(others) + " says what else the key opens"
}

// begun are patterns for what begins so.
func begun(prefixes []string) []string {
	all := make([]string, len(prefixes))
	for i, prefix := range prefixes {
		all[i] = prefix + "*"
	}
	return all
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
