// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/test/demo/checks"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

// inventoryTimeout is how long the inventory of the samples may take.
const inventoryTimeout = 2 * time.Minute

// RestrictedNamespace makes the manager's namespace, which enforces the restricted standard.
func (c *Cluster) RestrictedNamespace(ctx context.Context) {
	GinkgoHelper()
	Expect(c.Admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: harness.SystemNamespace, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}})).To(Succeed())
}

// Remove removes a namespace, if it is there, and waits until it is gone.
func (c *Cluster) Remove(ctx context.Context, namespace string) {
	GinkgoHelper()
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	Expect(client.IgnoreNotFound(c.Admin.Delete(ctx, object))).To(Succeed())
	c.Gone(ctx, object)
}

// Gone waits until an object does not exist.
func (c *Cluster) Gone(ctx context.Context, object client.Object) {
	GinkgoHelper()
	Eventually(func() error { return c.Admin.Get(ctx, client.ObjectKeyFromObject(object), object) }).
		Should(Satisfy(apierrors.IsNotFound), "%T %s goes", object, object.GetName())
}

// RunAndCheck runs the manager binary with a token of the ServiceAccount that was installed, so
// that it may do what the installed RBAC allows and nothing else, and makes the demo's checks.
// The samples must have been applied.
func (c *Cluster) RunAndCheck(ctx context.Context) *harness.ManagerProcess {
	GinkgoHelper()
	mark := c.Mark()
	manager, err := c.Plane.StartManagerAs(ctx, harness.ManagerAccount, harness.ManagerOptions{
		Name: harness.ManagerAccount, LeaderElect: true,
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { _ = manager.Kill() })
	_, err = checks.Checks{
		Plane: c.Plane, Client: c.Admin, Manager: manager, Since: mark,
		Timeout: inventoryTimeout, Out: GinkgoT().TempDir(), Say: say,
	}.Run(ctx)
	Expect(err).NotTo(HaveOccurred(), manager.LogTail)
	return manager
}

func say(format string, args ...any) { GinkgoWriter.Printf(format+"\n", args...) }

// Mark is the present end of the audit log.
func (c *Cluster) Mark() harness.Mark {
	GinkgoHelper()
	mark, err := c.Plane.Mark()
	Expect(err).NotTo(HaveOccurred())
	return mark
}

// NotRefused expects that RBAC has refused no request of the manager since a mark.
func (c *Cluster) NotRefused(since harness.Mark) {
	GinkgoHelper()
	refused, err := c.Plane.Requests(since, harness.Filter{User: harness.ManagerUser, Code: 403})
	Expect(err).NotTo(HaveOccurred())
	Expect(refused).To(BeEmpty(), "the RBAC that was installed is enough at any time")
}

// Inventory is the UID and the document of each AIBOM, by namespace and name.
func (c *Cluster) Inventory(ctx context.Context) map[string]string {
	GinkgoHelper()
	list := &v1beta1.AIBOMList{}
	Expect(c.Admin.List(ctx, list)).To(Succeed())
	all := map[string]string{}
	for _, aibom := range list.Items {
		all[aibom.Namespace+"/"+aibom.Name] = string(aibom.UID) + " " + aibom.Status.BOMHash
	}
	Expect(all).NotTo(BeEmpty())
	return all
}

// Config is the configuration.
func (c *Cluster) Config(ctx context.Context) *v1beta1.AIBOMControllerConfig {
	GinkgoHelper()
	config := &v1beta1.AIBOMControllerConfig{}
	Expect(c.Admin.Get(ctx, client.ObjectKey{Name: v1beta1.ConfigName}, config)).To(Succeed())
	return config
}
