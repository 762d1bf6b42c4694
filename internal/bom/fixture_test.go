// SPDX-License-Identifier: Apache-2.0

package bom

import (
	"strings"
	"time"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

var (
	firstSeen  = time.Date(2026, 3, 4, 5, 6, 7, 890, time.FixedZone("CET", 3600))
	testTool   = Tool{Name: "k8s-aibom", Vendor: "k8s-aibom", Version: "v0.1.0"}
	testDigest = "sha256:" + strings.Repeat("0123456789abcdef", 4)
	testCommit = "0e9e39f249a16976918f6564b8830bc894c89659"
)

func read(source evidence.Source, locator string) evidence.Evidence {
	return evidence.Evidence{Source: source, Locator: locator}
}

func prop(name, value string) evidence.Property {
	return evidence.Property{Name: name, Value: value}
}

// richReport has every type of finding, most roles and every confidence.
func richReport() evidence.Report {
	const pod = "spec.template.spec."
	const server = pod + "containers[0]."
	const sidecar = pod + "containers[1]."
	const fetch = pod + "initContainers[0]."
	return evidence.Report{
		Workload: evidence.Workload{
			APIVersion: "apps/v1", Kind: "Deployment", Namespace: "ml", Name: "llama",
			UID: "7b0f3f5e-8f0e-4a37-9d6c-0d3f0c5a2b11",
		},
		Category:   evidence.CategoryInference,
		Properties: []evidence.Property{prop(evidence.PropScrapeError, "spec.template.spec.containers[7]: not an object")},
		Findings: []evidence.Finding{
			{
				Type: evidence.TypeRuntime, Name: "vllm", Version: "0.11.0", Container: "server",
				Confidence: evidence.Inferred, Evidence: []evidence.Evidence{read(evidence.SourceImage, server+"image")},
			},
			{
				Type: evidence.TypeFramework, Name: "langchain", Container: "proxy", Confidence: evidence.Inferred,
				Evidence: []evidence.Evidence{read(evidence.SourceEnvironment, sidecar+"env[0]")},
			},
			{
				Type: evidence.TypeContainer, Name: "vllm/vllm-openai", Version: "v0.11.0", Digest: testDigest, Role: evidence.RoleMain,
				Container: "server", Confidence: evidence.Declared,
				Evidence: []evidence.Evidence{read(evidence.SourcePodStatus, "status.containerStatuses[0].imageID"), read(evidence.SourceImage, server+"image")},
			},
			{
				Type: evidence.TypeContainer, Name: "registry.example.com:5000/tools/fetch", Version: "1.2", Role: evidence.RoleInit,
				Container: "fetch", Confidence: evidence.Declared, Evidence: []evidence.Evidence{read(evidence.SourceImage, fetch+"image")},
			},
			{
				Type: evidence.TypeContainer, Name: "registry.example.com:5000/tools/fetch", Version: "1.2", Role: evidence.RoleMain,
				Container: "proxy", Confidence: evidence.Declared, Evidence: []evidence.Evidence{read(evidence.SourceImage, sidecar+"image")},
			},
			{
				Type: evidence.TypeModel, Name: "meta-llama/Llama-3.1-8B-Instruct", Version: strings.ToUpper(testCommit), Role: evidence.RoleServed,
				Origin: evidence.OriginHuggingFace, Container: "server", Confidence: evidence.Declared,
				Evidence:   []evidence.Evidence{read(evidence.SourceEnvironment, server+"env[3]"), read(evidence.SourceArgument, server+"args[1]")},
				Properties: []evidence.Property{prop(evidence.PropIdentityServedName, "llama")},
			},
			{
				Type: evidence.TypeModel, Name: "meta-llama/Llama-3.1-8B-Instruct", Role: evidence.RoleServed,
				Origin: evidence.OriginHuggingFace, Confidence: evidence.Declared,
				Evidence:   []evidence.Evidence{read(evidence.SourceAnnotation, "metadata.annotations[model.k8saibom.dev/name]")},
				Properties: []evidence.Property{prop(evidence.PropIdentitySigned, "true")},
			},
			{
				Type: evidence.TypeModel, Name: "$(DRAFT_MODEL)", Role: evidence.RoleDraft, Container: "server", Confidence: evidence.Unresolved,
				Evidence:   []evidence.Evidence{read(evidence.SourceArgument, server+"args[3]")},
				Properties: []evidence.Property{prop(evidence.PropIdentityUnresolved, "DRAFT_MODEL")},
			},
			{
				Type: evidence.TypeModel, Name: "https://user:hunter2@models.example.com/lora.tar?token=abc123", Role: evidence.RoleAdapter,
				Origin: evidence.OriginHTTP, Container: "server", Confidence: evidence.Declared,
				Evidence: []evidence.Evidence{read(evidence.SourceArgument, server+"args[5]")},
			},
			{
				Type: evidence.TypeData, Name: "persistentVolumeClaim/models", Role: evidence.RoleModelStore, Origin: evidence.OriginVolume,
				Container: "server", Confidence: evidence.Inferred,
				Evidence:   []evidence.Evidence{read(evidence.SourceVolume, server+"volumeMounts[0]")},
				Properties: []evidence.Property{prop(evidence.PropVolumePath, "/models"), prop(evidence.PropVolumeSource, "persistentVolumeClaim/models")},
			},
			{
				Type: evidence.TypeData, Name: "squad", Role: evidence.RoleDataset, Origin: evidence.OriginHuggingFace, Container: "gone",
				Confidence: evidence.Declared, Evidence: []evidence.Evidence{read(evidence.SourceArgument, server+"args[9]")},
			},
			{
				Type: evidence.TypeDevice, Name: "nvidia.com/gpu", Quantity: 2, Container: "server", Confidence: evidence.Declared,
				Evidence: []evidence.Evidence{read(evidence.SourceResource, server+"resources.limits[nvidia.com/gpu]")},
			},
			{
				Type: evidence.TypeService, Name: "openai", Endpoint: "https://api.openai.com/v1", Container: "proxy", Confidence: evidence.Declared,
				Evidence: []evidence.Evidence{read(evidence.SourceEnvironment, sidecar+"env[1]")},
			},
			{
				Type: evidence.TypeService, Name: "cohere", Container: "proxy", Confidence: evidence.Inferred,
				Evidence: []evidence.Evidence{read(evidence.SourceEnvironment, sidecar+"env[2]")},
			},
		},
	}
}
