//go:build unix

package run

import (
	"os/exec"
	"syscall"
)

// ownGroup puts a process into a new session and process group: the processes it starts can be
// ended with it, and cannot type into the user's terminal.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// killGroup ends a process and its group.
func killGroup(cmd *exec.Cmd) {
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // nothing is left, as it should be
}
