//go:build tools

// Package golangcilint pins the linter.
package golangcilint

import _ "github.com/golangci/golangci-lint/v2/cmd/golangci-lint"
