//go:build unix

package scenario

import (
	"context"
	"cordelia/internal/drive"
	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// team are nodes with one database. The keys of all agents are in the first one's home.
type team struct {
	testing.TB
	database string
	nodes    []*Node
	urls     []string
	clients  []*http.Client // for each of the urls; none = the usual one
}

// newTeam starts nodes, each a server process with a home of its own; none are one node with a
// file.
func newTeam(t testing.TB, count int) *team {
	database := ""
	if count > 0 {
		database = storetest.Database(t, storetest.Server(t), t.Name())
	}
	return newTeamAt(t, count, database)
}

// newTeamAt is newTeam with a database that is there.
func newTeamAt(t testing.TB, count int, database string) *team {
	m := &team{TB: t, database: database}
	for range max(count, 1) {
		n := newNode(t)
		n.Env = append(n.Env, "CORDELIA_DB="+m.database)
		url, err := n.Serve(t.Context())
		require.NoError(t, err)
		m.nodes, m.urls = append(m.nodes, n), append(m.urls, url)
	}
	return m
}

// dial is the agent with that key file, at node i.
func (m *team) dial(ctx context.Context, keyFile string, i int) (*Remote, error) {
	if m.clients != nil {
		return m.nodes[0].DialBy(ctx, m.clients[i], m.urls[i], keyFile)
	}
	return m.nodes[0].Dial(ctx, m.urls[i], keyFile)
}

func (m *team) lead(i int) *Remote {
	m.Helper()
	c, err := m.dial(m.Context(), "claude-code.key", i)
	require.NoError(m, err)
	return c
}

// told calls a tool that must succeed.
func told(t testing.TB, c Client, tool string, args any) map[string]any {
	t.Helper()
	raw, err := json.Marshal(args)
	require.NoError(t, err)
	out, ok := must(t, c, tool, string(raw)).Value.(map[string]any)
	require.True(t, ok, tool)
	return out
}

// worker registers an agent that works by itself, and gives its key file.
func (m *team) worker(name string, tools ...string) string {
	none := map[string]any{"layers": []string{}, "groups": []string{}, "visibility": []string{}}
	reads := map[string]any{"layers": []string{"l2"}, "groups": []string{"*"}, "visibility": []string{"group"}}
	made := told(m, m.lead(0), "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": name,
		"name": name, "capabilities": map[string]any{"memory_read": reads, "memory_write": none,
			"tools": append(tools, "task_claim", "task_report"), "max_parallel_ops": 5, "autonomous": true,
			"ttl_seconds": 3600}})
	id, ok := made["agent_id"].(string)
	require.True(m, ok)
	return filepath.Join("agents", id+".key")
}

// one reads a number in the database.
func (m *team) one(query string) (n int) {
	m.Helper()
	m.reads(func(tx *store.Tx) error { return tx.QueryRow(query).Scan(&n) })
	return n
}

// set reads a column in the database.
func (m *team) set(query string) (found map[string]bool) {
	m.Helper()
	m.reads(func(tx *store.Tx) (err error) {
		found, err = column(tx, query)
		return err
	})
	return found
}

func column(tx *store.Tx, query string) (map[string]bool, error) {
	rows, err := tx.Query(query)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	found := map[string]bool{}
	for rows.Next() {
		var value string
		if err := rows.Scan(&value); err != nil {
			return nil, err
		}
		found[value] = true
	}
	return found, rows.Err()
}

func (m *team) reads(look func(*store.Tx) error) {
	m.Helper()
	s, err := store.Open(m.Context(), store.Options{URL: m.database})
	require.NoError(m, err)
	defer s.Close() //nolint:errcheck // only read
	require.NoError(m, s.Read(m.Context(), look))
}

// What is done on one node is there on the other: memory, events, what was revoked.
func TestNodesShareTheirState(t *testing.T) { shareState(t, newTeam(t, 2)) }

// The same where each transaction gets another session of the server.
func TestNodesShareTheirStateBehindAPooler(t *testing.T) {
	shareState(t, newTeamAt(t, 2, storetest.PooledDatabase(t, t.Name())))
}

