// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	_ "embed"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

//go:embed patterns.yaml
var patternsYAML []byte

// product is one program or library that patterns.yaml describes.
type product struct {
	Name     string            `json:"name"`
	Category evidence.Category `json:"category"`
	Type     evidence.Type     `json:"type"`
	// Images are repository paths; see matchesImage.
	Images []string `json:"images,omitempty"`
	// BaseImages show that the library is there, not what it is used for: they count only
	// beside a sign of training.
	BaseImages []string  `json:"baseImages,omitempty"`
	Programs   []program `json:"programs,omitempty"`
	// Packages are names of Python packages whose installation in a start script shows use.
	Packages []string `json:"packages,omitempty"`
	// Plugins are packages that are made for the product, as path.Match has it: they show its
	// use, but have versions of their own. NotPlugins are made for others of the same name.
	Plugins    []string `json:"plugins,omitempty"`
	NotPlugins []string `json:"notPlugins,omitempty"`
	// Imports are modules whose import in the code of python -c shows use, as path.Match has
	// it; Loaders are what they call to load the model that their first argument names.
	Imports []string `json:"imports,omitempty"`
	Loaders []string `json:"loaders,omitempty"`
	// EnvPrefixes are beginnings of environment variables that only this product reads.
	EnvPrefixes []string `json:"envPrefixes,omitempty"`
	// MirrorImages are Images without their registry, as in some mirrors. Others may have such
	// paths, so that they count only beside a variable of MirrorEnvPrefixes.
	MirrorImages      []string `json:"mirrorImages,omitempty"`
	MirrorEnvPrefixes []string `json:"mirrorEnvPrefixes,omitempty"`
	// ModelImages are images that are made for the one model that their path names, except
	// for NotModelImages.
	ModelImages    []string `json:"modelImages,omitempty"`
	NotModelImages []string `json:"notModelImages,omitempty"`
	// ModelFormats begin KServe's names of formats and runtimes that are made for the one model
	// that the rest of them names.
	ModelFormats []string `json:"modelFormats,omitempty"`
	// Names are words in the name of an image that somebody built for the product, such as
	// vllm in team/vllm-gemma. They count only beside an accelerator or a hub's token, but for
	// those of agents.
	Names []string `json:"names,omitempty"`
	// CommonNames are such words that mean other things as well: they count only where they are the
	// whole name, beside a word for a server or a family of models, or where a model is named.
	CommonNames []string `json:"commonNames,omitempty"`
	// Flags are flags that only this product has.
	Flags []string `json:"flags,omitempty"`
	// Shared is what others have as well, and Signs are words of a command line, as path.Match has
	// it, which say that it is this product's.
	Shared sharedEvidence `json:"shared,omitzero"`
	Signs  []string       `json:"signs,omitempty"`
	// Labels are values of runtime labels that mean the product, besides its name.
	Labels []string `json:"labels,omitempty"`
	// Managers are tools that make objects for what runs the product, as app.kubernetes.io/managed-by
	// names them.
	Managers []string `json:"managers,omitempty"`
	// Named says that the product's served name names the model: a local path that ends in it
	// is only where the model lies.
	Named bool `json:"named,omitempty"`
	// Tool says that the product gives agents tools and calls no model itself.
	Tool bool `json:"tool,omitempty"`
	// General is 2 for what starts others or is what they are built on, 1 for a library that
	// others use, and 0 for the rest: beside a less general one of its category in the same
	// container a product is not what the container is there for.
	General int `json:"general,omitempty"`
	// TagModels are images of which each tag is made for the one model that it names.
	TagModels []string `json:"tagModels,omitempty"`
	// Entrypoint holds the words between the image's own entrypoint and a model that its
	// first argument names; empty but present where the model comes at once.
	Entrypoint []string `json:"entrypoint,omitempty"`
	// Hub is where a bare org/name is looked up.
	Hub evidence.Origin `json:"hub,omitempty"`
	// Dashless says that arguments of the form key=value are flags.
	Dashless bool `json:"dashless,omitempty"`
	// ShortFlags are single-dash flags and the long flags that they stand for.
	ShortFlags map[string]string `json:"shortFlags,omitempty"`
	// ModelFlags are flags that name models, perhaps several, with this product only.
	ModelFlags map[string]evidence.Role `json:"modelFlags,omitempty"`
	// IgnoreFlags are flags that elsewhere name a model and here do not.
	IgnoreFlags []string `json:"ignoreFlags,omitempty"`
	// DatasetFlags are flags that hold a list of datasets with this product only.
	DatasetFlags []string `json:"datasetFlags,omitempty"`
	// CalledBy are values of flags that make the models of the command line ones that a hosted
	// API is asked for.
	CalledBy map[string][]string `json:"calledBy,omitempty"`
	// ListFlags hold key=value lists; the value names the keys that hold a model.
	ListFlags map[string][]string `json:"listFlags,omitempty"`
}

