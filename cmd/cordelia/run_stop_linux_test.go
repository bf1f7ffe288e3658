package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A run begins nothing more once its bound is reached, says which one, and goes on when it is
// told to. The scripted client takes 20 tokens and a tenth of a cent for each call.
func TestRunStopsAtItsBounds(t *testing.T) {
	t.Parallel()
	for flag, says := range map[string]string{"--max-tokens=30": "the budget of 30 tokens is spent",
		"--max-cost=0.0015": "the budget of $0.0015 is spent"} {
		h := newTheater(t, twoParts())
		out, code := h.did("run", "--yes", "--parallel", "1", flag, wish)
		require.Equal(t, 8, code, out)
		require.Contains(t, out, says)
		require.Contains(t, out, "go on: cordelia run --resume")
		require.NotContains(t, out, "R3  claude-code  working", "two calls of it were made")
		require.Empty(t, h.processes())
		task := h.taskIn(out)
		out, code = h.did("run", "--resume", task)
		require.Zero(t, code, out)
		h.accepted(task)
	}
}

// A second Ctrl-C ends a run at once, also while it gives its seats back; no process of it is
// left, and the task goes on later.
func TestSecondInterruptEndsARunAtOnce(t *testing.T) {
	t.Parallel()
	play := twoParts()
	play.Faults = []replayFault{{Role: "R3", Kind: "hangs in the middle"}}
	h := newTheater(t, play)
	cmd := h.cordelia("run", "--yes", "--parallel", "1", wish)
	shown, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = cmd.Stdout
	require.NoError(t, cmd.Start())
	var b strings.Builder
	for part := make([]byte, 4096); !strings.Contains(b.String(), "working: bash true"); {
		n, err := shown.Read(part)
		b.Write(part[:n])
		require.NoError(t, err, b.String())
	}
	// While another process writes, a seat cannot be given back.
	lock, err := os.OpenFile(filepath.Join(h.home(), "cordelia.db.lock"), os.O_RDWR, 0)
	require.NoError(t, err)
	defer lock.Close()
	require.NoError(t, unix.Flock(int(lock.Fd()), unix.LOCK_EX))
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.Eventually(t, func() bool {
		cmd.Process.Signal(os.Interrupt) //nolint:errcheck // it may have ended
		return len(h.processes()) == 0
	}, 20*time.Second, 20*time.Millisecond)
	require.Error(t, cmd.Wait())
	require.False(t, cmd.ProcessState.Exited(), "it was the signal that ended it")
	require.NoError(t, unix.Flock(int(lock.Fd()), unix.LOCK_UN))
	h.script(twoParts())
	task := h.taskIn(b.String())
	out, code := h.did("run", "--resume", task)
	require.Zero(t, code, out)
	h.accepted(task)
}

// A closed terminal stops a run as Ctrl-C does: the run gives its seats back, and the task goes on later.
// Under nohup the run goes on.
func TestAClosedTerminalStopsARun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		faults []replayFault
		code   int
	}{
		"at a terminal": {[]replayFault{{Role: "R3", Kind: "hangs in the middle"}}, int(exitInterrupted)},
		"under nohup":   {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			play := twoParts()
			play.Faults = c.faults
			h := newTheater(t, play)
			cmd := h.cordelia("run", "--yes", "--parallel", "1", wish)
			if c.faults == nil {
				cmd.Args = append([]string{"sh", "-c", `trap '' HUP; exec "$@"`, "sh", cmd.Path}, cmd.Args[1:]...)
				cmd.Path = "/bin/sh"
			}
			shown, err := cmd.StdoutPipe()
			require.NoError(t, err)
			cmd.Stderr = cmd.Stdout
			require.NoError(t, cmd.Start())
			var b strings.Builder
			for part := make([]byte, 4096); !strings.Contains(b.String(), "working: bash"); {
				n, err := shown.Read(part)
				b.Write(part[:n])
				require.NoError(t, err, b.String())
			}
			require.NoError(t, cmd.Process.Signal(syscall.SIGHUP))
			rest, err := io.ReadAll(shown)
			require.NoError(t, err)
			b.Write(rest)
			cmd.Wait() //nolint:errcheck // the code says it
			require.Equal(t, c.code, cmd.ProcessState.ExitCode(), b.String())
			task := h.taskIn(b.String())
			if c.code != 0 {
				h.script(twoParts())
				out, code := h.did("run", "--resume", task)
				require.Zero(t, code, out)
			}
			h.accepted(task)
		})
	}
}