func shareState(t *testing.T, m *team) {
	t.Helper()
	_, err := os.Lstat(filepath.Join(m.nodes[1].Home, "keys", "human.key"))
	require.ErrorIs(t, err, os.ErrNotExist, "a node that joins makes no user")
	one, two := m.lead(0), m.lead(1)
	told(t, one, "memory_group", map[string]any{"action": "create", "group": "harbour"})
	pilot, err := m.dial(t.Context(), m.worker("pilot", "events_poll"), 1)
	require.NoError(t, err)
	told(t, one, "memory_group", map[string]any{"action": "add", "group": "harbour", "entity": "pilot",
		"role": "member"})
	news := make(chan any, 1)
	go func() { // waits at the one node for what is written at the other
		for ack := ""; ; {
			args, err := json.Marshal(map[string]any{"wait_seconds": 20, "ack": ack})
			var a Answer
			if err == nil {
				a, err = pilot.Call(t.Context(), "events_poll", args)
			}
			out, ok := a.Value.(map[string]any)
			if text := fmt.Sprint(out["events"]); err != nil || !ok || strings.Contains(text, "memory.written") {
				news <- text
				return
			}
			ack, _ = out["cursor"].(string)
		}
	}()
	wrote := told(t, one, "memory_write_warm", map[string]any{"type": "learning", "group": "harbour",
		"data": map[string]any{"type": "insight", "content": "The ferry leaves at nine"}})
	require.Contains(t, fmt.Sprint(told(t, two, "memory_search", map[string]any{"query": "ferry"})), wrote["id"])
	require.Contains(t, <-news, wrote["id"])

	token, said, code, err := m.nodes[0].Run(t.Context(), "agent", "token", "pilot")
	require.NoError(t, err)
	require.Zero(t, code, said)
	for _, url := range m.urls { // a token counts at every node
		told(t, drive.NewRemote(url, strings.TrimSpace(token)), "task_claim", map[string]any{})
	}
	told(t, one, "agent_deactivate", map[string]any{"agent": "pilot"})
	answer, err := pilot.Call(t.Context(), "task_claim", []byte(`{}`))
	require.True(t, err != nil || answer.Code != "", "a right that one node took, the other refuses at once")
}

// Workers at two nodes share a queue; a killed node's workers go on at the other. No item is
// given out twice under one fence, and each is done once.
func TestNodesShareAQueue(t *testing.T) {
	const items, workers = 1000, 8
	m := newTeam(t, 2)
	lead := m.lead(0)
	for at := 0; at < items; {
		var list []any
		for ; len(list) < 50; at++ {
			list = append(list, map[string]any{"intent": fmt.Sprint("carry crate ", at)})
		}
		told(t, lead, "task_submit", map[string]any{"items": list})
	}
	q := &queueLog{given: map[string]int{}, done: map[string]int{}}
	var all sync.WaitGroup
	begun := time.Now()
	for w := range workers {
		file := m.worker(fmt.Sprint("worker-", w))
		all.Go(func() { q.work(m, w, file) })
	}
	for q.count() < items/3 {
		require.Less(t, time.Since(begun), 4*time.Minute, "%d done", q.count())
		time.Sleep(10 * time.Millisecond)
	}
	m.nodes[1].Kill() // kill -9
	all.Wait()
	t.Logf("%d items in %s, with two nodes and then one", items, time.Since(begun).Round(time.Millisecond))
	require.Empty(t, q.wrong)
	require.Equal(t, items, m.one(`SELECT count(*) FROM work_items WHERE state = 'done' AND outcome = 'done'`))
	require.Equal(t, items, m.one(`SELECT count(*) FROM (SELECT item FROM work_leases WHERE outcome = 'done'
		GROUP BY item HAVING count(*) = 1) AS once`))
}

// A database that cannot be used is refused with what to do, and no password is shown.
func TestADatabaseThatCannotBeUsed(t *testing.T) {
	const secret = "s3cret-of-the-harbour"
	server := storetest.Server(t)
	database := storetest.Database(t, server, t.Name())
	newer := storetest.Database(t, server, t.Name()+" newer")
	storetest.Admin(t, newer, `INSERT INTO schema_version(version, name, at) VALUES (999, 'later', 0)`)
	empty := storetest.Empty(t, server, t.Name()+" empty")
	storetest.Admin(t, database, `DROP ROLE IF EXISTS locked`, `CREATE ROLE locked LOGIN PASSWORD '`+secret+`'`)
	as := func(user, address string) string { return strings.Replace(address, "user=postgres", "user="+user, 1) }
	for _, c := range []struct {
		what, flag string
		env        []string
		says       []string
	}{
		{"a password on the command line", "postgres://ann:" + secret + "@127.0.0.1/x", nil,
			[]string{"holds a password", "PGPASSFILE", "CORDELIA_DB"}},
		{"no server", "postgres://ann@127.0.0.1:1/x?connect_timeout=2", nil, []string{"cannot be reached", "pg_isready"}},
		{"no database", strings.TrimSuffix(server, " ") + " dbname=absent", nil,
			[]string{"no database of that name", "createdb"}},
		{"no password", as("locked", database), nil, []string{"refuses the user", "pgpass"}},
		{"a wrong password", as("locked", database), []string{"PGPASSWORD=" + secret + "x"},
			[]string{"refuses the user", "pgpass"}},
		{"a role without rights", as("locked", empty), []string{"PGPASSWORD=" + secret},
			[]string{"no tables of cordelia yet", "owns the tables"}},
		{"no TLS at the server", "postgres://ann@" + port(t, server, nil) + "/x?sslmode=verify-full", nil,
			[]string{"runs", "ssl = on"}},
		{"a certificate of an unknown authority",
			"postgres://ann@" + port(t, server, strangers(t)) + "/x?sslmode=verify-full",
			nil, []string{"runs", "sslrootcert"}},
		{"the same, whatever its name", "postgres://ann@" + port(t, server, strangers(t)) + "/x?sslmode=verify-ca",
			nil, []string{"runs", "sslrootcert"}},
		{"an unknown sslmode", "postgres://ann@127.0.0.1/x?sslmode=verfy-full", nil, []string{"sslmode", "verify-full"}},
		{"an authority that is not there", "postgres://ann@127.0.0.1/x?sslmode=verify-full&sslrootcert=/absent.crt", nil,
			[]string{"/absent.crt", "sslrootcert"}},
		{"a newer schema", newer, nil, []string{"has schema 999", "install the newer program"}},
		{"no address", "postgres://:x", nil, []string{"cannot be read", "postgres://user@host:5432/database"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			n := newNode(t)
			n.Env = append(n.Env, c.env...)
			out, said, code, err := n.Run(t.Context(), "serve", "--listen", "127.0.0.1:0", "--db", c.flag)
			require.NoError(t, err)
			require.NotZero(t, code)
			for _, words := range c.says {
				require.Contains(t, said, words)
			}
			require.NotContains(t, out+said, secret)
		})
	}
}

