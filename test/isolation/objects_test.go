// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"context"

	. "github.com/onsi/ginkgo/v2"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/test/watched"
)

// The kinds that specs break.
var (
	graph      = watched.Graph
	nimService = watched.NIMService
	workerSet  = watched.WorkerSet
)

type scene = watched.Scene

// newScene is an opted-in namespace, whose workloads are written in the version that is stored
// and so need no conversion. When the spec, or the container whose BeforeAll calls it, ends,
// every conversion fault is undone and what was put there is removed.
func newScene(ctx context.Context) *scene {
	GinkgoHelper()
	s := system.NewScene(ctx, olderVersion)
	DeferCleanup(func(ctx context.Context) {
		mend(ctx)
		for _, k := range kinds.ThirdParty() {
			s.RemoveAll(ctx, k)
		}
	})
	return s
}
