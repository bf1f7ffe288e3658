//go:build !testclock

package cli

import (
	"cordelia/node"
)

// Adjust is where a test binary replaces the clocks.
func Adjust(*node.Config) {}
