// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// slow answers when a request's context is done, for as long as it hangs.
type slow struct {
	client.Reader
	hangs    bool
	requests int
}

func (s *slow) answer(ctx context.Context) error {
	s.requests++
	if s.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

func (s *slow) Get(ctx context.Context, _ client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return s.answer(ctx)
}

func (s *slow) List(ctx context.Context, _ client.ObjectList, _ ...client.ListOption) error {
	return s.answer(ctx)
}

func TestAKindThatDoesNotAnswerKeepsOneWorkerAMinute(t *testing.T) {
	g := NewWithT(t)
	c := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	server := &slow{hangs: true}
	reader := &Impatient{Reader: server, Clock: c}
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	get := func(gvk schema.GroupVersionKind) error {
		object := &metav1.PartialObjectMetadata{}
		object.SetGroupVersionKind(gvk)
		return reader.Get(late, client.ObjectKey{Namespace: "ns", Name: "x"}, object)
	}
	list := func() error {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(lwsGVK.GroupVersion().WithKind("LeaderWorkerSetList"))
		return reader.List(late, list)
	}

	g.Expect(get(lwsGVK)).To(MatchError(context.DeadlineExceeded))
	for range 100 {
		g.Expect(get(lwsGVK)).To(MatchError(ContainSubstring("LeaderWorkerSet did not answer in time")))
	}
	g.Expect(server.requests).To(Equal(1), "the others do not wait for it")
	g.Expect(get(dgdGVK)).To(MatchError(context.DeadlineExceeded), "another kind is asked for")
	g.Expect(list()).To(MatchError(context.DeadlineExceeded), "so is a list, which may fare better")

	c.SetTime(c.Now().Add(rest))
	server.requests = 0
	g.Expect(get(lwsGVK)).To(MatchError(context.DeadlineExceeded))
	g.Expect(get(lwsGVK)).To(MatchError(ContainSubstring("did not answer in time")))
	g.Expect(server.requests).To(Equal(1), "after a minute one finds out")

	server.hangs = false
	c.SetTime(c.Now().Add(rest))
	for range 3 {
		g.Expect(get(lwsGVK)).To(Succeed(), "it answers again")
	}
	g.Expect(server.requests).To(Equal(4))
}
