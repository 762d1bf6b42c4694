// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"context"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// CRD discovery: one informer of the metadata of CustomResourceDefinitions, whose handlers
// heed the names of six candidates, and a GET of a candidate's whole CRD when it changes, to
// read whether it is Established and which versions it serves. CRDs are only ever read.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get;list;watch

// crdResource is the resource of CustomResourceDefinitions.
var crdResource = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")

// APICRDs reads CRDs from the API server.
type APICRDs struct {
	// Reader reads from the API server, not from a cache; its scheme knows
	// apiextensions.k8s.io/v1.
	Reader client.Reader
	// Metadata lists and watches metadata.
	Metadata metadata.Interface
}

// Get implements CRDs.
func (a APICRDs) Get(ctx context.Context, name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := a.Reader.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
		return nil, err
	}
	return crd, nil
}

// Watch implements CRDs by one informer without resync.
func (a APICRDs) Watch(ctx context.Context, w CRDWatcher) {
	crds := a.Metadata.Resource(crdResource)
	requests := observe(&toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return crds.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return crds.Watch(ctx, options)
		},
	}, w.Requested)
	informer := toolscache.NewSharedIndexInformer(requests, &metav1.PartialObjectMetadata{}, 0, nil)
	// Neither fails before the informer runs.
	_ = informer.SetTransform(identityOnly)
	registration, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { w.Changed(nameOf(o)) },
		UpdateFunc: func(_, o any) { w.Changed(nameOf(o)) },
		DeleteFunc: func(o any) { w.Changed(nameOf(o)) },
	})
	if err != nil {
		w.Requested(err)
		return
	}
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if toolscache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
			w.Synced()
		}
	})
	informer.RunWithContext(ctx)
	waiting.Wait()
}

// identityOnly drops all of a CRD's metadata but what tells one state of it from another: the
// annotations alone may hold the whole CRD.
func identityOnly(object any) (any, error) {
	m, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil
	}
	m.ObjectMeta = metav1.ObjectMeta{Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion}
	return m, nil
}

func nameOf(object any) string {
	if tombstone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		return tombstone.Key // a cluster-scoped object's key is its name
	}
	if m, ok := object.(*metav1.PartialObjectMetadata); ok {
		return m.Name
	}
	return ""
}
