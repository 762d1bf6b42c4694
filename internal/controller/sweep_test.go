// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// aibomsOf makes AIBOMs of a kind, spread over namespaces.
func aibomsOf(k kinds.Kind, n int) []client.Object {
	var all []client.Object
	for i := range n {
		aibom := &v1beta1.AIBOM{ObjectMeta: metav1.ObjectMeta{
			Namespace: fmt.Sprintf("ns-%d", i%3), Name: AIBOMName(k.GVK.Kind, fmt.Sprintf("w-%d", i)),
			UID: types.UID(fmt.Sprintf("%s-%d", k.GVK.Kind, i)), Labels: map[string]string{v1beta1.KindLabel: k.GVK.Kind},
		}}
		all = append(all, aibom)
	}
	return all
}

func sweepClient(t *testing.T, funcs interceptor.Funcs, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	NewWithT(t).Expect(v1beta1.AddToScheme(scheme)).To(Succeed())
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(funcs).Build()
}

func left(t *testing.T, c client.Reader) []string {
	t.Helper()
	list := &v1beta1.AIBOMList{}
	NewWithT(t).Expect(c.List(t.Context(), list)).To(Succeed())
	names := []string{}
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

func TestASweepDeletesTheKindsAIBOMsAndNoOthers(t *testing.T) {
	g := NewWithT(t)
	swept, other := kinds.ThirdParty()[0], kinds.ThirdParty()[1]
	c := sweepClient(t, interceptor.Funcs{}, append(aibomsOf(swept, 7), aibomsOf(other, 2)...)...)
	g.Expect(Sweep(c, c, logr.Discard())(t.Context(), swept)).To(Succeed())
	g.Expect(left(t, c)).To(HaveLen(2))
	g.Expect(left(t, c)).To(HaveEach(HavePrefix(AIBOMName(other.GVK.Kind, ""))))
}

func TestASweepGoesOnBesideAnAIBOMThatCannotBeDeleted(t *testing.T) {
	g := NewWithT(t)
	k := kinds.ThirdParty()[0]
	refused := AIBOMName(k.GVK.Kind, "w-1")
	c := sweepClient(t, interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			if o.GetName() == refused {
				return errors.New("refused")
			}
			return c.Delete(ctx, o, opts...)
		},
	}, aibomsOf(k, 5)...)
	g.Expect(Sweep(c, c, logr.Discard())(t.Context(), k)).To(MatchError(And(ContainSubstring(refused), ContainSubstring("refused"))))
	g.Expect(left(t, c)).To(ConsistOf(refused), "the others are deleted")
}

func TestASweepGoesOnBesideADeletionThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		k := kinds.ThirdParty()[0]
		refused := AIBOMName(k.GVK.Kind, "w-1")
		c := sweepClient(t, interceptor.Funcs{
			Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
				if o.GetName() == refused {
					<-ctx.Done()
					return ctx.Err()
				}
				return c.Delete(ctx, o, opts...)
			},
		}, aibomsOf(k, 5)...)
		g.Expect(Sweep(c, c, logr.Discard())(t.Context(), k)).To(MatchError(ContainSubstring(refused)))
		g.Expect(left(t, c)).To(ConsistOf(refused), "the others are deleted")
	})
}

func TestASweepSparesAnAIBOMThatTookTheNameOfOneThatWasListed(t *testing.T) {
	g := NewWithT(t)
	k := kinds.ThirdParty()[0]
	var asked []types.UID
	c := sweepClient(t, interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			options := (&client.DeleteOptions{}).ApplyOptions(opts)
			asked = append(asked, *options.Preconditions.UID)
			return c.Delete(ctx, o, opts...)
		},
	}, aibomsOf(k, 1)...)
	g.Expect(Sweep(c, c, logr.Discard())(t.Context(), k)).To(Succeed())
	g.Expect(asked).To(ConsistOf(types.UID(k.GVK.Kind + "-0")))
}

func TestASweepEndsWithItsContext(t *testing.T) {
	g := NewWithT(t)
	k := kinds.ThirdParty()[0]
	c := sweepClient(t, interceptor.Funcs{}, aibomsOf(k, 3)...)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g.Expect(Sweep(c, c, logr.Discard())(ctx, k)).NotTo(Succeed())
	g.Expect(left(t, c)).To(HaveLen(3), "nothing is deleted once the lease may be another's")
}
