//go:build unix

package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store/storetest"
)

// The settings take no address that a node refuses, and show no password that somebody wrote
// there by hand.
func TestSettingsTakeNoPassword(t *testing.T) {
	const secret = "s3cret-of-the-harbour"
	n := newTeamAt(t, 1, "").nodes[0]
	n.Kill()
	settings := filepath.Join(n.Home, "config.json")
	for _, c := range []struct{ key, value, says string }{
		{"database", "postgres://ann:" + secret + "@db.example/x", "holds a password"},
		{"database", "postgres://ann:a/" + secret + "@db.example/x", "holds a password"},
		{"database", "host=db.example password=" + secret, "holds a password"},
		{"database", "postgres://ann@db.example/x?pooler=sesion", "unknown kind of pooler"},
		{"database", "mysql://ann@db.example/x?a=b", "cannot be read"},
		{"nats.url", "tls://ann:" + secret + "@nats.example:4222", "holds a user or a password"},
		{"nats.url", "http://nats.example", "cannot be read"},
		{"nats", `{"url":"nats://` + secret + `@nats.example:4222","groups":["harbour"]}`, "holds a user or a password"},
	} {
		said := refusedIn(t, n, "config", "set", c.key, c.value)
		require.Contains(t, said, c.says)
		require.NotContains(t, said, secret)
		raw, _ := os.ReadFile(settings) //nolint:errcheck // none is as good
		require.NotContains(t, string(raw), c.value)
	}
	for _, whole := range [][2]string{{"nats.groups", `["harbour"]`}, {"nats.url", "tls://nats.example:4222"}} {
		runs(t, n, "config", "set", whole[0], whole[1]) // one after the other
	}
	for _, held := range []struct{ content, by string }{
		{`{"database": "postgres://ann:` + secret + `@db.example/x"}`, "database"},
		{`{"nats": {"url": "nats:\/\/` + secret + `@nats.example", "groups": ["harbour"]}}`, "nats"},
	} {
		require.NoError(t, os.WriteFile(settings, []byte(held.content), 0o600))
		for _, args := range [][]string{{"list"}, {"list", "--json"}, {"get", held.by}, {"get", held.by, "--json"}} {
			require.NotContains(t, runs(t, n, append([]string{"config"}, args...)...), secret)
		}
		require.NotContains(t, refusedIn(t, n, "serve", "--listen", "127.0.0.1:0"), secret)
		out, said, code, err := n.Run(t.Context(), "doctor")
		require.NoError(t, err)
		require.NotZero(t, code, "what serve refuses, doctor refuses")
		require.NotContains(t, out+said, secret)
	}
}

// A home that joined a database whose user has another home is sound, takes settings, and gets
// no second user. An agent's key there is enough to act as that agent.
func TestAJoinedHome(t *testing.T) {
	m := newTeam(t, 2)
	one, two := m.nodes[0], m.nodes[1]
	file := m.worker("ada")
	require.Contains(t, runs(t, two, "doctor"), "none here, and a node that serves tokens needs none")
	runs(t, two, "config", "set", "cooldown", "10m")
	passwords := filepath.Join(t.TempDir(), "pgpass")
	require.NoError(t, os.WriteFile(passwords, []byte("*:*:*:ann:x"), 0o644))
	two.Env = append(two.Env, "PGPASSFILE="+passwords)
	require.Contains(t, runs(t, two, "doctor"), "chmod 600")
	address := m.database
	for _, args := range [][]string{{"setup"}, {"setup", "--dry-run"}} {
		require.Contains(t, refusedIn(t, two, args...), "copy the folder keys")
	}
	for _, gone := range []string{"setup-manifest.json", "cordelia.db", "keys/human.key"} {
		_, err := os.Lstat(filepath.Join(two.Home, gone))
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	require.Contains(t, refusedIn(t, two, "status"), "copy the folder keys")

	raw, err := os.ReadFile(filepath.Join(one.Home, "keys", file))
	require.NoError(t, err)
	path := filepath.Join(two.Home, "keys", file)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	runs(t, two, "task", "claim", "--as", "ada")
	require.Contains(t, runs(t, two, "agent", "token", "ada", "--header"), "Bearer ")

	_, said, code, err := two.Run(t.Context(), "config", "get", "database")
	require.NoError(t, err)
	require.Zero(t, code)
	require.Contains(t, said, "CORDELIA_DB names the database here")
	empty := newNode(t) // before its first start
	runs(t, empty, "config", "set", "database", address)
	require.Contains(t, refusedIn(t, empty, "setup"), "copy the folder keys")
}

// A home with a file of its own has no user in a server's database: a node says so at once.
func TestAHomeOfItsOwnJoinsNoDatabase(t *testing.T) {
	n := newTeamAt(t, 1, "").nodes[0]
	n.Kill()
	own := n.Env
	server := storetest.Server(t)
	for _, address := range []string{storetest.Empty(t, server, t.Name()), newTeam(t, 1).database} {
		n.Env = append(own, "CORDELIA_DB="+address) //nolint:gocritic // one at a time
		said := refusedIn(t, n, "serve", "--listen", "127.0.0.1:0")
		require.Contains(t, said, "belongs to no one in this database")
		require.Contains(t, said, "cordelia migrate --to")
		require.Contains(t, refusedIn(t, n, "status"), "belongs to no one in this database")
		refusedIn(t, n, "setup")
	}
	n.Env = own
	runs(t, n, "status")
}

// Homes that start at once on one empty database agree on one user: the others join, and hold no
// key of a user that the database does not know.
func TestHomesThatStartAtOnceMakeOneUser(t *testing.T) {
	server := storetest.Server(t)
	for try := range 3 {
		address := storetest.Empty(t, server, fmt.Sprint(t.Name(), try))
		nodes := make([]*Node, 3)
		errs := make([]error, len(nodes))
		var starts sync.WaitGroup
		for i := range nodes {
			nodes[i] = newNode(t)
			nodes[i].Env = append(nodes[i].Env, "CORDELIA_DB="+address)
			starts.Go(func() { _, errs[i] = nodes[i].Serve(t.Context()) })
		}
		starts.Wait()
		users := 0
		for i, n := range nodes {
			require.NoError(t, errs[i])
			if _, err := os.Lstat(filepath.Join(n.Home, "keys", "human.key")); err == nil {
				users++
				runs(t, n, "status")
			} else {
				require.Contains(t, refusedIn(t, n, "status"), "copy the folder keys")
			}
			n.Kill()
		}
		require.Equal(t, 1, users)
	}
}

// A first start that was killed once the user's key was made is finished by the next one. A home
// with all its keys is another database's.
func TestAKilledFirstStartIsFinished(t *testing.T) {
	made := newTeamAt(t, 1, "").nodes[0]
	killed, strange := newNode(t), newNode(t)
	for n, files := range map[*Node][]string{killed: {"human.key"}, strange: {"human.key", "claude-code.key"}} {
		n.Env = append(n.Env, "CORDELIA_DB="+storetest.Empty(t, storetest.Server(t), n.Home))
		for _, file := range files {
			raw, err := os.ReadFile(filepath.Join(made.Home, "keys", file))
			require.NoError(t, err)
			require.NoError(t, os.MkdirAll(filepath.Join(n.Home, "keys"), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(n.Home, "keys", file), raw, 0o600))
		}
	}
	_, err := killed.Serve(t.Context())
	require.NoError(t, err)
	runs(t, killed, "status")
	require.Contains(t, refusedIn(t, strange, "serve", "--listen", "127.0.0.1:0"), "belongs to no one")
}
