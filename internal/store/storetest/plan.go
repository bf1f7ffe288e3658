package storetest

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
)

// NoScans demands that no query walks a table from end to end, or makes itself an
// index of one: lists given to it and what it names in small it may walk.
func NoScans(t *testing.T, s *store.Store, small []string, queries ...string) {
	t.Helper()
	if onServer(s) {
		t.Skip("these are SQLite's plans")
	}
	for _, q := range queries {
		steps := plan(t, s, q)
		small := append(slices.Clone(small), subqueries(steps)...)
		for _, step := range steps {
			table, scans := strings.CutPrefix(step, "SCAN ")
			table, rest, _ := strings.Cut(table, " ")
			walks := scans && !strings.HasPrefix(table, "(") && !strings.HasPrefix(rest, "VIRTUAL TABLE") &&
				table != "CONSTANT" && !slices.Contains(small, table)
			require.False(t, walks || strings.Contains(step, "AUTOMATIC"), "%s\n%s", step, q)
		}
	}
}

// subqueries are the names of those whose result the query walks, not a table.
func subqueries(steps []string) (names []string) {
	for _, step := range steps {
		for _, made := range []string{"CO-ROUTINE ", "MATERIALIZE "} {
			if name, ok := strings.CutPrefix(step, made); ok {
				names = append(names, name)
			}
		}
	}
	return names
}

// plan is what the engine means to do for a query.
func plan(t *testing.T, s *store.Store, query string) (steps []string) {
	count := strings.Count(query, "?")
	for i := range 12 {
		if strings.Contains(query, fmt.Sprint("?", i+1)) {
			count = i + 1
		}
	}
	require.NoError(t, s.Read(t.Context(), func(tx *store.Tx) error {
		rows, err := tx.Query("EXPLAIN QUERY PLAN "+query, make([]any, count)...)
		steps, err = store.Collect(rows, err, func(r *sql.Rows) (detail string, err error) {
			var id, parent, x int
			return detail, r.Scan(&id, &parent, &x, &detail)
		})
		return err
	}), query)
	return steps
}
