//go:build tools

// Package kubeconform pins kubeconform, which checks manifests against schemas.
package kubeconform

import _ "github.com/yannh/kubeconform/cmd/kubeconform"
