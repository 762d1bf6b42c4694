// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// ObjectInput is one object of a third-party kind.
type ObjectInput struct {
	// Workload identifies the object.
	Workload evidence.Workload
	// Object is the object's unstructured content, in the version that the catalogue names. It
	// is not changed.
	Object map[string]any
	// Running is what the workload's pods report, in any order.
	Running []RunningImage
	// Rules are the user's additions.
	Rules Rules
}

// maxTemplates bounds the pod templates of one object and the entries of one list in it.
const maxTemplates = 128

// reader reads one third-party kind.
type reader struct {
	// declares says that an object of the kind serves a model by being of that kind, whatever
	// is found in it.
	declares bool
	read     func(g *group, object field) error
}

var readers = map[schema.GroupKind]reader{
	{Group: "serving.kserve.io", Kind: "InferenceService"}:         {declares: true, read: readInferenceService},
	{Group: "nvidia.com", Kind: "DynamoGraphDeployment"}:           {declares: true, read: readDynamoGraph},
	{Group: "nvidia.com", Kind: "DynamoComponentDeployment"}:       {declares: true, read: readDynamoComponent},
	{Group: "apps.nvidia.com", Kind: "NIMService"}:                 {declares: true, read: readNIMService},
	{Group: "leaderworkerset.x-k8s.io", Kind: "LeaderWorkerSet"}:   {read: readLeaderWorkerSet},
	{Group: "disaggregatedset.x-k8s.io", Kind: "DisaggregatedSet"}: {read: readDisaggregatedSet},
}

// Object reads one object of a third-party kind. A part that cannot be decoded is recorded in
// the report as evidence.PropScrapeError and the rest is still read. The status is never read.
//
// The error says that the kind has no reader, that the object is not shaped as its kind
// prescribes, or that too little of it could be decoded to say whether it is an AI workload;
// it will not go away by trying again.
func Object(k kinds.Kind, in ObjectInput) (evidence.Report, error) {
	r, ok := readers[k.GVK.GroupKind()]
	if !ok {
		return evidence.Report{}, fmt.Errorf("%s has no reader", k.Key())
	}
	object := rootField(in.Object)
	if err := object.get("spec").object(); err != nil {
		return evidence.Report{}, err
	}
	g := newGroup(&in)
	if err := r.read(g, object); err != nil {
		return evidence.Report{}, err
	}
	return g.report(r.declares)
}
