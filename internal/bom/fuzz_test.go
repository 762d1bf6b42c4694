// SPDX-License-Identifier: Apache-2.0

package bom

import (
	"reflect"
	"strings"
	"testing"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// FuzzBuild puts arbitrary strings where a workload's owner has a say. Whatever they are, the
// document is valid and bounded, and normalising settles. Seeds lie in testdata/fuzz/FuzzBuild.
// Run it with -fuzzminimizetime=5x: minimising long inputs otherwise takes all the time.
func FuzzBuild(f *testing.F) {
	f.Add("meta-llama/Llama-3.1-8B", "vllm/vllm-openai", "v0.11.0", testDigest, "https://api.openai.com/v1", "args[0]", "llama", uint8(0))
	f.Add("https://user:pw@host/m?token=x", "user:pw@registry.example.com/a", "latest", "sha256:", "http://[::1", "", "Bearer abcdefgh", uint8(255))
	f.Fuzz(func(t *testing.T, model, image, version, digest, endpoint, locator, value string, shape uint8) {
		r := fuzzReport(model, image, version, digest, endpoint, locator, value, shape)
		normal := Normalize(r)
		if again := Normalize(normal); !reflect.DeepEqual(again, normal) {
			t.Fatalf("not idempotent:\n%#v\n%#v", normal, again)
		}
		checkBounds(t, normal)
		for _, specVersion := range []string{"1.6", "1.7"} {
			if doc := mustBuild(t, r, specVersion); !strings.HasSuffix(string(doc.Bytes), "}\n") {
				t.Fatalf("unfinished document %q", doc.Bytes)
			}
		}
	})
}

// fuzzReport is a report of one finding of each type; the bits of shape turn some knobs.
func fuzzReport(model, image, version, digest, endpoint, locator, value string, shape uint8) evidence.Report {
	origin, confidence := evidence.OriginHuggingFace, evidence.Declared
	if shape&1 != 0 {
		origin = evidence.Origin(value)
	}
	if shape&2 != 0 {
		confidence = evidence.Unresolved
	}
	at := []evidence.Evidence{read(evidence.SourceArgument, locator), read(evidence.Source(value), locator+value)}
	properties := []evidence.Property{prop(evidence.PropIdentityServedName, value), prop(value, locator)}
	r := evidence.Report{
		Workload:   evidence.Workload{APIVersion: "apps/v1", Kind: "Deployment", Namespace: value, Name: image, UID: locator},
		Category:   evidence.CategoryInference,
		Properties: properties,
	}
	for _, kind := range []evidence.Type{
		evidence.TypeRuntime, evidence.TypeFramework, evidence.TypeContainer, evidence.TypeModel,
		evidence.TypeData, evidence.TypeDevice, evidence.TypeService,
	} {
		name := model
		if kind == evidence.TypeContainer {
			name = image
		}
		finding := evidence.Finding{
			Type: kind, Name: name, Version: version, Digest: digest, Role: evidence.RoleServed, Origin: origin, Container: image,
			Quantity: int64(shape), Endpoint: endpoint, Confidence: confidence, Evidence: at, Properties: properties,
		}
		r.Findings = append(r.Findings, finding)
		if shape&4 != 0 {
			finding.Container = value
			r.Findings = append(r.Findings, finding)
		}
	}
	return r
}
