package work

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// A family: ann, with lead and solo below her; lead has a and b, a has kid. Bea is
// another person, with eve. The group team holds lead, a and b, and solo looks on.
var (
	ann, bea                      = schemas.EntityID("ann"), schemas.EntityID("bea")
	lead, solo, a, b, kid         = named("lead"), named("solo"), named("a"), named("b"), named("kid")
	eve                           = named("eve")
	everything                    = []string{"task_claim", "task_report", "task_submit", "shell"}
	noReview              Review  = func(access.Grant, schemas.EntityID, string) (bool, error) { return false, nil }
	asTheyAre             Arrange = func(_ access.Grant, _ schemas.GroupID, d []Draft) ([]Draft, error) { return d, nil }
	reviewed              Review  = func(access.Grant, schemas.EntityID, string) (bool, error) { return true, nil }
)

func named(name string) schemas.EntityID {
	return schemas.EntityID(fmt.Sprintf("%x", sha256.Sum256([]byte(name))))
}

type clock struct{ micros int64 }

func (c *clock) Now() time.Time       { return time.UnixMicro(c.micros).UTC() }
func (c *clock) move(d time.Duration) { c.micros += d.Microseconds() }

// node is a real store behind a real Authorizer.
type node struct {
	testing.TB
	path  string
	store *store.Store
	auth  *access.Authorizer
	clock *clock
}

func newNode(t testing.TB) *node {
	n := openNode(t, filepath.Join(t.TempDir(), "n.db"), &clock{time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC).UnixMicro()})
	for _, h := range []schemas.EntityID{ann, bea} {
		n.sql(`INSERT INTO entities(id, kind, root_id, depth, name, display_name, public_key, enc_public_key, enc_binding, status, status_by, status_at, created_at)
			VALUES (?1, 'human', ?1, 0, ?1, ?1, x'00', x'00', x'00', 'active', 'node', 0, 0)`, h)
	}
	for _, e := range []struct {
		id, parent, root schemas.EntityID
		name             string
	}{{lead, ann, ann, "lead"}, {solo, ann, ann, "solo"}, {a, lead, ann, "a"}, {b, lead, ann, "b"}, {kid, a, ann, "kid"}, {eve, bea, bea, "eve"}} {
		n.sql(`INSERT INTO entities(id, kind, parent_id, root_id, depth, agent_type, name, display_name, public_key, enc_public_key, enc_binding, capabilities, status, status_by, status_at, created_at)
			VALUES (?1, 'agent', ?2, ?3, 1, 'claude-code', ?4, ?4, x'00', x'00', x'00', '{}', 'active', 'node', 0, 0)`, e.id, e.parent, e.root, e.name)
		n.may(e.id, 50, everything...)
	}
	n.sql(`INSERT INTO groups(id, kind, owner_id, culture, created_at) VALUES ('team', 'normal', ?, '{"broadcast_eagerness":"chatty"}', 0)`, lead)
	for id, role := range map[schemas.EntityID]string{lead: "owner", a: "member", b: "member", solo: "viewer"} {
		n.sql(`INSERT INTO members(group_id, entity_id, role, added_by, joined_at) VALUES ('team', ?, ?, 'node', 0)`, id, role)
	}
	return n
}

func openNode(t testing.TB, path string, c store.Clock) *node {
	st, err := store.Open(t.Context(), store.Options{Path: path, Durability: store.Relaxed, Clock: c})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	n := &node{TB: t, path: path, store: st,
		auth: access.New(st, access.Config{Presence: 10 * 365 * 24 * time.Hour, Seen: Seen, RefusedPerMinute: 1 << 30, FailedPerMinute: 1 << 30})}
	n.clock, _ = c.(*clock)
	return n
}

