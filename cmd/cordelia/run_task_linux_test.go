package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	runner "cordelia/run"
	"cordelia/schemas"
)

const wish = "rows without a date are kept"

// A run elsewhere than at a terminal prints lines, merges what was accepted where that is
// wanted, and leaves a report.
func TestRunAppliesAndReports(t *testing.T) {
	t.Parallel()
	h := newTheater(t, twoParts())
	h.write("mine.txt", "uncommitted\n")
	out, code := h.did("run", "--yes", "--apply", "--model", "R3=claude-opus-5-5", "--report", "report.md", wish)
	require.Zero(t, code, out)
	h.accepted(h.taskIn(out))
	require.NotContains(t, out, "\x1b", "nothing is drawn")
	require.Regexp(t, `(?m)^  R3  claude-code  working: bash sh keep.sh$`, out)
	require.Regexp(t, `(?m)^task running, round 1$`, out)
	require.Contains(t, out, "1 uncommitted change is left out")
	require.Contains(t, out, "applied  moved forward")
	require.Equal(t, "exit 0", h.git("show", "main:keep.sh"))
	require.Equal(t, "?? mine.txt\n?? report.md", h.git("status", "--porcelain"))
	raw, err := os.ReadFile(filepath.Join(h.repo, "report.md"))
	require.NoError(t, err)
	for _, has := range []string{"# " + wish, "**accepted**", "| keep the rows in keep.sh | pass | keep.sh exits 0 |",
		"| the whole | pass | the check passes on the merged result |", "| R4b |", " keep.sh |", "2 files changed"} {
		require.Contains(t, string(raw), has)
	}
	info, err := os.Stat(filepath.Join(h.repo, "report.md"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// What cannot be merged cleanly is not merged at all, and the exit code says so.
func TestRunAppliesNothingThatIsInTheWay(t *testing.T) {
	t.Parallel()
	h := newTheater(t, twoParts())
	h.write("notes.txt", "mine, untracked\n")
	out, code := h.did("run", "--yes", "--apply", wish)
	require.Equal(t, 5, code, out)
	require.Contains(t, out, "not applied: git does not merge it")
	require.Equal(t, "?? notes.txt", h.git("status", "--porcelain"))
	require.Equal(t, "begin", h.git("log", "-1", "--format=%s"))
	h.accepted(h.taskIn(out))
}

// With --plan-only nothing is done but planned, and the plan can be carried out later.
func TestRunStopsAtThePlan(t *testing.T) {
	t.Parallel()
	h := newTheater(t, twoParts())
	out, code := h.did("run", "--yes", "--plan-only", wish)
	require.Zero(t, code, out)
	task := h.taskIn(out)
	for _, has := range []string{"keep the rows in keep.sh", "bash", "keep.sh exits 0 (decided by: sh keep.sh)",
		"the whole", "carry it out: cordelia run --resume " + task} {
		require.Contains(t, out, has)
	}
	require.NotContains(t, out, "R3")
	require.Equal(t, h.git("rev-parse", "main"), h.git("rev-parse", "cordelia/"+task))
	out, code = h.did("run", "--resume", task)
	require.Zero(t, code, out)
	h.accepted(task)
}

// Uncommitted changes are taken along where that is wanted, and stay uncommitted.
func TestRunBeginsFromUncommittedChanges(t *testing.T) {
	t.Parallel()
	play := twoParts()
	play.Work["write notes.txt"] = []string{"cat mine.txt > notes.txt", "test -s notes.txt"}
	h := newTheater(t, play)
	h.write("mine.txt", "kept\n")
	index, err := os.ReadFile(filepath.Join(h.repo, ".git", "index"))
	require.NoError(t, err)
	out, code := h.did("run", "--yes", "--include-changes", wish)
	require.Zero(t, code, out)
	require.Contains(t, out, "1 uncommitted change is included")
	h.accepted(h.taskIn(out))
	require.Equal(t, "kept", h.git("show", "cordelia/"+h.taskIn(out)+":mine.txt"))
	require.Equal(t, "?? mine.txt", h.git("status", "--porcelain"))
	now, err := os.ReadFile(filepath.Join(h.repo, ".git", "index"))
	require.NoError(t, err)
	require.Equal(t, string(index), string(now))
	_, code = h.did("run", "--yes", "--include-changes", "--apply", wish)
	require.Equal(t, 2, code)
}

// A repository says what makes a fresh worktree ready; the flag wins.
func TestRunPreparesAsTheRepositorySays(t *testing.T) {
	t.Parallel()
	play := twoParts()
	play.Work["write notes.txt"] = []string{"cat $HOME/ready > notes.txt", "test -s notes.txt"}
	h := newTheater(t, play)
	h.write(".cordelia.json", `{"prepare": "echo kept > $HOME/ready"}`)
	out, code := h.did("run", "--yes", wish)
	require.Zero(t, code, out)
	require.Contains(t, out, "prepares: echo kept")
	h.accepted(h.taskIn(out))
	_, code = h.did("worker", "--idle", "1s")
	require.Zero(t, code, "what was agreed to is not asked again")
	h.write(".cordelia.json", `{"prepare": "echo other > $HOME/ready"}`)
	for _, command := range [][]string{{"run", wish}, {"worker", "--idle", "1s"}} {
		out, code = h.did(command...)
		require.Equal(t, 2, code, out)
		require.Contains(t, out, "the same command with --yes")
		require.NotContains(t, out, "prepares: ")
	}
	out, code = h.did("worker", "--yes", "--idle", "1s")
	require.Zero(t, code, out)
	out, code = h.did("worker", "--idle", "1s")
	require.Zero(t, code, out)
	h.write(".cordelia.json", `{"prepares": "npm ci"}`)
	out, code = h.did("run", "--yes", wish)
	require.Equal(t, 2, code)
	require.Contains(t, out, ".cordelia.json cannot be read")
}

// A run has its task for itself; its time is bounded; what a killed one leaves is removed.
func TestRunIsAloneAndBounded(t *testing.T) {
	t.Parallel()
	play := twoParts()
	play.Faults = []replayFault{{Role: "R3", Kind: "hangs in the middle"}}
	h := newTheater(t, play)
	cmd := h.cordelia("run", "--yes", "--json", wish)
	lines, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	task, scan := "", bufio.NewScanner(lines)
	for scan.Buffer(nil, 1<<20); scan.Scan(); {
		var e runEvent
		require.NoError(t, json.Unmarshal(scan.Bytes(), &e), scan.Text())
		require.Contains(t, []string{"task", "seat", "note"}, e.Event)
		if e.Task != nil {
			task = schemas.ShortID(e.Task.TaskID)
		}
		if e.Seat != nil && e.Seat.Role == schemas.Executor && e.Seat.Calls > 0 {
			break
		}
	}
	out, code := h.did("run", "--resume", task)
	require.Equal(t, 5, code, out)
	require.Contains(t, out, "another cordelia run works on this task")
	require.NoError(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL))
	cmd.Wait() //nolint:errcheck // killed
	require.Eventually(t, func() bool { return len(h.processes()) == 0 }, 20*time.Second, 20*time.Millisecond)
	out, _ = h.did("run", "--list")
	require.Contains(t, out, "worktrees of 1 task take")
	out, code = h.did("run", "--clean")
	require.Zero(t, code)
	require.Contains(t, out, "Removed: worktrees of 1 task,")
	require.Len(t, strings.Split(h.git("worktree", "list"), "\n"), 1, "git knows none either")
	out, code = h.did("run", "--resume", task, "--max-time", "3s")
	require.Equal(t, 8, code, out)
	require.Contains(t, out, "the time of this run (3s) is over")
	require.Empty(t, h.processes())
	h.script(twoParts())
	out, code = h.did("run", "--resume", task)
	require.Zero(t, code, out)
	h.accepted(task)
}

// At a terminal a run draws its seats, tells when it is over, and another terminal sees
// the same.
func TestRunDrawsAtATerminal(t *testing.T) {
	play := twoParts()
	play.Pause = 1500
	h := newTheater(t, play)
	keys, screen := terminal(t)
	defer keys.Close()
	cmd := h.cordelia("run", "--yes", wish)
	for i, v := range cmd.Env {
		if v == "TERM=dumb" {
			cmd.Env[i] = "TERM=xterm-kitty"
		}
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
	require.NoError(t, cmd.Start())
	require.NoError(t, screen.Close())
	var shown strings.Builder
	heard := func(what string) {
		t.Helper()
		part := make([]byte, 4096)
		for !strings.Contains(shown.String(), what) {
			n, err := keys.Read(part)
			shown.Write(part[:n])
			require.NoError(t, err, "the run ended before %q: %s", what, shown.String())
		}
	}
	heard("branch: cordelia/")
	heard("reads the request")
	heard("R3")
	watched := h.atATerminal(t, "task", "watch", h.taskIn(shown.String()))
	heard("judges the ")
	heard("\x1b]9;accepted: " + wish + "\x07")
	require.NoError(t, cmd.Wait())
	require.Contains(t, shown.String(), "\x1b[32m pass\x1b[0m", "criteria turn green")
	require.Contains(t, watched(), "so far ", "another terminal sees the seats")
}

// atATerminal starts a command at a terminal of its own; what it gives waits for its end and
// gives what was shown.
func (h *theater) atATerminal(t *testing.T, args ...string) (shown func() string) {
	keys, screen := terminal(t)
	cmd := h.cordelia(args...)
	for i, v := range cmd.Env {
		if v == "TERM=dumb" {
			cmd.Env[i] = "TERM=xterm"
		}
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
	require.NoError(t, cmd.Start())
	require.NoError(t, screen.Close())
	return func() string {
		defer keys.Close()
		var b strings.Builder
		part := make([]byte, 4096)
		for {
			n, err := keys.Read(part)
			b.Write(part[:n])
			if err != nil {
				cmd.Wait() //nolint:errcheck // what it showed is looked at
				return b.String()
			}
		}
	}
}

// A terminal is told in the way that it knows, and no words of others reach it raw.
func TestNotificationsFitTheTerminal(t *testing.T) {
	for env, want := range map[string]string{"TERM=xterm-kitty": "\x1b]9;a, b\x07",
		"TERM=xterm TERM_PROGRAM=WezTerm": "\x1b]9;a, b\x07",
		"TERM=foot":                       "\x1b]777;notify;Cordelia;a, b\x07", "TERM=xterm-256color": "\x07",
		"TERM=tmux-256color TERM_PROGRAM=WezTerm TMUX=x": "\x07"} {
		got := notification(func(name string) string {
			for pair := range strings.FieldsSeq(env) {
				if v, ok := strings.CutPrefix(pair, name+"="); ok {
					return v
				}
			}
			return ""
		}, "a; b")
		require.Equal(t, want, got, env)
	}
	kitty := func(name string) string { return map[string]string{"TERM": "xterm-kitty"}[name] }
	require.NotContains(t, notification(kitty, "x\x1b\x07y")[4:], "\x1b")
}

// Reports that nobody took away go after 30 days.
func TestOldReportsGo(t *testing.T) {
	dir := t.TempDir()
	for name, days := range map[string]int{"old": 31, "new": 29} {
		path := filepath.Join(dir, name+".md")
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		at := time.Now().AddDate(0, 0, -days)
		require.NoError(t, os.Chtimes(path, at, at))
	}
	dropOldReports(dir, time.Now())
	require.NoFileExists(t, filepath.Join(dir, "old.md"))
	require.FileExists(t, filepath.Join(dir, "new.md"))
}

// The seats of a run are lines with what each does and took; those that ended long ago are
// left out.
func TestSeatTable(t *testing.T) {
	now := time.Date(2026, 11, 23, 3, 0, 30, 0, time.UTC)
	list := []runner.SeatState{}
	for range mostEnded + 1 {
		list = append(list, runner.SeatState{Role: schemas.Perceiver, Agent: "run-0198c0de-r1-abcd", Client: "codex",
			Phase: runner.Filed, Began: now.Add(-time.Minute), Ended: now})
	}
	list[0].Role = schemas.Planner
	list = append(list, runner.SeatState{Role: schemas.Executor, Agent: "run-0198c0de-r3-ffff", Client: "claude-code",
		About: "keep the rows", Phase: runner.Working, Doing: "bash make test", Calls: 3,
		Began: now.Add(-9 * time.Second)})
	list[len(list)-1].Usage.Input, list[len(list)-1].Usage.Cost = 12_345, 20_000
	text := seatTable(list, now, 100).Render(100, false)
	require.NotContains(t, text, "R2", "it ended before the others")
	require.Regexp(t, `R3 +ffff +claude-code +3 +12k +\$0\.02 +9s +keep the rows +bash make test`, text)
	require.NotContains(t, seatTable(list, now, 80).Render(80, false), "keep the rows")
	require.Regexp(t, `R1 +abcd +codex +0 +0 +\$0\.0000 +1m0s +filed`, text)
}
