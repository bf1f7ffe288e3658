//go:build unix

package machinecheck

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// writable reports whether the user may write a file or folder, or owns it. On an error it
// counts as writable.
func writable(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return true
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() == 0 || int(owner.Uid) == os.Geteuid() {
		return true
	}
	return unix.Access(path, unix.W_OK) == nil
}
