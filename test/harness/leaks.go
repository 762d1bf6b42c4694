// SPDX-License-Identifier: Apache-2.0

package harness

import "go.uber.org/goleak"

// LeakCheck returns a function that fails when goroutines run that did not run when LeakCheck
// was called. It waits up to half a second for them to end. Call it before Start and the
// result after Stop.
func LeakCheck() func() error {
	before := goleak.IgnoreCurrent()
	return func() error {
		return goleak.Find(before,
			// klog and Ginkgo start these once for the life of the program.
			goleak.IgnoreAnyFunction("k8s.io/klog/v2.(*flushDaemon).run.func1"),
			goleak.IgnoreAnyFunction("github.com/onsi/ginkgo/v2/internal/interrupt_handler.(*InterruptHandler).registerForInterrupts.func2"),
			// The metadata client's watches do not take back what they were about to send when
			// they are stopped.
			goleak.IgnoreAnyFunction("k8s.io/apimachinery/pkg/watch.(*filteredWatch).loop"),
		)
	}
}
