//go:build unix

package machinecheck

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// lockFile is a file whose lock a process that should be gone would hold.
func lockFile(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "lock"))
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// What a command left running ends with it, though it has the output open.
func TestWhatACommandLeavesBehindIsEnded(t *testing.T) {
	lock := lockFile(t)
	ok, e, err := Run(t.Context(), allowed(t), command(t, "leave", lock.Name()), time.Time{})
	require.NoError(t, err)
	require.True(t, ok, e)
	require.Contains(t, e.Head, "left ")
	require.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX), "waits for ever if somebody lives")
}

// At the time limit the whole group ends, not only who was started first.
func TestTheWholeGroupIsEndedInTime(t *testing.T) {
	lock := lockFile(t)
	env := allowed(t)
	env.Timeout = 500 * time.Millisecond
	c := command(t, "leave", lock.Name())
	self := c.Command[0]
	c.Command = []string{"sh", "-c", `"$0" child leave "$1"; exec "$0" child stubborn`, self, lock.Name()}
	ok, e, err := Run(t.Context(), env, c, time.Time{})
	require.ErrorIs(t, err, ErrLate)
	require.False(t, ok)
	require.Contains(t, e.Head+e.Tail, ErrLate.Error())
	require.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX), "waits for ever if somebody lives")
}

// Who left the group is not ended, and is not waited for either.
func TestWhoLeavesTheGroupIsNotWaitedFor(t *testing.T) {
	lock := lockFile(t)
	ok, e, err := Run(t.Context(), allowed(t), command(t, "away", lock.Name()), time.Time{})
	require.NoError(t, err)
	require.True(t, ok, e)
	require.Error(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB),
		"it lives: the documentation says so")
	var pid int
	_, err = fmt.Sscanf(e.Head[strings.Index(e.Head, "left "):], "left %d", &pid)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	require.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
}

// Whoever asked is gone: that ends the command, and says nothing about the task.
func TestACommandEndsWithWhoAsked(t *testing.T) {
	env := allowed(t)
	pipe := filepath.Join(env.Roots[0], "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		os.ReadFile(pipe) //nolint:errcheck // it returns once the command runs
		cancel()
	}()
	c := command(t, "stubborn")
	c.Command = append([]string{"sh", "-c", `: > pipe; exec "$@"`, "sh"}, c.Command...)
	ok, e, err := Run(ctx, env, c, time.Time{})
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, ok)
	require.Empty(t, e)
}

// A command that has ended before it was found to print too much did, all the same.
func TestTooMuchIsTooMuchHoweverItEnds(t *testing.T) {
	env := allowed(t)
	env.MaxOutput = 1
	for range 30 {
		ok, e, err := Run(t.Context(), env, schemas.Check{Kind: schemas.CheckCommand, Command: []string{"echo", "ok"}},
			time.Time{})
		require.NoError(t, err)
		require.False(t, ok)
		require.Equal(t, "ok\n["+errLong.Error()+"]", e.Head, "what was read of it, and why it was ended")
	}
}

// A command runs in no folder that a link leads out to.
func TestNoCommandRunsOutside(t *testing.T) {
	env := allowed(t)
	require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(env.Roots[0], "link")))
	require.NoError(t, os.Mkdir(filepath.Join(env.Roots[0], "real"), 0o700))
	require.NoError(t, os.Symlink("real", filepath.Join(env.Roots[0], "near")))
	for dir, runs := range map[string]bool{"link": false, "..": false, "near": true} {
		c := schemas.Check{Kind: schemas.CheckCommand, Command: []string{"true"}, Dir: dir}
		ok, _, err := Run(t.Context(), env, c, time.Time{})
		require.Equal(t, runs, ok, dir)
		require.Equal(t, runs, err == nil, dir)
	}
}

// Arguments reach the program as they are: no shell reads them.
func TestNoShellReadsTheWords(t *testing.T) {
	env := allowed(t)
	c := schemas.Check{Kind: schemas.CheckCommand, Command: []string{"echo", "$HOME; touch made", "`id`", "*"}}
	ok, e, err := Run(t.Context(), env, c, time.Time{})
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "$HOME; touch made `id` *\n", e.Head)
	script := filepath.Join(env.Roots[0], "tools", "say.sh")
	require.NoError(t, os.MkdirAll(filepath.Dir(script), 0o700))
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\npwd\nkill -9 $$\n"), 0o700))
	ok, e, err = Run(t.Context(), env, schemas.Check{Kind: schemas.CheckCommand, Command: []string{"./say.sh"},
		Dir: "tools"}, time.Time{})
	require.NoError(t, err)
	require.False(t, ok)
	require.Contains(t, e.Head, "tools\n\n[signal: killed]")
	require.Equal(t, ended, e.Exit)
}
