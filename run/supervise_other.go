//go:build !unix

package run

import (
	"errors"
	"os"
	"os/exec"
)

// supervise runs a program and gives its exit code. What it leaves is not known here.
func supervise(program string, args []string) (int, error) {
	cmd := exec.Command(program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, err
}
