//go:build unix

package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/proof/soak"
	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
)

// storm is a team that works on while what it stands on fails.
type storm struct {
	*team
	*queueLog
	items   int
	at      sync.RWMutex
	over    atomic.Bool
	refused atomic.Int64 // calls that were not acknowledged
	last    atomic.Value // of them
	kept    sync.Map     // what was acknowledged as written
}

// newStorm starts nodes on a database, of which address says how each reaches it, with
// clocks that are so far off, and gives them items.
func newStorm(t *testing.T, skew []time.Duration, items int, address func(node int) string) *storm {
	s := &storm{team: &team{TB: t, database: address(0)}, items: items,
		queueLog: &queueLog{given: map[string]int{}, done: map[string]int{}}}
	for i := range skew {
		n := newNode(t)
		n.Env = append(n.Env, "CORDELIA_DB="+address(i))
		if skew[i] != 0 {
			n.Env = append(n.Env, "CORDELIA_TEST_CLOCK_WRONG="+skew[i].String())
		}
		url, err := n.Serve(t.Context())
		require.NoError(t, err)
		s.nodes, s.urls = append(s.nodes, n), append(s.urls, url)
	}
	lead := s.lead(0)
	told(t, lead, "memory_group", map[string]any{"action": "create", "group": "harbour"})
	for at := 0; at < items; {
		var list []any
		for ; len(list) < 50 && at < items; at++ {
			list = append(list, map[string]any{"intent": fmt.Sprint("carry crate ", at)})
		}
		told(t, lead, "task_submit", map[string]any{"items": list})
	}
	return s
}

// url is where a node is reached now.
func (s *storm) url(node int) string {
	s.at.RLock()
	defer s.at.RUnlock()
	return s.urls[node]
}

// restart kills a node and starts it again.
func (s *storm) restart(node int) {
	s.Helper()
	s.nodes[node].Kill()
	var url string
	require.Eventually(s, func() (ok bool) {
		var err error
		url, err = s.nodes[node].Serve(s.Context())
		return err == nil
	}, time.Minute, 200*time.Millisecond, "the node starts again")
	s.at.Lock()
	defer s.at.Unlock()
	s.urls[node] = url
}

// carrier is a worker and the node that it asks now.
type carrier struct {
	*storm
	w    int
	file string
	node int
	c    *Remote // nil = to be dialled
}

// call calls a tool, at the next node when one cannot answer at present.
func (c *carrier) call(tool string, args map[string]any) (a Answer, ok bool) {
	raw, err := json.Marshal(args)
	if err != nil {
		c.wrongly(c.w, err)
		return a, false
	}
	for !c.over.Load() && c.Context().Err() == nil {
		ctx, end := context.WithTimeout(c.Context(), 30*time.Second)
		if c.c == nil {
			c.c, err = c.nodes[0].Dial(ctx, c.url(c.node), c.file)
		}
		if err == nil {
			a, err = c.c.Call(ctx, tool, raw)
		}
		end()
		if err == nil && !slices.Contains([]string{"unavailable", "busy", "internal", "unauthenticated", "revoked"},
			a.Code) &&
			!strings.Contains(a.Text, "try again") {
			return a, true
		}
		c.last.Store(fmt.Sprint(err, a.Text))
		c.refused.Add(1)
		c.node, c.c, err = (c.node+1)%len(c.nodes), nil, nil
		time.Sleep(50 * time.Millisecond)
	}
	return a, false
}

func (s *storm) wrongly(w int, what any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong = append(s.wrong, fmt.Sprint("worker ", w, ": ", what))
}

// works claims, writes and reports until all items are done.
func (s *storm) works(w int, file string) {
	c := &carrier{storm: s, w: w, file: file, node: w % len(s.nodes)}
	for n := 0; !s.over.Load(); n++ {
		a, ok := c.call("task_claim", map[string]any{})
		if !ok {
			return
		}
		if a.Code != "" {
			s.wrongly(w, a.Text)
			return
		}
		item, ok := a.Value.(map[string]any)["work"].(map[string]any)
		if !ok { // others hold what is left, or all is done
			time.Sleep(100 * time.Millisecond)
			continue
		}
		s.note(s.given, fmt.Sprint(item["work_id"], " ", item["fence"]), w)
		words := fmt.Sprintf("Worker %d carried crate %d of %v", w, n, item["work_id"])
		if a, ok := c.call("memory_write_warm", map[string]any{"type": "learning", "group": "harbour",
			"data": map[string]any{"type": "insight", "content": words}}); ok && a.Code == "" {
			s.kept.Store(at[string](s, a, "id"), words)
		}
		a, ok = c.call("task_report", map[string]any{"work_id": item["work_id"], "fence": item["fence"],
			"outcome": "done"})
		if ok && a.Code == "" {
			s.note(s.done, fmt.Sprint(item["work_id"]), w)
		}
	}
}

