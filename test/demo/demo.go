// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

// What config/default installs.
const (
	systemNamespace = "k8s-aibom-system"
	managerAccount  = "k8s-aibom-controller-manager"
	managerName     = "k8s-aibom-controller-manager-demo"
)

const (
	pollInterval = 250 * time.Millisecond
	// quietTime is how long the manager must have written nothing before an AIBOM that is
	// not there counts as absent, and not as late.
	quietTime = 3 * time.Second
)

type demo struct {
	options options
	root    string
	output  io.Writer
	started time.Time

	plane   *harness.ControlPlane
	client  client.Client
	manager *harness.ManagerProcess
}

func newDemo(root string, opts options, output io.Writer) *demo {
	return &demo{options: opts, root: root, output: output, started: time.Now()}
}

// run shows the demo and ends whatever it started, also when ctx is cancelled, which is no
// failure once the checks hold.
func (d *demo) run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, d.stop()) }()
	if err := d.startControlPlane(ctx); err != nil {
		return err
	}
	if err := d.install(ctx); err != nil {
		return err
	}
	if err := d.startManager(ctx); err != nil {
		return err
	}
	if err := d.check(ctx); err != nil {
		return fmt.Errorf("%w\n\nThe manager's log, %s", err, d.manager.LogTail())
	}
	if d.options.once {
		return nil
	}
	return d.keepRunning(ctx)
}

func (d *demo) startControlPlane(ctx context.Context) error {
	d.say("starting etcd, kube-apiserver and kube-controller-manager")
	var err error
	d.plane, err = harness.Start(ctx, harness.Options{
		WithControllerManager: true,
		LogDir:                filepath.Join(d.options.out, "logs"),
	})
	if err != nil {
		return err
	}
	if err := harness.WriteKubeconfig(d.kubeconfig(), d.plane.Config()); err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := v1beta1.AddToScheme(scheme); err != nil {
		return err
	}
	d.client, err = client.New(d.plane.Config(), client.Options{Scheme: scheme})
	return err
}

func (d *demo) install(ctx context.Context) error {
	d.say("installing config/default")
	if err := d.kubectl(ctx, "apply", "-k", filepath.Join(d.root, "config", "default")); err != nil {
		return err
	}
	// No node would run its pods; the binary runs here instead, as the same ServiceAccount.
	if err := d.kubectl(ctx, "-n", systemNamespace, "scale", "deployment", managerAccount, "--replicas=0"); err != nil {
		return err
	}
	if err := d.kubectl(ctx, "wait", "--for=condition=Established", "--timeout=30s",
		"crd/aiboms.aibom.k8saibom.dev", "crd/aibomcontrollerconfigs.aibom.k8saibom.dev"); err != nil {
		return err
	}
	d.say("applying config/samples/demo")
	return d.kubectl(ctx, "apply", "-k", filepath.Join(d.root, "config", "samples", "demo"))
}

func (d *demo) startManager(ctx context.Context) error {
	d.say("building the manager")
	if _, err := d.plane.ManagerBinary(); err != nil {
		return err
	}
	_, kubeconfig, err := d.plane.ServiceAccountConfig(ctx, systemNamespace, managerAccount)
	if err != nil {
		return err
	}
	d.say("starting the manager as ServiceAccount %s/%s", systemNamespace, managerAccount)
	d.manager, err = d.plane.StartManager(ctx, harness.ManagerOptions{
		Name:        managerName,
		Namespace:   systemNamespace,
		Kubeconfig:  kubeconfig,
		LeaderElect: true,
	})
	return err
}

// check holds the inventory to the samples and shows it.
func (d *demo) check(ctx context.Context) error {
	expected, err := listExpectations(ctx, d.client)
	if err != nil {
		return err
	}
	d.say("waiting for the inventory of %d workloads", len(expected))
	aiboms, err := d.awaitInventory(ctx, expected)
	if err != nil {
		return err
	}
	d.say("the inventory is complete, and what is no AI workload is not in it")

	paths, err := writeDocuments(d.options.out, aiboms)
	if err != nil {
		return err
	}
	d.say("%d documents are valid against the CycloneDX schema", len(paths))
	if err := d.checkMetrics(ctx); err != nil {
		return err
	}
	if err := d.checkRequests(); err != nil {
		return err
	}
	return d.show(ctx, paths)
}

