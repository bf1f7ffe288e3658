package scenario

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // to look at the database from outside
)

// openDB opens a node's database to look at it, as anyone with the file could.
func openDB(t testing.TB, n *Node) *sql.DB {
	db, err := sql.Open("sqlite", "file:"+n.Database()+"?_pragma=busy_timeout(10000)&mode=ro")
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() }) //nolint:errcheck // only read
	return db
}

func count(t testing.TB, db *sql.DB, query string, args ...any) int {
	t.Helper()
	var n int
	require.NoError(t, db.QueryRow(query, args...).Scan(&n))
	return n
}

// ofItself is what a node writes when nobody asked it to: signs of life and
// counts of calls.
var ofItself = map[string][]string{
	"entities":    {"last_seen_at"},
	"call_counts": nil,
	"denials":     nil,
}

// fingerprint hashes every row of every table, each table by itself, but for
// what the node writes of itself; where narrows a table ("" = all of it).
func fingerprint(t testing.TB, db *sql.DB, where map[string]string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, table := range texts(
		t, db, `SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'
			AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'items_fts%' ORDER BY name`) {
		left, own := ofItself[table]
		condition, asked := where[table]
		if own && left == nil || where != nil && !asked {
			continue
		}
		if condition == "" {
			condition = "1"
		}
		columns := texts(t, db, `SELECT name FROM pragma_table_info(?) ORDER BY cid`, table)
		columns = slices.DeleteFunc(columns, func(c string) bool { return slices.Contains(left, c) })
		for i, c := range columns {
			columns[i] = fmt.Sprintf("quote(%q)", c)
		}
		rows := texts(t, db, fmt.Sprintf("SELECT %s FROM %q WHERE %s ORDER BY 1", strings.Join(columns, " || ',' || "),
			table, condition))
		sum := sha256.Sum256([]byte(strings.Join(rows, "\n")))
		out[table] = fmt.Sprintf("%d rows %s", len(rows), hex.EncodeToString(sum[:8]))
	}
	return out
}

func texts(t testing.TB, db *sql.DB, query string, args ...any) (all []string) {
	t.Helper()
	rows, err := db.Query(query, args...)
	require.NoError(t, err, query)
	defer rows.Close()
	for rows.Next() {
		var s string
		require.NoError(t, rows.Scan(&s))
		all = append(all, s)
	}
	require.NoError(t, rows.Err())
	return all
}
