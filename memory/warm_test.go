package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/access/accesstest"
	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
	"cordelia/schemas"
)

// Two families that do not know of each other: russell with lead, ada and bob
// below lead, and mallory with eve.
const (
	russell schemas.EntityID = "russell_wing"
	mallory schemas.EntityID = "mallory_moss"
)

var (
	lead = accesstest.Named("l2-lead")
	ada  = accesstest.Named("l2-ada")
	bob  = accesstest.Named("l2-bob")
	eve  = accesstest.Named("l2-eve")
)

// warmClock stands still until it is moved.
type warmClock struct{ micros atomic.Int64 }

func (c *warmClock) Now() time.Time       { return time.UnixMicro(c.micros.Load()).UTC() }
func (c *warmClock) move(d time.Duration) { c.micros.Add(d.Microseconds()) }

// warmNode is a real store behind a real Authorizer.
type warmNode struct {
	t       testing.TB
	store   *store.Store
	auth    *access.Authorizer
	clock   *warmClock
	options store.Options // it was opened with
}

func newWarmNode(t testing.TB) *warmNode {
	t.Helper()
	n := &warmNode{t: t, clock: &warmClock{}}
	n.clock.micros.Store(time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC).UnixMicro())
	var err error
	n.options = storetest.Options(t, store.Options{Path: filepath.Join(t.TempDir(), "cordelia.db"),
		Durability: store.Relaxed, Clock: n.clock})
	n.store, err = store.Open(context.Background(), n.options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.store.Close()) })
	n.auth = access.New(n.store, access.Config{Presence: 10 * 365 * 24 * time.Hour, RefusedPerMinute: 1 << 30,
		FailedPerMinute: 1 << 30})
	for _, h := range []schemas.EntityID{russell, mallory} {
		n.sql(`INSERT INTO entities(id, kind, root_id, depth, name, display_name, public_key, enc_public_key,
			enc_binding, status, status_by, status_at, created_at, last_seen_at)
			VALUES (?1, 'human', ?1, 0, ?1, ?1, x'00', x'00', x'00', 'active', 'node', 0, 0, 0)`, h)
	}
	n.agent(lead, russell, russell, "lead", "*")
	n.agent(ada, lead, russell, "ada", "*")
	n.agent(bob, lead, russell, "bob", "team*")
	n.agent(eve, mallory, mallory, "eve", "*")
	return n
}

func (n *warmNode) agent(id, parent, root schemas.EntityID, name, groups string) {
	caps := fmt.Sprintf(`{"memory_read":{"layers":["l1","l2"],"groups":[%[1]q],"visibility":["private","group","public"]},`+
		`"memory_write":{"layers":["l1","l2"],"groups":[%[1]q],"visibility":["private","group"]},`+
		`"tools":["t","memory_group"],"max_parallel_ops":8,"ttl_seconds":0,"autonomous":true,"max_delegation_depth":4}`,
		groups)
	n.sql(`INSERT INTO entities(id, kind, parent_id, root_id, depth, agent_type, name, display_name, public_key,
		enc_public_key, enc_binding, capabilities, status, status_by, status_at, created_at, last_seen_at)
		VALUES (?, 'agent', ?, ?, 1, 'claude-code', ?, ?, x'00', x'00', x'00', ?, 'active', 'node', 0, 0,
		0)`, id, parent, root, name, name, caps)
}