// may sets what an agent may do, and how much at once.
func (n *node) may(id schemas.EntityID, parallel int, tools ...string) {
	n.Helper()
	scope := schemas.MemoryScope{Layers: []schemas.Layer{schemas.L1, schemas.L2}, Groups: []string{"*"},
		Visibility: []schemas.Visibility{schemas.Private, schemas.Group}}
	caps, err := json.Marshal(schemas.Capabilities{MemoryRead: scope, MemoryWrite: scope, Tools: tools, MaxParallelOps: parallel, Autonomous: true})
	require.NoError(n, err)
	n.sql(`UPDATE entities SET capabilities = ? WHERE id = ?`, string(caps), id)
	require.NoError(n, n.store.Write(context.Background(), access.BumpEpoch))
}

// sql changes the database behind the node's back.
func (n *node) sql(query string, args ...any) {
	n.Helper()
	require.NoError(n, n.store.Write(context.Background(), func(tx *store.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	}))
}

// one reads one value.
func (n *node) one(query string, args ...any) (v int64) {
	n.Helper()
	require.NoError(n, n.store.Read(context.Background(), func(tx *store.Tx) error { return tx.QueryRow(query, args...).Scan(&v) }))
	return v
}

func (n *node) do(who schemas.EntityID, f func(access.Grant) error) error {
	p := access.Principal{Entity: who, Method: access.ByKey, KeySeq: 1}
	switch {
	case who == access.NodeEntity:
		p = access.Principal{Method: access.ByNode}
	case !schemas.IsAgentID(string(who)):
		p.Method = access.ByHuman
	}
	return n.auth.Do(context.Background(), p, access.Op{Tool: "task_claim", Effect: access.Write}, f)
}

func (n *node) must(who schemas.EntityID, f func(access.Grant) error) {
	n.Helper()
	require.NoError(n, n.do(who, f))
}

func (n *node) trySubmit(who schemas.EntityID, group schemas.GroupID, drafts ...Draft) (task string, ids []string, err error) {
	s, err := NewSubmission(group, drafts, everything)
	if err != nil {
		return "", nil, err
	}
	return task, ids, n.do(who, func(g access.Grant) error {
		var items []Submitted
		task, items, err = Submit(g, s, asTheyAre)
		for _, i := range items {
			ids = append(ids, i.WorkID)
		}
		return err
	})
}

func (n *node) submit(who schemas.EntityID, group schemas.GroupID, drafts ...Draft) (task string, ids []string) {
	n.Helper()
	task, ids, err := n.trySubmit(who, group, drafts...)
	require.NoError(n, err)
	return task, ids
}

func (n *node) tryClaim(who schemas.EntityID, lease time.Duration) (c Claimed, ok bool, err error) {
	err = n.do(who, func(g access.Grant) (err error) {
		c, ok, err = Claim(g, "", lease)
		return err
	})
	return c, ok, err
}

func (n *node) claim(who schemas.EntityID) Claimed {
	n.Helper()
	c, ok, err := n.tryClaim(who, time.Minute)
	require.NoError(n, err)
	require.True(n, ok, "there is nothing to claim")
	return c
}

func (n *node) none(who schemas.EntityID) {
	n.Helper()
	c, ok, err := n.tryClaim(who, time.Minute)
	require.NoError(n, err)
	require.False(n, ok, "%s was claimed", c.Intent)
}

func (n *node) tryReport(who schemas.EntityID, c Claimed, o Outcome, result string, review Review) (rec Receipt, err error) {
	p, err := NewReport(c.WorkID, c.Fence, o, json.RawMessage(result), nil, "a note")
	require.NoError(n, err)
	err = n.do(who, func(g access.Grant) (err error) {
		rec, err = File(g, p, review)
		return err
	})
	return rec, err
}

func (n *node) report(who schemas.EntityID, c Claimed, o Outcome, result string) Receipt {
	n.Helper()
	rec, err := n.tryReport(who, c, o, result, noReview)
	require.NoError(n, err)
	return rec
}

func (n *node) status(who schemas.EntityID, id string) (s Status) {
	n.Helper()
	n.must(who, func(g access.Grant) (err error) {
		s, err = Show(g, id, true)
		return err
	})
	return s
}

func (n *node) state(id string) schemas.WorkState { n.Helper(); return n.status(ann, id).State }

func todo(intent string) Draft { return Draft{Intent: intent} }
