package trust

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
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// A family: ann, with lead and solo below her; lead has work and mate, work has
// kid. Bea is another person, with eve.
var (
	ann, bea                    = schemas.EntityID("ann"), schemas.EntityID("bea")
	lead, solo, work, mate, kid = named("lead"), named("solo"), named("work"), named("mate"), named("kid")
	eve, other                  = named("eve"), named("other")
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
	for _, a := range []struct{ id, parent, root schemas.EntityID }{
		{lead, ann, ann}, {solo, ann, ann}, {other, ann, ann}, {work, lead, ann}, {mate, lead, ann}, {kid, work, ann}, {eve, bea, bea},
	} {
		n.agent(a.id, a.parent, a.root, schemas.ClaudeCode)
	}
	return n
}

func openNode(t testing.TB, path string, c *clock) *node {
	st, err := store.Open(t.Context(), store.Options{Path: path, Durability: store.Relaxed, Clock: c})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	auth := access.New(st, access.Config{Presence: 10 * 365 * 24 * time.Hour, TiersOf: TiersOf})
	return &node{TB: t, path: path, store: st, auth: auth, clock: c}
}

var scope = schemas.MemoryScope{Layers: []schemas.Layer{schemas.L1, schemas.L2}, Groups: []string{"*"},
	Visibility: []schemas.Visibility{schemas.Private, schemas.Group, schemas.Public}}

func (n *node) agent(id, parent, root schemas.EntityID, kind schemas.AgentType) {
	n.Helper()
	writable := scope
	writable.Visibility = []schemas.Visibility{schemas.Private, schemas.Group}
	caps, err := json.Marshal(schemas.Capabilities{MemoryRead: scope, MemoryWrite: writable, Tools: []string{"t"}, MaxParallelOps: 8, Autonomous: true})
	require.NoError(n, err)
	n.sql(`INSERT INTO entities(id, kind, parent_id, root_id, depth, agent_type, name, display_name, public_key, enc_public_key, enc_binding, capabilities, status, status_by, status_at, created_at)
		VALUES (?1, 'agent', ?2, ?3, 1, ?4, ?1, ?1, x'00', x'00', x'00', ?5, 'active', 'node', 0, 0)`, id, parent, root, kind, string(caps))
}

// sql changes the database behind the node's back.
func (n *node) sql(query string, args ...any) {
	n.Helper()
	require.NoError(n, n.store.Write(context.Background(), func(tx *store.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	}))
}

func (n *node) group(id schemas.GroupID, owner schemas.EntityID, members ...schemas.EntityID) {
	n.sql(`INSERT INTO groups(id, kind, owner_id, created_at) VALUES (?, 'normal', ?, 0)`, id, owner)
	for _, m := range append(members, owner) {
		role := "member"
		if m == owner {
			role = "owner"
		}
		n.sql(`INSERT INTO members(group_id, entity_id, role, added_by, joined_at) VALUES (?, ?, ?, 'node', 0)`, id, m, role)
	}
}

func (n *node) do(who schemas.EntityID, effect access.Effect, f func(access.Grant) error) error {
	p := access.Principal{Entity: who, Method: access.ByKey, KeySeq: 1}
	switch {
	case who == access.NodeEntity:
		p = access.Principal{Method: access.ByNode}
	case !schemas.IsAgentID(string(who)):
		p.Method = access.ByHuman
	}
	return n.auth.Do(context.Background(), p, access.Op{Tool: "t", Effect: effect}, f)
}

// wrote is an item of the author's own; its number is its id.
func wrote(author schemas.EntityID, item int) Memory {
	return Memory{ID: schemas.ItemID(fmt.Sprintf("item-%d", item)), Version: 1, ContentHash: []byte{byte(item)}, Author: author,
		Owner: author, Visibility: schemas.Private}
}

func (n *node) assess(who schemas.EntityID, v Verdict) (out Given) {
	n.Helper()
	require.NoError(n, n.do(who, access.Write, func(g access.Grant) (err error) {
		out, err = Assess(g, v)
		return err
	}))
	return out
}

func (n *node) standing(of schemas.EntityID) (s Standing) {
	n.Helper()
	require.NoError(n, n.do(of, access.Read, func(g access.Grant) (err error) {
		s, err = Read(g, "")
		return err
	}))
	return s
}

func (n *node) score(of schemas.EntityID) Score { n.Helper(); return n.standing(of).Score }

func (n *node) verify() error {
	return n.store.Read(context.Background(), func(tx *store.Tx) error {
		_, err := Verify(tx)
		return err
	})
}

// one reads one value.
func (n *node) one(query string, args ...any) (v int64) {
	n.Helper()
	require.NoError(n, n.store.Read(context.Background(), func(tx *store.Tx) error { return tx.QueryRow(query, args...).Scan(&v) }))
	return v
}

// heard lists the trust events in an entity's stream.
func (n *node) heard(who schemas.EntityID) (payloads []string) {
	n.Helper()
	require.NoError(n, n.store.Read(context.Background(), func(tx *store.Tx) error {
		rows, err := tx.Query(`SELECT source, payload FROM events WHERE stream = ? AND type = 'trust.score_changed' ORDER BY seq`, events.EntityStream(who))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var source, payload string
			if err := rows.Scan(&source, &payload); err != nil {
				return err
			}
			payloads = append(payloads, source+" "+payload)
		}
		return rows.Err()
	}))
	return payloads
}
