package trust

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/access/accesstest"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// A family: ann, with lead and solo below her; lead has work and mate, work has
// kid. Bea is another person, with eve.
var (
	ann, bea                    = schemas.EntityID("ann"), schemas.EntityID("bea")
	lead, solo, work, mate, kid = accesstest.Named("lead"), accesstest.Named("solo"), accesstest.Named(
		"work"), accesstest.Named("mate"), accesstest.Named("kid")
	eve, other = accesstest.Named("eve"), accesstest.Named("other")
)

// node is a node with the family.
type node struct{ *accesstest.Node }

func newNode(t testing.TB) *node {
	n := &node{accesstest.New(t, access.Config{TiersOf: TiersOf})}
	n.Person(ann)
	n.Person(bea)
	for _, a := range []struct{ id, parent, root schemas.EntityID }{
		{lead, ann, ann}, {solo, ann, ann}, {other, ann, ann}, {work, lead, ann}, {mate, lead, ann}, {kid, work, ann},
		{eve, bea, bea},
	} {
		n.agent(a.id, a.parent, a.root, schemas.ClaudeCode)
	}
	return n
}

// twin is one more process's view of the node.
func (n *node) twin() *node {
	return &node{accesstest.Open(n, n.Path, n.Clock, access.Config{TiersOf: TiersOf})}
}

func (n *node) agent(id, parent, root schemas.EntityID, kind schemas.AgentType) {
	n.Helper()
	n.Agent(id, parent, root, kind, string(id))
	n.May(id, 8, "t")
}

func (n *node) do(who schemas.EntityID, effect access.Effect, f func(access.Grant) error) error {
	return n.Do(who, "t", effect, f)
}

// wrote is an item of the author's own; its number is its id.
func wrote(author schemas.EntityID, item int) Memory {
	return Memory{ID: schemas.ItemID(fmt.Sprintf("item-%d", item)), Version: 1, ContentHash: []byte{byte(item)},
		Author: author,
		Owner:  author, Visibility: schemas.Private}
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
	return n.Store.Read(context.Background(), func(tx *store.Tx) error {
		_, err := Verify(tx)
		return err
	})
}

// one reads one value.
func (n *node) one(query string, args ...any) int64 {
	n.Helper()
	return accesstest.One[int64](n.Node, query, args...)
}

// heard lists the trust events in an entity's stream.
func (n *node) heard(who schemas.EntityID) (payloads []string) {
	n.Helper()
	require.NoError(n, n.Store.Read(context.Background(), func(tx *store.Tx) error {
		rows, err := tx.Query(
			`SELECT source, payload FROM events WHERE stream = ? AND type = 'trust.score_changed' ORDER BY seq`,
			events.EntityStream(who))
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
