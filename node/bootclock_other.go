//go:build !linux

package ops

import "cordelia/agents"

func bootClock() agents.Monotonic { return processClock() }
