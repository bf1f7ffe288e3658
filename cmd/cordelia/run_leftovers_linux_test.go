package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// hanging begins a run whose executor hangs; its task is known and rest gives what it prints until it ends.
func (h *theater) hanging() (cmd *exec.Cmd, task string, rest func() string) {
	h.Helper()
	play := twoParts()
	play.Faults = []replayFault{{Role: "R3", Kind: "hangs in the middle"}}
	h.script(play)
	cmd = h.cordelia("run", "--yes", "--parallel", "1", wish)
	temp := filepath.Join(h.dir, "tmp")
	require.NoError(h, os.MkdirAll(temp, 0o700))
	cmd.Env = append(cmd.Env, "TMPDIR="+temp)
	shown, err := cmd.StdoutPipe()
	require.NoError(h, err)
	cmd.Stderr = cmd.Stdout
	require.NoError(h, cmd.Start())
	var b strings.Builder
	for part := make([]byte, 4096); !strings.Contains(b.String(), "working: bash true"); {
		n, err := shown.Read(part)
		b.Write(part[:n])
		require.NoError(h, err, b.String())
	}
	return cmd, h.taskIn(b.String()), func() string {
		last, err := io.ReadAll(shown)
		require.NoError(h, err)
		cmd.Wait() //nolint:errcheck // the code says it
		return b.String() + string(last)
	}
}

// A task is thrown away with all that a killed run left, unless a run works on it or its branch is checked
// out. A branch that was deleted is not made again by the run that ends.
func TestATaskIsThrownAwayWhole(t *testing.T) {
	t.Parallel()
	h := newTheater(t, twoParts())
	cmd, task, rest := h.hanging()
	out, code := h.did("run", "--discard", task)
	require.Equal(t, 5, code, out)
	require.Contains(t, out, "stop it by Ctrl-C or by cordelia task cancel "+task)
	require.NoError(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL))
	rest()
	require.Eventually(t, func() bool { return len(h.processes()) == 0 }, 20*time.Second, 20*time.Millisecond)
	require.Len(t, strings.Split(h.git("worktree", "list"), "\n"), 2)
	temp := filepath.Join(h.dir, "tmp", "cordelia-*")
	left, err := filepath.Glob(temp)
	require.NoError(t, err)
	require.Len(t, left, 2, "of the client, and of its socket")
	h.git("checkout", "-q", "cordelia/"+task)
	for _, way := range []string{"--resume", "--discard"} {
		out, code = h.did("run", way, task)
		require.Equal(t, 5, code, out)
		require.Contains(t, out, "the branch cordelia/"+task+" is checked out in "+h.repo)
	}
	out, _ = h.did("task", "show", task)
	require.NotContains(t, out, "cancelled")
	h.git("checkout", "-q", "main")
	out, code = h.did("run", "--discard", task)
	require.Zero(t, code, out)
	require.Len(t, strings.Split(h.git("worktree", "list"), "\n"), 1)
	require.Empty(t, h.git("for-each-ref", "refs/cordelia", "refs/heads/cordelia"))
	left, err = filepath.Glob(filepath.Join(h.dir, ".cache", "cordelia", "runs", "*"))
	require.NoError(t, err)
	require.Empty(t, left)

	cmd, task, rest = h.hanging()
	left, err = filepath.Glob(temp)
	require.NoError(t, err)
	require.Len(t, left, 2, "of the run that works")
	h.git("branch", "-D", "cordelia/"+task)
	out, code = h.did("task", "cancel", task)
	require.Zero(t, code, out)
	out = rest()
	require.Equal(t, int(exitCancelled), cmd.ProcessState.ExitCode(), out)
	left, err = filepath.Glob(temp)
	require.NoError(t, err)
	require.Empty(t, left)
	require.Empty(t, h.git("for-each-ref", "refs/cordelia", "refs/heads/cordelia"))
}

// A client that outlives its killed runner keeps other runs out of its task until it is ended.
func TestAClientWithoutItsRunnerKeepsOthersOut(t *testing.T) {
	t.Parallel()
	h := newTheater(t, twoParts())
	cmd, task, rest := h.hanging()
	out, err := exec.Command("pgrep", "-P", strconv.Itoa(cmd.Process.Pid), "-f", " supervise ").Output()
	require.NoError(t, err)
	supervisor, err := strconv.Atoi(strings.TrimSpace(string(out)))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(supervisor, syscall.SIGSTOP)) // as on a busy machine
	require.NoError(t, cmd.Process.Kill())
	rest()
	h.script(twoParts())
	said, code := h.did("run", "--resume", task)
	require.Equal(t, 5, code, said)
	require.Contains(t, said, "another cordelia run works on this task")
	require.NoError(t, syscall.Kill(supervisor, syscall.SIGCONT))
	require.Eventually(t, func() bool { return len(h.processes()) == 0 }, 20*time.Second, 20*time.Millisecond)
	said, code = h.did("run", "--resume", task)
	require.Zero(t, code, said)
	h.accepted(task)
}

// What --include-changes takes along is not lost if the run is killed before it fills a seat.
func TestIncludedChangesOutliveAKill(t *testing.T) {
	t.Parallel()
	play := twoParts()
	play.Work["write notes.txt"] = []string{"cat mine.txt > notes.txt", "test -s notes.txt"}
	h := newTheater(t, play)
	h.write("mine.txt", "kept\n")
	git, err := exec.LookPath("git")
	require.NoError(t, err)
	wrapper := filepath.Join(h.dir, "bin", "git")
	require.NoError(t, os.WriteFile(wrapper, []byte("#!/bin/sh\n"+
		"case \" $* \" in *' ls-tree '*) kill -9 $PPID;; esac\nexec "+git+" \"$@\"\n"), 0o700))
	out, code := h.did("run", "--yes", "--include-changes", wish)
	require.Equal(t, -1, code, out)
	require.NoError(t, os.Remove(wrapper))
	branch := h.git("for-each-ref", "--format=%(refname:short)", "refs/heads/cordelia")
	require.Equal(t, "kept", h.git("show", branch+":mine.txt"))
	task := strings.TrimPrefix(branch, "cordelia/")
	out, code = h.did("run", "--resume", task)
	require.Zero(t, code, out)
	h.accepted(task)
}

// A lock that a killed git left on all packed references keeps no accepted task from its end; what is left
// is said, with what to do, and goes then.
func TestWhatGitCannotForgetIsSaid(t *testing.T) {
	t.Parallel()
	h := newTheater(t, twoParts())
	h.write(".git/packed-refs.lock", "")
	out, code := h.did("run", "--yes", wish)
	require.Zero(t, code, out)
	locked := filepath.Join(h.repo, ".git", "packed-refs.lock")
	require.Contains(t, out, "rm '"+locked+"'")
	require.NoError(t, os.Remove(locked))
	task := h.taskIn(out)
	out, code = h.did("run", "--resume", task)
	require.Zero(t, code, out)
	h.accepted(task)
}
