package ops

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/agents"
)

// What nobody decides is removed after 30 days, and those concerned are told; a wall
// clock that jumps removes nothing.
func TestReviewsExpire(t *testing.T) {
	a := newAway(t)
	staging := a.brings(found("The well is deep"), found("The mill is old"))["staging"]
	for _, g := range a.must(a.lead, "memory_group", map[string]any{"action": "list"})["groups"].([]any) {
		require.NotEqual(t, staging, g.(map[string]any)["id"], "review_list shows what is staged")
	}
	a.must(a.lead, "review_decide", decisions(approve(a.waiting(a.lead)[0])))
	at := a.clock.Now()
	sweep := func(days int, up time.Duration) int {
		a.clock.set(at.Add(time.Duration(days) * 24 * time.Hour))
		a.mono.Store(&agents.Monotonic{Boot: a.mono.Load().Boot, Micros: up.Microseconds()})
		require.NoError(t, a.node.Reap(t.Context()))
		return a.number(`SELECT count(*) FROM items i JOIN reviews r ON r.item = i.id WHERE i.data LIKE '%mill%'
			AND r.state = 'pending'`)
	}
	require.Equal(t, 1, sweep(29, time.Hour))
	require.Equal(t, 1, sweep(31, 2*time.Hour), "seen once")
	a.mono.Store(&agents.Monotonic{Boot: "b2"})
	require.Equal(t, 1, sweep(31, 4*time.Hour), "and once since the machine started")
	require.Equal(t, 1, sweep(31, 4*time.Hour+59*time.Minute))
	require.Equal(t, 1, sweep(1, 6*time.Hour), "the clock had jumped")
	require.Equal(t, 0, sweep(31, 6*time.Hour))
	require.Equal(t, 0, sweep(31, 12*time.Hour))

	require.Empty(t, a.waiting(a.person()))
	require.Equal(t, 1, a.number(`SELECT count(*) FROM reviews WHERE state = 'expired' AND decided_by = 'node'`))
	require.Equal(t, 1, a.number(
		`SELECT count(*) FROM items WHERE data LIKE '%well%' AND origin <> '' AND deleted_at = 0`),
		"what was approved stays")
	require.Equal(t, 0, a.number(`SELECT count(*) FROM items WHERE data LIKE '%mill%'`))
	require.Equal(t, 0, a.number(`SELECT count(*) FROM members WHERE group_id = ?`, staging))
	require.Equal(t, 0, a.number(`SELECT count(*) FROM returns WHERE closed_at = 0`))
	require.Equal(t, 3, a.number(
		`SELECT count(*) FROM events WHERE type = 'review.closed'
			AND payload LIKE '%"approved":1,"rejected":0,"withdrawn":0,"expired":1%'`),
		"its author, its parent and the person hear of it")
	_, err := a.node.VerifyTrust(t.Context(), a.person().Principal)
	require.NoError(t, err)
	a.brings(found("The mill is old")) // again
	require.Len(t, a.waiting(a.person()), 1)
}
