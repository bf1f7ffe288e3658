package ops

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
)

// columns lists the columns of every table, but for what a node writes of itself: signs
// of life, counts of calls and the index that follows items.
func (h *house) columns() map[string][]string {
	h.t.Helper()
	out := map[string][]string{}
	require.NoError(h.t, h.node.Store.Read(h.t.Context(), func(tx *store.Tx) error {
		rows, err := tx.Query(
			`SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'
			AND t.name NOT LIKE 'sqlite_%' AND t.name NOT LIKE 'items_fts%' AND t.name NOT IN ('call_counts',
			'denials', 'fuse')
			AND c.name <> 'last_seen_at' ORDER BY t.name, c.cid`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var table, column string
			if err := rows.Scan(&table, &column); err != nil {
				return err
			}
			out[table] = append(out[table], column)
		}
		return rows.Err()
	}))
	return out
}

// mined makes the n-th row that a transaction writes, in any table, fail.
func (h *house) mined() (arm func(n int)) {
	h.t.Helper()
	columns := h.columns()
	h.sql(`CREATE TABLE fuse (left INTEGER NOT NULL) STRICT`)
	h.sql(`INSERT INTO fuse VALUES (0)`)
	for table, of := range columns {
		for name, on := range map[string]string{"insert": "INSERT", "update": "UPDATE OF " + strings.Join(of, ", "),
			"delete": "DELETE"} {
			h.sql(fmt.Sprintf(`CREATE TRIGGER mine_%[1]s_%[2]s AFTER %[3]s ON %[1]s BEGIN
				UPDATE fuse SET left = left - 1; SELECT RAISE(ABORT, 'mine') FROM fuse
				WHERE left = 0; END`, table, name, on))
		}
	}
	return func(n int) { h.sql(`UPDATE fuse SET left = ?`, n) }
}

// state stands for everything a call writes.
func (h *house) state() string {
	h.t.Helper()
	sum := sha256.New()
	columns := h.columns()
	require.NoError(h.t, h.node.Store.Read(h.t.Context(), func(tx *store.Tx) error {
		for _, table := range slices.Sorted(maps.Keys(columns)) {
			rows, err := tx.Query(fmt.Sprintf(`SELECT quote(%s) AS row FROM %s ORDER BY row`,
				strings.Join(columns[table], ") || ',' || quote("), table))
			if err != nil {
				return err
			}
			fmt.Fprintln(sum, table)
			for rows.Next() {
				var row string
				if err := rows.Scan(&row); err != nil {
					return err
				}
				fmt.Fprintln(sum, row)
			}
			if err := rows.Err(); err != nil {
				return err
			}
		}
		return nil
	}))
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// walk fails a call at the first row it writes, then at the one every rows further on,
// until it gets through; each time nothing of it stays.
func (h *house) walk(arm func(int), every int, c Caller, tool string, args map[string]any) (points int) {
	h.t.Helper()
	before := h.state()
	for n := 1; n < 1000; n += every {
		arm(n)
		_, err := h.call(c, tool, args)
		if err == nil {
			arm(0)
			return points
		}
		require.ErrorContains(h.t, err, "mine", "point %d", n)
		require.Equal(h.t, before, h.state(), "something stayed of what failed at point %d", n)
		points++
	}
	h.t.Fatal("it never got through")
	return 0
}
