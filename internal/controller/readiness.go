// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
)

// OwnInformersSynced is a readiness check: it fails until the informers of this project's own
// kinds are synced, which is asked anew in every probe. Nobody else's kind is asked about: a
// third party's failure must not make this controller unready. The probe's answer withholds
// the reason, so the log has it, once as long as it stays the same.
func OwnInformersSynced(c cache.Cache, log logr.Logger) healthz.Checker {
	var last atomic.Value
	last.Store("")
	return func(request *http.Request) error {
		err := ownInformersSynced(request, c)
		reason := ""
		if err != nil {
			reason = err.Error()
		}
		if last.Swap(reason) != reason && err != nil {
			log.Info("Not ready", "reason", reason)
		}
		return err
	}
}

func ownInformersSynced(request *http.Request, c cache.Cache) error {
	for _, object := range []client.Object{&v1beta1.AIBOM{}, &v1beta1.AIBOMControllerConfig{}} {
		informer, err := c.GetInformer(request.Context(), object, cache.BlockUntilSynced(false))
		if err != nil {
			return fmt.Errorf("the informer of %T cannot be had (are the CRDs installed?): %w", object, err)
		}
		if !informer.HasSynced() {
			return fmt.Errorf("the informer of %T is not synced yet", object)
		}
	}
	return nil
}
