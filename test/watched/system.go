// SPDX-License-Identifier: Apache-2.0

package watched

import (
	"context"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

// What config/default installs.
const (
	SystemNamespace = "k8s-aibom-system"
	ManagerAccount  = "k8s-aibom-controller-manager"
	ManagerRole     = "k8s-aibom-manager-role"
)

// ManagerUser is who the manager is to the API server.
var ManagerUser = harness.ServiceAccountUser(SystemNamespace, ManagerAccount)

// Scheme holds the types that specs read and write.
var Scheme = newScheme()

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, v1beta1.AddToScheme, apiextensionsv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			panic(err) // the types are compiled in
		}
	}
	return scheme
}

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
	root, err := harness.RepoRoot()
	Expect(err).NotTo(HaveOccurred())
	plane, err := harness.Start(ctx, options)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(plane.Stop()).To(Succeed()) })
	admin, err := client.New(plane.Config(), client.Options{Scheme: Scheme})
	Expect(err).NotTo(HaveOccurred())
	s := &System{Plane: plane, Admin: admin}
	s.Kubectl(ctx, "apply", "-k", filepath.Join(root, "config", "default"))
	s.Kubectl(ctx, "wait", "--for=condition=Established", "--timeout=30s",
		"crd/aiboms.aibom.k8saibom.dev", "crd/aibomcontrollerconfigs.aibom.k8saibom.dev")
	config := &v1beta1.AIBOMControllerConfig{}
	config.Name = v1beta1.ConfigName
	Expect(admin.Create(ctx, config)).To(Succeed())
	return s
}

// Kubectl runs kubectl as the administrator.
func (s *System) Kubectl(ctx context.Context, args ...string) {
	GinkgoHelper()
	_, _, err := s.Plane.Kubectl(ctx, args...)
	Expect(err).NotTo(HaveOccurred())
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
