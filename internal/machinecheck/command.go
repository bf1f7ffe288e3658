package machinecheck

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"cordelia/schemas"
)

// Exits of a command that could not be started, as shells give them.
const (
	exitNoStart = 126
	exitMissing = 127
)

// ended is instead of an exit code when a command was ended from outside; no check
// can ask for it.
const ended = -1

// drain is how long what a command left in the pipe is waited for once its
// processes are gone. Only one that left their group can still hold the pipe.
const drain = time.Second

// command runs the command of c and tells how it ended.
func (env Env) command(ctx context.Context, c schemas.Check) (ok bool, e schemas.Evidence, err error) {
	switch {
	case !env.Commands:
		return false, e, fmt.Errorf("%w: checks.commands is not set in config.json", ErrOff)
	case len(env.Roots) == 0:
		return false, e, fmt.Errorf("%w: no folder is configured for commands to run in", ErrOff)
	}
	dir, err := env.folder(c.Dir)
	if err != nil {
		return false, e, err
	}
	if dir == "" {
		return false, evidence(c, exitNoStart, "there is no such folder"), nil
	}
	home, err := newHome()
	if err != nil {
		return false, e, fmt.Errorf("a home for a command cannot be made: %w", err)
	}
	defer home.remove()
	exit, output, err := env.run(ctx, c, dir, string(home))
	if errors.Is(err, ErrLate) {
		return false, evidence(c, exit, output), err
	}
	if err != nil {
		return false, e, err
	}
	return exit == c.Exit, evidence(c, exit, output), nil
}

// folder finds dir below one of the roots, "" = there is none.
func (env Env) folder(dir string) (string, error) {
	local := filepath.FromSlash(dir)
	if local == "" {
		local = "."
	}
	for _, root := range env.Roots {
		r, err := os.OpenRoot(root)
		if err != nil {
			return "", fmt.Errorf("a folder for checks cannot be opened: %w", err)
		}
		info, err := r.Stat(local)
		r.Close() //nolint:errcheck // only read
		switch {
		case absent(err):
		case err != nil:
			return "", fmt.Errorf("a folder cannot be used for a command: %w", err)
		case info.IsDir():
			return filepath.Join(root, local), nil
		}
	}
	return "", nil
}

// ErrLate is why a command said nothing about its check: it did not end in time. It comes
// with evidence.
var ErrLate = errors.New("it took too long")

var (
	errLong = errors.New("it printed too much")
)

// run starts a command and ends it, with all processes it started, when it is done, at the
// limits, or with ctx.
func (env Env) run(ctx context.Context, c schemas.Check, dir, home string) (exit int, output string, err error) {
	timeout, most := cmp.Or(env.Timeout, DefaultTimeout), cmp.Or(env.MaxOutput, DefaultMaxOutput)
	name, err := program(c.Command[0], dir)
	if err != nil {
		return notStarted(err)
	}
	out, in, err := os.Pipe()
	if err != nil {
		return 0, "", err
	}
	defer out.Close() //nolint:errcheck // only read
	limited, end := context.WithTimeoutCause(ctx, timeout, ErrLate)
	defer end()
	limited, stop := context.WithCancelCause(limited)
	defer stop(nil)
	cmd := exec.CommandContext(limited, name, c.Command[1:]...)
	cmd.Dir, cmd.Env = dir, environment(home)
	cmd.Stdout, cmd.Stderr = in, in // files: Wait does not wait for other processes that have them open
	g := grouped(cmd)
	defer g.close()
	cmd.Cancel = g.kill
	err = cmd.Start()
	in.Close() //nolint:errcheck // the command has its own
	if err != nil {
		return notStarted(err)
	}
	g.started()
	var kept ends
	read := make(chan struct{})
	go func() {
		defer close(read)
		if n, _ := io.Copy(&kept, io.LimitReader(out,
			most+1)); n > most { //nolint:errcheck // what came is what there is
			stop(errLong)
		}
	}()
	exit, why := wait(limited, cmd)
	g.kill() //nolint:errcheck // processes it left behind; most often there are none
	select {
	case <-read:
	case <-time.After(drain):
	}
	if errors.Is(context.Cause(limited), errLong) { // found out only now, when all was read
		exit, why = ended, errLong.Error()
	}
	if why != "" {
		why = "\n[" + why + "]"
	}
	if err := ctx.Err(); err != nil || !errors.Is(context.Cause(limited), ErrLate) || exit != ended {
		return exit, kept.String() + why, err
	}
	return exit, kept.String() + why, ErrLate
}

// wait gives the exit code of a command, or why it has none.
func wait(limited context.Context, cmd *exec.Cmd) (exit int, why string) {
	waited := make(chan error, 1)
	go func() { waited <- cmd.Wait() }()
	var err error
	select {
	case err = <-waited:
	case <-limited.Done():
		select { // a program that became another user cannot be killed
		case err = <-waited:
		case <-time.After(drain):
			return ended, "it did not end when it was killed"
		}
	}
	state := cmd.ProcessState
	switch {
	case err == nil || limited.Err() == nil && state.ExitCode() >= 0:
		return state.ExitCode(), ""
	case limited.Err() != nil:
		return ended, context.Cause(limited).Error()
	}
	return ended, state.String()
}

// program is the file to start: a name is looked up in PATH, a path starts at dir.
func program(name, dir string) (string, error) {
	switch {
	case filepath.IsAbs(name):
		return name, nil
	case strings.ContainsAny(name, `/`+string(filepath.Separator)):
		return filepath.Join(dir, filepath.FromSlash(name)), nil
	}
	return exec.LookPath(name)
}

// notStarted tells a program that is not as it should be from a machine that can
// start none.
func notStarted(err error) (exit int, output string, _ error) {
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, exec.ErrDot), absent(err):
		return exitMissing, "there is no such program", nil
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOEXEC):
		return exitNoStart, "the program cannot be run", nil
	}
	return 0, "", fmt.Errorf("a command cannot be started: %w", err)
}
