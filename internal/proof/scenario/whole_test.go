package scenario

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/node"
)

// torn are the traces of transactions that are there in part: each query counts
// what one of its rows must not be without.
var torn = map[string]string{
	"items without an audit entry": `SELECT count(*) FROM items WHERE 'item/' || id NOT IN (SELECT target
		FROM audit)`,
	"audit entries without their item": `SELECT count(*) FROM audit WHERE action = 'memory_write_warm'
		AND target NOT IN (SELECT 'item/' || id FROM items)`,
	"group items without an event": `SELECT count(*) FROM items WHERE visibility = 'group' AND source <> 'archive'
		AND group_id || id NOT IN (
		SELECT substr(stream, 3) || json_extract(payload, '$.item_id') FROM events WHERE type = 'memory.written')`,
	"events without their item": `SELECT count(*) FROM events WHERE type = 'memory.written'
		AND json_extract(payload, '$.item_id') NOT IN (SELECT id FROM items)`,
	"streams with a gap": `SELECT count(*) FROM streams s WHERE s.head <> s.removed + (SELECT count(*) FROM events e
		WHERE e.stream = s.name)
		OR s.head <> (SELECT coalesce(max(seq), s.removed) FROM events e WHERE e.stream = s.name)`,
	"items that are not in the index": `SELECT count(*) FROM items WHERE current = 1 AND n NOT IN (SELECT id
		FROM items_fts_docsize)`,
	"scopes that count wrongly": `SELECT count(*) FROM scopes s WHERE s.items <> (SELECT count(*) FROM items i
		WHERE i.scope = s.n AND i.current = 1
		AND i.quarantined = 0 AND i.source <> 'archive' AND (i.confidence >= 300 OR i.validated = 1))`,
	"keys that are nobody's": `SELECT count(*) FROM entity_keys k WHERE NOT EXISTS (SELECT 1 FROM entities e
		WHERE e.id = k.entity_id)`,
}

// whole says what is wrong with the database file at path, which no process
// writes: its pages, its references, its audit chain, and that every
// transaction is there as a whole or not at all. Then look looks, too.
func whole(t testing.TB, path string, look ...func(*store.Tx) error) (items, entries int64, err error) {
	_, err = store.VerifyFile(t.Context(), path, func(tx *store.Tx) error {
		if entries, _, err = events.VerifyAudit(tx); err != nil {
			return err
		}
		for what, query := range torn {
			var n int
			if err := tx.QueryRow(query).Scan(&n); err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			if n > 0 {
				return fmt.Errorf("%d %s", n, what)
			}
		}
		for _, f := range look {
			if err := f(tx); err != nil {
				return err
			}
		}
		return tx.QueryRow(`SELECT count(*) FROM items`).Scan(&items)
	})
	return items, entries, err
}

func requireWhole(t testing.TB, path string, look ...func(*store.Tx) error) (items, entries int64) {
	t.Helper()
	items, entries, err := whole(t, path, look...)
	require.NoError(t, err)
	deep, err := node.VerifyAuditFile(t.Context(), path, "", nil, true)
	require.NoError(t, err)
	require.Empty(t, deep.Damage)
	return items, entries
}
