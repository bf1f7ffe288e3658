//go:build unix

package scenario

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store/storetest"
)

// The roles that the page gives: a node runs as the writer, who may not change a table; the
// reader verifies the record, and writes nothing.
func TestRolesOnPostgreSQL(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/scale.md")
	require.NoError(t, err)
	_, statements, found := strings.Cut(string(page), "```sql\n")
	require.True(t, found)
	statements, _, _ = strings.Cut(statements, "```")
	server := storetest.NewInstance(t)
	storetest.Admin(t, server.Address()+" dbname=postgres", `CREATE DATABASE cordelia TEMPLATE template0`)
	database := server.Address() + " dbname=cordelia"
	storetest.Admin(t, database, statements)
	as := func(role string) string { return strings.Replace(database, "user=postgres", "user=cordelia_"+role, 1) }
	n := newNode(t)
	using := func(role string) { n.Env = append(n.Env, "CORDELIA_DB="+as(role)) } // the last one counts

	using("writer")
	require.Contains(t, refusedIn(t, n, "serve", "--listen", "127.0.0.1:0"), "no tables of cordelia yet")
	using("owner")
	_, err = n.Serve(t.Context())
	require.NoError(t, err)
	n.Kill()
	using("writer")
	lead := open(t, n, "")
	must(t, lead, "memory_write_warm",
		`{"type": "learning", "data": {"type": "insight", "content": "The ferry leaves at nine"}}`)
	must(t, lead, "memory_search", `{"query": "ferry"}`)
	require.NoError(t, lead.Close())
	for _, statement := range []string{`CREATE TABLE more (n int)`, `ALTER TABLE items DISABLE TRIGGER ALL`,
		`DROP TABLE audit`, `TRUNCATE denials`} {
		require.Contains(t, storetest.Refused(t, as("writer"), statement), "SQLSTATE 42501", statement)
	}
	require.Contains(t, storetest.Refused(t, as("writer"), `DELETE FROM audit`), "append-only")
	using("reader")
	runs(t, n, "audit", "verify")
	require.Contains(t, storetest.Refused(t, as("reader"), `DELETE FROM tokens`), "SQLSTATE 42501")
	require.Contains(t, storetest.Refused(t, as("reader"), `SELECT pg_advisory_lock(7165071307693648225)`),
		"SQLSTATE 42501", "the lock of all writes")
	require.Contains(t, refusedIn(t, n, "memory", "write", "The ferry leaves at ten"), "may not do that")

	storetest.Admin(t, as("owner"), `DELETE FROM schema_version WHERE version = (SELECT max(version) FROM schema_version)`)
	using("writer")
	require.Contains(t, refusedIn(t, n, "status"), "this role may not make them",
		"a newer program, whose tables are not made yet")
}