// awaitInventory returns the inventory once nothing in it differs from what is expected and
// the manager has come to rest. The error names every difference that is left.
func (d *demo) awaitInventory(ctx context.Context, expected []expectation) ([]v1beta1.AIBOM, error) {
	var list v1beta1.AIBOMList
	var differences []string
	writes, since := -1, time.Now()
	err := wait.PollUntilContextTimeout(ctx, pollInterval, d.options.timeout, true, func(ctx context.Context) (bool, error) {
		if !d.managerRuns() {
			return false, errors.New("the manager ended")
		}
		if err := d.client.List(ctx, &list); err != nil {
			return false, err
		}
		differences = compare(expected, list.Items)
		done, err := d.plane.Requests(0, harness.Filter{User: managerUser(), WritesOnly: true, Resource: "aiboms"})
		if err != nil {
			return false, err
		}
		if len(done) != writes {
			writes, since = len(done), time.Now()
		}
		return len(differences) == 0 && time.Since(since) >= quietTime, nil
	})
	if err == nil {
		return list.Items, nil
	}
	if len(differences) == 0 {
		return nil, fmt.Errorf("the inventory did not come to rest: %w", err)
	}
	return nil, fmt.Errorf("the inventory is not as expected: %w\n  %s", err, strings.Join(differences, "\n  "))
}

// checkRequests reads from the API server's audit log what the manager asked for.
func (d *demo) checkRequests() error {
	all, err := d.plane.Requests(0, harness.Filter{User: managerUser()})
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("the audit log has no request of %s", managerUser())
	}
	var writes int
	var refused []string
	for _, request := range all {
		if request.IsWrite() && request.ObjectRef.Resource == "aiboms" {
			writes++
		}
		if request.ResponseStatus.Code == 403 {
			refused = append(refused, request.String())
		}
	}
	if len(refused) > 0 {
		return fmt.Errorf("the RBAC that ships refused the manager %d of %d requests:\n  %s",
			len(refused), len(all), strings.Join(refused, "\n  "))
	}
	d.say("the manager made %d requests, %d of them writes of AIBOMs; none was refused", len(all), writes)
	return nil
}

func (d *demo) show(ctx context.Context, paths []string) error {
	table, _, err := d.plane.Kubectl(ctx, "get", "aibom", "-A")
	if err != nil {
		return err
	}
	d.print("\n%s\nThe documents:\n", table)
	for _, path := range paths {
		d.print("  %s\n", path)
	}
	return nil
}

func (d *demo) keepRunning(ctx context.Context) error {
	d.print(`
The control plane and the manager keep running until Ctrl-C. To look further, in another shell:
  export KUBECONFIG=%s
  kubectl get aibom -A
  kubectl -n ai-demo get aiboms deployment-vllm-llama -o yaml
  kubectl -n ai-demo scale deployment vllm-llama --replicas=2     # changes no finding: no write
  kubectl -n ai-demo set image deployment/vllm-llama vllm=docker.io/vllm/vllm-openai:v0.11.1
  kubectl -n ai-demo delete deployment tgi-mistral                # its AIBOM goes with it, in half a minute at most
kubectl is %s
The logs are in %s
`, d.kubeconfig(), filepath.Join(os.Getenv(harness.AssetsVariable), "kubectl"), filepath.Join(d.options.out, "logs"))
	select {
	case <-ctx.Done():
		d.print("\n")
		return nil
	case <-d.manager.Exited():
		return fmt.Errorf("the manager ended: %s", d.manager.LogTail())
	}
}

func (d *demo) stop() error {
	if d.plane == nil {
		return nil
	}
	d.say("stopping")
	// It leads to nothing from now on.
	err := os.RemoveAll(d.kubeconfig())
	return errors.Join(err, d.plane.Stop())
}

func (d *demo) managerRuns() bool {
	select {
	case <-d.manager.Exited():
		return false
	default:
		return true
	}
}

func (d *demo) kubeconfig() string { return filepath.Join(d.options.out, "kubeconfig") }

func (d *demo) kubectl(ctx context.Context, args ...string) error {
	_, _, err := d.plane.Kubectl(ctx, args...)
	return err
}

// say prints a line of progress with the time since the start.
func (d *demo) say(format string, args ...any) {
	d.print("[%5.1fs] %s\n", time.Since(d.started).Seconds(), fmt.Sprintf(format, args...))
}

func (d *demo) print(format string, args ...any) { _, _ = fmt.Fprintf(d.output, format, args...) }

func managerUser() string { return harness.ServiceAccountUser(systemNamespace, managerAccount) }
