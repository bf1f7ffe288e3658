//go:build !linux

package node

import "cordelia/agents"

func bootClock() agents.Monotonic { return processClock() }
