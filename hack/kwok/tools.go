//go:build tools

// Package kwok pins kwok, which makes nodes and pods look ready without a kubelet.
package kwok

import _ "sigs.k8s.io/kwok/cmd/kwok"
