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
	"github.com/k8s-aibom/k8s-aibom/internal/settings"
)

// OwnInformersSynced is a readiness check: it fails until the informers of this project's own
// kinds are synced, which is asked anew in every probe. Nobody else's kind is asked about: a
// third party's failure must not make this controller unready.
func OwnInformersSynced(c cache.Cache, log logr.Logger) healthz.Checker {
	return logged(log, func(request *http.Request) error { return ownInformersSynced(request, c) })
}

// ConfigurationValid is a readiness check: it fails while the newest configuration is invalid,
// whatever is in force instead. A replica that was never given one, because it does not lead,
// knows nothing against it and is ready.
func ConfigurationValid(store *settings.Store, log logr.Logger) healthz.Checker {
	return logged(log, func(*http.Request) error {
		if state := store.State(); !state.Ready {
			return fmt.Errorf("the configuration is invalid: %s: %s", state.Reason, state.Message)
		}
		return nil
	})
}

// logged has the log tell why a check fails, once as long as the reason stays the same: the
// probe's answer may withhold it.
func logged(log logr.Logger, check healthz.Checker) healthz.Checker {
	var last atomic.Value
	last.Store("")
	return func(request *http.Request) error {
		err := check(request)
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
