// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"context"

	. "github.com/onsi/ginkgo/v2"

	"github.com/k8s-aibom/k8s-aibom/test/watched"
)

// The paces of the managers under test.
const (
	probeInterval    = watched.ProbeInterval
	probeTimeout     = watched.ProbeTimeout
	cacheSyncTimeout = watched.CacheSyncTimeout
	slack            = watched.Slack
)

type manager = watched.Manager

// startManager runs the real binary as the ServiceAccount that ships, until the end of the
// spec or of the container whose BeforeAll calls it. Further args win over the paces.
func startManager(ctx context.Context, args ...string) *manager {
	GinkgoHelper()
	return system.Start(ctx, args...)
}

// expectNotDegraded expects that the condition is false.
func expectNotDegraded(ctx context.Context) {
	GinkgoHelper()
	system.ExpectNotDegraded(ctx)
}
