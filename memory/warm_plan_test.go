package memory

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
)

// The cost of a write does not grow with what is stored: no statement of a write
// scans a table.
func TestHotStatementsDoNotScan(t *testing.T) {
	n := newWarmNode(t)
	for _, query := range []string{selectOwnEqual, selectSame, selectSubject, selectSharing, selectAlike, selectItems,
		selectLinks, selectScope,
		selectScopes, supersede, markCopies, selectCopies, selectCopy, selectOriginals, selectCopiesIn,
		selectNeighbours, selectDocs,
		selectOwned, selectToPurge,
		selectVersions, countScope, deleteBands, selectRole, selectGroups, selectReach, selectSaysSame,
		selectLessons, selectSuccessors,
		setItemCurrent, markCopy} {
		for _, step := range n.plan(query) {
			table := strings.HasPrefix(step, "SCAN") && !strings.Contains(step, "VIRTUAL TABLE") &&
				!strings.Contains(step, "CONSTANT ROW") &&
				!strings.Contains(step, "near") && !strings.Contains(step, "down") && !strings.HasPrefix(step, "SCAN (")
			require.False(t, table, "%s\n%s", query, strings.Join(n.plan(query), "\n"))
		}
	}
}

// plan is what SQLite means to do for a query.
func (n *warmNode) plan(query string) (steps []string) {
	n.t.Helper()
	args := make([]any, 0, 12)
	for i := 12; i > 0; i-- {
		if strings.Contains(query, fmt.Sprintf("?%d", i)) || strings.Count(query, "?") >= i &&
			!strings.Contains(query, "?1") {
			args = make([]any, i)
			break
		}
	}
	require.NoError(n.t, n.store.Read(context.Background(), func(tx *store.Tx) error {
		rows, err := tx.Query("EXPLAIN QUERY PLAN "+query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				return err
			}
			steps = append(steps, detail)
		}
		return rows.Err()
	}), query)
	return steps
}
