// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Kubectl runs kubectl as one user.
type Kubectl struct {
	path       string
	kubeconfig string
	home       string
}

// KubectlAs returns the control plane's kubectl with a kubeconfig file.
func (cp *ControlPlane) KubectlAs(kubeconfig string) Kubectl {
	return Kubectl{
		path:       filepath.Join(cp.dir, "assets", kubectlProgram),
		kubeconfig: kubeconfig,
		home:       filepath.Join(cp.dir, "home"),
	}
}

// Kubectl runs kubectl as the administrator, without input.
func (cp *ControlPlane) Kubectl(ctx context.Context, args ...string) (stdout, stderr string, err error) {
	return cp.KubectlAs(cp.kubeAdmin).Run(ctx, nil, args...)
}

// Run runs kubectl with args and stdin (nil: none) and returns what it wrote. The error of a
// failed run holds the arguments and what kubectl wrote to standard error. The user's own
// kubectl settings and cache are neither read nor written.
func (k Kubectl) Run(ctx context.Context, stdin io.Reader, args ...string) (stdout, stderr string, err error) {
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(ctx, k.path, append([]string{"--kubeconfig=" + k.kubeconfig}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+k.home)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &errOut
	if err := cmd.Run(); err != nil {
		return out.String(), errOut.String(), fmt.Errorf("kubectl %s: %w: %s",
			strings.Join(args, " "), err, strings.TrimSpace(errOut.String()))
	}
	return out.String(), errOut.String(), nil
}
