package scenario

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/drive"
	"cordelia/internal/proof/soak"
)

// asTask sends a request of a client that takes tasks.
func asTask(t testing.TB, c *Process, method string, params map[string]any) (result map[string]any, ended bool) {
	params["_meta"] = map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28",
		"io.modelcontextprotocol/clientCapabilities": map[string]any{
			"extensions": map[string]any{"io.modelcontextprotocol/tasks": map[string]any{}}}}
	r, err := c.Request(t.Context(), method, "", params)
	if err != nil {
		require.ErrorIs(t, err, drive.ErrEnded)
		return nil, true
	}
	require.Nil(t, r.Error, "%s: %+v", method, r.Error)
	require.NoError(t, json.Unmarshal(r.Result, &result))
	return result, false
}

// INV-PENDING, through the whole binary: the process a wait began in is killed, so is
// the one that is asked next, at any moment; the third knows of the wait, and of one
// lease.
func TestAWaitOutlivesItsProcess(t *testing.T) {
	n := newNode(t)
	lead := open(t, n, "")
	must(t, lead, "agent_register", `{"agent_type": "custom", "display_name": "w", "name": "w", "capabilities": {"tools": ["task_claim", "task_report"]}}`)
	db := openDB(t, n)
	random := rand.New(rand.NewPCG(3, 4))
	during, before := 0, 0
	rounds := soak.Count(t, 6, 300)
	for range rounds {
		first := open(t, n, "w")
		task, _ := asTask(t, first, "tools/call", map[string]any{"name": "task_claim",
			"arguments": map[string]any{"wait_seconds": 600}})
		require.Equal(t, "task", task["resultType"], "%v", task)
		id := map[string]any{"taskId": task["taskId"]}
		first.Kill()
		item := at[string](t, must(t, lead, "task_submit", `{"intent": "Count the boats"}`), "items.0.work_id")

		second := open(t, n, "w")
		go func() {
			soak.Strike(random, 20*time.Millisecond) // in the poll, or after it
			second.Kill()
		}()
		if _, ended := asTask(t, second, "tasks/get", map[string]any{"taskId": id["taskId"]}); ended {
			during++
		} else {
			before++
		}
		<-second.Ended()

		third := open(t, n, "w")
		got, _ := asTask(t, third, "tasks/get", id)
		require.Equal(t, "completed", got["status"], "%v", got)
		work := got["result"].(map[string]any)["structuredContent"].(map[string]any)["work"].(map[string]any)
		require.Equal(t, item, work["work_id"])
		require.Nil(t, work["resumed"], "it is the answer of the claim itself")
		require.EqualValues(t, 1, count(t, db,
			fmt.Sprintf(`SELECT count(*) FROM work_leases l JOIN work_items i ON i.n = l.item WHERE i.id = '%s'`,
				item)))
		must(t, third, "task_report", fmt.Sprintf(`{"work_id": %q, "fence": %v, "outcome": "done"}`, item,
			work["fence"]))
		require.NoError(t, third.Close())
	}
	require.NoError(t, lead.Close())
	require.True(t, during > 0 || rounds < 100, "of %d kills none hit a poll", rounds)
	t.Logf("%d waits: %d polls were killed before their answer, %d after it, 0 waits lost", rounds, during, before)
}
