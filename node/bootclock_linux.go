package node

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"cordelia/agents"
)

// bootClock reads the time since this boot of the machine, sleep included.
func bootClock() agents.Monotonic {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	var ts unix.Timespec
	if err != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil {
		return processClock()
	}
	return agents.Monotonic{Boot: strings.TrimSpace(string(boot)), Micros: ts.Nano() / 1000}
}
