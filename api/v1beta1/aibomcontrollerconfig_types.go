// SPDX-License-Identifier: Apache-2.0

package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ConfigName is the only name that an AIBOMControllerConfig may have.
const ConfigName = "default"

// Defaults and bounds of the configuration.
const (
	// DefaultInlineThresholdBytes is the largest document that is held inline by default.
	DefaultInlineThresholdBytes = 256 << 10
	// MaxInlineThresholdBytes is the largest threshold that can be configured; etcd refuses
	// objects of more than 1.5 MiB.
	MaxInlineThresholdBytes = 1 << 20
	// DefaultStaleThresholdReconciles is how many failed attempts in a row make a document stale.
	DefaultStaleThresholdReconciles = 3
	// DefaultSpecVersion is the CycloneDX version of documents by default.
	DefaultSpecVersion = "1.6"
)

// RuntimeImagePattern adds an image to the inference runtimes that are recognised.
type RuntimeImagePattern struct {
	// runtime is the name to report, for example my-llm-server.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`
	// +required
	Runtime string `json:"runtime"`
	// pattern is the image's repository path without registry, tag and digest, for example
	// ml-platform/llm-server; * stands for any characters within one path segment. The image
	// matches when its path is the pattern or ends in / and the pattern.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +required
	Pattern string `json:"pattern"`
}

// DiscoverySpec says which workloads are looked at and what is recognised in them.
type DiscoverySpec struct {
	// namespaceSelector selects the namespaces that are opted in. Default: the label
	// aibom.k8saibom.dev/enabled=true.
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`
	// workloadKinds lists the kinds that are inventoried as Group/Kind, for example
	// apps/Deployment. Absent or empty: every known kind.
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=317
	// +listType=atomic
	// +optional
	WorkloadKinds []string `json:"workloadKinds,omitempty"`
	// inferenceRuntimeImagePatterns adds to the images that are recognised as inference
	// runtimes; these win over the compiled ones.
	// +kubebuilder:validation:MaxItems=256
	// +listType=atomic
	// +optional
	InferenceRuntimeImagePatterns []RuntimeImagePattern `json:"inferenceRuntimeImagePatterns,omitempty"`
	// modelEnvVarNames adds names of environment variables that hold a model's identity.
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=atomic
	// +optional
	ModelEnvVarNames []string `json:"modelEnvVarNames,omitempty"`
	// modelArgFlags adds command-line flags, such as --checkpoint, that hold a model's identity.
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=atomic
	// +optional
	ModelArgFlags []string `json:"modelArgFlags,omitempty"`
	// modelVolumePaths adds mount paths, such as /srv/weights, below which volumes hold models.
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=1024
	// +listType=atomic
	// +optional
	ModelVolumePaths []string `json:"modelVolumePaths,omitempty"`
}

// BOMGenerationSpec says how documents are made.
type BOMGenerationSpec struct {
	// inlineThresholdBytes is the largest document, in bytes, that is held inline. Default
	// 262144.
	// +kubebuilder:validation:Minimum=1024
	// +kubebuilder:validation:Maximum=1048576
	// +optional
	InlineThresholdBytes *int32 `json:"inlineThresholdBytes,omitempty"`
	// staleThresholdReconciles is how many failed attempts in a row make a document stale.
	// Default 3.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	// +optional
	StaleThresholdReconciles *int32 `json:"staleThresholdReconciles,omitempty"`
	// specVersion is the CycloneDX version of documents. Default 1.6.
	// +kubebuilder:validation:Enum="1.6";"1.7"
	// +optional
	SpecVersion string `json:"specVersion,omitempty"`
}

// SecretKeyReference names a key of a Secret in the controller's own namespace.
type SecretKeyReference struct {
	// name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`
	// key in the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Key string `json:"key"`
}

// HTTPSink delivers documents by HTTP PUT.
type HTTPSink struct {
	// url below which documents are put, at <namespace>/<AIBOM name>/<sha256>.cdx.json. It
	// must use https and hold no credentials; http is accepted for localhost only.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +required
	URL string `json:"url"`
	// bearerTokenSecretRef names the token that is sent in the Authorization header.
	// +optional
	BearerTokenSecretRef *SecretKeyReference `json:"bearerTokenSecretRef,omitempty"`
	// timeoutSeconds limits one delivery with all its retries. Default 10.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=60
	// +optional
	TimeoutSeconds *int32 `json:"timeoutSeconds,omitempty"`
}

// SinkSpec is one place outside the cluster's API that documents are delivered to.
type SinkSpec struct {
	// name of the sink, unique in the list.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +required
	Name string `json:"name"`
	// http delivers by HTTP PUT.
	// +optional
	HTTP *HTTPSink `json:"http,omitempty"`
	// writeOnly says that documents cannot be read back from the sink by its URL.
	// +optional
	WriteOnly bool `json:"writeOnly,omitempty"`
}

// LoggingSpec says what is logged.
type LoggingSpec struct {
	// level is error, info or debug. Default info.
	// +kubebuilder:validation:Enum=error;info;debug
	// +optional
	Level string `json:"level,omitempty"`
	// format is json or text. It is read when the controller starts; a change takes effect
	// after a restart. Default json.
	// +kubebuilder:validation:Enum=json;text
	// +optional
	Format string `json:"format,omitempty"`
}

// AIBOMControllerConfigSpec is the configuration; every field has a default.
type AIBOMControllerConfigSpec struct {
	// discovery says which workloads are looked at and what is recognised in them.
	// +optional
	Discovery DiscoverySpec `json:"discovery,omitzero"`
	// bomGeneration says how documents are made.
	// +optional
	BOMGeneration BOMGenerationSpec `json:"bomGeneration,omitzero"`
	// sinks lists where documents are delivered, besides the AIBOM itself.
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +optional
	Sinks []SinkSpec `json:"sinks,omitempty"`
	// logging says what is logged.
	// +optional
	Logging LoggingSpec `json:"logging,omitzero"`
}

// AIBOMControllerConfigStatus says whether the configuration is in force.
type AIBOMControllerConfigStatus struct {
	// conditions: Ready, Degraded.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// observedGeneration is the generation that the conditions describe.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// AIBOMControllerConfig configures the controller. There is at most one, named default.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=bomconfig,categories=k8s-aibom
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Degraded",type=string,JSONPath=`.status.conditions[?(@.type=="Degraded")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name == 'default'",message="the only AIBOMControllerConfig is named default"
type AIBOMControllerConfig struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the configuration.
	// +optional
	Spec AIBOMControllerConfigSpec `json:"spec,omitzero"`
	// status says whether the configuration is in force.
	// +optional
	Status AIBOMControllerConfigStatus `json:"status,omitzero"`
}

// AIBOMControllerConfigList is a list of AIBOMControllerConfigs.
// +kubebuilder:object:root=true
type AIBOMControllerConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AIBOMControllerConfig `json:"items"`
}
