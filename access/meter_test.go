package access_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/access/accesstest"
	"cordelia/internal/store"
	"cordelia/schemas"
)

var hand = accesstest.Named("hand")

// A refusal counts for its minute, however late it is written.
func TestARefusalCountsForItsMinute(t *testing.T) {
	n := accesstest.New(t, access.Config{})
	n.Person("ann")
	n.Agent(hand, "ann", "ann", schemas.ClaudeCode, "hand")
	n.May(hand, 5, "memory_write_warm")
	minute := n.Clock.Micros / 60_000_000
	require.ErrorIs(t, n.Do(hand, "not_its", access.Read, func(access.Grant) error { return nil }), schemas.ErrDenied)
	n.Clock.Move(time.Minute)
	require.ErrorIs(t, n.Do(hand, "memory_write_warm", access.Write, func(g access.Grant) error {
		return g.Need(access.Need{Kind: access.KindWrite, Layer: schemas.L2, Visibility: schemas.Group, Group: "none"})
	}), schemas.ErrNotFound)
	n.Clock.Move(10 * time.Minute)
	n.Auth.Flush(t.Context())
	for i, tool := range []string{"not_its", "memory_write_warm"} {
		require.Equal(t, minute+int64(i), accesstest.One[int64](n, `SELECT minute FROM denials WHERE tool = ?`, tool), tool)
	}
}

// moves keeps what moved each agent first.
type moves map[schemas.EntityID]schemas.Trigger

func (m moves) Move(_ context.Context, id schemas.EntityID, on schemas.Trigger) error {
	if m[id] == "" {
		m[id] = on
	}
	return nil
}

// An agent that went over one limit and then over another is suspended for the first, also when both
// are written at once.
func TestTheFirstLimitPassedCounts(t *testing.T) {
	moved := moves{}
	n := accesstest.New(t, access.Config{FailedPerMinute: 20, RefusedPerMinute: 60, Lifecycle: moved})
	n.Person("ann")
	n.Agent(hand, "ann", "ann", schemas.ClaudeCode, "hand")
	minute := n.Clock.Micros / 60_000_000
	var all []schemas.EntityID
	for i := range 12 {
		id := accesstest.Named(fmt.Sprint("worker", i))
		all = append(all, id)
		n.Agent(id, hand, "ann", schemas.SwarmWorker, fmt.Sprint("worker", i))
		n.SQL(`INSERT INTO call_counts(entity_id, minute, refused, failed) VALUES (?, ?, 0, 19), (?, ?, 59, 0)`,
			id, minute, id, minute+1) // what its other processes did
		require.NoError(t, n.Auth.Failed(as(id)))
	}
	n.Clock.Move(time.Minute)
	for _, id := range all {
		require.ErrorIs(t, n.Do(id, "not_its", access.Read, func(access.Grant) error { return nil }), schemas.ErrDenied)
	}
	n.Auth.Flush(t.Context())
	for _, id := range all {
		require.Equal(t, schemas.ErrorLimit, moved[id])
	}
}

// The times of calls that wait for a flush do not fill the memory: of calls that no flush would have told
// apart the first and the last are kept, and of a longer time those of an hour.
func TestTimesOfCallsAreFolded(t *testing.T) {
	var seen []int64
	n := accesstest.New(t, access.Config{Seen: func(_ *store.Tx, all map[schemas.EntityID][]int64) error {
		seen = all[hand]
		return nil
	}})
	n.Person("ann")
	n.Agent(hand, "ann", "ann", schemas.ClaudeCode, "hand")
	n.May(hand, 5, "memory_read_warm")
	failing, stop := context.WithCancel(t.Context())
	stop()
	calls := func(times int, every time.Duration) (made []int64) {
		for i := range times {
			n.Clock.Move(every)
			made = append(made, n.Clock.Micros)
			require.NoError(t, n.Do(hand, "memory_read_warm", access.Read, func(access.Grant) error { return nil }))
			if i%100 == 7 {
				n.Auth.Flush(failing)
			}
		}
		n.Auth.Flush(t.Context())
		return made
	}
	made := calls(50, time.Millisecond)
	require.Equal(t, []int64{made[0], made[49]}, seen)
	made = calls(50, 600*time.Millisecond)
	require.Equal(t, made, seen)
	calls(5000, time.Millisecond)
	require.Less(t, len(seen), 15, fmt.Sprint(seen))
	made = calls(4000, time.Second)
	require.Equal(t, made[400:], seen)
}

// A flush that is under way when the process ends is finished, and no failure is logged.
func TestAFlushUnderWayIsFinished(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	flushes := 0
	n := accesstest.New(t, access.Config{Seen: func(tx *store.Tx, all map[schemas.EntityID][]int64) error {
		flushes++
		end()
		_, err := tx.Exec(`UPDATE entities SET last_seen_at = last_seen_at WHERE id = ?`, hand)
		return err
	}})
	n.Person("ann")
	n.Agent(hand, "ann", "ann", schemas.ClaudeCode, "hand")
	n.May(hand, 5, "memory_read_warm")
	require.NoError(t, n.Do(hand, "memory_read_warm", access.Read, func(access.Grant) error { return nil }))
	n.Auth.Run(ctx)
	require.Equal(t, 1, flushes)
}
