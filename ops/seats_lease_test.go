package ops_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/node"
	"cordelia/ops"
	"cordelia/ops/opstest"
	"cordelia/run"
	"cordelia/run/git"
	"cordelia/schemas"
	"cordelia/work"
)

// quiet is the seats of a worker whose clients have no MCP server.
type quiet struct{ *ops.Seats }

func (quiet) Serve(context.Context, run.Agent, net.Conn) error { return nil }

// slow is a client that works for longer than a lease lasts, without a word.
type slow struct {
	mu      sync.Mutex
	at, top int // how many work, and did at once
	takes   time.Duration
}

func (*slow) Name() string { return "slow" }

func (c *slow) Ask(ctx context.Context, _ run.Order, _ func(run.Event)) (run.Answer, error) {
	c.mu.Lock()
	c.at++
	c.top = max(c.top, c.at)
	c.mu.Unlock()
	defer func() { c.mu.Lock(); c.at--; c.mu.Unlock() }()
	select {
	case <-time.After(c.takes):
		return run.Answer{Structured: []byte(`{"outcome": "done", "result": {"text": "done"}}`)}, nil
	case <-ctx.Done():
		return run.Answer{}, &run.Fault{Kind: run.Stopped, Msg: context.Cause(ctx).Error()}
	}
}

// Executors that work for longer than their leases last keep them: the runner renews each, and
// eight at once lose none.
func TestLongWorkKeepsItsLease(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	const hands = 8
	h := opstest.New(t, func(c *node.Config) { c.Clock = nil })
	dir := t.TempDir()
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=u", "-c", "user.email=u@x", "commit", "-q",
		"--allow-empty", "-m", "begin"}} {
		out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
		require.NoError(t, err, string(out))
	}
	repo, err := git.Open(t.Context(), dir)
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	h.Must(h.Lead, "memory_group", map[string]any{"action": "create", "group": "crew"})
	for n := range hands {
		h.Must(h.Lead, "task_submit", map[string]any{"intent": fmt.Sprintf("count item %d", n), "group": "crew"})
	}
	queue := quiet{&ops.Seats{Node: h.Node, Person: h.Person(), Lease: int(work.MinLease.Seconds())}}
	client := &slow{takes: 3 * work.MinLease / 2}
	w := &run.Worker{Queue: queue, Idle: 3 * time.Second, Config: run.Config{Node: queue, Repo: repo, Self: self,
		Folder: filepath.Join(t.TempDir(), "worker"), Parallel: hands,
		Client: func(schemas.PipelineRole) run.Client { return client },
		Shield: func(string, *git.Worktree, string) (run.Shield, error) { return run.Shield{}, nil }}}
	served, err := w.Serve(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int{hands, 0, hands}, []int{served.Filed, served.Failed, client.top})
	require.Equal(t, hands, h.Number(`SELECT count(*) FROM work_items WHERE state = 'done' AND attempt = 1`))
	require.Equal(t, hands, h.Number(`SELECT count(*) FROM work_leases`), "none was lost and taken again")
}
