//go:build unix && !linux

package run

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// adoptOrphans has this process outlive the signal that ends its group: there is no way
// to adopt descendants here. It catches the signal: the program would inherit that it is ignored, and
// could not be ended by it.
func adoptOrphans() { signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM) }

// killDescendants ends the process group but for this process. What left the group is not
// found here.
func killDescendants() bool {
	unix.Kill(0, unix.SIGTERM) //nolint:errcheck // nothing is left, as it should be
	reap()
	return false
}
