//go:build unix

package scenario

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/proof/soak"
	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
)

// grown is a home with what the demo leaves, and with texts of all kinds, one of them purged.
func grown(t *testing.T) *Node {
	n := newNode(t)
	n.Env = append(n.Env, "TMPDIR="+t.TempDir())
	out, said, code, err := n.Run(t.Context(), "demo", "--json", "--keep", "--durability", "relaxed")
	require.NoError(t, err)
	require.Zero(t, code, "%s\n%s", out, said)
	var p played
	require.NoError(t, json.Unmarshal([]byte(out), &p))
	n.Home = p.Home
	for i, text := range []string{"Gannets dive from thirty metres", "Möwen 🐦 and «quotes» \\ \t' end", "to be purged"} {
		id := runs(t, n, "memory", "write", fmt.Sprintf("%s (%d)", text, i), "--json")
		if i == 2 {
			var wrote struct{ ID string }
			require.NoError(t, json.Unmarshal([]byte(id), &wrote))
			runs(t, n, "memory", "delete", wrote.ID, "--mode", "purge")
		}
	}
	return n
}

// whenUnused runs a command that is refused while other nodes use the database. A server lists
// the connection of a process that ended for a moment more, so the command is repeated, as the
// refusal says.
func whenUnused(t testing.TB, n *Node, args ...string) (out, said string, code int) {
	t.Helper()
	var err error
	require.Eventually(t, func() bool {
		out, said, code, err = n.Run(t.Context(), args...)
		return !strings.Contains(said, "other nodes use the database")
	}, 5*time.Minute, 100*time.Millisecond, "the connection of what ended is still listed")
	require.NoError(t, err)
	return out, said, code
}

// runs runs a command that must succeed, and gives what it printed.
func runs(t testing.TB, n *Node, args ...string) string {
	t.Helper()
	out, said, code := whenUnused(t, n, args...)
	require.Zero(t, code, "%v\n%s\n%s", args, out, said)
	return out + said
}

// refused runs a command that must be refused, and gives what it said.
func refusedIn(t testing.TB, n *Node, args ...string) string {
	t.Helper()
	out, said, code, err := n.Run(t.Context(), args...)
	require.NoError(t, err)
	require.NotZero(t, code, "%v\n%s\n%s", args, out, said)
	return said
}

// move is what migrate --json prints.
type move struct {
	Tables    []store.TableContent
	AuditLast string `json:"audit_last"`
	Kept      string
	Already   bool
}

func moves(t testing.TB, n *Node, to string, flags ...string) (m move) {
	t.Helper()
	out, said, code := whenUnused(t, n, append([]string{"migrate", "--json", "--to", to}, flags...)...)
	require.Zero(t, code, "%s\n%s", out, said)
	require.NoError(t, json.Unmarshal([]byte(out), &m))
	return m
}

// A grown state moves between the engines, is killed amid that, and is refused where it must be.
func TestStatesMove(t *testing.T) {
	n := grown(t)
	another := func(t *testing.T) *Node {
		m := newNode(t)
		require.NoError(t, exec.CommandContext(t.Context(), "cp", "-a", n.Home, m.Home).Run()) // with its modes
		return m
	}
	t.Run("there and back", func(t *testing.T) { movesThereAndBack(t, another(t)) })
	t.Run("refused", func(t *testing.T) { movesAreRefused(t, another(t)) })
	t.Run("killed", func(t *testing.T) { movesAreKilled(t, another) })
}

// A state goes into a database and back, and is the same; what it left is refused.
func movesThereAndBack(t *testing.T, n *Node) {
	address := storetest.Empty(t, storetest.Server(t), t.Name())
	agents := runs(t, n, "agent", "list")
	require.Contains(t, runs(t, n, "migrate", "--to", address, "--dry-run"), "nothing was changed")
	require.FileExists(t, n.Database())
	storetest.Admin(t, address, `DO $$ BEGIN IF EXISTS (SELECT FROM pg_tables WHERE schemaname = 'public') THEN
		RAISE EXCEPTION 'a dry run writes'; END IF; END $$`)

	there := moves(t, n, address)
	require.NoFileExists(t, n.Database())
	require.FileExists(t, there.Kept)
	require.Greater(t, len(there.Tables), 60)
	require.Contains(t, refusedIn(t, n, "agent", "list"), "was moved to a PostgreSQL",
		"the file is not the state any more")
	runs(t, n, "config", "set", "database", address)
	const signed = "; 0 after it are in no checkpoint"
	require.Contains(t, runs(t, n, "audit", "verify"), signed)
	require.Equal(t, agents, runs(t, n, "agent", "list"))
	require.Contains(t, runs(t, n, "memory", "search", "where do gannets dive"), "Gannets dive")
	require.Contains(t, runs(t, n, "memory", "search", "möwen"), "🐦")
	runs(t, n, "audit", "verify")
	runs(t, n, "memory", "write", "Puffins nest in burrows")
	require.Contains(t, refusedIn(t, n, "migrate", "--to", address), "in a PostgreSQL database already")

	back := moves(t, n, "file")
	require.Contains(t, refusedIn(t, n, "agent", "list"), "was moved to another one")
	runs(t, n, "config", "set", "database", "")
	require.Contains(t, runs(t, n, "audit", "verify"), signed)
	require.Equal(t, agents, runs(t, n, "agent", "list"))
	require.Contains(t, runs(t, n, "memory", "search", "puffins burrows"), "Puffins nest")
	require.Contains(t, runs(t, n, "memory", "search", "gannets"), "Gannets dive")
	runs(t, n, "audit", "verify")
	require.Equal(t, len(there.Tables), len(back.Tables))
	for _, flags := range [][]string{nil, {"--dry-run"}} {
		out, said, code := whenUnused(t, n, append([]string{"migrate", "--to", address}, flags...)...)
		require.Equal(t, 5, code, "%s\n%s", out, said)
		require.Contains(t, said, "the target is not empty: it holds a state that was moved away from it")
		require.Contains(t, said, "next: make a new, empty database")
	}
}

