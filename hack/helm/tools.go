//go:build tools

// Package helm pins helm.
package helm

import _ "helm.sh/helm/v4/cmd/helm"
