package mcp

import "io"

// pollable: Windows has no poller for pipes that others made.
func pollable(in io.Reader) (_ io.Reader, restore func()) { return in, func() {} }
