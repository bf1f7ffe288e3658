//go:build !testclock

package main

import (
	"cordelia/node"
)

// adjust is where a test binary replaces the clocks.
func adjust(*node.Config) {}
