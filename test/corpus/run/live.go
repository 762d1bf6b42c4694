// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/test/corpus"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

const (
	pollInterval = 500 * time.Millisecond
	// quietTime is how long no AIBOM must have changed before those that are not there count
	// as absent, and not as late.
	quietTime = 10 * time.Second
)

// live is a run with a control plane and the real manager.
type live struct {
	root    string
	options options
	output  io.Writer
	started time.Time

	plane   *harness.ControlPlane
	client  client.Client
	manager *harness.ManagerProcess
}

// runManager observes the corpus by way of the manager, and ends all that it started.
func runManager(ctx context.Context, root string, opts options, labels []corpus.Label, output io.Writer) (all []corpus.Observation, err error) {
	l := &live{root: root, options: opts, output: output, started: time.Now()}
	defer func() {
		if l.plane != nil {
			err = errors.Join(err, l.plane.Stop())
		}
	}()
	if err := l.start(ctx); err != nil {
		return nil, err
	}
	refused, namespaces, err := l.load(ctx, labels)
	if err != nil {
		return nil, err
	}
	aiboms, err := l.await(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w\n\nThe manager's log, %s", err, l.manager.LogTail())
	}
	l.say("the manager wrote %d AIBOMs", len(aiboms))
	return observations(labels, namespaces, refused, aiboms)
}

// start runs the control plane and the manager as config/default has it.
func (l *live) start(ctx context.Context) error {
	l.say("starting etcd and kube-apiserver")
	var err error
	if l.plane, err = harness.Start(ctx, harness.Options{LogDir: filepath.Join(l.options.out, "logs")}); err != nil {
		return err
	}
	l.say("installing config/default and the CRDs of other projects")
	if err := l.plane.InstallDefault(ctx); err != nil {
		return err
	}
	crds, err := l.crds()
	if err != nil {
		return err
	}
	if err := l.plane.InstallCRDs(crds...); err != nil {
		return err
	}
	if _, _, err := l.plane.Kubectl(ctx, "wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"); err != nil {
		return err
	}
	// Its mapper must know the CRDs.
	if l.client, err = client.New(l.plane.Config(), client.Options{Scheme: harness.Scheme}); err != nil {
		return err
	}
	l.say("starting the manager")
	l.manager, err = l.plane.StartManagerAs(ctx, harness.ManagerAccount, harness.ManagerOptions{Name: "corpus"})
	return err
}

// crds are those of the third-party kinds: the projects' own where they are there, or else the
// stand-ins of the repository.
func (l *live) crds() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	byName := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for _, folder := range []string{filepath.Join(l.root, "config", "crd", "external"), l.options.crds} {
		if _, err := os.Stat(folder); err != nil {
			l.say("there is no folder %s of CRDs", folder)
			continue
		}
		crds, err := harness.ReadCRDs(folder)
		if err != nil {
			return nil, err
		}
		for _, crd := range crds {
			byName[crd.Name] = crd
		}
	}
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, byName[name])
	}
	return all, nil
}

// load creates each manifest's workload in a namespace of its own, since many have the same
// name. It returns why some could not be created, and the files by namespace.
func (l *live) load(ctx context.Context, labels []corpus.Label) (refused map[string]string, namespaces map[string]string, err error) {
	l.say("loading %d manifests", len(labels))
	refused, namespaces = map[string]string{}, map[string]string{}
	for i, label := range labels {
		namespace := fmt.Sprintf("corpus-%d", i)
		namespaces[namespace] = label.File
		if err := l.client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: namespace, Labels: map[string]string{v1beta1.OptInLabel: v1beta1.OptInValue},
		}}); err != nil {
			return nil, nil, err
		}
		m, err := corpus.ReadManifest(l.options.corpus, label.File)
		if err != nil {
			refused[label.File] = err.Error()
			continue
		}
		if len(m.Others) > 0 {
			l.say("%s: skipped %s", label.File, strings.Join(m.Others, ", "))
		}
		if err := l.create(ctx, namespace, m); err != nil {
			refused[label.File] = err.Error()
		}
	}
	return refused, namespaces, nil
}

// create creates the workload as it is, but for its namespace, for a name that no object can
// have and for what an API server fills in itself.
func (l *live) create(ctx context.Context, namespace string, m corpus.Manifest) error {
	object := m.Object.DeepCopy()
	object.SetNamespace(namespace)
	if len(validation.IsDNS1123Subdomain(object.GetName())) > 0 {
		object.SetName("workload")
	}
	object.SetResourceVersion("")
	object.SetUID("")
	object.SetOwnerReferences(nil)
	delete(object.Object, "status")
	return l.client.Create(ctx, object)
}

// await returns the inventory once it has come to rest.
func (l *live) await(ctx context.Context) ([]v1beta1.AIBOM, error) {
	var list v1beta1.AIBOMList
	last, since := "", time.Now()
	err := wait.PollUntilContextTimeout(ctx, pollInterval, l.options.timeout, true, func(ctx context.Context) (bool, error) {
		select {
		case <-l.manager.Exited():
			return false, errors.New("the manager ended")
		default:
		}
		if err := l.client.List(ctx, &list); err != nil {
			return false, err
		}
		var state strings.Builder
		for i := range list.Items {
			_, _ = fmt.Fprintf(&state, "%s/%s ", list.Items[i].Namespace, list.Items[i].ResourceVersion)
		}
		if state.String() != last {
			last, since = state.String(), time.Now()
		}
		return time.Since(since) >= quietTime, nil
	})
	return list.Items, err
}

// observations are what the AIBOMs say, by manifest.
func observations(labels []corpus.Label, namespaces, refused map[string]string, aiboms []v1beta1.AIBOM) ([]corpus.Observation, error) {
	byFile := map[string]corpus.Observation{}
	for file, why := range refused {
		byFile[file] = corpus.Observation{File: file, Refused: why}
	}
	for i := range aiboms {
		a := &aiboms[i]
		file, known := namespaces[a.Namespace]
		if !known {
			continue
		}
		o, err := corpus.OfAIBOM(file, a)
		if err != nil {
			return nil, err
		}
		byFile[file] = o
	}
	all := make([]corpus.Observation, len(labels))
	for i, label := range labels {
		all[i] = byFile[label.File]
		all[i].File = label.File
	}
	return all, nil
}

// say prints a line of progress with the time since the start.
func (l *live) say(format string, args ...any) {
	_, _ = fmt.Fprintf(l.output, "[%5.1fs] %s\n", time.Since(l.started).Seconds(), fmt.Sprintf(format, args...))
}
