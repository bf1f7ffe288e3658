//go:build unix

package git

import (
	"os"
	"os/exec"
	"syscall"
)

// apart puts a process into a session of its own, without the terminal, and has it inherit locked files.
func apart(cmd *exec.Cmd, held []*os.File) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.ExtraFiles = held
}
