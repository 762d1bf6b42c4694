// SPDX-License-Identifier: Apache-2.0

package v1beta1

// Condition types of an AIBOM.
const (
	// ConditionReady is True when status.bomDocument describes the workload as it is now, and
	// False, with the last good document kept, when the newest attempt failed.
	ConditionReady = "Ready"
	// ConditionSynced is True when the document was built from the newest inputs.
	ConditionSynced = "Synced"
	// ConditionSinkFailed is True when a configured sink refused or did not take the document.
	ConditionSinkFailed = "SinkFailed"
	// ConditionStale is True when as many attempts in a row failed as
	// spec.bomGeneration.staleThresholdReconciles of the configuration allows.
	ConditionStale = "Stale"
)

// Reasons of an AIBOM's conditions.
const (
	// ReasonDocumentCurrent says that the document was built from the newest inputs.
	ReasonDocumentCurrent = "DocumentCurrent"
	// ReasonScrapeFailed says that the workload could not be read as its kind prescribes.
	ReasonScrapeFailed = "ScrapeFailed"
	// ReasonBuildFailed says that the findings could not be turned into a valid document.
	ReasonBuildFailed = "BuildFailed"
	// ReasonDelivered says that every configured sink took the document.
	ReasonDelivered = "Delivered"
	// ReasonNoSink says that no sink is configured, so none can fail.
	ReasonNoSink = "NoSinkConfigured"
	// ReasonDeliveryFailed says that at least one configured sink did not take the document.
	ReasonDeliveryFailed = "DeliveryFailed"
	// ReasonTooManyFailures says that the stale threshold was reached.
	ReasonTooManyFailures = "TooManyFailures"
)

// Condition types and reasons of an AIBOMControllerConfig. Its Ready condition shares the
// name ConditionReady.
const (
	// ConditionDegraded is True while the controller works, but not as configured or not
	// completely; the message names every cause.
	ConditionDegraded = "Degraded"

	// ReasonConfigLoaded says that the configuration is in force.
	ReasonConfigLoaded = "ConfigLoaded"
	// ReasonConfigInvalid says that at least one field is invalid; the message names each.
	ReasonConfigInvalid = "ConfigInvalid"
	// ReasonSinkConstructionFailed says that a sink's settings do not make a usable sink.
	ReasonSinkConstructionFailed = "SinkConstructionFailed"
	// ReasonSecretNotFound says that a Secret or key that a sink names does not exist.
	ReasonSecretNotFound = "SecretNotFound"

	// ReasonAsExpected says that nothing is degraded.
	ReasonAsExpected = "AsExpected"
	// ReasonRunningOnDefaults says that the first configuration seen was invalid, so the
	// compiled defaults are in force.
	ReasonRunningOnDefaults = "RunningOnDefaults"
	// ReasonRunningOnLastKnownGood says that the configuration became invalid and the one
	// before it stays in force.
	ReasonRunningOnLastKnownGood = "RunningOnLastKnownGood"
	// ReasonSchemaPredatesController says that the served CRD lacks fields that this
	// controller knows.
	ReasonSchemaPredatesController = "SchemaPredatesController"
	// ReasonThirdPartyWatchUnhealthy says that the watch of at least one third-party kind fails.
	ReasonThirdPartyWatchUnhealthy = "ThirdPartyWatchUnhealthy"
)
