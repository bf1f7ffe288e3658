package ops

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
)

// mined makes the n-th row that a transaction writes, in any table, fail.
func (h *house) mined() (arm func(n int)) {
	h.t.Helper()
	var tables []string
	require.NoError(h.t, h.node.Store.Read(h.t.Context(), func(tx *store.Tx) error {
		rows, err := tx.Query(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'items_fts%'
			AND name NOT IN ('call_counts', 'denials', 'entities') ORDER BY name`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			tables = append(tables, name)
		}
		return rows.Err()
	}))
	h.sql(`CREATE TABLE fuse (left INTEGER NOT NULL) STRICT`)
	h.sql(`INSERT INTO fuse VALUES (0)`)
	for _, table := range tables {
		for _, on := range []string{"INSERT", "UPDATE", "DELETE"} {
			h.sql(fmt.Sprintf(`CREATE TRIGGER mine_%[1]s_%[2]s AFTER %[2]s ON %[1]s BEGIN
				UPDATE fuse SET left = left - 1; SELECT RAISE(ABORT, 'mine') FROM fuse WHERE left = 0; END`, table, on))
		}
	}
	return func(n int) { h.sql(`UPDATE fuse SET left = ?`, n) }
}

// state stands for everything a return or a decision writes.
func (h *house) state() string {
	h.t.Helper()
	sum := sha256.New()
	require.NoError(h.t, h.node.Store.Read(h.t.Context(), func(tx *store.Tx) error {
		for _, table := range []string{"items", "item_links", "item_bands", "item_versions", "scopes", "reviews", "returns", "groups", "members",
			"events", "streams", "cursors", "audit", "counters", "challenges"} {
			rows, err := tx.Query(`SELECT * FROM ` + table)
			if err != nil {
				return err
			}
			columns, err := rows.Columns()
			if err != nil {
				return err
			}
			var lines []string
			for rows.Next() {
				row := make([]any, len(columns))
				for i := range row {
					row[i] = new(any)
				}
				if err := rows.Scan(row...); err != nil {
					return err
				}
				var b strings.Builder
				for _, v := range row {
					fmt.Fprintf(&b, "%v|", *v.(*any))
				}
				lines = append(lines, b.String())
			}
			if err := rows.Err(); err != nil {
				return err
			}
			slices.Sort(lines)
			fmt.Fprintln(sum, table, lines)
		}
		return nil
	}))
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// walk fails a call at each row it writes, one after the other, until it gets
// through; each time nothing of it stays.
func (h *house) walk(arm func(int), c Caller, tool string, args map[string]any) (points int) {
	h.t.Helper()
	before := h.state()
	for n := 1; n < 1000; n++ {
		arm(n)
		_, err := h.call(c, tool, args)
		if err == nil {
			arm(0)
			return n - 1
		}
		require.ErrorContains(h.t, err, "mine", "point %d", n)
		require.Equal(h.t, before, h.state(), "something stayed of what failed at point %d", n)
	}
	h.t.Fatal("it never got through")
	return 0
}

// What one call decides, or hands in, happens as a whole or not at all, wherever
// it is cut off.
func TestReviewIsAllOrNothing(t *testing.T) {
	a := newAway(t)
	arm := a.mined()
	points := a.walk(arm, a.rover, "reintegrate", a.claim(found("The well is deep"), found("The mill is old"), found("The tower leans")))
	require.Greater(t, points, 30)
	list := a.waiting(a.lead)
	points = a.walk(arm, a.lead, "review_decide", decisions(approve(list[0]), reject(list[1]), approve(list[2])))
	require.Greater(t, points, 30)
	require.Equal(t, "2", a.one(`SELECT count(*) FROM items WHERE origin <> ''`))
	require.Equal(t, "0", a.one(`SELECT count(*) FROM items WHERE data LIKE '%mill%'`))

	// One that is refused takes the others with it.
	a.brings(found("The gate is open"), found("The gate is shut"))
	list = a.waiting(a.lead)
	before := a.state()
	for _, bad := range []map[string]any{{"id": "nobody", "decision": "reject"}, approve(list[0]), {"id": list[1]["id"], "decision": "approve", "hash": "00"}} {
		_, err := a.call(a.lead, "review_decide", decisions(approve(list[0]), bad))
		require.Error(t, err)
		require.Contains(t, err.Error(), "/decisions/1")
		require.Equal(t, before, a.state())
	}
	// So does the right to write where one of them goes.
	a.must(a.person(), "memory_group", map[string]any{"action": "update", "group": "lab", "emcon": true})
	before = a.state()
	_, err := a.call(a.lead, "review_decide", decisions(reject(list[1]), approve(list[0])))
	require.Error(t, err)
	require.Equal(t, before, a.state())
}
