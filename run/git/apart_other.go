//go:build !unix

package git

import (
	"os"
	"os/exec"
)

// apart does nothing: a lock is its process's alone here.
func apart(*exec.Cmd, []*os.File) {}