// program is a command line that starts a product. Exactly one of Exec and Module is set.
type program struct {
	// Exec is the program's name, or a pattern as path.Match has it; Sub are the subcommands that must follow it.
	Exec string   `json:"exec,omitempty"`
	Sub  []string `json:"sub,omitempty"`
	// Module is a Python module run with -m, or a parent of it.
	Module string `json:"module,omitempty"`
	// Positional says what is read from the arguments that are no flags: model or dataset, the first of
	// them; pairs, those of lists such as model_name=x,dtype=y; source, an address that is copied from; address, one that is downloaded; or nothing.
	Positional string `json:"positional,omitempty"`
	// Except are words that are no model but a subcommand.
	Except []string `json:"except,omitempty"`
	// Category is what the program is for, where that is not what the product is for.
	Category evidence.Category `json:"category,omitempty"`
	// Download says that the program fetches a model instead of running it.
	Download bool `json:"download,omitempty"`
	// Shared says that others have a program of that name; see sharedEvidence.
	Shared bool `json:"shared,omitempty"`
}

// service is a hosted model API.
type service struct {
	Name string `json:"name"`
	// Keys are environment variables whose presence shows that the API is called.
	Keys []string `json:"keys,omitempty"`
	// SharedKeys are keys that open other services as well: they count only beside one of the
	// Packages, a variable that names one of the Models, or one that begins like Companions;
	// with ByName also beside an agent's framework or in a program that is named like an
	// assistant, unless a variable like OtherUses says what else the key opens.
	SharedKeys []string `json:"sharedKeys,omitempty"`
	Packages   []string `json:"packages,omitempty"`
	Models     []string `json:"models,omitempty"`
	Companions []string `json:"companions,omitempty"`
	ByName     bool     `json:"byName,omitempty"`
	// BesideOthers says that SharedKeys count beside a key of another of the services as well.
	BesideOthers bool     `json:"besideOthers,omitempty"`
	OtherUses    []string `json:"otherUses,omitempty"`
	// Switches are variables that say whether the API is used, InsteadOf the service whose key is
	// then this one's, and Names what the variables of ProviderEnv call it.
	Switches  []string `json:"switches,omitempty"`
	InsteadOf string   `json:"insteadOf,omitempty"`
	Names     []string `json:"names,omitempty"`
	// BaseURLs are environment variables that hold the API's address; with one of OwnURLs it is
	// this API's wherever the value lies.
	BaseURLs []string `json:"baseURLs,omitempty"`
	OwnURLs  []string `json:"ownURLs,omitempty"`
	// Servers are variables, as path.Match has it, for servers that can each be the provider's,
	// where the variable is empty, or one's own: where all are one's own the key shows nothing.
	Servers []string `json:"servers,omitempty"`
	// Protocol says that servers of one's own speak the API's protocol, and want some key.
	Protocol bool `json:"protocol,omitempty"`
	// Hosts are the API's own host names; * stands for any characters. SharedHosts are those of
	// other services as well, which count only in a variable for this API or a model server.
	Hosts       []string `json:"hosts,omitempty"`
	SharedHosts []string `json:"sharedHosts,omitempty"`
}

