//go:build unix

package machinecheck

import (
	"os/exec"
	"syscall"
)

// group is a command with the processes it starts, unless they leave its group.
type group struct{ cmd *exec.Cmd }

func grouped(cmd *exec.Cmd) group {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return group{cmd}
}

func (group) started() {}

// kill ends the group. Its number is that of the command, and stays in use while a process is
// in the group.
func (g group) kill() error {
	if syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL) == nil {
		return nil
	}
	return g.cmd.Process.Kill()
}

func (group) close() {}
