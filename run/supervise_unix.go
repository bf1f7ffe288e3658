//go:build unix

package run

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Descriptors of a supervisor, which its program does not get.
const (
	lifeline = iota + 3 // its other end is the runner's: it ends with the runner
	runLock             // the run's lock, if it has one: no other run begins before the program ends
)

// supervise runs a program and, once that or the runner ends, kills the processes that the program started:
// on Linux also those that left its process group, for as long as reapFor; elsewhere those of the group. It
// gives the program's exit code.
func supervise(program string, args []string) (int, error) {
	life := os.NewFile(lifeline, "lifeline")
	syscall.CloseOnExec(lifeline)
	syscall.CloseOnExec(runLock)
	adoptOrphans()
	cmd := exec.Command(program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	os.Stdin.Close()  //nolint:errcheck // the program's now
	os.Stdout.Close() //nolint:errcheck // the same: the stream ends with the program
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	cut := make(chan struct{})
	go func() {
		life.Read(make([]byte, 1)) //nolint:errcheck // any error ends it, too
		close(cut)
	}()
	var err error
	select {
	case err = <-ended:
	case <-cut:
		cmd.Process.Kill() //nolint:errcheck // it is over, as it should be
		err = <-ended
	}
	left := true
	for end := time.Now().Add(reapFor); left && time.Now().Before(end); {
		if left = killDescendants(); left {
			time.Sleep(time.Millisecond)
		}
	}
	if left {
		fmt.Fprintln(os.Stderr, leftRunning)
	}
	exit, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case failed && exit.ExitCode() >= 0:
		return exit.ExitCode(), nil
	case failed:
		return 128 + int(exit.Sys().(syscall.WaitStatus).Signal()), nil
	}
	return 0, err
}

// reap takes note of children that have ended, and reports whether there are others.
func reap() bool {
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || pid <= 0 {
			return err == nil
		}
	}
}