// Ctrl-C at a question of R1's stops a run as anywhere else, and the task goes on later.
func TestCtrlCAtAQuestionStopsARun(t *testing.T) {
	t.Parallel()
	play := twoParts()
	play.Faults = []replayFault{{Role: "R1", Kind: "asks a question"}}
	h := newTheater(t, play)
	keys, screen := terminal(t)
	defer keys.Close()
	cmd := h.cordelia("run", "--yes", wish)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
	require.NoError(t, cmd.Start())
	require.NoError(t, screen.Close())
	var shown strings.Builder
	read := func() error {
		part := make([]byte, 4096)
		n, err := keys.Read(part)
		shown.Write(part[:n])
		return err
	}
	for !strings.Contains(shown.String(), "Your answer") {
		require.NoError(t, read(), shown.String())
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	for read() == nil { //nolint:revive // to its end
	}
	cmd.Wait() //nolint:errcheck // the code says it
	require.Equal(t, int(exitInterrupted), cmd.ProcessState.ExitCode(), shown.String())
	require.Contains(t, shown.String(), "stopped  interrupt signal received")
	require.Contains(t, shown.String(), "go on: cordelia run --resume")
	h.script(twoParts())
	task := h.taskIn(shown.String())
	out, code := h.did("run", "--resume", task)
	require.Zero(t, code, out)
	h.accepted(task)
}

// What serves a worker has the tools of memory, and none by which it could take a seat, report
// one, or register an agent.
func TestWorkersAreServedMemoryAlone(t *testing.T) {
	t.Parallel()
	play := twoParts()
	play.Work["write notes.txt"] = []string{`config=$(tr '\0' '\n' < /proc/$PPID/cmdline | grep -A1 -x -e --mcp-config | tail -1)
self=$(sed 's/.*"command":"\([^"]*\)".*/\1/' "$config") door=$(sed 's/.*"--connect","\([^"]*\)".*/\1/' "$config")
{ echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'; echo '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
until grep -q '"id":2' tools.json; do sleep 0.1; done; } | "$self" mcp --connect "$door" > tools.json`,
		"echo kept > notes.txt", "test -s notes.txt"}
	h := newTheater(t, play)
	out, code := h.did("run", "--yes", wish)
	require.Zero(t, code, out)
	h.accepted(h.taskIn(out))
	tools := h.git("show", "cordelia/"+h.taskIn(out)+":tools.json")
	require.Contains(t, tools, `"memory_search"`)
	for _, other := range []string{"task_claim", "task_report", "agent_register", "trust_", "swarm_", "events_"} {
		require.NotContains(t, tools, `"name":"`+other)
	}
}

// What passes only where its worker prepared it does not pass: the node runs each command
// itself, in a fresh worktree, and its failing run wins over the worker's own.
func TestNodeRunsEachCommandItself(t *testing.T) {
	t.Parallel()
	play := twoParts()
	play.Work["keep the rows"] = []string{`if [ -e .tried ]; then echo 'exit 0' > keep.sh; else
touch .tried $HOME/ready; echo 'test -e $HOME/ready' > keep.sh; fi`, "sh keep.sh"}
	h := newTheater(t, play)
	out, code := h.did("run", "--yes", wish)
	require.Zero(t, code, out)
	h.accepted(h.taskIn(out))
	require.Equal(t, 3, strings.Count(out, "R3  claude-code  starting"), "one part had a second attempt")
}

// Work whose report was refused is not gone on from: the attempt that is made in its place
// begins where the one before it ended.
func TestRefusedReportLeavesNoWork(t *testing.T) {
	t.Parallel()
	play := twoParts()
	play.Work["keep the rows"] = []string{`if [ ! -e .tried ]; then touch .tried; echo 'exit 1' > keep.sh
elif [ ! -e "$CLAUDE_OUTSIDE/gone" ]; then echo lost > lost.txt; echo 'exit 0' > keep.sh
until [ -e "$CLAUDE_OUTSIDE/gone" ]; do sleep 0.1; done
else echo 'exit 0' > keep.sh; fi; : second attempt`, "sh keep.sh"}
	h := newTheater(t, play)
	cmd := h.cordelia("run", "--yes", "--parallel", "1", wish)
	shown, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = cmd.Stdout
	require.NoError(t, cmd.Start())
	var b strings.Builder
	heard := func(what string, times int) {
		t.Helper()
		for part := make([]byte, 4096); strings.Count(b.String(), what) < times; {
			n, err := shown.Read(part)
			b.Write(part[:n])
			require.NoError(t, err, b.String())
		}
	}
	heard("working: bash if [ ! -e .tried ]", 2)
	agents, _ := h.did("agent", "list", "--status", "active")
	agent := regexp.MustCompile(`run-[0-9a-f]{8}-r3-[0-9a-f]+`).FindString(agents)
	require.NotEmpty(t, agent, agents)
	h.run("cordelia agent deactivate " + agent)
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "gone"), nil, 0o600))
	rest, err := io.ReadAll(shown)
	require.NoError(t, err)
	require.NoError(t, cmd.Wait(), "%s%s", b.String(), rest)
	require.Contains(t, string(rest), "a seat was not filled")
	h.accepted(h.taskIn(b.String()))
	require.NotContains(t, h.git("ls-tree", "--name-only", "cordelia/"+h.taskIn(b.String())), "lost.txt")
}

