// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
)

// observed tells how an informer's requests end. An informer's own error handler tells of
// failures only, and health must hear of success to clear.
type observed struct {
	toolscache.ListerWatcherWithContext
	report func(error)
}

func observe(lw toolscache.ListerWatcher, report func(error)) toolscache.ListerWatcher {
	return &observed{toolscache.ToListerWatcherWithContext(lw), report}
}

// IsWatchListSemanticsUnSupported has the informer list before it watches. A streaming list
// of objects that cannot be converted sends nothing and waits, where a plain list fails with
// the reason.
func (o *observed) IsWatchListSemanticsUnSupported() bool { return true }

// ListWithContext reports a failure. Success is not the end of the matter: what was listed is
// not in the cache yet, and the watch has still to be opened.
func (o *observed) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	list, err := o.ListerWatcherWithContext.ListWithContext(ctx, options)
	if err != nil && ctx.Err() == nil && !startsOver(err) {
		o.report(err)
	}
	return list, err
}

// WatchWithContext reports whether the watch could be opened. An informer opens it only after
// its cache was replaced by a complete list, so that this is what clears both.
func (o *observed) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	w, err := o.ListerWatcherWithContext.WatchWithContext(ctx, options)
	if ctx.Err() == nil && !startsOver(err) {
		o.report(err)
	}
	return w, err
}

// startsOver says whether the informer meets the error in the normal course of things, by
// asking again at another resource version. Should that fail too, it is reported.
func startsOver(err error) bool {
	return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) ||
		apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
}

// List implements toolscache.Lister.
func (o *observed) List(options metav1.ListOptions) (runtime.Object, error) {
	return o.ListWithContext(context.Background(), options)
}

// Watch implements toolscache.Watcher.
func (o *observed) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return o.WatchWithContext(context.Background(), options)
}
