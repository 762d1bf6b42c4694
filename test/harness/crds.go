// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"
)

// crdTimeout bounds the time until the API server serves a new CRD.
const crdTimeout = 30 * time.Second

// ReadCRDs returns the CustomResourceDefinitions that lie as one YAML file each in a folder.
func ReadCRDs(folder string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s holds no CRD", folder)
	}
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(content, crd); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		crds = append(crds, crd)
	}
	return crds, nil
}

// InstallCRDs creates or updates CRDs and returns once the API server serves them.
func (cp *ControlPlane) InstallCRDs(crds ...*apiextensionsv1.CustomResourceDefinition) error {
	_, err := envtest.InstallCRDs(cp.Config(), envtest.CRDInstallOptions{CRDs: crds, MaxTime: crdTimeout, PollInterval: pollInterval})
	return err
}

// SetConversion says how the objects of a CRD are converted from now on. The API server takes
// note of it shortly afterwards; a conversion that changes has it forget all that it had read.
func (cp *ControlPlane) SetConversion(ctx context.Context, name string, conversion *apiextensionsv1.CustomResourceConversion) error {
	c, err := cp.crdClient()
	if err != nil {
		return err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := c.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
		return err
	}
	before := crd.DeepCopy()
	crd.Spec.Conversion = conversion
	return c.Patch(ctx, crd, client.MergeFrom(before))
}

func (cp *ControlPlane) crdClient() (client.Client, error) {
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return client.New(cp.Config(), client.Options{Scheme: scheme})
}
