// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
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

// ExternalCRDs returns the fixtures of third-party kinds, config/crd/external, except those
// whose names are given.
func ExternalCRDs(except ...string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	root, err := RepoRoot()
	if err != nil {
		return nil, err
	}
	all, err := ReadCRDs(filepath.Join(root, "config", "crd", "external"))
	if err != nil {
		return nil, err
	}
	for _, name := range except {
		if !slices.ContainsFunc(all, named(name)) {
			return nil, fmt.Errorf("config/crd/external has no %s", name)
		}
		all = slices.DeleteFunc(all, named(name))
	}
	return all, nil
}

// ExternalCRD returns the fixture of one third-party kind by the name of its CRD.
func ExternalCRD(name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	all, err := ExternalCRDs()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, named(name))
	if i < 0 {
		return nil, fmt.Errorf("config/crd/external has no %s", name)
	}
	return all[i], nil
}

func named(name string) func(*apiextensionsv1.CustomResourceDefinition) bool {
	return func(crd *apiextensionsv1.CustomResourceDefinition) bool { return crd.Name == name }
}

// InstallCRDs creates or updates CRDs and returns once the API server serves them.
func (cp *ControlPlane) InstallCRDs(crds ...*apiextensionsv1.CustomResourceDefinition) error {
	_, err := envtest.InstallCRDs(cp.Config(), envtest.CRDInstallOptions{CRDs: crds, MaxTime: crdTimeout, PollInterval: pollInterval})
	return err
}

// SetConversion says how the objects of a CRD are converted from now on. The API server takes
// note of it shortly afterwards; a conversion that changes has it forget all that it had read.
func (cp *ControlPlane) SetConversion(ctx context.Context, name string, conversion *apiextensionsv1.CustomResourceConversion) error {
	return cp.PatchCRD(ctx, name, func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Conversion = conversion })
}

// PatchCRD changes an installed CRD. The API server takes note of it shortly afterwards.
func (cp *ControlPlane) PatchCRD(ctx context.Context, name string, change func(*apiextensionsv1.CustomResourceDefinition)) error {
	c, err := cp.crdClient()
	if err != nil {
		return err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := c.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
		return err
	}
	before := crd.DeepCopy()
	change(crd)
	return c.Patch(ctx, crd, client.MergeFrom(before))
}

// DeleteCRD asks the API server to delete a CRD with all its objects, and returns without
// waiting for that: an object with a finalizer keeps both. A CRD that is absent is no error.
func (cp *ControlPlane) DeleteCRD(ctx context.Context, name string) error {
	c, err := cp.crdClient()
	if err != nil {
		return err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = name
	return client.IgnoreNotFound(c.Delete(ctx, crd))
}

// RemoveCRD deletes a CRD with all its objects and returns once it is gone.
func (cp *ControlPlane) RemoveCRD(ctx context.Context, name string) error {
	c, err := cp.crdClient()
	if err != nil {
		return err
	}
	if err := cp.DeleteCRD(ctx, name); err != nil {
		return err
	}
	err = wait.PollUntilContextTimeout(ctx, pollInterval, crdTimeout, true, func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, client.ObjectKey{Name: name}, &apiextensionsv1.CustomResourceDefinition{})
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
	if err != nil {
		return fmt.Errorf("CustomResourceDefinition %s is still there: %w", name, err)
	}
	return nil
}

func (cp *ControlPlane) crdClient() (client.Client, error) {
	return client.New(cp.Config(), client.Options{Scheme: Scheme})
}
