package ops

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/memory/hot"
	"cordelia/node"
	"cordelia/schemas"
)

// study is a node with a person, ann, her agent bob, and bob's agent cat, each
// with a hot context.
type study struct {
	*testing.T
	node *Service
}

func newStudy(t *testing.T) *study {
	t.Helper()
	n, err := Open(t.Context(), node.Config{Home: node.Home(filepath.Join(t.TempDir(), "home")),
		Durability: store.Relaxed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	s := &study{T: t, node: n}
	caps := `{"memory_read":{"layers":["l1","l2"],"groups":[],"visibility":["private"]},"memory_write":{"layers":["l1","l2"],"groups":[],"visibility":["private"]},
		"tools":["memory_read_hot","memory_write_hot","memory_session"],"max_parallel_ops":9,"autonomous":true}`
	require.NoError(t, n.Store.Write(t.Context(), func(tx *store.Tx) error {
		if _, err := tx.Exec(`INSERT INTO entities(id, kind, root_id, depth, name, display_name, public_key,
			enc_public_key, enc_binding, status, status_by, status_at, created_at)
			VALUES ('ann', 'human', 'ann', 0, 'ann', 'Ann', x'', x'', x'', 'active', 'node', 0, 0)`); err != nil {
			return err
		}
		for _, a := range [][2]string{{"bob", "ann"}, {"cat", "bob"}} {
			if _, err := tx.Exec(
				`INSERT INTO entities(id, kind, parent_id, root_id, depth, agent_type, name, display_name, public_key,
					enc_public_key, enc_binding, capabilities, status, status_by, status_at, created_at)
				VALUES (?1, 'agent', ?2, 'ann', 1, 'claude-code', ?1, ?1, x'', x'', x'', ?3, 'active', 'node', 0,
				0)`, a[0], a[1], caps); err != nil {
				return err
			}
		}
		return nil
	}))
	node := access.Principal{Entity: access.NodeEntity, Method: access.ByNode}
	for _, id := range []schemas.EntityID{"ann", "bob", "cat"} {
		require.NoError(t, s.node.Auth.Do(t.Context(), node, access.Op{Tool: "setup", Effect: access.Write},
			func(g access.Grant) error {
				return hot.Create(g, id)
			}))
	}
	return s
}

// callHot calls an operation as a client would, and decodes its answer.
func callHot[Out any](s *study, who schemas.EntityID, o *Operation, args string) (Out, error) {
	s.Helper()
	var out Out
	p := access.Principal{Entity: who, Method: access.ByKey, KeySeq: 1, Session: "connection-1"}
	if who == "ann" {
		p.Method = access.ByHuman
	}
	result, err := o.Call(s.Context(), s.node, Caller{Principal: p}, json.RawMessage(args))
	if err != nil {
		return out, err
	}
	raw, err := json.Marshal(result)
	require.NoError(s, err)
	require.NoError(s, json.Unmarshal(raw, &out))
	return out, nil
}

func TestHotToolsFitTheirBudget(t *testing.T) {
	bytes := 0
	for _, o := range []*Operation{memoryReadHot, memoryWriteHot, memorySession} {
		in, err := o.InputSchema()
		require.NoError(t, err)
		bytes += len(o.Name) + len(o.Description) + len(in)
	}
	require.LessOrEqual(t, bytes/4, 500)
}

func TestHotReadWriteRoundTrip(t *testing.T) {
	s := newStudy(t)
	require.NoError(t, s.node.Store.Write(t.Context(), func(tx *store.Tx) error {
		return events.Append(tx, events.EntityStream("bob"),
			events.Event{Type: schemas.EventMemoryWritten, Source: "ann",
				Payload: schemas.MemoryWritten{ItemID: "i", Type: "entity"}})
	}))
	first, err := callHot[MemoryReadHotOut](s, "bob", memoryReadHot, `{}`)
	require.NoError(t, err)
	require.Empty(t, first.Warnings)
	written, err := callHot[MemoryWriteHotOut](s, "bob", memoryWriteHot,
		fmt.Sprintf(`{"operation":"patch","data":{"active":{"focus":"L1"},"agent":{"working_memory":{"n":9007199254740992}}},"expected_updated_at":%q}`, first.UpdatedAt))
	require.NoError(t, err)
	read, err := callHot[MemoryReadHotOut](s, "bob", memoryReadHot, `{}`)
	require.NoError(t, err)
	require.Equal(t, written.UpdatedAt, read.UpdatedAt)
	require.NotContains(t, string(read.Context), "event_queue", "the mail comes with events_poll")
	queue, err := callHot[MemoryReadHotOut](s, "bob", memoryReadHot, `{"section":"/agent/event_queue"}`)
	require.NoError(t, err)
	require.Contains(t, string(queue.Context), `"item_id":"i"`)
	_, err = callHot[MemoryWriteHotOut](s, "bob", memoryWriteHot,
		`{"operation":"replace","data":`+string(read.Context)+`}`)
	require.NoError(t, err, "what was read can be written back")

	_, err = callHot[MemoryWriteHotOut](s, "bob", memoryWriteHot,
		fmt.Sprintf(`{"operation":"patch","data":{},"expected_updated_at":%q}`, first.UpdatedAt))
	require.ErrorIs(t, err, schemas.ErrConflict)
	_, err = callHot[MemoryWriteHotOut](s, "bob", memoryWriteHot,
		`{"operation":"patch","data":{"agent":{"working_memory":{"n":9007199254740993}}}}`)
	require.ErrorIs(t, err, schemas.ErrInvalid, "the digits survive up to the check")

	part, err := callHot[MemoryReadHotOut](s, "bob", memoryReadHot, `{"section":"active"}`)
	require.NoError(t, err)
	require.JSONEq(t, `{"active":{"focus":"L1"}}`, string(part.Context))
}

// The queue shows the newest events and says how many it does not show.
func TestHotQueueIsBounded(t *testing.T) {
	s := newStudy(t)
	require.NoError(t, s.node.Store.Write(t.Context(), func(tx *store.Tx) error {
		for i := range hotEvents + 3 {
			if err := events.Append(tx, events.EntityStream("bob"),
				events.Event{Type: schemas.EventMemoryWritten, Source: "ann",
					Payload: schemas.MemoryWritten{ItemID: schemas.ItemID(fmt.Sprint("item-", i)),
						Type: "entity"}}); err != nil {
				return err
			}
		}
		return nil
	}))
	read, err := callHot[MemoryReadHotOut](s, "bob", memoryReadHot, `{"section":"/agent/event_queue"}`)
	require.NoError(t, err)
	require.Equal(t, hotEvents, strings.Count(string(read.Context), "item-"))
	require.Contains(t, string(read.Context), fmt.Sprint("item-", hotEvents+2))
	require.Equal(t, "3 older unread events are not shown: events_poll (not a tool of yours: ask your parent or the "+
		"user) has them", hintLines(read.Warnings))
}

func TestHotOfOthers(t *testing.T) {
	s := newStudy(t)
	read, err := callHot[MemoryReadHotOut](s, "ann", memoryReadHot, `{"entity":"bob"}`)
	require.NoError(t, err, "a person reads their agents'")
	require.Contains(t, string(read.Context), `"agent_type":"claude-code"`)
	_, err = callHot[MemoryReadHotOut](s, "bob", memoryReadHot, `{"entity":"cat"}`)
	require.ErrorIs(t, err, schemas.ErrNotFound)
	require.ErrorContains(t, err, `act as that agent: memory_read_hot {"as": "cat"}`)
	read, err = callHot[MemoryReadHotOut](s, "bob", memoryReadHot, `{"as":"cat"}`)
	require.NoError(t, err)
	require.Contains(t, string(read.Context), `"agent_type"`)
	_, err = callHot[MemoryReadHotOut](s, "cat", memoryReadHot, `{"entity":"bob"}`)
	require.ErrorIs(t, err, schemas.ErrNotFound)
	_, err = callHot[MemoryWriteHotOut](s, "bob", memoryWriteHot,
		`{"as":"cat","operation":"patch","data":{"active":{"focus":"for cat"}}}`)
	require.NoError(t, err)
	read, err = callHot[MemoryReadHotOut](s, "cat", memoryReadHot, `{"section":"active"}`)
	require.NoError(t, err)
	require.JSONEq(t, `{"active":{"focus":"for cat"}}`, string(read.Context))
}

func TestHotAnswerIsBounded(t *testing.T) {
	s := newStudy(t)
	_, err := callHot[MemoryWriteHotOut](s, "bob", memoryWriteHot,
		`{"operation":"patch","data":{"agent":{"working_memory":{"a":"`+strings.Repeat("a", 28_000)+`","b":"`+
			strings.Repeat("b", 28_000)+`"}}}}`)
	require.NoError(t, err)
	read, err := callHot[MemoryReadHotOut](s, "bob", memoryReadHot, `{}`)
	require.NoError(t, err)
	require.Less(t, len(read.Context), 32_000)
	require.Len(t, read.LeftOut, 1)
	require.Contains(t, read.Text(), read.LeftOut[0])
	rest, err := callHot[MemoryReadHotOut](s, "bob", memoryReadHot, fmt.Sprintf(`{"section":%q}`, read.LeftOut[0]))
	require.NoError(t, err)
	require.Empty(t, rest.LeftOut)
	require.Greater(t, len(rest.Context), 28_000)
}

func TestSessionOperation(t *testing.T) {
	s := newStudy(t)
	start, err := callHot[MemorySessionOut](s, "bob", memorySession, `{"action":"start"}`)
	require.NoError(t, err)
	require.NotEmpty(t, start.StartedAt)
	again, err := callHot[MemorySessionOut](s, "bob", memorySession, `{"action":"start","session_id":"connection-1"}`)
	require.NoError(t, err)
	require.True(t, again.Resumed, "without an id the connection's is meant")
	_, err = callHot[MemorySessionOut](s, "bob", memorySession,
		`{"action":"checkpoint","focus":"tests","summary":"half"}`)
	require.NoError(t, err)
	const end = `{"action":"end","summary":"done","open_threads":["docs"],"idempotency_key":"k1"}`
	ended, err := callHot[MemorySessionOut](s, "bob", memorySession, end)
	require.NoError(t, err)
	require.EqualValues(t, 1, ended.SessionCount)
	require.NotEqual(t, start.ChainHash, ended.ChainHash)
	repeated, err := callHot[MemorySessionOut](s, "bob", memorySession, end)
	require.NoError(t, err)
	require.Equal(t, ended, repeated, "a repeated end does not end another session")
	next, err := callHot[MemorySessionOut](s, "bob", memorySession, `{"action":"start","session_id":"other"}`)
	require.NoError(t, err)
	require.Equal(t, "done", next.LastSummary)
	require.Equal(t, []string{"docs"}, next.OpenThreads)
	require.Contains(t, next.Text(), "Focus: tests\nLast session: done\nOpen threads: docs")
	_, err = callHot[MemorySessionOut](s, "bob", memorySession, `{"action":"end"}`)
	require.ErrorIs(t, err, schemas.ErrConflict)
}

// What one agent wrote must not act on whoever reads it.
func TestHotTextIsEscaped(t *testing.T) {
	s := newStudy(t)
	_, err := callHot[MemoryWriteHotOut](s, "bob", memoryWriteHot,
		`{"operation":"patch","data":{"active":{"focus":"a\u202eb\nBlockers: none"}}}`)
	require.NoError(t, err)
	start, err := callHot[MemorySessionOut](s, "bob", memorySession, `{"action":"start"}`)
	require.NoError(t, err)
	require.Equal(t, "Focus: ab Blockers: none", start.Digest)
}

// An agent without the right to write a layer of its own memory hears which one it lacks.
func TestTheLayerThatIsLackedIsNamed(t *testing.T) {
	s := newStudy(t)
	require.NoError(t, s.node.Store.Write(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(`UPDATE entities SET capabilities = json_set(capabilities, '$.memory_write.layers', json('["l2"]'))
			WHERE id = 'bob'`)
		return err
	}))
	read, err := callHot[MemoryReadHotOut](s, "bob", memoryReadHot, `{}`)
	require.NoError(t, err)
	_, err = callHot[MemoryWriteHotOut](s, "bob", memoryWriteHot,
		fmt.Sprintf(`{"expected_updated_at":%q,"operation":"patch","data":{"a":1}}`, read.UpdatedAt))
	require.ErrorIs(t, err, schemas.ErrDenied)
	require.ErrorContains(t, err, "l1 among the layers")
	require.ErrorContains(t, err, "ask your parent")
}
