// SPDX-License-Identifier: Apache-2.0

package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// WorkloadReference names the workload that an AIBOM describes. It lives in the AIBOM's
// namespace.
type WorkloadReference struct {
	// apiVersion of the workload, for example apps/v1.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +required
	APIVersion string `json:"apiVersion"`
	// kind of the workload, for example Deployment.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +required
	Kind string `json:"kind"`
	// name of the workload.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`
}

// AIBOMSpec says which workload is described and in which format. The controller writes it.
type AIBOMSpec struct {
	// workloadRef names the workload; it never changes.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="workloadRef is immutable"
	// +required
	WorkloadRef WorkloadReference `json:"workloadRef"`
	// bomFormat is the format of the document.
	// +kubebuilder:validation:Enum=CycloneDX
	// +kubebuilder:default=CycloneDX
	// +optional
	BOMFormat string `json:"bomFormat,omitempty"`
	// bomSpecVersion is the version of the CycloneDX specification.
	// +kubebuilder:validation:Enum="1.6";"1.7"
	// +kubebuilder:default="1.6"
	// +optional
	BOMSpecVersion string `json:"bomSpecVersion,omitempty"`
}

// WorkloadSummary identifies the workload in a summary.
type WorkloadSummary struct {
	// kind of the workload.
	Kind string `json:"kind"`
	// apiVersion of the workload.
	APIVersion string `json:"apiVersion"`
	// name of the workload.
	Name string `json:"name"`
	// namespace of the workload.
	Namespace string `json:"namespace"`
	// category is inference, vectordb, agent, training or evaluation.
	Category string `json:"category"`
}

// RuntimeSummary names the runtime or framework that the workload runs.
type RuntimeSummary struct {
	// name of the runtime, for example vllm.
	// +optional
	Name string `json:"name,omitempty"`
	// version of the runtime, where evidence states one.
	// +optional
	Version string `json:"version,omitempty"`
	// confidence is declared, inferred or unresolved.
	// +optional
	Confidence string `json:"confidence,omitempty"`
}

// ModelSummary names one model; findings that name the same model are merged.
type ModelSummary struct {
	// identity is the model as the workload writes it down, or the reference that could not
	// be resolved.
	Identity string `json:"identity"`
	// source says where the identity was read: argument, environment, annotation and so on.
	Source string `json:"source"`
	// confidence is declared, inferred or unresolved.
	Confidence string `json:"confidence"`
	// signed is true when the workload's owner declares the model as signed.
	Signed bool `json:"signed"`
}

// AIBOMSummary is the document in short, for tables and dashboards.
type AIBOMSummary struct {
	// workload identifies the workload.
	Workload WorkloadSummary `json:"workload"`
	// runtime names what the workload runs.
	// +optional
	Runtime RuntimeSummary `json:"runtime,omitzero"`
	// models names up to 64 models, what is served first, then what is called, drafts, adapters
	// and outputs, each sorted by identity.
	// +listType=atomic
	// +optional
	Models []ModelSummary `json:"models,omitempty"`
	// confidence of the whole: the lowest among the resolved runtime and model findings, or
	// that of the services called where there are none.
	// +optional
	Confidence string `json:"confidence,omitempty"`
}

// InlineDocument holds a document in the AIBOM itself.
type InlineDocument struct {
	// data is the CycloneDX JSON document.
	Data string `json:"data"`
}

// ExternalDocument says where a document lies that was too large to be held inline.
type ExternalDocument struct {
	// sink is the name of the sink that took the document.
	Sink string `json:"sink"`
	// url is where the document was put.
	// +optional
	URL string `json:"url,omitempty"`
	// writeOnly is true when the sink takes documents but does not hand them out.
	// +optional
	WriteOnly bool `json:"writeOnly,omitempty"`
}

// BOMDocument describes the newest document and holds it or says where it lies. At most one
// of inline and external is set; truncated is set when neither is.
type BOMDocument struct {
	// format of the document: CycloneDX.
	Format string `json:"format"`
	// specVersion of the format, for example 1.6.
	SpecVersion string `json:"specVersion"`
	// sha256 of the document's bytes, in lower-case hexadecimal.
	SHA256 string `json:"sha256"`
	// timestamp is the document's own: when the inputs that it was built from were first seen.
	// +optional
	Timestamp *metav1.Time `json:"timestamp,omitempty"`
	// size of the document in bytes.
	Size int64 `json:"size"`
	// inline holds the document.
	// +optional
	Inline *InlineDocument `json:"inline,omitempty"`
	// external says where the document lies.
	// +optional
	External *ExternalDocument `json:"external,omitempty"`
	// truncated is true when the document is too large to be held inline and lies nowhere else.
	// +optional
	Truncated bool `json:"truncated,omitempty"`
	// truncationReason says why the document lies nowhere.
	// +optional
	TruncationReason string `json:"truncationReason,omitempty"`
}

// AIBOMStatus is what the controller found.
type AIBOMStatus struct {
	// conditions: Ready, Synced, SinkFailed, Stale.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// summary is the document in short.
	// +optional
	Summary *AIBOMSummary `json:"summary,omitempty"`
	// bomDocument is the document or the place where it lies.
	// +optional
	BOMDocument *BOMDocument `json:"bomDocument,omitempty"`
	// bomHash identifies the document's canonical bytes, as sha256:<hexadecimal>.
	// +optional
	BOMHash string `json:"bomHash,omitempty"`
	// inputHash identifies the findings and settings that the document was built from, as
	// sha256:<hexadecimal>. While it does not change, nothing is written.
	// +optional
	InputHash string `json:"inputHash,omitempty"`
	// lastReconciled is when the controller last wrote this status.
	// +optional
	LastReconciled *metav1.Time `json:"lastReconciled,omitempty"`
	// consecutiveErrors counts the different failed attempts since the last good document.
	// +optional
	ConsecutiveErrors int32 `json:"consecutiveErrors,omitempty"`
	// observedGeneration is the generation of this AIBOM that the status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// AIBOM is the inventory of one AI workload: a CycloneDX ML-BOM and its summary.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=bom,categories=k8s-aibom
// +kubebuilder:printcolumn:name="Workload",type=string,JSONPath=`.spec.workloadRef.kind`
// +kubebuilder:printcolumn:name="Name",type=string,JSONPath=`.spec.workloadRef.name`
// +kubebuilder:printcolumn:name="Category",type=string,JSONPath=`.status.summary.workload.category`
// +kubebuilder:printcolumn:name="Runtime",type=string,JSONPath=`.status.summary.runtime.name`
// +kubebuilder:printcolumn:name="Model",type=string,JSONPath=`.status.summary.models[*].identity`
// +kubebuilder:printcolumn:name="Confidence",type=string,JSONPath=`.status.summary.confidence`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type AIBOM struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says which workload is described.
	// +required
	Spec AIBOMSpec `json:"spec"`
	// status is what the controller found.
	// +optional
	Status AIBOMStatus `json:"status,omitzero"`
}

// AIBOMList is a list of AIBOMs.
// +kubebuilder:object:root=true
type AIBOMList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AIBOM `json:"items"`
}