// strangers is a certificate that no authority of this machine has signed.
func strangers(t *testing.T) *tls.Config {
	s := httptest.NewTLSServer(nil)
	t.Cleanup(s.Close)
	return s.TLS
}

// port gives an address of this machine that leads to the server: by TLS with these
// certificates, or without.
func port(t *testing.T, server string, certificates *tls.Config) string {
	socket := filepath.Join(hostPattern.FindStringSubmatch(server)[1], socketName)
	return storetest.Front(t, func(client net.Conn) {
		if certificates != nil {
			if _, err := io.ReadFull(client, make([]byte, 8)); err != nil { // asks for TLS
				return
			}
			client.Write([]byte("S"))                    //nolint:errcheck // the client then hangs up
			tls.Server(client, certificates).Handshake() //nolint:errcheck // as it must
			return
		}
		server, err := net.Dial("unix", socket)
		if err != nil {
			return
		}
		defer server.Close()       //nolint:errcheck // only a test
		go io.Copy(server, client) //nolint:errcheck // until one of them ends
		io.Copy(client, server)    //nolint:errcheck // until one of them ends
	})
}

// queueLog is what workers saw.
type queueLog struct {
	mu    sync.Mutex
	given map[string]int // item and fence → worker
	done  map[string]int
	wrong []string
}

func (q *queueLog) count() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.done)
}

func (q *queueLog) note(in map[string]int, key string, worker int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if by, ok := in[key]; ok && by != worker {
		q.wrong = append(q.wrong, fmt.Sprint(key, " went to ", by, " and ", worker))
	}
	in[key] = worker
}

// work claims and reports until nothing is left: at its node, and at the first one when that
// is gone.
func (q *queueLog) work(m *team, w int, file string) {
	at := w % len(m.nodes)
	fail := func(err any) {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.wrong = append(q.wrong, fmt.Sprint("worker ", w, ": ", err))
	}
	var c *Remote
	for {
		if c == nil {
			var err error
			if c, err = m.dial(m.Context(), file, at); err != nil {
				if at == 0 {
					fail(err)
					return
				}
				at, c = 0, nil
				continue
			}
		}
		claimed, err := c.Call(m.Context(), "task_claim", []byte(`{}`))
		if err != nil { // the node was killed
			if at, c = 0, nil; m.Context().Err() != nil {
				return
			}
			continue
		}
		if claimed.Code != "" {
			fail(claimed.Text)
			return
		}
		item, ok := claimed.Value.(map[string]any)["work"].(map[string]any)
		if !ok {
			return // nothing is left
		}
		key := fmt.Sprint(item["work_id"], " ", item["fence"])
		q.note(q.given, key, w)
		args, err := json.Marshal(map[string]any{"work_id": item["work_id"], "fence": item["fence"], "outcome": "done"})
		if err != nil {
			fail(err)
			return
		}
		reported, err := c.Call(m.Context(), "task_report", args)
		if err != nil {
			at, c = 0, nil
			continue // the next claim gives the item back, unless it was taken
		}
		if reported.Code != "" {
			fail(reported.Text)
			return
		}
		q.note(q.done, fmt.Sprint(item["work_id"]), w)
	}
}
