//go:build tools

// Package prometheusoperator pins the CRDs that alerts and monitors are checked against: they
// lie beside this package.
package prometheusoperator

import _ "github.com/prometheus-operator/prometheus-operator/pkg/versionutil"
