package ops_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/agents"
	"cordelia/events"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/ops/opstest"
)

// The node removes events that are old by two looks an hour apart, by a clock that no one can set.
// Its readers go on; one that came too late is told, in words, too; the audit record says how many
// went, and none of its own entries.
func TestRetentionRemovesAndTells(t *testing.T) {
	const day = 24 * time.Hour
	var up atomic.Int64
	h := opstest.New(t, func(c *node.Config) {
		c.Retention = events.Retention{Events: 30 * day, Unread: 90 * day}
		c.Monotonic = func() agents.Monotonic { return agents.Monotonic{Boot: "b", Micros: up.Load()} }
	})
	pass := func(wall, machine time.Duration) {
		h.Clock.Move(wall)
		up.Add(machine.Microseconds())
		require.NoError(t, h.Node.Reap(t.Context()))
		require.NoError(t, h.Node.Reap(t.Context()))
	}
	settle := func() { // two looks, of which the second removes
		pass(0, 61*time.Minute)
		pass(0, 61*time.Minute)
	}
	count := func() int { return h.Number(`SELECT count(*) FROM events WHERE stream = 'g/team'`) }
	h.Must(h.Lead, "memory_group", map[string]any{"action": "create", "group": "team"})
	for _, name := range []string{"reader", "idler"} {
		h.Must(h.Lead, "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": name, "name": name,
			"groups": []string{"team"}, "capabilities": map[string]any{"ttl_seconds": 0, "autonomous": true}})
	}
	reader, idler := h.Caller("reader"), h.Caller("idler")
	poll := func(c ops.Caller, ack any) map[string]any {
		args := map[string]any{}
		if ack != nil {
			args["ack"] = ack
		}
		return h.Must(c, "events_poll", args)
	}
	poll(idler, nil)
	h.Must(h.Lead, "memory_write_warm", opstest.With(opstest.Note("The gate sticks"), map[string]any{"group": "team"}))
	for _, c := range []ops.Caller{reader, h.Lead} {
		poll(c, poll(c, nil)["cursor"])
	}
	before := count()
	require.Positive(t, before)
	entries := h.Number(`SELECT count(*) FROM audit`)

	pass(0, 61*time.Minute)
	pass(400*day, 61*time.Minute)
	pass(-400*day, 61*time.Minute)
	pass(0, 61*time.Minute)
	require.Equal(t, before, count(), "a clock that jumped removes nothing")

	pass(31*day, time.Minute)
	settle()
	require.Equal(t, 1, count(), "the idler has not read what was written")
	require.Nil(t, poll(idler, nil)["gap"])

	pass(60*day, time.Minute)
	require.Equal(t, 1, count(), "seen once")
	settle()
	require.Zero(t, count())
	require.Nil(t, poll(reader, nil)["gap"], "it has read them")
	late := poll(idler, nil)
	own := h.Number(`SELECT removed FROM streams WHERE name = 'e/' || ?`, idler.Entity)
	require.EqualValues(t, 1+own, late["gap"].(map[string]any)["removed"], "that of the group, and its own")
	require.Nil(t, poll(idler, late["cursor"])["gap"])
	require.Greater(t, h.Number(`SELECT count(*) FROM audit`), entries)
	require.Positive(t, h.Number(`SELECT count(*) FROM audit a JOIN audit_details d ON d.seq = a.seq
		WHERE a.action = 'remove_old_events' AND a.target = 'events' AND d.detail LIKE '%events_removed%'`))

	h.Must(h.Lead, "memory_write_warm", opstest.With(opstest.Note("The gate was oiled"), map[string]any{"group": "team"}))
	require.Len(t, poll(reader, nil)["events"], 1, "the stream goes on")
}

func TestAGapIsWorded(t *testing.T) {
	for text, o := range map[string]ops.EventsPollOut{
		"no unread events; cursor: c": {Cursor: "c"},
		"no unread events; up to 1 older one was removed by age, unread; cursor: c": {Cursor: "c",
			Gap: &ops.EventGap{Removed: 1}},
		"1 of 3 unread events; 2 older ones are not shown; up to 4 older ones were removed by age, unread\na.b": {
			Unread: 3, Events: []ops.PolledEvent{{Event: "a.b"}}, Gap: &ops.EventGap{Skipped: 2, Removed: 4}},
	} {
		require.Equal(t, text, o.Text())
	}
}
