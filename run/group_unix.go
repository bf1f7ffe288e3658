//go:build unix

package run

import (
	"os/exec"
	"syscall"
)

// ownGroup puts a process into a process group of its own, so that what it starts can be
// ended with it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends a process and its group.
func killGroup(cmd *exec.Cmd) {
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // nothing is left, as it should be
}
