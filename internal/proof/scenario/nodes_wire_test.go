//go:build unix

package scenario

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store/storetest"
)

// How often a node asks the server and waits for an answer is what a network makes slow.
func TestNodesAskLittle(t *testing.T) {
	const rounds = 50
	w, database := newWire(t, storetest.Database(t, storetest.Server(t), t.Name()), 0)
	m := newTeamAt(t, 1, database)
	lead := m.lead(0)
	told(t, lead, "memory_group", map[string]any{"action": "create", "group": "harbour"})
	worker, err := m.dial(t.Context(), m.worker("worker"), 0)
	require.NoError(t, err)
	var list []any
	for n := range rounds + 5 {
		list = append(list, map[string]any{"intent": fmt.Sprint("crate ", n)})
	}
	told(t, lead, "task_submit", map[string]any{"items": list})
	for _, c := range []struct {
		what string
		most float64 // exchanges of one, with room for what the node does beside it
		do   func(n int)
	}{
		{"a claim and its report", 22, func(int) {
			it, ok := told(t, worker, "task_claim", map[string]any{})["work"].(map[string]any)
			require.True(t, ok)
			told(t, worker, "task_report", map[string]any{"work_id": it["work_id"], "fence": it["fence"], "outcome": "done"})
		}},
		{"a memory written", 18, func(n int) {
			told(t, lead, "memory_write_warm", map[string]any{"type": "learning", "group": "harbour",
				"data": map[string]any{"type": "insight", "content": fmt.Sprint("The ferry takes ", n, " crates")}})
		}},
		{"a memory read", 36, func(int) { told(t, lead, "memory_search", map[string]any{"query": "ferry"}) }},
		{"events read", 12, func(int) { told(t, lead, "events_poll", map[string]any{}) }},
	} {
		for n := range 5 { // statements are prepared, rights looked up
			c.do(n)
		}
		w.reset()
		for n := range rounds {
			c.do(n)
		}
		each := float64(w.times()) / rounds
		t.Logf("%s: %.1f exchanges\n%s", c.what, each, w.list(rounds))
		if each > c.most {
			t.Errorf("%s takes %.1f exchanges with the server, more than %.0f", c.what, each, c.most)
		}
	}
}
