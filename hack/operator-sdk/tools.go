//go:build tools

// Package operatorsdk pins operator-sdk, which writes and checks the OLM bundle, and the scorecard's tests.
package operatorsdk

import (
	_ "github.com/operator-framework/operator-sdk/cmd/operator-sdk"
	_ "github.com/operator-framework/operator-sdk/images/scorecard-test"
)
