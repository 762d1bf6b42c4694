// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// TestRealRunnersLeaveNothingBehind tears real caches and controllers down, by the sync
// timeout and by being stopped, against an API server that takes requests and never answers.
func TestRealRunnersLeaveNothingBehind(t *testing.T) {
	g := NewWithT(t)
	before := goleak.IgnoreCurrent()
	closing := make(chan struct{})
	asked := make(chan struct{}, 1024)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		select {
		case <-r.Context().Done():
		case <-closing:
		}
	}))
	scheme := runtime.NewScheme()
	g.Expect(corev1.AddToScheme(scheme)).To(Succeed())
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(lws.GVK, meta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Namespace"), meta.RESTScopeRoot)
	transport := &http.Transport{}
	factory := &Runners{
		Config: &rest.Config{Host: server.URL}, HTTPClient: &http.Client{Transport: transport},
		Scheme: scheme, Mapper: mapper, Log: logr.Discard(),
		Reconciler: func(kinds.Kind, client.Reader) reconcile.Reconciler {
			return reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
				return reconcile.Result{}, nil
			})
		},
	}
	reports := Reports{Listed: func(error) {}, Synced: func() { t.Error("nothing was answered, so nothing can be synced") }}
	for range 3 {
		err := factory.New(lws, reports).Run(t.Context(), 100*time.Millisecond)
		g.Expect(err).To(MatchError(ContainSubstring("timed out waiting")), "the timeout is the runner's error")
	}
	for len(asked) > 0 {
		<-asked
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- factory.New(lws, reports).Run(ctx, time.Minute) }()
	g.Eventually(asked).Should(Receive(), "the runner lists")
	stop()
	g.Eventually(ended).Should(Receive(BeNil()), "being stopped is no error")

	close(closing)
	transport.CloseIdleConnections()
	server.Close()
	g.Eventually(func() error { return goleak.Find(before) }, "5s").Should(Succeed(), "everything has ended")
}
