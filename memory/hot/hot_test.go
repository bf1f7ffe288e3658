package hot

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/access/accesstest"
	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
	"cordelia/schemas"
)

const person schemas.EntityID = "russell_wing"

// Three agents of the person: the lead above the worker, and a stranger to both.
var (
	leadAgent     = accesstest.Named("lead")
	workerAgent   = accesstest.Named("worker")
	strangerAgent = accesstest.Named("stranger")
)

// node is a real store behind a real Authorizer, with the person and the agents
// and an empty context for each.
type node struct {
	t     *testing.T
	store *store.Store
	auth  *access.Authorizer
	clock *accesstest.Clock
	view  View
}

func newNode(t *testing.T) *node {
	t.Helper()
	n := &node{t: t, clock: &accesstest.Clock{}}
	n.clock.Micros = time.Date(2026, 1, 31, 16, 0, 0, 123456000, time.UTC).UnixMicro()
	var err error
	n.store, err = store.Open(t.Context(), storetest.Options(t, store.Options{
		Path: filepath.Join(t.TempDir(), "cordelia.db"), Durability: store.Relaxed, Clock: n.clock}))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.store.Close()) })
	n.auth = access.New(n.store, access.Config{Presence: 24 * time.Hour, RefusedPerMinute: 1 << 30,
		FailedPerMinute: 1 << 30})
	caps := `{"memory_read":{"layers":["l1","l2"],"groups":["*"],"visibility":["private"]},` +
		`"memory_write":{"layers":["l1","l2"],"groups":["*"],"visibility":["private"]},` +
		`"tools":["memory_read_hot","memory_write_hot"],"max_parallel_ops":4,"ttl_seconds":0,"autonomous":true,"max_delegation_depth":2}`
	n.sql(`INSERT INTO entities(id, kind, root_id, depth, name, display_name, public_key, enc_public_key, enc_binding,
		status, status_by, status_at, created_at, last_seen_at)
		VALUES (?, 'human', ?, 0, 'russell', 'Russell', x'00', x'00', x'00', 'active', 'node', 0, 0,
		?)`, person, person, n.clock.Micros)
	for i, a := range []struct{ id, parent schemas.EntityID }{{leadAgent, person}, {workerAgent, leadAgent},
		{strangerAgent, person}} {
		n.sql(`INSERT INTO entities(id, kind, parent_id, root_id, depth, agent_type, name, display_name, public_key,
			enc_public_key, enc_binding, capabilities, status, status_by, status_at, created_at, last_seen_at)
			VALUES (?, 'agent', ?, ?, 1, 'claude-code', ?, 'Agent', x'00', x'00', x'00', ?, 'active', 'node', 0, 0, ?)`,
			a.id, a.parent, person, fmt.Sprintf("agent-%d", i), caps, n.clock.Micros)
	}
	for id, creator := range map[schemas.EntityID]schemas.EntityID{person: person, leadAgent: person,
		workerAgent: leadAgent, strangerAgent: person} {
		require.NoError(t, n.do(creator, access.Write, func(g access.Grant) error {
			return g.Routine(func() error { return Create(g, id) })
		}))
	}
	n.view = View{
		Agent: &schemas.Agent{AgentID: workerAgent, ParentEntityID: leadAgent, AgentType: schemas.ClaudeCode,
			Capabilities: schemas.Capabilities{MaxParallelOps: 4}},
		Queue: []schemas.QueuedEvent{{Event: schemas.EventMemoryWritten,
			Payload: schemas.MemoryWritten{ItemID: "i", Type: "entity"}, Timestamp: "2026-01-31T16:00:00Z"}},
	}
	return n
}

// sql changes the database behind the node's back.
func (n *node) sql(query string, args ...any) {
	n.t.Helper()
	require.NoError(n.t, n.store.Write(n.t.Context(), func(tx *store.Tx) error {
		if err := tx.Act(store.AnyOwner); err != nil {
			return err
		}
		_, err := tx.Exec(query, args...)
		return err
	}))
}

