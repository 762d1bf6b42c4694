// SPDX-License-Identifier: Apache-2.0

package evidence

import "strconv"

// Namespace begins the name of every property that this project puts into a document. See
// the CycloneDX property taxonomy, https://github.com/CycloneDX/cyclonedx-property-taxonomy.
const Namespace = "k8s-aibom:"

// Names of the properties. Taxonomy describes each.
const (
	PropConfidence      = Namespace + "confidence"
	PropEvidenceSource  = Namespace + "evidence:source"
	PropEvidenceLocator = Namespace + "evidence:locator"

	PropWorkloadAPIVersion = Namespace + "workload:apiVersion"
	PropWorkloadKind       = Namespace + "workload:kind"
	PropWorkloadNamespace  = Namespace + "workload:namespace"
	PropWorkloadName       = Namespace + "workload:name"
	PropWorkloadUID        = Namespace + "workload:uid"
	PropWorkloadCategory   = Namespace + "workload:category"

	PropRuntimeName    = Namespace + "runtime:name"
	PropRuntimeVersion = Namespace + "runtime:version"

	PropIdentityRole       = Namespace + "identity:role"
	PropIdentityOrigin     = Namespace + "identity:origin"
	PropIdentityServedName = Namespace + "identity:servedName"
	PropIdentityUnresolved = Namespace + "identity:unresolved"
	PropIdentitySigned     = Namespace + "identity:signed"

	PropContainerName = Namespace + "container:name"
	PropContainerTag  = Namespace + "container:tag"

	PropDeviceQuantity = Namespace + "device:quantity"
	PropVolumeSource   = Namespace + "volume:source"
	PropVolumePath     = Namespace + "volume:path"

	PropComponentsDropped = Namespace + "components:dropped"
	PropRedactionApplied  = Namespace + "redaction:applied"
	PropValueTruncated    = Namespace + "value:truncated"
	PropScrapeError       = Namespace + "scrape:error"

	// PropRollupOwned begins the names of a family, see RollupOwned.
	PropRollupOwned   = Namespace + "rollup:owned:"
	PropRollupDropped = Namespace + "rollup:dropped"

	PropKServeComponent      = Namespace + "kserve:component"
	PropKServeRuntime        = Namespace + "kserve:runtime"
	PropKServeServiceAccount = Namespace + "kserve:serviceAccountName"
	PropKServeFormatVersion  = Namespace + "kserve:modelFormatVersion"
	PropKServeRuntimeVersion = Namespace + "kserve:runtimeVersion"
	PropKServeStorageKey     = Namespace + "kserve:storageKey"
	PropKServeStoragePath    = Namespace + "kserve:storagePath"
	PropKServeStorageParam   = Namespace + "kserve:storageParameter"

	PropDynamoBackendFramework = Namespace + "dynamo:backendFramework"
	PropDynamoComponent        = Namespace + "dynamo:component"
	PropDynamoComponentType    = Namespace + "dynamo:componentType"
	PropDynamoRole             = Namespace + "dynamo:role"

	PropNIMCache               = Namespace + "nim:nimCache"
	PropNIMCacheProfile        = Namespace + "nim:nimCacheProfile"
	PropNIMPVC                 = Namespace + "nim:pvc"
	PropNIMHostPath            = Namespace + "nim:hostPath"
	PropNIMEmptyDir            = Namespace + "nim:emptyDir"
	PropNIMMultiNodeBackend    = Namespace + "nim:multiNodeBackend"
	PropNIMTensorParallelism   = Namespace + "nim:tensorParallelism"
	PropNIMPipelineParallelism = Namespace + "nim:pipelineParallelism"
	PropNIMInferencePlatform   = Namespace + "nim:inferencePlatform"

	PropLWSRole     = Namespace + "lws:role"
	PropLWSSize     = Namespace + "lws:size"
	PropLWSReplicas = Namespace + "lws:replicas"

	PropDisaggregatedSetRole     = Namespace + "disaggregatedset:role"
	PropDisaggregatedSetSize     = Namespace + "disaggregatedset:size"
	PropDisaggregatedSetReplicas = Namespace + "disaggregatedset:replicas"
	PropDisaggregatedSetSlices   = Namespace + "disaggregatedset:slices"
)

// RollupOwned is the name of the property for the absorbed workload of an index.
func RollupOwned(index int) string { return PropRollupOwned + strconv.Itoa(index) }

// Term is a property's name and meaning. A name that ends in a placeholder such as <i> is a
// family of names.
type Term struct {
	Name    string
	On      string
	Meaning string
}

