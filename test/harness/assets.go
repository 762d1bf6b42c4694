// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// AssetsVariable is the environment variable that names the folder of the control plane's
// programs. envtest and setup-envtest use the same one.
const AssetsVariable = "KUBEBUILDER_ASSETS"

const (
	etcdProgram              = "etcd"
	apiServerProgram         = "kube-apiserver"
	kubectlProgram           = "kubectl"
	controllerManagerProgram = "kube-controller-manager"
)

const assetsAdvice = "run `make test` or `make demo`, or set " + AssetsVariable +
	" to the folder that hack/controlplane.sh prints"

// findAssets returns the absolute path of the folder that holds the programs. The error
// names every program that is missing and how to get them.
func findAssets(folder string, programs ...string) (string, error) {
	if folder == "" {
		folder = os.Getenv(AssetsVariable)
	}
	if folder == "" {
		return "", errors.New("the control plane's programs are not here: " + AssetsVariable + " is not set; " + assetsAdvice)
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	var missing []string
	for _, program := range programs {
		info, err := os.Stat(filepath.Join(folder, program))
		if err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			missing = append(missing, program)
		}
	}
	if len(missing) > 0 {
		return "", fmt.Errorf("%s has no %s; %s", folder, strings.Join(missing, ", "), assetsAdvice)
	}
	return folder, nil
}

// RepoRoot returns the folder of this module's go.mod, looked for from the working folder
// upwards. It fails outside the module.
func RepoRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(content), "module github.com/k8s-aibom/k8s-aibom\n") {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s does not lie in the k8s-aibom module", start)
		}
	}
}
