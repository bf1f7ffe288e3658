//go:build !testclock

package main

import "cordelia/ops"

// adjust is where a test binary replaces the clocks.
func adjust(*ops.Config) {}