// do runs f as id; "node" is a routine of the node.
func (n *node) do(id schemas.EntityID, effect access.Effect, f func(access.Grant) error) error {
	p := access.Principal{Entity: id, Method: access.ByKey, KeySeq: 1, Session: "s"}
	switch id {
	case person:
		p.Method = access.ByHuman
	case access.NodeEntity:
		p = access.Principal{Method: access.ByNode}
	}
	tool := "memory_read_hot"
	if effect != access.Read {
		tool = "memory_write_hot"
	}
	return n.auth.Do(n.t.Context(), p, access.Op{Tool: tool, Effect: effect}, f)
}

func (n *node) tryRead(as, entity schemas.EntityID) (d Doc, err error) {
	err = n.do(as, access.Read, func(g access.Grant) error {
		d, err = Read(g, entity, n.view)
		return err
	})
	return d, err
}

func (n *node) read(id schemas.EntityID) Doc {
	n.t.Helper()
	d, err := n.tryRead(id, id)
	require.NoError(n.t, err)
	return d
}

func (n *node) writeAs(as, entity schemas.EntityID, op Operation, data, expected string) (d Doc, err error) {
	change, err := NewChange(op, []byte(data), expected)
	if err != nil {
		return d, err
	}
	err = n.do(as, access.Write, func(g access.Grant) error {
		d, err = Write(g, entity, change, n.view)
		return err
	})
	return d, err
}

func (n *node) tryWrite(id schemas.EntityID, op Operation, data, expected string) (Doc, error) {
	return n.writeAs(id, id, op, data, expected)
}

func (n *node) write(id schemas.EntityID, op Operation, data string) Doc {
	n.t.Helper()
	d, err := n.tryWrite(id, op, data, "")
	require.NoError(n.t, err)
	return d
}

func (n *node) audited() (count int) {
	n.t.Helper()
	require.NoError(n.t, n.store.Read(n.t.Context(), func(tx *store.Tx) error {
		return tx.QueryRow(`SELECT count(*) FROM audit WHERE target LIKE 'l1/%'`).Scan(&count)
	}))
	return count
}

func TestReadShowsWhatTheNodeKeeps(t *testing.T) {
	n := newNode(t)
	doc := n.read(workerAgent).Context
	genesis := Genesis(workerAgent).String()
	require.Equal(t, map[string]any{
		"version":    1.0,
		"updated_at": "2026-01-31T16:00:00.123456Z",
		"identity":   map[string]any{"id": string(workerAgent)},
		"ephemeral": map[string]any{"session_count": 0.0, "integrity": map[string]any{
			"chain_hash": genesis, "previous_hash": genesis, "genesis": genesis}},
		"agent": map[string]any{
			"parent_entity_id": string(leadAgent), "agent_type": "claude-code",
			"capabilities": map[string]any{
				"memory_read":  map[string]any{"layers": []any{}, "groups": []any{}, "visibility": []any{}},
				"memory_write": map[string]any{"layers": []any{}, "groups": []any{}, "visibility": []any{}},
				"tools":        []any{}, "max_parallel_ops": 4.0, "ttl_seconds": 0.0, "autonomous": false,
				"max_delegation_depth": 0.0},
			"event_queue": []any{map[string]any{"event": "memory.written",
				"payload": map[string]any{"item_id": "i", "type": "entity"}, "timestamp": "2026-01-31T16:00:00Z"}},
		},
	}, doc)
	wrong, err := validate("l1", doc)
	require.NoError(t, err)
	require.Empty(t, wrong, "a read is valid by the published schema")
}

func TestEveryViolationIsReported(t *testing.T) {
	n := newNode(t)
	_, err := n.tryWrite(workerAgent, Patch, `{
		"identity":{"api_key":"sk-1","password":"x","key_refs":["ok:ref","NOT A REF"],"orgs":[{"id":"o"}]},
		"active":{"focus":7,"context_bindings":{"/a/b":"Bad Group"}},
		"prefs":{"verbosity":"loud"},
		"agent":{"task":{"progress":1.5,"extra":true},"working_memory":{"anything":{"goes":[1]}}},
		"ephemeral":{"vessel":"x","session_count":99},
		"nonsense":{}
	}`, "")
	found := map[string]string{}
	for _, v := range accesstest.Violations(t, err) {
		found[v.Path] = v.Msg
	}
	require.Equal(t, map[string]string{
		"/identity/api_key":               "is not a known field",
		"/identity/password":              "is not a known field",
		"/identity/key_refs/1":            "must match ^[a-z_]+:[a-z0-9_]+$",
		"/identity/orgs/0/name":           "is missing",
		"/active/focus":                   "must be null or string, not number",
		"/active/context_bindings/~1a~1b": "must match ^[a-z0-9][a-z0-9._-]{0,127}$",
		"/prefs/verbosity":                "must be one of minimal, concise, detailed",
		"/agent/task/progress":            "must be at most 1",
		"/agent/task/extra":               "is not a known field",
		"/ephemeral/vessel":               "is not a known field",
		"/ephemeral/session_count":        "is kept by the node and cannot be written; leave it out",
		"/nonsense":                       "is not a known field",
	}, found)
	require.Equal(t, map[string]any{"id": string(workerAgent)}, n.read(workerAgent).Context["identity"])
}