// A move that is killed leaves one state in use, the old or the new one; run again, it ends.
func movesAreKilled(t *testing.T, another func(*testing.T) *Node) {
	for round := range soak.Count(t, 5, 200) {
		n := another(t)
		address := storetest.Empty(t, storetest.Server(t), fmt.Sprint(t.Name(), round))
		kill := func(to string) {
			c, err := n.Start("migrate", "--to", to)
			require.NoError(t, err)
			select {
			case <-c.Ended():
			case <-time.After(time.Duration(150+round*137%900) * time.Millisecond):
				c.Kill()
			}
		}
		kill(address)
		if _, err := os.Lstat(n.Database()); err == nil {
			again := moves(t, n, address)
			t.Logf("into the database: killed, then run again; all was there already: %v", again.Already)
		}
		runs(t, n, "config", "set", "database", address)
		require.Contains(t, runs(t, n, "memory", "search", "gannets"), "Gannets dive")
		kill("file")
		out, said, code := whenUnused(t, n, "migrate", "--to", "file", "--json")
		require.True(t, code == 0 || strings.Contains(said, "was moved to another one"), said)
		t.Logf("into the file: killed, then run again: %.60s %.60s", out, said)
		runs(t, n, "config", "set", "database", "")
		require.Contains(t, runs(t, n, "memory", "search", "gannets"), "Gannets dive")
		runs(t, n, "audit", "verify")
	}
}

// A target that is not empty, a source in use and a changed row are refused, in words.
func movesAreRefused(t *testing.T, n *Node) {
	server := storetest.Server(t)
	other := storetest.Empty(t, server, t.Name()+" other")
	storetest.Admin(t, other, `CREATE TABLE invoices (n int)`)
	require.Contains(t, refusedIn(t, n, "migrate", "--to", other), "tables of another program")
	require.Contains(t, refusedIn(t, n, "migrate", "--to", "postgres://ann:secret@127.0.0.1/x"), "holds a password")
	for _, mistyped := range []string{"elsewhere", "pg://ann:secret@127.0.0.1/x", "ann:secret@127.0.0.1/x"} {
		said := refusedIn(t, n, "migrate", "--to", mistyped)
		require.Contains(t, said, "no address")
		require.NotContains(t, said, mistyped, "it may hold a password")
	}
	require.Contains(t, refusedIn(t, n, "migrate"), "--to is missing")
	require.Contains(t, refusedIn(t, n, "migrate", "--to", "file"), "in a file already")
	address := storetest.Empty(t, server, t.Name())
	inUse := open(t, n, "")
	require.Contains(t, refusedIn(t, n, "migrate", "--to", address), "other cordelia processes use the database")
	require.NoError(t, inUse.Close())

	aside := filepath.Join(t.TempDir(), "aside.db")
	moved := moves(t, n, address)
	raw, err := os.ReadFile(moved.Kept)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(aside, raw, 0o600))
	require.NoError(t, os.Rename(moved.Kept, n.Database())) // as a kill before the last step leaves it
	storetest.Admin(t, address, `SELECT set_config('cordelia.acting', '*', false);
		UPDATE items SET name = name || 'x' WHERE n = (SELECT min(n) FROM items)`)
	said := refusedIn(t, n, "migrate", "--to", address)
	require.Contains(t, said, "table items has other rows")
	require.FileExists(t, n.Database(), "the old state stays in use")
	storetest.Admin(t, address, `SELECT set_config('cordelia.acting', '*', false);
		UPDATE items SET name = left(name, -1) WHERE n = (SELECT min(n) FROM items)`)
	require.True(t, moves(t, n, address).Already)
	require.NoFileExists(t, n.Database())

	runs(t, n, "config", "set", "database", address)
	server2, err := n.Serve(t.Context())
	require.NoError(t, err, server2)
	require.Contains(t, refusedIn(t, n, "migrate", "--to", "file"), "other nodes use the database")
	n.Kill()
}
