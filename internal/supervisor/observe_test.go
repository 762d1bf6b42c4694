// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"context"
	"errors"
	"net/http"
	"testing"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
)

// tooLarge is how a replica answers that lags behind.
func tooLarge() error {
	err := apierrors.NewTimeoutError("too large", 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
	return err
}

func TestWhatAnInformersRequestsTell(t *testing.T) {
	refused := errors.New("refused")
	for name, c := range map[string]struct {
		list, watch error
		cancelled   bool
		want        []error
	}{
		"a list that fails": {list: refused, want: []error{refused, nil}},
		// A list alone clears nothing: its objects are not in the cache yet.
		"a list and a watch that work":             {want: []error{nil}},
		"a watch that cannot be opened":            {watch: refused, want: []error{refused}},
		"a list at a version that has expired":     {list: apierrors.NewResourceExpired("old"), want: []error{nil}},
		"a list at a version that is not there":    {list: tooLarge(), want: []error{nil}},
		"a watch at a version that has expired":    {watch: apierrors.NewResourceExpired("old"), want: nil},
		"a watch at a version that is gone":        {watch: apierrors.NewGenericServerResponse(http.StatusGone, "", schema.GroupResource{}, "", "", 0, true), want: nil},
		"requests of an informer that was stopped": {list: refused, watch: refused, cancelled: true, want: nil},
	} {
		t.Run(name, func(t *testing.T) {
			var told []error
			lw := observe(&toolscache.ListWatch{
				ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
					return &metav1.PartialObjectMetadataList{}, c.list
				},
				WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
					return watch.NewFake(), c.watch
				},
			}, func(err error) { told = append(told, err) }).(*observed)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.cancelled {
				cancel()
			}
			_, listErr := lw.ListWithContext(ctx, metav1.ListOptions{})
			_, watchErr := lw.WatchWithContext(ctx, metav1.ListOptions{})
			g := NewWithT(t)
			g.Expect(told).To(Equal(c.want))
			g.Expect([]error{listErr, watchErr}).To(Equal([]error{c.list, c.watch}), "the informer sees its own errors")
			g.Expect(lw.IsWatchListSemanticsUnSupported()).To(BeTrue())
		})
	}
}
