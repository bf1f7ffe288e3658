package scenario

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/proof/soak"
)

// A token is good for its minutes and not for the hours by which a clock is
// moved back, and does not come back with the clock either.
func TestTokensAndJumpingClocks(t *testing.T) {
	n := newNode(t)
	address, err := n.Serve(t.Context())
	require.NoError(t, err)
	tries := func(c *Remote) string {
		a, err := c.Call(t.Context(), "agent_list", []byte(`{}`))
		require.NoError(t, err)
		return a.Code
	}
	dial := func() *Remote {
		c, err := n.Dial(t.Context(), address, "claude-code.key")
		require.NoError(t, err)
		require.Empty(t, tries(c))
		return c
	}
	first := dial()
	require.NoError(t, n.MoveClock(-5*time.Second))
	require.Empty(t, tries(first), "clocks are set by seconds all the time")
	require.NoError(t, n.MoveClock(-5*time.Hour))
	require.Equal(t, "unauthenticated", tries(first), "issued in five hours")
	second := dial()
	require.NoError(t, n.MoveClock(5*time.Hour))
	require.Equal(t, "unauthenticated", tries(second), "expired")
	require.Equal(t, "unauthenticated", tries(first), "ended by the clock that went back")
	dial()
}

// A wait that was killed frees its place at once, though it was taken for longer, or
// hours from now.
func TestKilledWaitsAndJumpingClocks(t *testing.T) {
	n := newNode(t)
	lead := open(t, n, "")
	must(t, lead, "agent_register", `{"agent_type": "swarm-worker", "display_name": "w", "name": "w", "capabilities": {
		"memory_read": {"layers": ["l1"], "groups": [], "visibility": []}, "memory_write": {"layers": ["l1"], "groups": [], "visibility": []},
		"tools": ["events_poll"], "max_parallel_ops": 1, "ttl_seconds": 0, "autonomous": true}}`)
	db := openDB(t, n)
	for _, jump := range []time.Duration{0, -5 * time.Hour} {
		w := open(t, n, "w")
		if cursor, unread := look(must(t, w, "events_poll", `{}`), "cursor"); unread {
			must(t, w, "events_poll", fmt.Sprintf(`{"ack": %q}`, cursor))
		}
		_, err := w.Begin("events_poll", []byte(`{"wait_seconds": 50}`))
		require.NoError(t, err)
		require.Eventually(t, func() bool { return count(t, db, `SELECT count(*) FROM slots`) > 0 }, time.Minute,
			10*time.Millisecond)
		n.Kill()
		if jump != 0 {
			require.NoError(t, n.MoveClock(jump))
		}
		must(t, open(t, n, "w"), "events_poll", `{"wait_seconds": 1}`)
	}
}

// Whatever the clock does, in running processes and across restarts: nothing
// ends in an internal error, what ended stays ended, sequences are without a
// gap, L1 times rise, session chains hold, and the node goes on.
func TestJumpingClock(t *testing.T) {
	n := newNode(t)
	lead := open(t, n, "")
	must(t, lead, "memory_group", `{"action": "create", "group": "ledger"}`)
	random := rand.New(rand.NewPCG(9, 10))
	var ended []string // agents whose time was over once
	var lastHot, lastChain string
	var sessions float64
	jumps, restarts, forward := soak.Count(t, 6, 300), 0, 0
	var now time.Duration
	for round := range jumps {
		worker := fmt.Sprintf("w%d", round)
		must(t, lead, "agent_register", fmt.Sprintf(
			`{"agent_type": "swarm-worker", "display_name": "w", "name": %q, "groups": ["ledger"], "capabilities": {
			"memory_read": {"layers": ["l1", "l2"], "groups": ["ledger"], "visibility": ["group"]},
			"memory_write": {"layers": ["l1", "l2"], "groups": ["ledger"], "visibility": ["group"]},
			"tools": ["memory_search", "memory_write_warm"], "max_parallel_ops": 1, "ttl_seconds": 1800, "autonomous": false}}`, worker))
		w := open(t, n, worker)
		session := fmt.Sprintf(`"session_id": "s%d"`, round)
		a := must(t, lead, "memory_session", `{"action": "start", `+session+`}`)
		if lastChain != "" {
			require.Equal(t, lastChain, at[string](t, a, "chain_hash"))
		}
		must(t, w, "memory_write_warm", fmt.Sprintf(
			`{"type": "learning", "group": "ledger", "data": {"type": "insight", "content": "round %d"}}`, round))

		by := time.Duration(random.Int64N(int64(20*time.Hour))) - 10*time.Hour
		if now+by < -72*time.Hour || now+by > 72*time.Hour { // it comes back, within the grace period
			by = -by
		}
		now += by
		require.NoError(t, n.MoveClock(by))
		if random.IntN(3) == 0 {
			n.Kill()
			lead, w = open(t, n, ""), nil
			restarts++
		}
		must(t, lead, "agent_list", `{}`)
		a = must(t, lead, "memory_session", `{"action": "end", `+session+`, "summary": "jumped"}`)
		sessions++
		require.Equal(t, sessions, at[float64](t, a, "session_count"))
		require.NotEqual(t, lastChain, at[string](t, a, "chain_hash"))
		lastChain = at[string](t, a, "chain_hash")
		a = must(t, lead, "memory_write_hot",
			fmt.Sprintf(`{"operation": "patch", "data": {"agent": {"working_memory": {"round": "%d"}}}}`, round))
		hot := at[string](t, a, "updated_at")
		require.Greater(t, hot, lastHot, "L1 times rise")
		lastHot = hot
		must(t, lead, "memory_write_warm",
			fmt.Sprintf(`{"type": "learning", "group": "ledger", "data": {"type": "insight", "content": "after %d"}}`,
				round))
		a = must(t, lead, "events_poll", `{"limit": 100}`)
		must(t, lead, "events_poll", fmt.Sprintf(`{"ack": %q}`, at[string](t, a, "cursor")))

		if w == nil {
			w, _ = n.Open(t.Context(), worker) // a process may refuse to start for an agent that ended
		}
		if w != nil {
			a, err := w.Call(t.Context(), "memory_search", []byte(`{"query": "round"}`))
			require.NoError(t, err)
			if by >= 30*time.Minute {
				forward++
				require.Equal(t, "denied", a.Code, "its time is over: %s", a.Text)
				ended = append(ended, worker)
			} else if a.Code != "" {
				require.Contains(t, []string{"denied", "busy"}, a.Code, a.Text)
			}
			w.Kill()
		}
	}
	require.NotZero(t, restarts)
	require.NotEmpty(t, ended)
	for _, name := range ended {
		a := must(t, lead, "agent_list", fmt.Sprintf(`{"agent": %q, "include_ended": true}`, name))
		require.Contains(t, []string{"deactivated", "removed"}, at[string](t, a, "agents.0.status"), name)
	}
	require.NoError(t, lead.Close())
	items, entries := requireWhole(t, n.Database())
	t.Logf("%d jumps of up to 10 h either way, %d across a restart, %d ended a lifetime: %d sessions chained, %d "+
		"items and %d audit entries whole, 0 internal errors",
		jumps, restarts, forward, int(sessions), items, entries)
}
