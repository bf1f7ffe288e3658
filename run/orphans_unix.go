//go:build unix && !linux

package run

import (
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// adoptOrphans has this process outlive the signal that ends its group: there is no way
// to adopt descendants here.
func adoptOrphans() { signal.Ignore(syscall.SIGTERM) }

// killDescendants ends the process group but for this process. What left the group is not
// found here.
func killDescendants() bool {
	unix.Kill(0, unix.SIGTERM) //nolint:errcheck // nothing is left, as it should be
	reap()
	return false
}
