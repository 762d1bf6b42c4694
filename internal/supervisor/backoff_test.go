// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestBackoffDoublesToItsCapAndStartsAnew(t *testing.T) {
	g := NewWithT(t)
	b := newBackoff(5*time.Second, 5*time.Minute, 0)
	for _, want := range []time.Duration{5, 10, 20, 40, 80, 160, 300, 300} {
		g.Expect(b.next()).To(Equal(want * time.Second))
	}
	b.reset()
	g.Expect(b.next()).To(Equal(5 * time.Second))
}

func TestBackoffJitterStaysWithinItsShareAndTheCap(t *testing.T) {
	g := NewWithT(t)
	for range 1000 {
		b := newBackoff(5*time.Second, 5*time.Minute, 0.1)
		g.Expect(b.next()).To(And(BeNumerically(">=", 5*time.Second), BeNumerically("<=", 5500*time.Millisecond)))
		for range 10 {
			g.Expect(b.next()).To(BeNumerically("<=", 5*time.Minute))
		}
	}
}
