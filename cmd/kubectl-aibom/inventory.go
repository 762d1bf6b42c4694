// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
)

const (
	aiboms  = "aiboms"
	configs = "aibomcontrollerconfigs"

	// pageSize bounds how many AIBOMs, each of which may hold a document, are in memory at once.
	pageSize = 500
)

// inventory reads our API.
type inventory struct {
	client     rest.Interface
	parameters runtime.ParameterCodec
}

// connect returns the inventory of the cluster that the flags name, and the namespace to look
// into: none for all of them.
func (t *tool) connect(allNamespaces bool) (*inventory, string, error) {
	namespace, _, err := t.flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, "", fmt.Errorf("reading the kubeconfig: %w", err)
	}
	if allNamespaces {
		namespace = metav1.NamespaceAll
	}
	config, err := t.flags.ToRESTConfig()
	if err != nil {
		return nil, "", fmt.Errorf("reading the kubeconfig (see --kubeconfig and --context): %w", err)
	}
	scheme := runtime.NewScheme()
	if err := v1beta1.AddToScheme(scheme); err != nil {
		return nil, "", err
	}
	config.GroupVersion, config.APIPath = &v1beta1.GroupVersion, "/apis"
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.UserAgent = "kubectl-aibom/" + version
	client, err := rest.RESTClientFor(config)
	return &inventory{client, runtime.NewParameterCodec(scheme)}, namespace, err
}

// each visits every AIBOM in the namespace that has the labels, page by page.
func (i *inventory) each(ctx context.Context, namespace, selector string, visit func(*v1beta1.AIBOM)) error {
	next := ""
	for {
		page := &v1beta1.AIBOMList{}
		err := i.client.Get().NamespaceIfScoped(namespace, namespace != "").Resource(aiboms).
			VersionedParams(&metav1.ListOptions{LabelSelector: selector, Limit: pageSize, Continue: next}, i.parameters).
			Do(ctx).Into(page)
		if resume := resumption(err); resume != "" && next != "" {
			next = resume
			continue
		}
		if err != nil {
			return explain(err, "listing the AIBOMs in "+place(namespace), namespace)
		}
		for n := range page.Items {
			visit(&page.Items[n])
		}
		if next = page.Continue; next == "" {
			return nil
		}
	}
}

// resumption is where the API server offers to go on when it has forgotten the list's version:
// after the last object that was handed out, with the rest as it is now.
func resumption(err error) string {
	var status apierrors.APIStatus
	if !apierrors.IsResourceExpired(err) || !errors.As(err, &status) {
		return ""
	}
	return status.Status().Continue
}

// get reads one AIBOM; the error says NotFound where there is none.
func (i *inventory) get(ctx context.Context, namespace, name string) (*v1beta1.AIBOM, error) {
	aibom := &v1beta1.AIBOM{}
	err := i.client.Get().Namespace(namespace).Resource(aiboms).Name(name).Do(ctx).Into(aibom)
	return aibom, explain(err, fmt.Sprintf("reading AIBOM %s/%s", namespace, name), namespace)
}

// config reads the controller's configuration.
func (i *inventory) config(ctx context.Context) (*v1beta1.AIBOMControllerConfig, error) {
	config := &v1beta1.AIBOMControllerConfig{}
	err := i.client.Get().Resource(configs).Name(v1beta1.ConfigName).Do(ctx).Into(config)
	return config, err
}

// isNotServed says whether the API server does not know the kind, other than one object of it.
func isNotServed(err error) bool {
	return apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// explain says what failed and what can be done about it.
func explain(err error, what, namespace string) error {
	switch {
	case err == nil:
		return nil
	case isNotServed(err):
		return fmt.Errorf("%s: this cluster does not serve %s; is k8s-aibom installed there, and is this the right context? (%s)",
			what, v1beta1.GroupVersion.WithKind("AIBOM"), err.Error())
	case apierrors.IsForbidden(err) && namespace == "":
		return fmt.Errorf("%s: %w; name a namespace with -n instead of -A, or have the ClusterRole k8s-aibom-aibom-viewer-role bound to you in the whole cluster", what, err)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%s: %w; have the ClusterRole view or k8s-aibom-aibom-viewer-role bound to you in that namespace", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}