func TestOptimisticLock(t *testing.T) {
	n := newNode(t)
	read := n.read(workerAgent)
	// The clock stands still and updated_at rises nevertheless.
	second, err := n.tryWrite(workerAgent, Patch, `{"active":{"focus":"a"}}`, read.UpdatedAt)
	require.NoError(t, err)
	require.Greater(t, second.UpdatedAt, read.UpdatedAt)
	_, err = n.tryWrite(workerAgent, Patch, `{"active":{"focus":"b"}}`, read.UpdatedAt)
	require.ErrorIs(t, err, schemas.ErrConflict)
	var e *schemas.Error
	require.True(t, errors.As(err, &e))
	require.Contains(t, e.Expected, second.UpdatedAt)
	require.Contains(t, e.Hint.String(), "memory_read_hot")
	require.Equal(t, "a", n.read(workerAgent).text("active", "focus"))
	n.clock.Move(-time.Hour)
	third := n.write(workerAgent, Patch, `{"active":{"focus":"c"}}`)
	require.Greater(t, third.UpdatedAt, second.UpdatedAt)
	same, err := time.Parse(time.RFC3339Nano, third.UpdatedAt)
	require.NoError(t, err)
	_, err = n.tryWrite(workerAgent, Patch, `{}`, same.In(time.FixedZone("", 7200)).Format(time.RFC3339Nano))
	require.NoError(t, err, "the same moment in another zone")
	stale, err := third.JSON()
	require.NoError(t, err)
	_, err = n.tryWrite(workerAgent, Replace, string(stale), "")
	require.ErrorIs(t, err, schemas.ErrConflict, "what is written back was read before the last write")
	_, err = n.tryWrite(workerAgent, Patch, `{}`, "yesterday")
	require.ErrorIs(t, err, schemas.ErrInvalid)
}

func TestSizes(t *testing.T) {
	n := newNode(t)
	fill := func(bytes int) string {
		return fmt.Sprintf(`{"agent":{"working_memory":{"x":%q}},"active":{"notes":%q}}`, strings.Repeat("x", bytes),
			strings.Repeat("n", 100))
	}
	small := n.write(workerAgent, Patch, fill(SoftLimit-300))
	require.LessOrEqual(t, small.Size, SoftLimit)
	require.Empty(t, small.Warnings)
	large := n.write(workerAgent, Patch, fill(SoftLimit))
	require.Len(t, large.Warnings, 1)
	require.True(t, strings.HasPrefix(large.Warnings[0].String(), "agent holds 160"), large.Warnings[0])
	overhead := large.Size - SoftLimit
	require.Equal(t, Limit, n.write(workerAgent, Patch, fill(Limit-overhead)).Size)
	_, err := n.tryWrite(workerAgent, Patch, fill(Limit-overhead+1), "")
	require.Contains(t, accesstest.Paths(t, err), "/agent")
	require.ErrorContains(t, err, "65537 bytes")
	_, err = NewChange(Replace, make([]byte, inputLimit+1), "")
	require.ErrorIs(t, err, schemas.ErrInvalid)
}

