// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/onsi/gomega"
	clocktesting "k8s.io/utils/clock/testing"
)

func TestCachedTokenFollowsItsSecret(t *testing.T) {
	g := gomega.NewWithT(t)
	reads, value, failure := 0, "first", error(nil)
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	token := &cachedToken{clock: clock, read: func(context.Context) (string, error) {
		reads++
		return value, failure
	}}
	get := func() string {
		got, err := token.get(t.Context())
		g.ExpectWithOffset(1, err).NotTo(gomega.HaveOccurred())
		return got
	}

	g.Expect(get()).To(gomega.Equal("first"))
	value = "second"
	clock.SetTime(clock.Now().Add(tokenLifetime - time.Second))
	g.Expect(get()).To(gomega.Equal("first"))
	g.Expect(reads).To(gomega.Equal(1), "the token is young enough")

	clock.SetTime(clock.Now().Add(time.Second))
	g.Expect(get()).To(gomega.Equal("second"))
	g.Expect(reads).To(gomega.Equal(2))

	failure = errors.New("gone")
	clock.SetTime(clock.Now().Add(tokenLifetime))
	_, err := token.get(t.Context())
	g.Expect(err).To(gomega.MatchError("gone"), "an old token is not used when its Secret is gone")
}
