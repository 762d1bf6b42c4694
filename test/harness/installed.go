// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"path/filepath"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
)

// What config/default installs, and every other way to install leads to.
const (
	SystemNamespace = "k8s-aibom-system"
	ManagerAccount  = "k8s-aibom-controller-manager"
	ManagerRole     = "k8s-aibom-manager-role"
	MetricsRole     = "k8s-aibom-metrics-reader"
)

// ManagerUser is who the manager is to the API server.
var ManagerUser = ServiceAccountUser(SystemNamespace, ManagerAccount)

// Scheme holds the types that suites and programs read and write.
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

// InstallDefault applies config/default and returns once its CRDs are served. Its Deployment is
// to have no pods, for there is no node to run them: StartManagerAs runs the binary instead.
func (cp *ControlPlane) InstallDefault(ctx context.Context) error {
	root, err := RepoRoot()
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"apply", "-k", filepath.Join(root, "config", "default")},
		{"-n", SystemNamespace, "scale", "deployment", ManagerAccount, "--replicas=0"},
		{"wait", "--for=condition=Established", "--timeout=30s",
			"crd/aiboms.aibom.k8saibom.dev", "crd/aibomcontrollerconfigs.aibom.k8saibom.dev"},
	} {
		if _, _, err := cp.Kubectl(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// StartManagerAs is StartManager as a ServiceAccount in the manager's namespace, with the rights
// that it has and no other.
func (cp *ControlPlane) StartManagerAs(ctx context.Context, account string, options ManagerOptions) (*ManagerProcess, error) {
	_, kubeconfig, err := cp.ServiceAccountConfig(ctx, SystemNamespace, account)
	if err != nil {
		return nil, err
	}
	options.Namespace, options.Kubeconfig = SystemNamespace, kubeconfig
	return cp.StartManager(ctx, options)
}
