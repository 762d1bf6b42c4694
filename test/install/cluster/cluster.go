// SPDX-License-Identifier: Apache-2.0

// Package cluster is a control plane that is close to a cluster: a scheduler binds pods and
// kwok makes them look ready, so that whatever installs the project sees its Deployment become
// available. The API server has OwnerReferencesPermissionEnforcement on, as OpenShift has. The
// manager itself runs beside it, as the ServiceAccount that was installed.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

// ToolsVariable is the environment variable that names the folder that hack/olm.sh prints.
const ToolsVariable = "OLM_ASSETS"

// Cluster is a running control plane with a node.
type Cluster struct {
	// Plane is the control plane.
	Plane *harness.ControlPlane
	// Admin is the administrator's client.
	Admin client.WithWatch
	// Root is the repository.
	Root string

	tools string
}

// Available says whether the programs are here, which make test-olm provides.
func Available() bool { return os.Getenv(ToolsVariable) != "" }

// Start starts the control plane, the scheduler and kwok, and makes a node. All ends with the
// suite; every program's log stays in dist/logs/name.
func Start(ctx context.Context, name string) *Cluster {
	GinkgoHelper()
	root, err := harness.RepoRoot()
	Expect(err).NotTo(HaveOccurred())
	plane, err := harness.Start(ctx, harness.Options{
		AdmissionPlugins:      []string{"OwnerReferencesPermissionEnforcement"},
		WithControllerManager: true,
		LogDir:                filepath.Join(root, "dist", "logs", name),
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(plane.Stop()).To(Succeed()) })
	c := &Cluster{Plane: plane, Root: root, tools: os.Getenv(ToolsVariable)}
	Expect(c.start(ctx)).To(Succeed())
	return c
}

func (c *Cluster) start(ctx context.Context) error {
	var err error
	if c.Admin, err = client.NewWithWatch(c.Plane.Config(), client.Options{Scheme: harness.Scheme}); err != nil {
		return err
	}
	kubeconfig := c.Plane.AdminKubeconfig()
	if _, err := c.StartTool("kube-scheduler", nil, "--kubeconfig="+kubeconfig, "--leader-elect=false", "--secure-port=0"); err != nil {
		return err
	}
	if _, err := c.StartTool("kwok", nil, "--kubeconfig="+kubeconfig, "--config="+filepath.Join(c.tools, "kwok.yaml"),
		"--manage-all-nodes=true", "--cidr=10.1.0.0/16", "--node-ip=10.0.0.1",
		// Without leases the node, and with it every pod, would be unready after a minute.
		"--node-lease-duration-seconds=40"); err != nil {
		return err
	}
	return c.addNode(ctx)
}

// addNode makes a node that has room, and accelerators, for every sample.
func (c *Cluster) addNode(ctx context.Context) error {
	room := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("64"),
		corev1.ResourceMemory: resource.MustParse("512Gi"),
		corev1.ResourcePods:   resource.MustParse("110"),
		"nvidia.com/gpu":      resource.MustParse("64"),
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name:        "node",
		Labels:      map[string]string{corev1.LabelHostname: "node", corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64"},
		Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"},
	}}
	if err := c.Admin.Create(ctx, node); err != nil {
		return err
	}
	// Others write to the node as well.
	bare := node.DeepCopy()
	node.Status.Allocatable, node.Status.Capacity = room, room
	return c.Admin.Status().Patch(ctx, node, client.MergeFrom(bare))
}

// Tool is the path of a program of hack/olm.sh.
func (c *Cluster) Tool(name string) string { return filepath.Join(c.tools, name) }

// StartTool runs a program of hack/olm.sh until Stop. env is added to the environment.
func (c *Cluster) StartTool(name string, env []string, args ...string) (*harness.Program, error) {
	cmd := exec.Command(c.Tool(name), args...)
	cmd.Env = append(os.Environ(), env...)
	return c.Plane.StartProgram(name, cmd)
}

// RunTool runs a program of hack/olm.sh as the administrator and returns what it wrote to
// standard output.
func (c *Cluster) RunTool(ctx context.Context, name string, args ...string) (string, error) {
	return Run(ctx, []string{"KUBECONFIG=" + c.Plane.AdminKubeconfig()}, c.Tool(name), args...)
}

// Run runs a program and returns its standard output; the error of a failed one holds what it
// wrote to standard error.
func Run(ctx context.Context, env []string, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%s %v: %w: %s", filepath.Base(program), args, err, exit.Stderr)
	}
	return string(out), err
}

// Kubectl runs kubectl as the administrator and returns what it wrote to standard output.
func (c *Cluster) Kubectl(ctx context.Context, args ...string) string {
	GinkgoHelper()
	out, _, err := c.Plane.Kubectl(ctx, args...)
	Expect(err).NotTo(HaveOccurred())
	return out
}
