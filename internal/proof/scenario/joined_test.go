//go:build unix

package scenario

import (
	"os"
	"path/filepath"
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