// Taxonomy lists every property that a document can hold, for the reference in docs/ and for
// the test that holds documents to it.
var Taxonomy = []Term{
	{PropConfidence, "every finding", "declared, inferred or unresolved"},
	{PropEvidenceSource, "every finding", "the kind of place where the fact was read; once for each place"},
	{PropEvidenceLocator, "every finding", "the path into the object that was read; once for each place, in the order of the sources"},
	{PropWorkloadAPIVersion, "the workload", "its apiVersion"},
	{PropWorkloadKind, "the workload", "its kind"},
	{PropWorkloadNamespace, "the workload", "its namespace"},
	{PropWorkloadName, "the workload", "its name"},
	{PropWorkloadUID, "the workload", "its UID"},
	{PropWorkloadCategory, "the workload", "inference, vectordb, agent, training or evaluation"},
	{PropRuntimeName, "the workload", "the runtime that the summary names"},
	{PropRuntimeVersion, "the workload", "the version of that runtime, where evidence states one"},
	{PropIdentityRole, "models, data, containers", "what the thing is to the workload: served, called, draft, adapter, tokenizer, output, dataset, model-store, vector-store, endpoint, config, download, main or init"},
	{PropIdentityOrigin, "models, data", "where the thing comes from: huggingface, ngc, ollama, oci, object-store, http, file or volume"},
	{PropIdentityServedName, "models", "the name under which clients ask for the model"},
	{PropIdentityUnresolved, "models, data", "the variable or source that holds the answer, where the identity could not be resolved"},
	{PropIdentitySigned, "models", "true where the workload's owner declares the model as signed"},
	{PropContainerName, "findings of one container", "the container that holds the thing; for a container image, once for each container that runs it"},
	{PropContainerTag, "containers", "the image's tag as written"},
	{PropDeviceQuantity, "devices", "how many one pod requests"},
	{PropVolumeSource, "data", "the volume's source, for example persistentVolumeClaim/models"},
	{PropVolumePath, "data", "where the volume is mounted"},
	{PropComponentsDropped, "the workload", "how many findings were left out because the document's bound was reached"},
	{PropRedactionApplied, "the finding or workload that held it", "the kind of credential that was removed"},
	{PropValueTruncated, "the finding or workload that held it", "the field whose value was cut at the bound"},
	{PropScrapeError, "the workload", "a part of the workload that could not be read"},
	{PropRollupOwned + "<i>", "the workload", "a workload that this one owns and that has no AIBOM of its own, as Kind/name; counted from 0 in the order of the names"},
	{PropRollupDropped, "the workload", "how many such workloads were left out because the bound was reached"},
	{PropKServeComponent, "findings of an InferenceService", "the component that holds the thing: predictor, worker, transformer or explainer"},
	{PropKServeRuntime, "an InferenceService", "the ServingRuntime that it names"},
	{PropKServeServiceAccount, "an InferenceService", "the service account of its predictor, with which the model is fetched"},
	{PropKServeFormatVersion, "runtimes of an InferenceService", "the version of the model's format"},
	{PropKServeRuntimeVersion, "runtimes of an InferenceService", "the version of the runtime that it asks for"},
	{PropKServeStorageKey, "models of an InferenceService", "the key of the storage configuration that holds the model"},
	{PropKServeStoragePath, "models of an InferenceService", "the model's path within that storage"},
	{PropKServeStorageParam, "models of an InferenceService", "a parameter that places the storage, as type=x, bucket=x or region=x"},
	{PropDynamoBackendFramework, "a Dynamo graph or component", "the backend framework as written"},
	{PropDynamoComponent, "a Dynamo graph or component and its findings", "a component's name"},
	{PropDynamoComponentType, "findings of a Dynamo component", "the component's type, for example worker"},
	{PropDynamoRole, "findings of a Dynamo component", "the role within the component whose pod template holds the thing"},
	{PropNIMCache, "a NIMService", "the NIMCache that holds its model"},
	{PropNIMCacheProfile, "a NIMService", "the profile within that cache"},
	{PropNIMPVC, "a NIMService", "the claim that holds its model"},
	{PropNIMHostPath, "a NIMService", "the node's folder that holds its model"},
	{PropNIMEmptyDir, "a NIMService", "the size limit of the scratch volume that holds its model, or unlimited"},
	{PropNIMMultiNodeBackend, "a NIMService", "what spreads it over several nodes, for example lws"},
	{PropNIMTensorParallelism, "a NIMService", "over how many accelerators each layer is spread"},
	{PropNIMPipelineParallelism, "a NIMService", "over how many nodes the layers are spread"},
	{PropNIMInferencePlatform, "a NIMService", "what runs it: standalone or kserve"},
	{PropLWSRole, "findings of leader-worker groups", "the pods that hold the thing: leader or worker; both where one template makes both"},
	{PropLWSSize, "a LeaderWorkerSet", "how many pods a group has"},
	{PropLWSReplicas, "a LeaderWorkerSet", "how many groups there are"},
	{PropDisaggregatedSetRole, "a DisaggregatedSet and its findings", "a role's name"},
	{PropDisaggregatedSetSize, "a DisaggregatedSet", "how many pods a group of a role has, as role=number"},
	{PropDisaggregatedSetReplicas, "a DisaggregatedSet", "how many groups a role has, as role=number"},
	{PropDisaggregatedSetSlices, "a DisaggregatedSet", "how many copies of all roles there are"},
}
