// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// Prober asks whether a kind can be read.
type Prober interface {
	// Probe returns the API server's error verbatim when it cannot. It ends with ctx.
	Probe(ctx context.Context, k kinds.Kind) error
}

// APIProber probes by a list of one item and a GET of that item by name. The GET is what
// tells the truth: the API server answers lists and watches of a converted version from
// memory while the conversion webhook is down, and only a read from the storage reaches the
// webhook. A kind without objects has nothing to convert, so the list suffices.
type APIProber struct {
	// Reader reads from the API server, not from a cache.
	Reader client.Reader
}

// Probe implements Prober.
func (p APIProber) Probe(ctx context.Context, k kinds.Kind) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(k.GVK.GroupVersion().WithKind(k.GVK.Kind + "List"))
	if err := p.Reader.List(ctx, list, client.Limit(1)); err != nil {
		return fmt.Errorf("listing: %w", err)
	}
	if len(list.Items) == 0 {
		return nil
	}
	key := client.ObjectKeyFromObject(&list.Items[0])
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(k.GVK)
	if err := client.IgnoreNotFound(p.Reader.Get(ctx, key, object)); err != nil {
		return fmt.Errorf("reading %s: %w", key, err)
	}
	return nil
}
