package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"cordelia/schemas"
)

// guarded runs git in a way that no file of a worker can change: explicit folders, no hooks,
// no monitor, no configuration but the repository's own.
type guarded struct {
	dir  string     // --git-dir
	tree string     // --work-tree, "" = none
	off  []string   // settings of the repository that name programs, switched off: KEY=VALUE
	held []*os.File // locked files
}

// neutral are the settings that every call gets.
var neutral = []string{"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c",
	"core.untrackedCache=false", "-c", "commit.gpgSign=false",
	"-c", "tag.gpgSign=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.editor=false", "-c",
	"credential.helper=",
	"-c", "advice.detachedHead=false", "-c", "core.quotePath=false", "-c", "diff.external=", "-c",
	"core.sshCommand=false", "-c", "protocol.allow=never", "-c", durable}

// durable has git write commits, what is in them and references to the disk before it ends: else a power cut may
// leave empty objects in the user's repository, and the record names commits that are lost.
const durable = "core.fsync=committed"

// author signs the commits of the node.
var author = []string{"GIT_AUTHOR_NAME=Cordelia", "GIT_AUTHOR_EMAIL=cordelia@localhost", "GIT_COMMITTER_NAME=Cordelia",
	"GIT_COMMITTER_EMAIL=cordelia@localhost"}

// process is a git that the runner alone ends, by SIGTERM: git then removes its locks. A signal of the
// terminal does not reach it. A git that outlives a killed runner holds the runner's locks until it is
// done, so that no other run changes the same files meanwhile.
func process(ctx context.Context, held []*os.File, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	apart(cmd, held)
	return cmd
}

// call runs one command and gives what it prints.
func (g guarded) call(ctx context.Context, input string, args ...string) (string, error) {
	all := []string{"--git-dir=" + g.dir}
	if g.tree != "" {
		all = append(all, "--work-tree="+g.tree)
	}
	cmd := process(ctx, g.held, append(append(all, neutral...), args...)...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_ATTR_NOSYSTEM=1", "GIT_EDITOR=false",
		"GIT_NO_REPLACE_OBJECTS=1", fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(g.off))}, author...)
	for i, one := range g.off { // not by -c: a name may hold an equals sign
		at := strings.LastIndex(one, "=")
		cmd.Env = append(cmd.Env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, one[:at]),
			fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, one[at+1:]))
	}
	if cmd.Dir = g.tree; cmd.Dir == "" {
		cmd.Dir = g.dir
	}
	if input != "" {
		cmd.Stdin = strings.NewReader(input)
	}
	var out, bad bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &bad
	if err := cmd.Run(); err != nil {
		return out.String(), &gitError{args[0], err, strings.TrimSpace(schemas.Shorten(bad.String(), 1000))}
	}
	return out.String(), nil
}

// programs are the settings of the repository by which git would run a filter or a merge
// driver on a worker's files: as the user, in a folder where the worker may have changed it.
func (g guarded) programs(ctx context.Context) (off []string, err error) {
	keys, err := g.call(ctx, "", "config", "--local", "--name-only", "-z", "--get-regexp",
		`^(filter\..*\.(clean|smudge|process|required)|merge\..*\.driver)$`)
	if err != nil && exitOf(err) != 1 { // 1: there are none
		return nil, fmt.Errorf("read the repository's settings: %w", err)
	}
	for key := range strings.SplitSeq(strings.TrimSuffix(keys, "\x00"), "\x00") {
		switch {
		case key == "":
		case strings.HasSuffix(key, ".required"):
			off = append(off, key+"=false")
		default:
			off = append(off, key+"=")
		}
	}
	return off, nil
}

// line is call for a command that prints one line.
func (g guarded) line(ctx context.Context, args ...string) (string, error) {
	out, err := g.call(ctx, "", args...)
	return strings.TrimSpace(out), err
}

// gitError is a command of git that failed.
type gitError struct {
	command string
	err     error
	output  string
}

func (e *gitError) Error() string { return fmt.Sprintf("git %s: %v: %s", e.command, e.err, e.output) }
func (e *gitError) Unwrap() error { return e.err }

// exitOf is the exit code of a command that failed, -1 if it was not that.
func exitOf(err error) int {
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return e.ExitCode()
	}
	return -1
}
