// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// backoff is the time before a kind is tried again: it doubles from the initial to the
// greatest, and never exceeds that, jitter included.
type backoff struct {
	initial, most time.Duration
	jitter        float64
	current       time.Duration
}

func newBackoff(initial, most time.Duration, jitter float64) backoff {
	return backoff{initial: initial, most: most, jitter: jitter}
}

func (b *backoff) next() time.Duration {
	switch {
	case b.current == 0:
		b.current = b.initial
	case b.current < b.most:
		b.current *= 2
	}
	b.current = min(b.current, b.most)
	if b.jitter == 0 {
		return b.current
	}
	return min(wait.Jitter(b.current, b.jitter), b.most)
}

func (b *backoff) reset() { b.current = 0 }