// rages has workers work while what happens happens, until so many items are done, and holds
// what was promised.
func (s *storm) rages(until int, happens func(step int), steps int) {
	const workers = 6
	s.Helper()
	var all sync.WaitGroup
	for w := range workers {
		file := s.worker(fmt.Sprint("carrier-", w), "memory_write_warm")
		told(s, s.lead(0), "memory_group", map[string]any{"action": "add", "group": "harbour",
			"entity": fmt.Sprint("carrier-", w), "role": "member"})
		all.Go(func() { s.works(w, file) })
	}
	defer all.Wait()
	defer s.over.Store(true)
	for step := range steps {
		before := s.count()
		happens(step)
		s.eventually("work goes on", func() bool { return s.count() > before || s.count() >= s.items })
	}
	for have := 0; have < until; {
		s.eventually("work goes on", func() bool {
			now := s.doneItems()
			defer func() { have = max(have, now) }()
			return now > have
		})
	}
	s.over.Store(true)
	all.Wait()
	require.Empty(s, s.wrong)
	reported := s.set(`SELECT id FROM work_items WHERE outcome = 'done'`)
	for id := range s.done {
		require.True(s, reported[id], "item %s is not done, though its report was acknowledged", id)
	}
	done := len(reported)
	require.Equal(s, done, s.one(`SELECT count(*) FROM (SELECT item FROM work_leases WHERE outcome = 'done'
		GROUP BY item HAVING count(*) = 1) AS once`), "each item is done once")
	written, kept := s.set(`SELECT id FROM items WHERE deleted_at = 0`), 0
	s.kept.Range(func(id, words any) bool {
		kept++
		require.True(s, written[id.(string)], "%s: acknowledged as %s, and not there", words, id)
		return true
	})
	s.Logf("%d of %d items done, %d reports and %d writes acknowledged and there, %d calls not acknowledged",
		done, s.items, len(s.done), kept, s.refused.Load())
	for _, state := range []string{"ready", "waiting", "leased", "failed", "held", "blocked"} {
		if n := s.one(`SELECT count(*) FROM work_items WHERE state = '` + state + `'`); n > 0 {
			s.Logf("%d %s", n, state)
		}
	}
	for _, n := range s.nodes {
		out, said, code, err := n.Run(s.Context(), "audit", "verify")
		require.NoError(s, err)
		require.Zero(s, code, out+said)
		break
	}
}

func (s *storm) eventually(what string, holds func() bool) {
	s.Helper()
	limit := time.Now().Add(3 * time.Minute)
	for !holds() {
		require.True(s, time.Now().Before(limit), "%s: %d done of %d, %d not acknowledged, the last: %v; %v", what, s.count(),
			s.items, s.refused.Load(), s.last.Load(), s.wrong)
		time.Sleep(100 * time.Millisecond)
	}
}

// doneItems asks the database, which may be away.
func (s *storm) doneItems() (n int) {
	db, err := store.Open(s.Context(), store.Options{URL: s.database})
	if err != nil {
		return 0
	}
	defer db.Close() //nolint:errcheck // only read
	if err := db.Read(s.Context(), func(tx *store.Tx) error {
		return tx.QueryRow(`SELECT count(*) FROM work_items WHERE outcome = 'done'`).Scan(&n)
	}); err != nil {
		return 0
	}
	return n
}

// Three nodes work while the database and the nodes are killed and started again: what was
// acknowledged is there, and no claim is given twice.
func TestKillsOnPostgreSQL(t *testing.T) {
	t.Parallel()
	server := storetest.NewInstance(t)
	storetest.Admin(t, server.Address()+" dbname=postgres", `CREATE DATABASE team TEMPLATE template0`)
	s := newStorm(t, make([]time.Duration, 3), soak.Count(t, 80, 20000),
		func(int) string { return server.Address() + " dbname=team" })
	s.rages(s.items, func(step int) {
		time.Sleep(time.Second)
		if step%2 == 0 {
			server.Kill()
			server.Start()
		} else {
			s.restart(1 + step/2%2)
		}
	}, soak.Count(t, 3, 100))
}

// The primary is killed and its standby promoted: with synchronous replication nothing that
// was acknowledged is lost.
func TestFailoverOnPostgreSQL(t *testing.T) {
	t.Parallel()
	primary := storetest.NewInstance(t)
	standby := primary.Standby()
	storetest.Admin(t, primary.Address()+" dbname=postgres", `CREATE DATABASE team TEMPLATE template0`)
	address := fmt.Sprintf("host=%s,%s user=postgres sslmode=disable target_session_attrs=read-write dbname=team",
		primary.Folder(), standby.Folder())
	s := newStorm(t, make([]time.Duration, 3), soak.Count(t, 60, 2000), func(int) string { return address })
	s.rages(s.items, func(int) {
		time.Sleep(time.Second)
		primary.Kill()
		standby.Promote()
	}, 1)
}

// The clocks of three nodes are seven minutes apart: each goes by the database's, so no claim is
// taken back early, and all items are done.
func TestSkewOnPostgreSQL(t *testing.T) {
	t.Parallel()
	address := storetest.Database(t, storetest.Server(t), t.Name())
	s := newStorm(t, []time.Duration{0, 4 * time.Minute, -3 * time.Minute}, soak.Count(t, 40, 2000),
		func(int) string { return address })
	s.rages(s.items, func(int) {}, 1)
	require.Zero(t, s.one(`SELECT count(*) FROM work_leases WHERE outcome <> 'done'`))
}

// A node is cut off from the database, and one is cut off without knowing it, amid its writes:
// the others go on, and it goes on when it is back.
func TestPartitionOnPostgreSQL(t *testing.T) {
	t.Parallel()
	server := storetest.NewInstance(t)
	storetest.Admin(t, server.Address()+" dbname=postgres", `CREATE DATABASE team TEMPLATE template0`)
	proxy := newProxy(t, server.Folder())
	s := newStorm(t, make([]time.Duration, 3), soak.Count(t, 80, 2000), func(node int) string {
		folder := server.Folder()
		if node == 1 {
			folder = proxy.folder
		}
		return "host=" + folder + " user=postgres sslmode=disable dbname=team"
	})
	s.rages(s.items, func(step int) {
		time.Sleep(time.Second)
		if step%2 == 0 {
			proxy.is(frozen)
		} else {
			proxy.is(cut)
		}
		before := s.count()
		s.eventually("the others go on", func() bool { return s.count() > before || s.count() >= s.items })
		proxy.is(passing)
	}, soak.Count(t, 3, 50))
}