// table is all of patterns.yaml.
type table struct {
	Products []product `json:"products"`
	// VendorImages are images whose tag is not the version of the product in them.
	VendorImages []string  `json:"vendorImages"`
	Services     []service `json:"services"`
	// ModelFlags and ModelEnv map flags (without dashes, in kebab case) and environment
	// variables to the role of what they hold; DatasetFlags and DatasetEnv hold datasets.
	ModelFlags   map[string]evidence.Role `json:"modelFlags"`
	ModelEnv     map[string]evidence.Role `json:"modelEnv"`
	DatasetFlags []string                 `json:"datasetFlags"`
	DatasetEnv   []string                 `json:"datasetEnv"`
	// DatasetEnvUses and then DatasetEnvEndings make the names of further DatasetEnv.
	DatasetEnvUses    []string `json:"datasetEnvUses"`
	DatasetEnvEndings []string `json:"datasetEnvEndings"`
	// ServedNameFlags and ServedNameEnv hold the name under which clients ask for the model.
	ServedNameFlags []string `json:"servedNameFlags"`
	ServedNameEnv   []string `json:"servedNameEnv"`
	// AliasEnv hold such a name for what an image is made to serve.
	AliasEnv []string `json:"aliasEnv"`
	// ModelLabels and RuntimeLabels are labels of a pod template that name the model and the
	// runtime of a workload where nothing in the workload itself does.
	ModelLabels   []string `json:"modelLabels"`
	RuntimeLabels []string `json:"runtimeLabels"`
	// NoRuntimes are values of RuntimeLabels that are no runtime's name.
	NoRuntimes []string `json:"noRuntimes"`
	// ModelEnvEndings end the names of variables that hold a model where their value looks like
	// one: a repository, or a name that begins as those of ModelFamilies do. With the name of a
	// HostedFamily a hosted API is asked for it.
	ModelEnvEndings []string `json:"modelEnvEndings"`
	ModelFamilies   []string `json:"modelFamilies"`
	HostedFamilies  []string `json:"hostedFamilies"`
	// ModelMakers are owners of repositories of models, ModelWords words in a model's name: with one of
	// them owner/name is a model where anything may be called so.
	ModelMakers []string `json:"modelMakers"`
	ModelWords  []string `json:"modelWords"`
	// ThingNames are words in the names of variables that hold the model of a thing.
	ThingNames []string `json:"thingNames"`
	// GeneralNames are variables, and flags in the spelling of variables, that programs of any kind have:
	// alone they show an AI workload only by a value that is like a model's or dataset's. OtherModelFiles
	// are endings that such a value does not have, the rest is what it may have.
	GeneralNames    []string `json:"generalNames"`
	OtherModelFiles []string `json:"otherModelFiles"`
	// FrameworkFiles are endings of files in which frameworks keep models, and other programs other things.
	FrameworkFiles   []string `json:"frameworkFiles"`
	ModelPathWords   []string `json:"modelPathWords"`
	DatasetPathWords []string `json:"datasetPathWords"`
	// RunNames begin the second part of what is owner/name only by its form.
	RunNames      []string `json:"runNames"`
	DatasetFiles  []string `json:"datasetFiles"`
	RevisionFlags []string `json:"revisionFlags"`
	RevisionEnv   []string `json:"revisionEnv"`
	// ManyValueFlags take all the words up to the next flag.
	ManyValueFlags []string `json:"manyValueFlags"`
	// ModelFolders are the first parts of relative paths.
	ModelFolders []string `json:"modelFolders"`
	// AdapterListFlags and AdapterListEnv hold lists of adapters, perhaps with their names.
	AdapterListFlags []string `json:"adapterListFlags"`
	AdapterListEnv   []string `json:"adapterListEnv"`
	// ModelListEnv hold models apart from each other by semicolons, ModelObjectsEnv JSON.
	ModelListEnv    []string `json:"modelListEnv"`
	ModelObjectsEnv []string `json:"modelObjectsEnv"`
	// ModelCacheEnv are environment variables that hold a folder of models; ModelFiles are
	// endings of files that hold models.
	ModelCacheEnv []string `json:"modelCacheEnv"`
	ModelFiles    []string `json:"modelFiles"`
	// ModelPaths are mount paths at or below which volumes hold models; DatasetPaths the same
	// for datasets.
	ModelPaths   []string `json:"modelPaths"`
	DatasetPaths []string `json:"datasetPaths"`
	// Accelerators are extended resources that are counted in devices, as path.Match has it.
	Accelerators []string `json:"accelerators"`
	// HubTokens are environment variables that hold a model hub's credential.
	HubTokens []string `json:"hubTokens"`
	// OtherHubEnv are switches that look models up elsewhere than at Hugging Face;
	// HubEndpointEnv hold the address of the hub itself.
	OtherHubEnv    []string `json:"otherHubEnv"`
	HubEndpointEnv []string `json:"hubEndpointEnv"`
	// HubAddresses begin the addresses of Hugging Face's repositories.
	HubAddresses []string `json:"hubAddresses"`
	// CredentialWords are parts of the names of environment variables that hold secrets, and
	// CredentialEndings what such parts end with.
	CredentialWords   []string `json:"credentialWords"`
	CredentialEndings []string `json:"credentialEndings"`
	// FamilyNames are words in names that mean a family of models and nothing else, CommonFamilyNames
	// ones that mean other things as well: these count only beside one of ServingWords, and so do
	// ServingSubjects. Architectures are kinds of models that no language speaks.
	FamilyNames       []string `json:"familyNames"`
	CommonFamilyNames []string `json:"commonFamilyNames"`
	Architectures     []string `json:"architectures"`
	ServingSubjects   []string `json:"servingSubjects"`
	ServingWords      []string `json:"servingWords"`
	// OtherPurposes are words in the names of programs that use an accelerator and serve no model.
	OtherPurposes []string `json:"otherPurposes"`
	// OtherWork are those of OtherPurposes that say what a program does instead, and not who runs it: what
	// it names or runs beside an accelerator is no model either.
	OtherWork []string `json:"otherWork"`
	// ServingScripts are beginnings of words in the names of scripts that run a model. CommonServingScripts
	// are words that count only where nothing follows in the name but one of ServingObjects or a model's.
	ServingScripts       []string `json:"servingScripts"`
	CommonServingScripts []string `json:"commonServingScripts"`
	ServingObjects       []string `json:"servingObjects"`
	// PredictionScripts are beginnings of words in the names of scripts that run a model over a batch,
	// which a framework's base image does with that framework.
	PredictionScripts []string `json:"predictionScripts"`
	// PythonLaunchers are programs that run Python code which a file holds.
	PythonLaunchers []string `json:"pythonLaunchers"`
	// InferenceCalls are functions that Python code calls to use a model, TrainingCalls those
	// that it calls to train one, whatever else it calls.
	InferenceCalls []string `json:"inferenceCalls"`
	TrainingCalls  []string `json:"trainingCalls"`
	// TrainingScripts are beginnings of words in the names of scripts and modules that train.
	TrainingScripts []string `json:"trainingScripts"`
	// FrameworkNames are words in names and FrameworkEnv variables that show the framework of a
	// training; DatasetNames are words that are datasets, and TrainingFlags flags of trainings.
	FrameworkNames map[string]string `json:"frameworkNames"`
	FrameworkEnv   map[string]string `json:"frameworkEnv"`
	// CommonFrameworkNames are those of FrameworkNames that mean other things as well.
	CommonFrameworkNames []string `json:"commonFrameworkNames"`
	DatasetNames         []string `json:"datasetNames"`
	TrainingFlags        []string `json:"trainingFlags"`
	// Endpoints are environment variables that hold the address of a model server.
	// EndpointSubjects and AddressEndings make further such names, which may have a prefix.
	Endpoints        []string `json:"endpoints"`
	EndpointSubjects []string `json:"endpointSubjects"`
	AddressEndings   []string `json:"addressEndings"`
	// CommonEndpoints, and CommonEndpointSubjects before AddressEndings, hold those of other servers too.
	CommonEndpoints        []string `json:"commonEndpoints"`
	CommonEndpointSubjects []string `json:"commonEndpointSubjects"`
	// Dashboards are words in the names and addresses of dashboards, which have an embedding of their own;
	// PageFiles are endings of what is fetched from a server that is no model's.
	Dashboards []string `json:"dashboards"`
	PageFiles  []string `json:"pageFiles"`
	// OtherAddresses are words in the names of variables with addresses that are not called for a model.
	OtherAddresses []string `json:"otherAddresses"`
	// GeneralEndpoints may hold it: they count only with a variable of EndpointPrefixes or, at a
	// server of one's own or with OpenAI's protocol, beside the name of a model.
	// ProtocolEndpoints count only with that protocol and a model of a known family.
	GeneralEndpoints  []string `json:"generalEndpoints"`
	ProtocolEndpoints []string `json:"protocolEndpoints"`
	EndpointPrefixes  []string `json:"endpointPrefixes"`
	// ModelProviders are what LiteLLM writes before a model's name.
	ModelProviders []provider `json:"modelProviders"`
	// HostedModels begin the names of models that only hosted APIs have.
	HostedModels []string `json:"hostedModels"`
	// ProviderEnv are variables that hold a service's name; see ProviderNames.
	ProviderEnv []string `json:"providerEnv"`
	// Entrypoints are images whose entrypoint is a program that is known by its command line.
	Entrypoints []entrypoint `json:"entrypoints"`
	// VectorStores are prefixes of environment variables that hold the address of a vector
	// database; RetrievalNames are words in the names of the programs that fill or ask one.
	VectorStores   []string `json:"vectorStores"`
	RetrievalNames []string `json:"retrievalNames"`
	// CommonVectorStores are such prefixes that count only with one of StoreEndings, or where the value
	// is one of StoreNames.
	CommonVectorStores []string `json:"commonVectorStores"`
	StoreEndings       []string `json:"storeEndings"`
	StoreNames         []string `json:"storeNames"`
	// SearchStores are those of databases in which anybody searches: they count only beside one of
	// PlainRetrievalNames, or one of IndexReaders and the name of an index.
	SearchStores        []string `json:"searchStores"`
	PlainRetrievalNames []string `json:"plainRetrievalNames"`
	IndexReaders        []string `json:"indexReaders"`
	// OwnServers begin the names of variables about a server of one's own.
	OwnServers []string `json:"ownServers"`
	// ConversionNames are words in the names of programs that make one model out of another, or
	// move it: what they name they do not serve.
	ConversionNames []string `json:"conversionNames"`
	// BenchmarkNames are words in the names of programs that measure a server.
	BenchmarkNames []string `json:"benchmarkNames"`
	// FrontEnds are words in the names of images and programs that show a chat to people. They
	// count only beside the address of a model server.
	FrontEnds []string `json:"frontEnds"`
	// FrontEndEnv begin the names of variables that such a program reads.
	FrontEndEnv []string `json:"frontEndEnv"`
	// Forwarders are words in the names of programs that hand requests on or watch a server.
	Forwarders []string `json:"forwarders"`
	// EmbeddingNames are words in the names of variables and programs about embeddings,
	// ServerNames words in the names of servers.
	EmbeddingNames []string `json:"embeddingNames"`
	ServerNames    []string `json:"serverNames"`
	// DocumentNames are words in the names of programs that read documents.
	DocumentNames []string `json:"documentNames"`
	// OtherEmbeddings are words in the names of programs that embed something else, KeeperEnv variables,
	// as path.Match has it, of programs that keep what they make.
	OtherEmbeddings []string `json:"otherEmbeddings"`
	KeeperEnv       []string `json:"keeperEnv"`
	// AssistantNames are words in the names of programs that talk to a language model, and
	// AssistantParts what such a name may have within a word, unless it is one of OtherAssistants.
	// CommonAssistantParts mean other things as well: they count only beside a variable that begins
	// like AssistantStores, for a database in which such a program looks things up.
	AssistantNames       []string `json:"assistantNames"`
	AssistantParts       []string `json:"assistantParts"`
	CommonAssistantParts []string `json:"commonAssistantParts"`
	AssistantStores      []string `json:"assistantStores"`
	OtherAssistants      []string `json:"otherAssistants"`
	// ServerModules are endings of Python modules that serve a model in a container of a kind
	// that declares to serve one.
	ServerModules []string `json:"serverModules"`
	// DownloadNames begin a part of the name of an image or program that fetches models.
	DownloadNames []string `json:"downloadNames"`
	// PythonRules are Python functions that take models and datasets.
	PythonRules []pythonRule `json:"pythonRules"`
	// BooleanFlags take no value, so that a word behind one is an argument of its own; a
	// trailing * stands for any ending.
	BooleanFlags []string `json:"booleanFlags"`
	// Wrappers are programs that run the program that follows them.
	Wrappers []wrapper `json:"wrappers"`
}

// entrypoint says which program the images run.
type entrypoint struct {
	Exec   string   `json:"exec"`
	Images []string `json:"images"`
}

// wrapper runs the command that follows its own flags and words.
type wrapper struct {
	Exec string   `json:"exec"`
	Sub  []string `json:"sub,omitempty"`
	// ValueFlags take the next word; Words is how many positional words come first.
	ValueFlags []string `json:"valueFlags,omitempty"`
	Words      int      `json:"words,omitempty"`
}

var patterns = mustParse(patternsYAML)

func mustParse(data []byte) *table {
	t := &table{}
	if err := yaml.UnmarshalStrict(data, t); err != nil {
		panic(fmt.Sprintf("the compiled patterns.yaml is malformed: %v", err))
	}
	return t
}

// flagName is a flag without dashes and in kebab case, as patterns.yaml spells it.
func flagName(s string) string {
	return strings.ReplaceAll(strings.TrimLeft(s, "-"), "_", "-")
}
