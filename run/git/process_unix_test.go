//go:build unix

package git_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/run/git"
	"cordelia/run/git/gittest"
	"cordelia/schemas"
)

// stepVariable names the step of a run that this test binary does, in place of its tests.
const stepVariable = "GIT_TEST_STEP"

// steps are those of a run, in a repository and the folder of a task.
var steps = map[string]func(r *git.Repository, folder string) error{
	"make a worktree": func(r *git.Repository, folder string) error {
		if _, err := r.Occupy(folder); err != nil {
			return err
		}
		_, err := r.AddWorktree(context.Background(), filepath.Join(folder, "seat", "tree"), r.Base)
		return err
	},
	"apply": func(r *git.Repository, _ string) error {
		signal.Notify(make(chan os.Signal, 1), os.Interrupt) // as the program does
		how, err := r.Apply(context.Background(), gittest.Task, "")
		fmt.Print(how)
		return err
	},
}

func TestMain(m *testing.M) {
	do, ours := steps[os.Getenv(stepVariable)]
	if !ours {
		os.Exit(m.Run())
	}
	r, err := git.Open(context.Background(), os.Args[1])
	if err == nil {
		err = do(r, os.Args[2])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// start does a step in a process of its own, which leads its process group, and returns once git was called
// with these words. That git waits until it may go on.
func start(r *users, step, folder, words string) (cmd *exec.Cmd, goOn func()) {
	r.Helper()
	real, err := exec.LookPath("git")
	require.NoError(r, err)
	self, err := os.Executable()
	require.NoError(r, err)
	bin := r.TempDir()
	called, may := filepath.Join(bin, "called"), filepath.Join(bin, "may")
	require.NoError(r, os.WriteFile(filepath.Join(bin, "git"), fmt.Appendf(nil,
		"#!/bin/sh\ncase \" $* \" in *' %s '*) : >%s; until [ -e %s ]; do sleep 0.01; done;; esac\n"+
			"exec %s \"$@\"\n",
		words, called, may, real), 0o700))
	cmd = exec.Command(self, r.Dir, folder)
	cmd.Env = append(os.Environ(), stepVariable+"="+step, "PATH="+bin+":"+os.Getenv("PATH"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stdout, cmd.Stderr = new(bytes.Buffer), new(bytes.Buffer)
	require.NoError(r, cmd.Start())
	require.Eventually(r, func() bool { _, err := os.Stat(called); return err == nil }, time.Minute,
		time.Millisecond)
	return cmd, func() { require.NoError(r, os.WriteFile(may, nil, 0o600)) }
}

// A git that outlives its killed runner keeps other runs out of the task, and all others from making
// worktrees, until it is done.
func TestAGitWithoutItsRunnerKeepsOthersOut(t *testing.T) {
	r := gittest.New(t)
	folder := filepath.Join(t.TempDir(), "task")
	cmd, goOn := start(r, "make a worktree", folder, "worktree add")
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	_, err := r.Occupy(folder)
	require.ErrorIs(t, err, schemas.ErrBusy)
	tasks, _, err := git.Clean(filepath.Dir(folder))
	require.NoError(t, err)
	require.Zero(t, tasks)
	over, stop := context.WithCancel(t.Context())
	stop()
	require.ErrorIs(t, r.Clear(over, folder), schemas.ErrBusy, "another git makes a worktree")
	goOn()
	var free func()
	require.Eventually(t, func() bool { free, err = r.Occupy(folder); return err == nil }, time.Minute,
		time.Millisecond)
	require.NoError(t, r.Clear(t.Context(), folder))
	free()
	require.NoDirExists(t, folder)
	require.NotContains(t, r.Git("worktree", "list"), folder)
}

// What the terminal signals to a run that applies what was accepted does not end git in the middle.
func TestCtrlCEndsNoMerge(t *testing.T) {
	r := gittest.New(t)
	accepted(r)
	cmd, goOn := start(r, "apply", "", "merge --ff-only")
	require.NoError(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGINT))
	goOn()
	require.NoError(t, cmd.Wait(), cmd.Stderr)
	require.Equal(t, "moved forward", fmt.Sprint(cmd.Stdout))
	require.Empty(t, r.Git("status", "--porcelain"))
}
