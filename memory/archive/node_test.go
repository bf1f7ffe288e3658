package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/memory"
	"cordelia/schemas"
)

// Two families that do not know of each other: russell with lead, ada and bob
// below lead, and mallory with eve.
const (
	russell schemas.EntityID = "russell_wing"
	mallory schemas.EntityID = "mallory_moss"
)

var (
	lead = agentID("lead")
	ada  = agentID("ada")
	bob  = agentID("bob")
	eve  = agentID("eve")
)

func agentID(name string) schemas.EntityID {
	sum := sha256.Sum256([]byte(name))
	return schemas.EntityID(hex.EncodeToString(sum[:]))
}

// clock stands still until it is moved.
type clock struct{ micros atomic.Int64 }

func (c *clock) Now() time.Time       { return time.UnixMicro(c.micros.Load()).UTC() }
func (c *clock) move(d time.Duration) { c.micros.Add(d.Microseconds()) }

// testNode is a real store behind a real Authorizer.
type testNode struct {
	t     testing.TB
	store *store.Store
	auth  *access.Authorizer
	clock *clock
}

func newNode(t testing.TB) *testNode {
	t.Helper()
	n := &testNode{t: t, clock: &clock{}}
	n.clock.micros.Store(time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC).UnixMicro())
	var err error
	n.store, err = store.Open(context.Background(), store.Options{Path: filepath.Join(t.TempDir(), "cordelia.db"),
		Durability: store.Relaxed, Clock: n.clock})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.store.Close()) })
	n.auth = access.New(n.store, access.Config{Presence: 10 * 365 * 24 * time.Hour, RefusedPerMinute: 1 << 30,
		FailedPerMinute: 1 << 30})
	for _, h := range []schemas.EntityID{russell, mallory} {
		n.sql(`INSERT INTO entities(id, kind, root_id, depth, name, display_name, public_key, enc_public_key,
			enc_binding, status, status_by, status_at, created_at, last_seen_at)
			VALUES (?1, 'human', ?1, 0, ?1, ?1, x'00', x'00', x'00', 'active', 'node', 0, 0, 0)`, h)
	}
	for _, a := range []struct {
		id, parent, root schemas.EntityID
		name             string
	}{{lead, russell, russell, "lead"}, {ada, lead, russell, "ada"}, {bob, lead, russell, "bob"},
		{eve, mallory, mallory, "eve"}} {
		n.sql(`INSERT INTO entities(id, kind, parent_id, root_id, depth, agent_type, name, display_name, public_key,
			enc_public_key, enc_binding, capabilities, status, status_by, status_at, created_at, last_seen_at)
			VALUES (?, 'agent', ?, ?, 1, 'claude-code', ?, ?, x'00', x'00', x'00', ?, 'active', 'node', 0, 0,
			0)`, a.id, a.parent, a.root, a.name, a.name, capabilities)
	}
	return n
}

const capabilities = `{"memory_read":{"layers":["l1","l2"],"groups":["*"],"visibility":["private","group","public"]},
	"memory_write":{"layers":["l1","l2"],"groups":["*"],"visibility":["private","group"]},
	"tools":["t","memory_group","task_submit"],"max_parallel_ops":8,"ttl_seconds":0,"autonomous":true,
	"max_delegation_depth":4}`

// sql changes the database behind the node's back.
func (n *testNode) sql(query string, args ...any) {
	n.t.Helper()
	require.NoError(n.t, n.store.Write(context.Background(), func(tx *store.Tx) error {
		if err := tx.Act(store.AnyOwner); err != nil {
			return err
		}
		_, err := tx.Exec(query, args...)
		return err
	}))
}

// one reads one value.
func (n *testNode) one(query string, args ...any) (v string) {
	n.t.Helper()
	require.NoError(n.t, n.store.Read(context.Background(),
		func(tx *store.Tx) error { return tx.QueryRow(query, args...).Scan(&v) }))
	return v
}

func (n *testNode) do(who schemas.EntityID, effect access.Effect, f func(access.Grant) error) error {
	p := access.Principal{Entity: who, Method: access.ByKey, KeySeq: 1, Session: "session-of-" + string(who)[:4]}
	if !schemas.IsAgentID(string(who)) {
		p.Method = access.ByHuman
	}
	if who == access.NodeEntity {
		p = access.Principal{Method: access.ByNode}
	}
	return n.auth.Do(context.Background(), p, access.Op{Tool: "t", Effect: effect}, f)
}

func (n *testNode) write(who schemas.EntityID, w memory.Write) (out memory.Written) {
	n.t.Helper()
	d, err := memory.Prepare(w, who, nil)
	require.NoError(n.t, err)
	require.NoError(n.t, n.do(who, access.Write, func(g access.Grant) (err error) {
		out, err = memory.Put(g, d)
		return err
	}))
	return out
}

func (n *testNode) read(who schemas.EntityID, id schemas.ItemID) memory.Item {
	n.t.Helper()
	var items []memory.Item
	require.NoError(n.t, n.do(who, access.Read, func(g access.Grant) (err error) {
		items, err = memory.Get(g, []schemas.ItemID{id})
		return err
	}))
	require.Len(n.t, items, 1)
	return items[0]
}

func (n *testNode) trySearch(who schemas.EntityID, s memory.Search) (f memory.Found, err error) {
	q, err := memory.NewQuery(s)
	require.NoError(n.t, err)
	err = n.do(who, access.Read, func(g access.Grant) (err error) { f, err = memory.Find(g, q); return err })
	return f, err
}

func (n *testNode) search(who schemas.EntityID, text string) memory.Found {
	n.t.Helper()
	f, err := n.trySearch(who, memory.Search{Text: text})
	require.NoError(n.t, err)
	return f
}

// group makes a group of owner's, with members who accepted.
func (n *testNode) group(id schemas.GroupID, owner schemas.EntityID, culture memory.CulturePatch,
	members ...schemas.EntityID) {
	n.t.Helper()
	require.NoError(n.t, n.do(owner, access.Write, func(g access.Grant) error {
		return memory.CreateGroup(g, memory.NewGroup{ID: id, Culture: culture})
	}))
	for _, m := range members {
		n.sql(`INSERT INTO members(group_id, entity_id, role, added_by, joined_at) VALUES (?, ?, 'member', ?, 0)`,
			id, m, owner)
		n.sql(`UPDATE counters SET value = value + 1 WHERE name = 'epoch'`)
	}
}

func (n *testNode) share(who schemas.EntityID, id schemas.ItemID, group schemas.GroupID) (w memory.Written, err error) {
	err = n.do(who, access.Write, func(g access.Grant) error {
		w, err = memory.Share(g, id, group)
		return err
	})
	return w, err
}

func (n *testNode) remove(who schemas.EntityID, id schemas.ItemID, how memory.Deletion) error {
	return n.do(who, access.Destroy, func(g access.Grant) error {
		_, err := memory.Remove(g, id, how)
		return err
	})
}

func learning(content string) memory.Write {
	return memory.Write{Type: memory.LearningItem,
		Data: json.RawMessage(fmt.Sprintf(`{"type":"insight","content":%q}`, content))}
}

func inGroup(w memory.Write, g schemas.GroupID) memory.Write { w.Group = g; return w }

func ptr[T any](v T) *T { return &v }
