// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

// pollInterval is how often a start is looked at.
const pollInterval = 100 * time.Millisecond

// startControllerManager starts kube-controller-manager and returns once it acts. It serves
// nothing, so it needs no port.
func (cp *ControlPlane) startControllerManager(ctx context.Context) error {
	certs := cp.env.ControlPlane.GetAPIServer().CertDir
	ca := filepath.Join(cp.dir, "ca.crt")
	if err := os.WriteFile(ca, cp.env.Config.CAData, 0o600); err != nil {
		return err
	}
	cmd := exec.Command(filepath.Join(cp.dir, "assets", controllerManagerProgram),
		"--kubeconfig="+cp.kubeAdmin,
		"--leader-elect=false",
		"--use-service-account-credentials=false",
		"--service-account-private-key-file="+filepath.Join(certs, "sa-signer.key"),
		"--root-ca-file="+ca,
		"--secure-port=0",
	)
	var err error
	cp.manager, err = startProcess(controllerManagerProgram, cmd, cp.LogPath(controllerManagerProgram), filepath.Join(cp.dir, "pids"))
	if err != nil {
		return err
	}
	if err := cp.awaitControllerManager(ctx); err != nil {
		return fmt.Errorf("%s: %w\n%s", controllerManagerProgram, err, tail(cp.manager.logPath))
	}
	return nil
}

// awaitControllerManager waits for something that only the controller manager does: the
// default ServiceAccount of the default namespace.
func (cp *ControlPlane) awaitControllerManager(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(cp.env.Config)
	if err != nil {
		return err
	}
	err = wait.PollUntilContextTimeout(ctx, pollInterval, startTimeout, true, func(ctx context.Context) (bool, error) {
		if !cp.manager.running() {
			return false, cp.manager.ending()
		}
		_, err := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, nil
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return fmt.Errorf("no ServiceAccount default/default after %s", startTimeout)
	}
	return err
}
