// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// tokenSeconds is how long a ServiceAccount's token is valid: a month, longer than any demo.
const tokenSeconds = 30 * 24 * 60 * 60

// UserConfig returns a client configuration for a user with a client certificate. The user
// has no rights but those that RBAC gives to the name or the groups.
func (cp *ControlPlane) UserConfig(name string, groups ...string) (*rest.Config, error) {
	user, err := cp.env.AddUser(envtest.User{Name: name, Groups: groups}, &rest.Config{
		QPS: cp.env.Config.QPS, Burst: cp.env.Config.Burst,
	})
	if err != nil {
		return nil, fmt.Errorf("user %s: %w", name, err)
	}
	return user.Config(), nil
}

// ServiceAccountConfig returns a client configuration and the absolute path of a kubeconfig
// file that act as an existing ServiceAccount, by a token of the TokenRequest API that is
// valid for a month. Stop removes the file.
func (cp *ControlPlane) ServiceAccountConfig(ctx context.Context, namespace, name string) (*rest.Config, string, error) {
	client, err := kubernetes.NewForConfig(cp.env.Config)
	if err != nil {
		return nil, "", err
	}
	seconds := int64(tokenSeconds)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	token, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, request, metav1.CreateOptions{})
	if err != nil {
		return nil, "", fmt.Errorf("token of ServiceAccount %s/%s: %w", namespace, name, err)
	}
	config := rest.AnonymousClientConfig(cp.env.Config)
	config.BearerToken = token.Status.Token
	path, err := cp.KubeconfigFor("serviceaccount-"+namespace+"-"+name, config)
	return config, path, err
}

// AdminKubeconfig is the absolute path of the administrator's kubeconfig file.
func (cp *ControlPlane) AdminKubeconfig() string { return cp.kubeAdmin }

// KubeconfigFor writes a kubeconfig file for config, named after name, and returns its
// absolute path. Stop removes the file.
func (cp *ControlPlane) KubeconfigFor(name string, config *rest.Config) (string, error) {
	path := filepath.Join(cp.dir, "kubeconfigs", name)
	return path, WriteKubeconfig(path, config)
}

// WriteKubeconfig writes a kubeconfig file that holds config's address, authority and
// credentials, readable by the owner only. Folders are made as needed.
func WriteKubeconfig(path string, config *rest.Config) error {
	const name = "k8s-aibom"
	content, err := clientcmd.Write(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{name: {
			Server: config.Host, CertificateAuthorityData: config.CAData,
		}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{name: {
			ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Token: config.BearerToken,
		}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}
