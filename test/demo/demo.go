// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/test/demo/checks"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
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
	d.client, err = client.New(d.plane.Config(), client.Options{Scheme: harness.Scheme})
	return err
}

func (d *demo) install(ctx context.Context) error {
	d.say("installing config/default")
	if err := d.plane.InstallDefault(ctx); err != nil {
		return err
	}
	d.say("applying config/samples/demo")
	_, _, err := d.plane.Kubectl(ctx, "apply", "-k", filepath.Join(d.root, "config", "samples", "demo"))
	return err
}

func (d *demo) startManager(ctx context.Context) error {
	d.say("building the manager")
	if _, err := d.plane.ManagerBinary(); err != nil {
		return err
	}
	d.say("starting the manager as ServiceAccount %s/%s", harness.SystemNamespace, harness.ManagerAccount)
	var err error
	d.manager, err = d.plane.StartManagerAs(ctx, harness.ManagerAccount, harness.ManagerOptions{
		Name:        harness.ManagerAccount + "-demo",
		LeaderElect: true,
	})
	return err
}

// check holds the inventory to the samples and shows it.
func (d *demo) check(ctx context.Context) error {
	paths, err := checks.Checks{
		Plane: d.plane, Client: d.client, Manager: d.manager,
		Timeout: d.options.timeout, Out: d.options.out, Say: d.say,
	}.Run(ctx)
	if err != nil {
		return err
	}
	return d.show(ctx, paths)
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

func (d *demo) kubeconfig() string { return filepath.Join(d.options.out, "kubeconfig") }

// say prints a line of progress with the time since the start.
func (d *demo) say(format string, args ...any) {
	d.print("[%5.1fs] %s\n", time.Since(d.started).Seconds(), fmt.Sprintf(format, args...))
}

func (d *demo) print(format string, args ...any) { _, _ = fmt.Fprintf(d.output, format, args...) }