// sql changes the database behind the node's back.
func (n *warmNode) sql(query string, args ...any) {
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
func (n *warmNode) one(query string, args ...any) (v string) {
	n.t.Helper()
	require.NoError(n.t, n.store.Read(context.Background(),
		func(tx *store.Tx) error { return tx.QueryRow(query, args...).Scan(&v) }))
	return v
}

func (n *warmNode) principal(who schemas.EntityID) access.Principal {
	p := access.Principal{Entity: who, Method: access.ByKey, KeySeq: 1, Session: "session-of-" + string(who)[:4]}
	if !schemas.IsAgentID(string(who)) {
		p.Method = access.ByHuman
	}
	if who == access.NodeEntity {
		p = access.Principal{Method: access.ByNode}
	}
	return p
}

func (n *warmNode) do(who schemas.EntityID, effect access.Effect, f func(access.Grant) error) error {
	return n.auth.Do(context.Background(), n.principal(who), access.Op{Tool: "t", Effect: effect}, f)
}

func (n *warmNode) tryWrite(who schemas.EntityID, w Write) (out Written, err error) {
	d, err := Prepare(w, who, nil)
	if err != nil {
		return out, err
	}
	err = n.do(who, access.Write, func(g access.Grant) error {
		out, err = Put(g, d)
		return err
	})
	return out, err
}

func (n *warmNode) write(who schemas.EntityID, w Write) Written {
	n.t.Helper()
	out, err := n.tryWrite(who, w)
	require.NoError(n.t, err)
	return out
}

func (n *warmNode) tryRead(who schemas.EntityID, ids ...schemas.ItemID) (items []Item, err error) {
	err = n.do(who, access.Read, func(g access.Grant) error {
		items, err = Get(g, ids)
		return err
	})
	return items, err
}

func (n *warmNode) read(who schemas.EntityID, id schemas.ItemID) Item {
	n.t.Helper()
	items, err := n.tryRead(who, id)
	require.NoError(n.t, err)
	return items[0]
}

func (n *warmNode) trySearch(who schemas.EntityID, s Search) (f Found, err error) {
	q, err := NewQuery(s)
	if err != nil {
		return f, err
	}
	err = n.do(who, access.Read, func(g access.Grant) error {
		f, err = Find(g, q)
		return err
	})
	return f, err
}

func (n *warmNode) search(who schemas.EntityID, text string) Found {
	n.t.Helper()
	f, err := n.trySearch(who, Search{Text: text})
	require.NoError(n.t, err)
	return f
}

// meet lets who name others, as long as it is not parted: they share a group.
func (n *warmNode) meet(who schemas.EntityID, others ...schemas.EntityID) (part func()) {
	n.t.Helper()
	n.sql(`INSERT INTO groups(id, kind, owner_id, created_at) VALUES ('meeting', 'normal', ?, 0)`, who)
	for _, id := range append(others, who) {
		n.sql(`INSERT INTO members(group_id, entity_id, role, added_by, joined_at)
			VALUES ('meeting', ?, 'member', ?, 0) ON CONFLICT DO NOTHING`, id, who)
	}
	return func() {
		n.sql(`DELETE FROM members WHERE group_id = 'meeting'`)
		n.sql(`DELETE FROM groups WHERE id = 'meeting'`)
	}
}

// group makes a group of owner's with members.
func (n *warmNode) group(id schemas.GroupID, owner schemas.EntityID, culture CulturePatch,
	members ...schemas.EntityID) {
	n.t.Helper()
	defer n.meet(owner, members...)()
	require.NoError(n.t, n.do(owner, access.Write, func(g access.Grant) error {
		return CreateGroup(g, NewGroup{ID: id, Culture: culture})
	}))
	for _, m := range members {
		require.NoError(n.t, n.enter(owner, id, m, access.RoleMember))
	}
}

// enter adds a member and, if that is an invitation, has the person above it accept.
func (n *warmNode) enter(by schemas.EntityID, id schemas.GroupID, member schemas.EntityID, role Role) error {
	n.t.Helper()
	var added Added
	if err := n.do(by, access.Destroy, func(g access.Grant) (err error) {
		added, err = AddMember(g, id, string(member), role)
		return err
	}); err != nil || added.Invitation == "" {
		return err
	}
	return n.answer(schemas.EntityID(n.one(`SELECT root_id FROM entities WHERE id = ?`, member)), added.Invitation,
		Invitation.Accept)
}

// answer decides an invitation.
func (n *warmNode) answer(by schemas.EntityID, invitation string, decide func(Invitation, access.Grant) error) error {
	return n.do(by, access.Destroy, func(g access.Grant) error {
		i, err := ReadInvitation(g, invitation)
		if err != nil {
			return err
		}
		return decide(i, g)
	})
}

func learning(content string) Write {
	return Write{Type: LearningItem, Data: json.RawMessage(fmt.Sprintf(`{"type":"insight","content":%q}`, content))}
}

func inGroup(w Write, g schemas.GroupID) Write { w.Group = g; return w }

func idsOf(f Found) []schemas.ItemID {
	ids := []schemas.ItemID{}
	for _, h := range f.Hits {
		ids = append(ids, h.ID)
	}
	return ids
}

func ptr[T any](v T) *T { return &v }

func TestWrittenIsFoundAndRead(t *testing.T) {
	n := newWarmNode(t)
	w := n.write(ada, learning("The staging deploy needs the VPN to be up before kubectl works."))
	require.Equal(t, StatusNew, w.Status)
	f := n.search(ada, "what does kubectl need before deploying?")
	require.Equal(t, []schemas.ItemID{w.ID}, idsOf(f))
	require.Contains(t, f.Hits[0].Why, "kubectl")
	item := n.read(ada, w.ID)
	require.Equal(t, ada, item.Provenance.Author)
	require.Equal(t, FromAgent, item.Provenance.Source)
	require.Equal(t, 1, item.Version)
	require.JSONEq(t, `{"type":"insight","content":"The staging deploy needs the VPN to be up before kubectl works."}`,
		string(item.Data))
	require.Empty(t, idsOf(n.search(bob, "kubectl VPN")), "a sibling's private item")
	require.Equal(t, w.ID, n.read(russell, w.ID).ID, "a person reads their tree")
}