// Who may touch whose context; what one may not see is not there.
func TestWhoseContext(t *testing.T) {
	n := newNode(t)
	nobody := accesstest.Named("nobody")
	before := n.audited()
	for _, c := range []struct {
		as, entity  schemas.EntityID
		read, write *schemas.Error
	}{
		{workerAgent, workerAgent, nil, nil},
		{leadAgent, workerAgent, schemas.ErrNotFound, schemas.ErrNotFound}, // acts as its child instead
		{workerAgent, leadAgent, schemas.ErrNotFound, schemas.ErrNotFound},
		{strangerAgent, workerAgent, schemas.ErrNotFound, schemas.ErrNotFound},
		{workerAgent, person, schemas.ErrNotFound, schemas.ErrNotFound},
		{workerAgent, nobody, schemas.ErrNotFound, schemas.ErrNotFound},
		{person, person, nil, nil},
		{person, workerAgent, nil, schemas.ErrDenied},
		{person, nobody, schemas.ErrNotFound, schemas.ErrNotFound},
	} {
		_, err := n.tryRead(c.as, c.entity)
		if c.read == nil {
			require.NoError(t, err, "%s reads %s", c.as, c.entity)
		} else {
			require.ErrorIs(t, err, c.read, "%s reads %s", c.as, c.entity)
		}
		_, err = n.writeAs(c.as, c.entity, Patch, `{"active":{"focus":"mine"}}`, "")
		if c.write == nil {
			require.NoError(t, err, "%s writes %s", c.as, c.entity)
		} else {
			require.ErrorIs(t, err, c.write, "%s writes %s", c.as, c.entity)
		}
	}
	require.Equal(t, before+2, n.audited(), "each write is on record, and nothing else")
	_, hidden := n.tryRead(workerAgent, strangerAgent)
	_, absent := n.tryRead(workerAgent, nobody)
	require.Equal(t, strings.ReplaceAll(hidden.Error(), string(strangerAgent), string(nobody)), absent.Error())
	n.sql(`DELETE FROM l1 WHERE entity_id = ?`, workerAgent)
	_, gone := n.tryRead(person, workerAgent)
	_, absent = n.tryRead(person, nobody)
	require.Equal(t, strings.ReplaceAll(gone.Error(), string(workerAgent), string(nobody)), absent.Error())
}

func TestZeroGrantOpensNothing(t *testing.T) {
	var g access.Grant
	change, err := NewChange(Patch, []byte(`{}`), "")
	require.NoError(t, err)
	for name, call := range map[string]func() error{
		"Read":         func() error { _, err := Read(g, workerAgent, View{}); return err },
		"Write":        func() error { _, err := Write(g, workerAgent, change, View{}); return err },
		"Verify":       func() error { return Verify(g, workerAgent) },
		"ReadChain":    func() error { _, err := ReadChain(g, workerAgent); return err },
		"StartSession": func() error { _, err := StartSession(g, workerAgent, "", View{}); return err },
		"CheckpointSession": func() error {
			_, err := CheckpointSession(g, workerAgent, "", Note{},
				View{})
			return err
		},
		"EndSession": func() error {
			_, err := EndSession(g, workerAgent, "", Note{},
				View{})
			return err
		},
		"Create":  func() error { return Create(g, workerAgent) },
		"Archive": func() error { _, err := Archive(g, workerAgent, "", View{}); return err },
		"Restore": func() error { return Restore(g, workerAgent) },
		"Delete":  func() error { return Delete(g, workerAgent) },
	} {
		require.Error(t, call(), name)
	}
}

// A write is arbitrary bytes from a model.
func FuzzNewChange(f *testing.F) {
	f.Add([]byte(`{"active":{"focus":null}}`), "2026-01-31T16:00:00.123456Z")
	f.Add([]byte(`{"a":1,"a":2}`), "")
	f.Fuzz(func(t *testing.T, data []byte, expected string) {
		c, err := NewChange(Patch, data, expected)
		if err != nil {
			require.ErrorIs(t, err, schemas.ErrInvalid)
			return
		}
		r := &row{entity: workerAgent, own: map[string]any{}, chain: Genesis(workerAgent),
			previous: Genesis(workerAgent)}
		require.NoError(t, r.set(r.own, nil))
		if err := r.change(c, View{}); err != nil {
			require.ErrorIs(t, err, schemas.ErrInvalid)
			return
		}
		var stored map[string]any
		require.NoError(t, json.Unmarshal(r.raw, &stored))
		require.Equal(t, r.own, stored)
		require.Empty(t, touched(map[string]any{}, stored, true), "a node-owned field was stored")
	})
}
