// SPDX-License-Identifier: Apache-2.0

package watched

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
	"github.com/k8s-aibom/k8s-aibom/test/suite"
)

// System is a control plane on which config/default is installed, without a manager and
// without any third-party CRD.
type System struct {
	Plane *harness.ControlPlane
	Admin client.Client
	// managers counts those that were started, for names that tell their events apart.
	managers int
}

// Install starts a control plane, installs config/default and creates the configuration.
// Everything ends with the node that calls it, a BeforeSuite or a spec.
func Install(ctx context.Context, options harness.Options) *System {
	GinkgoHelper()
	plane := suite.Start(ctx, options)
	admin, err := client.New(plane.Config(), client.Options{Scheme: harness.Scheme})
	Expect(err).NotTo(HaveOccurred())
	config := &v1beta1.AIBOMControllerConfig{}
	config.Name = v1beta1.ConfigName
	Expect(admin.Create(ctx, config)).To(Succeed())
	return &System{Plane: plane, Admin: admin}
}

// Kubectl runs kubectl as the administrator.
func (s *System) Kubectl(ctx context.Context, args ...string) {
	GinkgoHelper()
	_, _, err := s.Plane.Kubectl(ctx, args...)
	Expect(err).NotTo(HaveOccurred())
}

// LimitRole changes the manager's ClusterRole until the spec ends or the returned function is
// called.
func (s *System) LimitRole(ctx context.Context, change func(*rbacv1.ClusterRole)) (giveBack func(context.Context)) {
	GinkgoHelper()
	role := &rbacv1.ClusterRole{}
	Expect(s.Admin.Get(ctx, client.ObjectKey{Name: harness.ManagerRole}, role)).To(Succeed())
	before := role.DeepCopy()
	change(role)
	Expect(s.Admin.Update(ctx, role)).To(Succeed())
	giveBack = func(ctx context.Context) {
		GinkgoHelper()
		Expect(s.Admin.Patch(ctx, &rbacv1.ClusterRole{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
			ObjectMeta: metav1.ObjectMeta{Name: harness.ManagerRole},
			Rules:      before.Rules,
		}, client.Merge)).To(Succeed())
	}
	DeferCleanup(giveBack)
	return giveBack
}

// Inventory has only these kinds inventoried; none means all.
func (s *System) Inventory(ctx context.Context, some ...kinds.Kind) {
	GinkgoHelper()
	config := &v1beta1.AIBOMControllerConfig{}
	Expect(s.Admin.Get(ctx, client.ObjectKey{Name: v1beta1.ConfigName}, config)).To(Succeed())
	before := config.DeepCopy()
	config.Spec.Discovery.WorkloadKinds = nil
	for _, k := range some {
		config.Spec.Discovery.WorkloadKinds = append(config.Spec.Discovery.WorkloadKinds, k.Key())
	}
	Expect(s.Admin.Patch(ctx, config, client.MergeFrom(before))).To(Succeed())
}

// Degraded reads the Degraded condition of the configuration.
func (s *System) Degraded(ctx context.Context) func() (metav1.Condition, error) {
	return func() (metav1.Condition, error) {
		config := &v1beta1.AIBOMControllerConfig{}
		if err := s.Admin.Get(ctx, client.ObjectKey{Name: v1beta1.ConfigName}, config); err != nil {
			return metav1.Condition{}, err
		}
		return ptr.Deref(meta.FindStatusCondition(config.Status.Conditions, v1beta1.ConditionDegraded), metav1.Condition{}), nil
	}
}

// ExpectNotDegraded expects that the condition is false.
func (s *System) ExpectNotDegraded(ctx context.Context) {
	GinkgoHelper()
	Eventually(s.Degraded(ctx)).Should(HaveField("Status", metav1.ConditionFalse), "nothing degrades the controller")
}
