// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
	"github.com/k8s-aibom/k8s-aibom/test/watched"
)

// webhook is a conversion webhook of the suite that knows whether it is up.
type webhook struct {
	*harness.ConversionWebhook
	up bool
}

// newWebhook is a webhook that serves until the suite ends.
func newWebhook() *webhook {
	GinkgoHelper()
	converters := harness.DynamoConverters()
	for _, k := range kinds.ThirdParty() {
		if _, has := converters[k.GVK.GroupKind()]; !has {
			converters[k.GVK.GroupKind()] = harness.ConvertNothing
		}
	}
	converts, err := harness.NewConversionWebhook(converters.Convert)
	Expect(err).NotTo(HaveOccurred())
	w := &webhook{ConversionWebhook: converts}
	w.start()
	DeferCleanup(w.stop)
	return w
}

func (w *webhook) start() {
	GinkgoHelper()
	if !w.up {
		Expect(w.Start()).To(Succeed(), "the webhook's port opens")
		w.up = true
	}
}

func (w *webhook) stop() {
	GinkgoHelper()
	Expect(w.Stop()).To(Succeed(), "the webhook's port closes")
	w.up = false
}

// mend undoes every fault of conversion.
func mend(ctx context.Context) {
	GinkgoHelper()
	for _, w := range []*webhook{graphs, others} {
		w.start()
		w.Hang(false)
		w.FailFor()
	}
	for _, k := range kinds.ThirdParty() {
		convert(ctx, k, webhookOf(k).Conversion())
	}
}

func convert(ctx context.Context, k kinds.Kind, by *apiextensionsv1.CustomResourceConversion) {
	GinkgoHelper()
	Expect(system.Plane.SetConversion(ctx, k.CRD(), by)).To(Succeed())
}

// webhookFailed begins every error of a conversion webhook that cannot be reached.
func webhookFailed(k kinds.Kind) string {
	stored := schema.GroupVersion{Group: k.GVK.Group, Version: olderVersion(k)}
	return "conversion webhook for " + stored.String() + ", Kind=" + k.GVK.Kind + " failed: Post "
}

// fault is a way in which the conversion of Dynamo graphs fails.
type fault struct {
	name       string
	begin, end func(ctx context.Context)
	// causes stand in what is told about it.
	causes []string
}

var faults = []fault{
	{
		// The API server forgets what it had read when the CRD changes: lists fail as well.
		name:   "the CRD is patched to a dead URL",
		begin:  func(ctx context.Context) { convert(ctx, graph, harness.DeadConversion()) },
		end:    func(ctx context.Context) { convert(ctx, graph, harness.NoConversion()) },
		causes: []string{webhookFailed(graph), "connection refused"},
	},
	{
		// The API server goes on answering lists and watches from memory: only reads of one
		// object fail.
		name:   "the live webhook goes away",
		begin:  func(context.Context) { graphs.stop() },
		end:    func(context.Context) { graphs.start() },
		causes: []string{webhookFailed(graph), "connection refused"},
	},
	{
		name:   "the live webhook hangs",
		begin:  func(context.Context) { graphs.Hang(true) },
		end:    func(context.Context) { graphs.Hang(false) },
		causes: []string{"no answer within " + probeTimeout.String()},
	},
}

// bring begins the fault and returns once the API server feels it, by an object that it
// cannot read then.
func (f fault) bring(ctx context.Context, object types.NamespacedName) {
	GinkgoHelper()
	f.begin(ctx)
	Eventually(read(ctx, object)).ShouldNot(Succeed(), "%s: the API server cannot convert", f.name)
}

// lift ends the fault and returns once the API server feels it.
func (f fault) lift(ctx context.Context, object types.NamespacedName) {
	GinkgoHelper()
	f.end(ctx)
	Eventually(read(ctx, object)).Should(Succeed(), "%s no more: the API server converts", f.name)
}

// read reads a graph in the version that the controller reads.
func read(ctx context.Context, key types.NamespacedName) func() error {
	return func() error {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		return system.Admin.Get(ctx, key, watched.Empty(graph, graph.GVK.Version))
	}
}
