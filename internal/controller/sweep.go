// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// sweepPage is how many AIBOMs one request of a sweep lists.
const sweepPage = 500

// sweepTimeout bounds one request of a sweep, so that one AIBOM whose deletion hangs in an
// admission webhook keeps the sweep from the others for no longer.
const sweepTimeout = 5 * time.Second

// Sweep returns a function that deletes every AIBOM of a kind. It lists metadata through the
// live reader, page by page: a cache may not have heard of the newest ones yet, and nobody
// would come back for those.
func Sweep(live client.Reader, writer client.Writer, log logr.Logger) func(context.Context, kinds.Kind) error {
	return func(ctx context.Context, k kinds.Kind) error {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(v1beta1.GroupVersion.WithKind("AIBOMList"))
		swept := 0
		for {
			err := within(ctx, sweepTimeout, func(ctx context.Context) error {
				return live.List(ctx, list, client.MatchingLabels{v1beta1.KindLabel: k.GVK.Kind},
					client.Limit(sweepPage), client.Continue(list.Continue))
			})
			if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
				return nil // without the CRD of AIBOMs there are none
			}
			if err != nil {
				return fmt.Errorf("listing the AIBOMs of %s: %w", k.Key(), err)
			}
			n, err := deleteAll(ctx, writer, list.Items)
			swept += n
			if err != nil {
				return fmt.Errorf("deleting the AIBOMs of %s: %w", k.Key(), err)
			}
			if list.Continue == "" {
				log.Info("The AIBOMs of a kind that is not watched any more are deleted", "kind", k.Key(), "deleted", swept)
				return nil
			}
		}
	}
}

// within does one request, within a time.
func within(ctx context.Context, most time.Duration, request func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	return request(ctx)
}

// deleteAll deletes what is listed, all that it can, and says how many those were.
func deleteAll(ctx context.Context, writer client.Writer, items []metav1.PartialObjectMetadata) (int, error) {
	deleted := 0
	var errs []error
	for i := range items {
		if ctx.Err() != nil {
			return deleted, ctx.Err()
		}
		uid := items[i].UID
		aibom := &v1beta1.AIBOM{ObjectMeta: metav1.ObjectMeta{Namespace: items[i].Namespace, Name: items[i].Name}}
		err := within(ctx, sweepTimeout, func(ctx context.Context) error {
			return writer.Delete(ctx, aibom, client.Preconditions{UID: &uid})
		})
		switch {
		case err == nil:
			deleted++
		case apierrors.IsNotFound(err), apierrors.IsConflict(err): // somebody else was faster
		default:
			errs = append(errs, fmt.Errorf("AIBOM %s/%s: %w", items[i].Namespace, items[i].Name, err))
		}
	}
	if len(errs) > 3 { // the same cause, most likely
		errs = append(errs[:3], fmt.Errorf("and %d more", len(errs)-3))
	}
	return deleted, errors.Join(errs...)
}
