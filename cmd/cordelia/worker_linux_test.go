package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// Eight executors at once, on however few cores, lose no lease: each item is done by the
// first agent that took it, and what one changed lies on a branch of its own.
func TestWorkerServesEightAtOnce(t *testing.T) {
	play := replay{Work: map[string][]string{"count item": {"sleep 2", "echo counted > count.txt"}}}
	h := newTheater(t, play)
	items := []map[string]string{}
	for n := range 16 {
		items = append(items, map[string]string{"intent": fmt.Sprintf("count item %d", n)})
	}
	raw, err := json.Marshal(items)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(h.repo, "items.json"), raw, 0o600))
	out, code := h.did("task", "submit", "--items", "items.json")
	require.Zero(t, code, out)
	began := time.Now()
	out, code = h.worker("--parallel", "8", "--idle", "4s")
	t.Log(time.Since(began))
	require.Zero(t, code, out)
	require.Contains(t, out, "Served: 16 items, 0 not")
	list, code := h.did("task", "list", "--limit", "50", "--json")
	require.Zero(t, code, list)
	require.Equal(t, 16, strings.Count(list, `"state": "done"`), list)
	log, _ := h.did("logs", "--json")
	require.NotContains(t, log, "expired", "no lease was lost")
	require.Len(t, strings.Fields(h.git("for-each-ref", "--format=%(refname)", "refs/heads/cordelia")), 16)
	require.Empty(t, h.processes())
	require.Len(t, strings.Split(h.git("worktree", "list"), "\n"), 1)
	agents, _ := h.did("agent", "list", "--status", "active")
	require.NotContains(t, agents, "worker-", "none of its agents is left")
}

// A worker fills all roles of a task that was submitted without it; an executor's judge is
// another agent.
func TestWorkerServesAWholeTask(t *testing.T) {
	t.Parallel()
	h := newTheater(t, twoParts())
	require.NoError(t, os.WriteFile(filepath.Join(h.home(), "config.json"),
		[]byte(`{"tasks": {"judge_calls": true, "require_recorded": true}}`), 0o600))
	out, code := h.did("task", "submit", "--request", wish, "--tools", "bash", "--json")
	require.Zero(t, code, out)
	id := regexp.MustCompile(`"task_id": "([0-9a-f-]{36})`).FindStringSubmatch(out)
	require.NotNil(t, id, out)
	task := schemas.ShortID(id[1])
	out, code = h.worker("--client", "claude", "--parallel", "3", "--idle", "6s")
	require.Zero(t, code, out)
	require.Contains(t, out, "Served: 7 items, 0 not")
	shown, _ := h.did("task", "show", task, "--detail")
	require.Contains(t, shown, "accepted")
	h.accepted(task)
}

// An agent whose key is here takes work itself. An interrupt gives back what it holds.
func TestWorkerGivesBack(t *testing.T) {
	t.Parallel()
	play := replay{Faults: []replayFault{{Kind: "hangs in the middle"}}}
	h := newTheater(t, play)
	h.run(`cordelia agent register --type autonomous --name build-1`)
	out, code := h.did("task", "submit", "count item 1", "--json")
	require.Zero(t, code, out)
	cmd := h.cordelia("worker", "--as", "build-1")
	shown, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var b strings.Builder
	for part := make([]byte, 4096); !strings.Contains(b.String(), "working: bash true"); {
		n, err := shown.Read(part)
		b.Write(part[:n])
		require.NoError(t, err, b.String())
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.NoError(t, cmd.Wait(), "it ends cleanly")
	require.Empty(t, h.processes())
	list, _ := h.did("task", "list", "--json")
	require.Contains(t, list, `"state": "ready"`, "the item can be taken again")
	out, code = h.did("worker", "--as", "build-1", "--parallel", "2")
	require.Equal(t, 3, code, out)
	require.Contains(t, out, "agent_register", "it may register no agents below itself")
	_, code = h.did("worker", "--as", "nobody")
	require.Equal(t, 4, code)
}

// A worker leaves the tasks of other repositories to workers there, as an agent of its own
// and as one that its user registered: it neither takes nor gives back a seat of theirs.
func TestWorkerLeavesOtherRepositoriesAlone(t *testing.T) {
	t.Parallel()
	h := newTheater(t, twoParts())
	out, code := h.did("run", "--yes", "--plan-only", wish)
	require.Zero(t, code, out)
	task := h.taskIn(out)
	shown, _ := h.did("task", "show", task)
	group := regexp.MustCompile(`run-importer-[0-9a-f]{8}`).FindString(shown)
	require.NotEmpty(t, group)
	h.run(`cordelia agent register --type autonomous --name build-1 --group ` + group)
	other := *h
	other.repo = filepath.Join(h.dir, "src", "exporter")
	require.NoError(t, os.MkdirAll(other.repo, 0o700))
	other.write("keep.sh", "exit 1\n")
	other.git("init", "-q", "-b", "main")
	other.git("add", "-A")
	other.git("commit", "-q", "-m", "begin")
	for _, as := range [][]string{nil, {"--as", "build-1"}} {
		out, code = other.worker(append(as, "--idle", "2s")...)
		require.Zero(t, code, out)
		require.Contains(t, out, "Served: 0 items, 0 not")
	}
	log, _ := h.did("logs", "--json")
	require.NotContains(t, log, "released")
	out, code = h.worker("--parallel", "3", "--idle", "6s")
	require.Zero(t, code, out)
	require.Contains(t, out, "Served: 5 items, 0 not")
	h.accepted(task)
}

// A worker that git keeps from its work gives each item back, waits longer each time, and
// ends with what is wrong.
func TestWorkerEndsWhereNothingCanBeDone(t *testing.T) {
	t.Parallel()
	h := newTheater(t, replay{})
	h.git("branch", "cordelia") // so that none can be called cordelia/…
	out, code := h.did("task", "submit", "count item 1", "--json")
	require.Zero(t, code, out)
	out, code = h.worker("--idle", "1m")
	require.NotZero(t, code, out)
	require.Contains(t, out, "5 items in a row could not be done")
	require.Contains(t, out, "refs/heads/cordelia")
	require.Equal(t, 5, strings.Count(out, "an item was given back"), out)
	list, _ := h.did("task", "list", "--json")
	require.Contains(t, list, `"state": "ready"`, "the item can be taken again")
	agents, _ := h.did("agent", "list", "--status", "active")
	require.NotContains(t, agents, "worker-", "none of its agents is left")
}

// A worker whose agent may not work any more says so and ends.
func TestWorkerEndsWithItsAgent(t *testing.T) {
	t.Parallel()
	h := newTheater(t, replay{})
	h.run(`cordelia agent register --type autonomous --name build-1`)
	cmd := h.cordelia("worker", "--as", "build-1")
	shown, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var b strings.Builder
	for part := make([]byte, 4096); !strings.Contains(b.String(), "waits for work"); {
		n, err := shown.Read(part)
		b.Write(part[:n])
		require.NoError(t, err, b.String())
	}
	h.run(`cordelia agent deactivate build-1`)
	rest, err := io.ReadAll(shown)
	require.NoError(t, err)
	require.Error(t, cmd.Wait())
	require.Contains(t, string(rest), "cannot take work")
}

// worker runs a worker to its end.
func (h *theater) worker(args ...string) (string, int) {
	h.Helper()
	return h.did(append([]string{"worker"}, args...)...)
}
