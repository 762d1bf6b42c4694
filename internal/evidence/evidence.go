// SPDX-License-Identifier: Apache-2.0

// Package evidence is the vocabulary of what is known about a workload: a Finding says one
// fact, how sure it is and where it was read.
package evidence

// Confidence says how much a finding can be relied on.
type Confidence string

const (
	// Declared means that the workload's owner wrote the fact down as that fact.
	Declared Confidence = "declared"
	// Inferred means that a rule derived the fact, for example from an image's name.
	Inferred Confidence = "inferred"
	// Unresolved means that the fact exists but cannot be known from what was read.
	Unresolved Confidence = "unresolved"
)

// Score is the confidence as CycloneDX expresses it, between 0 and 1.
func (c Confidence) Score() float32 {
	switch c {
	case Declared:
		return 0.9
	case Inferred:
		return 0.5
	default:
		return 0
	}
}

// Source is the kind of place where a fact was read.
type Source string

// The places where facts are read.
const (
	SourceAnnotation  Source = "annotation"
	SourceArgument    Source = "argument"
	SourceCommand     Source = "command"
	SourceEnvironment Source = "environment"
	SourceField       Source = "field"
	SourceImage       Source = "image"
	SourceKind        Source = "kind"
	SourceLabel       Source = "label"
	SourcePodStatus   Source = "pod-status"
	SourceResource    Source = "resource"
	SourceVolume      Source = "volume"
)

// Evidence is one place that supports a finding.
type Evidence struct {
	// Source is the kind of place.
	Source Source `json:"source"`
	// Locator is the path into the object that was read, for example
	// spec.template.spec.containers[0].args[1].
	Locator string `json:"locator"`
}

// Type is what a finding is about.
type Type string

const (
	// TypeRuntime is the program that serves, trains or evaluates, for example vllm.
	TypeRuntime Type = "runtime"
	// TypeFramework is a library or application framework, for example langchain.
	TypeFramework Type = "framework"
	// TypeContainer is a container image.
	TypeContainer Type = "container"
	// TypeModel is a machine-learning model.
	TypeModel Type = "model"
	// TypeData is a dataset, a mounted model store or a downloaded artefact.
	TypeData Type = "data"
	// TypeDevice is an accelerator that the workload requests.
	TypeDevice Type = "device"
	// TypeService is a hosted API that the workload is configured to call.
	TypeService Type = "service"
)

// Role says what a finding is to its workload, where its type leaves that open.
type Role string

const (
	// RoleServed is a model that the workload serves, trains or evaluates.
	RoleServed Role = "served"
	// RoleCalled is a model that the workload asks another service for.
	RoleCalled Role = "called"
	// RoleDraft is the small model of speculative decoding.
	RoleDraft Role = "draft"
	// RoleAdapter is a LoRA or other adapter on top of a model.
	RoleAdapter Role = "adapter"
	// RoleTokenizer is a tokenizer that is named apart from its model.
	RoleTokenizer Role = "tokenizer"
	// RoleOutput is a model that the workload produces.
	RoleOutput Role = "output"
	// RoleDataset is data that the workload trains on or evaluates with.
	RoleDataset Role = "dataset"
	// RoleModelStore is a volume mounted where models are read.
	RoleModelStore Role = "model-store"
	// RoleVectorStore is a vector database that the workload asks or fills.
	RoleVectorStore Role = "vector-store"
	// RoleEndpoint is a model server of the owner's own that the workload asks.
	RoleEndpoint Role = "endpoint"
	// RoleConfig is a file that names what the workload runs, in a ConfigMap that is not read.
	RoleConfig Role = "config"
	// RoleDownload is an artefact that the workload fetches before or instead of serving it.
	RoleDownload Role = "download"
	// RoleMain is a container of a workload's pods.
	RoleMain Role = "main"
	// RoleInit is an init container of a workload's pods.
	RoleInit Role = "init"
)

// Origin says where a model or dataset comes from; it decides the package URL.
type Origin string

// The origins that evidence can establish.
const (
	OriginUnknown     Origin = ""
	OriginHuggingFace Origin = "huggingface"
	OriginNGC         Origin = "ngc"
	OriginOllama      Origin = "ollama"
	OriginOCI         Origin = "oci"
	OriginObjectStore Origin = "object-store"
	OriginHTTP        Origin = "http"
	OriginFile        Origin = "file"
	OriginVolume      Origin = "volume"
)

// Property is a name of the taxonomy (taxonomy.go) and its value.
type Property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Finding is one fact about a workload.
type Finding struct {
	// Type is what the fact is about.
	Type Type `json:"type"`
	// Name is the identity: a runtime's canonical name; a model, dataset or URI as written; an
	// image's repository with its registry, as written, without tag and digest; a device's
	// resource name; a service's canonical name. For an unresolved model it is the reference
	// as written, for example $(MODEL_ID).
	Name string `json:"name"`
	// Version is a runtime's version, a model's revision or an image's tag; empty where
	// evidence states none.
	Version string `json:"version,omitempty"`
	// Digest is an image's manifest digest as sha256:<hexadecimal>, never made up.
	Digest string `json:"digest,omitempty"`
	// Role says what the thing is to the workload.
	Role Role `json:"role,omitempty"`
	// Origin says where a model or dataset comes from.
	Origin Origin `json:"origin,omitempty"`
	// Container names the container that holds the thing; empty where it belongs to the
	// whole workload.
	Container string `json:"container,omitempty"`
	// Category is what a runtime or framework is for. It says which of them a summary names,
	// follows from the name, and is no part of the document.
	Category Category `json:"-"`
	// Quantity is how many devices a pod requests.
	Quantity int64 `json:"quantity,omitempty"`
	// Endpoint is the base URL of a service, where one is configured.
	Endpoint string `json:"endpoint,omitempty"`
	// Confidence says how sure the fact is.
	Confidence Confidence `json:"confidence"`
	// Evidence is where the fact was read, the most direct place first; never empty.
	Evidence []Evidence `json:"evidence"`
	// Properties says what else is known, in names of the taxonomy.
	Properties []Property `json:"properties,omitempty"`
}

// Category is what an AI workload is for.
type Category string

// The categories. CategoryNone is a workload that is not an AI workload.
const (
	CategoryNone       Category = ""
	CategoryInference  Category = "inference"
	CategoryVectorDB   Category = "vectordb"
	CategoryAgent      Category = "agent"
	CategoryTraining   Category = "training"
	CategoryEvaluation Category = "evaluation"
)

// Workload identifies the object that was read.
type Workload struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
}

// Report is all that was found in one workload.
type Report struct {
	// Workload is the object that was read.
	Workload Workload `json:"workload"`
	// Category is what the workload is for; CategoryNone means that it is not an AI workload
	// and that nothing is to be reported.
	Category Category `json:"category"`
	// Findings are the facts, in any order.
	Findings []Finding `json:"findings,omitempty"`
	// Properties describe the workload as a whole, in names of the taxonomy.
	Properties []Property `json:"properties,omitempty"`
	// Owned are the workloads that this one absorbs, as Kind/name, in any order.
	Owned []string `json:"owned,omitempty"`
}
