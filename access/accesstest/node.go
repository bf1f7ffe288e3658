package accesstest

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
	"cordelia/internal/store/storetest"
	"cordelia/schemas"
)

// Clock stands still until it is moved. One goroutine uses it at a time.
type Clock struct{ Micros int64 } // UTC

func (c *Clock) Now() time.Time       { return time.UnixMicro(c.Micros).UTC() }
func (c *Clock) Move(d time.Duration) { c.Micros += d.Microseconds() }

// Node is a store and the door to it.
type Node struct {
	testing.TB
	Path  string // of the database
	Store *store.Store
	Auth  *access.Authorizer
	Clock *Clock
}

// New is an empty node, at nine in the morning.
func New(t testing.TB, cfg access.Config) *Node {
	nine := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	return Open(t, filepath.Join(t.TempDir(), "n.db"), &Clock{nine.UnixMicro()}, cfg)
}

// Open opens the node at path once more, as another process would. There the person counts as
// present.
func Open(t testing.TB, path string, c *Clock, cfg access.Config) *Node {
	t.Helper()
	st, err := store.Open(t.Context(), storetest.Options(t,
		store.Options{Path: path, Durability: store.Relaxed, Clock: c}))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	cfg.Presence = 10 * 365 * 24 * time.Hour
	return &Node{TB: t, Path: path, Store: st, Auth: access.New(st, cfg), Clock: c}
}

// Named is the id of an agent of that name.
func Named(name string) schemas.EntityID {
	return schemas.EntityID(fmt.Sprintf("%x", sha256.Sum256([]byte(name))))
}

// SQL changes the database.
func (n *Node) SQL(query string, args ...any) {
	n.Helper()
	require.NoError(n, n.Store.Write(context.Background(), func(tx *store.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	}))
}

// One reads one value.
func One[V any](n *Node, query string, args ...any) (v V) {
	n.Helper()
	require.NoError(n, n.Store.Read(context.Background(),
		func(tx *store.Tx) error { return tx.QueryRow(query, args...).Scan(&v) }))
	return v
}

// Person adds a person.
func (n *Node) Person(id schemas.EntityID) {
	n.Helper()
	n.SQL(`INSERT INTO entities(id, kind, root_id, depth, name, display_name, public_key, enc_public_key, enc_binding,
		status, status_by, status_at, created_at)
		VALUES (?1, 'human', ?1, 0, ?1, ?1, x'00', x'00', x'00', 'active', 'node', 0, 0)`, id)
}

// Agent adds an active agent, which may nothing yet.
func (n *Node) Agent(id, parent, root schemas.EntityID, kind schemas.AgentType, name string) {
	n.Helper()
	n.SQL(`INSERT INTO entities(id, kind, parent_id, root_id, depth, agent_type, name, display_name, public_key,
		enc_public_key, enc_binding, capabilities, status, status_by, status_at, created_at)
		VALUES (?1, 'agent', ?2, ?3, 1, ?4, ?5, ?5, x'00', x'00', x'00', '{}', 'active', 'node', 0,
		0)`, id, parent, root, kind, name)
}

// May sets what an agent may do, and how much at once. All memory is open to it that can
// be.
func (n *Node) May(id schemas.EntityID, parallel int, tools ...string) {
	n.Helper()
	writes := schemas.MemoryScope{Layers: []schemas.Layer{schemas.L1, schemas.L2}, Groups: []string{"*"},
		Visibility: []schemas.Visibility{schemas.Private, schemas.Group}}
	reads := writes
	reads.Visibility = append(reads.Visibility, schemas.Public)
	caps, err := json.Marshal(schemas.Capabilities{MemoryRead: reads, MemoryWrite: writes, Tools: tools,
		MaxParallelOps: parallel, Autonomous: true})
	require.NoError(n, err)
	n.SQL(`UPDATE entities SET capabilities = ? WHERE id = ?`, string(caps), id)
	require.NoError(n, n.Store.Write(context.Background(), access.BumpEpoch))
}

// Group adds a group that talks of all that happens in it.
func (n *Node) Group(id schemas.GroupID, owner schemas.EntityID, members ...schemas.EntityID) {
	n.Helper()
	n.SQL(`INSERT INTO groups(id, kind, owner_id, culture, created_at)
		VALUES (?, 'normal', ?, '{"broadcast_eagerness":"chatty"}', 0)`, id, owner)
	n.Join(id, owner, "owner")
	for _, m := range members {
		n.Join(id, m, "member")
	}
}

// Join adds a member to a group.
func (n *Node) Join(group schemas.GroupID, who schemas.EntityID, role string) {
	n.Helper()
	n.SQL(`INSERT INTO members(group_id, entity_id, role, added_by, joined_at) VALUES (?, ?, ?, 'node', 0)`, group, who,
		role)
}

// Do runs f as who: the node, a person by hand, or an agent with its key.
func (n *Node) Do(who schemas.EntityID, tool string, effect access.Effect, f func(access.Grant) error) error {
	return n.DoOp(who, access.Op{Tool: tool, Effect: effect}, f)
}

// DoOp is Do of an operation.
func (n *Node) DoOp(who schemas.EntityID, op access.Op, f func(access.Grant) error) error {
	p := access.Principal{Entity: who, Method: access.ByKey, KeySeq: 1}
	switch {
	case who == access.NodeEntity:
		p = access.Principal{Method: access.ByNode}
	case !schemas.IsAgentID(string(who)):
		p.Method = access.ByHuman
	}
	return n.Auth.Do(context.Background(), p, op, f)
}

// Violations gives what an answer to invalid input lists as wrong.
func Violations(t *testing.T, err error) []schemas.Violation {
	t.Helper()
	var e *schemas.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, schemas.CodeInvalid, e.Code)
	return e.Violations
}

// Paths gives the paths of Violations.
func Paths(t *testing.T, err error) (paths []string) {
	t.Helper()
	for _, v := range Violations(t, err) {
		paths = append(paths, v.Path)
	}
	return paths
}
