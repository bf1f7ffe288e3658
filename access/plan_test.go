package access

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
)

// Who else has an agent's name is asked at refusals and registrations: it reads those of the name, not all agents.
func TestNamesakesAreFoundByTheirName(t *testing.T) {
	s, err := store.Open(t.Context(), store.Options{Path: filepath.Join(t.TempDir(), "n.db"), Clock: store.SystemClock{}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.Read(t.Context(), func(tx *store.Tx) error {
		rows, err := tx.Query("EXPLAIN QUERY PLAN "+selectNamesakes, "x")
		if err != nil {
			return err
		}
		defer rows.Close()
		var steps []string
		for rows.Next() {
			var id, parent, unused int
			var detail string
			require.NoError(t, rows.Scan(&id, &parent, &unused, &detail))
			steps = append(steps, detail)
		}
		require.Contains(t, steps, "SEARCH o USING INDEX entities_named (name=?)")
		return rows.Err()
	}))
}