// The demo in which the user's own client works shows what became of its task, and leaves
// nothing.
func TestDemoRunsYourClient(t *testing.T) {
	t.Parallel()
	h := newTheater(t, twoParts())
	out, code := h.did("demo", "run", "--json")
	require.Zero(t, code, out)
	var told struct {
		Held  bool
		Steps []struct{ Shown string }
	}
	require.NoError(t, json.Unmarshal([]byte(out), &told), out)
	require.True(t, told.Held)
	require.Contains(t, told.Steps[0].Shown, "accepted, on the branch cordelia/")
	require.Empty(t, h.processes())
	require.NoDirExists(t, filepath.Join(h.dir, ".cache", "cordelia"))
	out, code = h.did("demo", "run", "--client", "codex")
	require.Equal(t, 1, code, out)
	require.Contains(t, out, "codex is not installed")
}

// A scripted client mends a repository under each condition, and what it cannot know is said.
func TestProofLive(t *testing.T) {
	t.Parallel()
	h := newTheater(t, replay{
		Plan: json.RawMessage(`{"subtasks": [{"intent": "mend dedupe", "sequence": 1, "tools": ["bash"],
  "success_criteria": [{"criterion": "check.sh exits 0", "mode": "verifiable", "command": "sh check.sh"}]}],
 "task_criteria": [{"criterion": "the check passes", "mode": "verifiable", "command": "sh check.sh"}]}`),
		Work: map[string][]string{"mend dedupe": {`printf '%s\n' 'awk "!seen[\$0]++"' > dedupe.sh`, "sh check.sh"}}})
	measure := []string{"proof", "live", "--client", "claude-code", "--repositories", "dedupe", "--repeats", "1",
		"--max-tokens", "1000000"}
	out, code := h.did(measure...)
	require.Equal(t, 2, code, out)
	require.Contains(t, out, "no terminal to ask at whether 3 runs of at most 1000000 tokens are wanted")
	out, code = h.did(append(measure, "--yes")...)
	require.Zero(t, code, out)
	require.Contains(t, out, "run 3 of 3: dedupe, with neither kept")
	for _, kept := range []string{"memory and verdicts", "memory", "neither"} {
		require.Regexp(t, `(?m)^`+kept+` +100 % +100 % +0 % +\d+ +\d+$`, out)
	}
	require.Contains(t, out, "What these figures do not show:\n  1 repository of a few lines each")
}
