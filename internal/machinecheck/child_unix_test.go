//go:build unix

package machinecheck

import (
	"os"
	"syscall"
)

// apart takes a process out of its parent's group.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// holdLock holds the lock of the file, and says so on descriptor 3.
func holdLock(args []string) {
	if len(args) == 0 {
		return
	}
	f, err := os.OpenFile(args[0], os.O_RDWR, 0)
	if err == nil && syscall.Flock(int(f.Fd()), syscall.LOCK_EX) == nil {
		os.NewFile(3, "ready").WriteString("ok") //nolint:errcheck // the parent sees
	}
}
