package access_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
)

// What the node does inside an operation ends with it, and the operation is again its
// actor's: the store guards what is not.
func TestAsNode(t *testing.T) {
	require.ErrorIs(t, access.Grant{}.AsNode(func(access.Grant) error { return nil }), access.ErrNoGrant)
	n := newNode(t)
	const private = `UPDATE l1 SET updated_at = updated_at + 1 WHERE entity_id = ?`
	var kept access.Grant
	require.NoError(t, n.a.Do(t.Context(), as(lead), write, func(g access.Grant) error {
		if err := g.AsNode(func(node access.Grant) error {
			kept = node
			require.True(t, node.IsNode())
			require.Equal(t, access.NodeEntity, node.Actor())
			_, err := node.Tx().Exec(
				`INSERT INTO l1(entity_id, doc, doc_hash, updated_at, chain_hash, previous_hash, content_hash)
					VALUES (?, '{}', x'', 0, x'', x'', x'')`, other)
			return err
		}); err != nil {
			return err
		}
		require.False(t, g.IsNode())
		require.Nil(t, kept.Tx(), "not a moment longer")
		return nil
	}))
	require.Error(t, n.a.Do(t.Context(), as(lead), write, func(g access.Grant) error {
		if err := g.AsNode(func(access.Grant) error { return nil }); err != nil {
			return err
		}
		_, err := g.Tx().Exec(private, other)
		return err
	}), "the guard is back")
	stop := errors.New("stop")
	require.ErrorIs(t, n.a.Do(t.Context(), as(lead), write, func(g access.Grant) error {
		return g.AsNode(func(access.Grant) error { return stop })
	}), stop)
}
