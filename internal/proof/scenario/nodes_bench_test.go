//go:build unix

package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
)

// BenchmarkNodes measures the figures of docs/scale.md:
//
//	go test -run "^$" -bench Nodes -benchtime 1500x ./internal/proof/scenario
//	CORDELIA_TEST_DB=postgres go test -run "^$" -bench Claims -benchtime 5000x ./work
//
// The ratios that the page asks for stand beside the figures: of-bare and of-one.
func BenchmarkNodes(b *testing.B) {
	var one float64
	b.Run("bare commits", func(b *testing.B) {
		took := storetest.Repeat(b, storetest.Database(b, storetest.Server(b), b.Name()), 16, b.N, func(n int) string {
			return fmt.Sprintf(`INSERT INTO node(name, value) VALUES ('%d %d', 'x')`, b.N, n)
		})
		b.ReportMetric(float64(b.N)/took.Seconds(), "commits/s")
	})
	b.Run("transactions", benchTransactions)
	for _, count := range []int{0, 1, 2, 3} { // 0 is one node with a file
		b.Run(fmt.Sprint("claims/nodes=", count), func(b *testing.B) {
			rate := benchClaims(b, newTeam(b, count), 16, b.N)
			if count == 1 {
				one = rate
			}
			if count > 1 && one > 0 {
				b.ReportMetric(rate/one, "of-one")
			}
		})
	}
	for _, count := range []int{1, 3} {
		b.Run(fmt.Sprint("claims, 5 ms away/nodes=", count), func(b *testing.B) {
			_, away := newWire(b, storetest.Database(b, storetest.Server(b), b.Name()), 5*time.Millisecond)
			rate := benchClaims(b, newTeamAt(b, count, away), 48, min(b.N, 960))
			if count == 1 {
				one = rate
			} else {
				b.ReportMetric(rate/one, "of-one")
			}
		})
	}
	b.Run("bare claims", func(b *testing.B) { benchBareClaims(b, 16, 1) })
	b.Run("bare claims of 100", func(b *testing.B) { benchBareClaims(b, 1, 100) })
	b.Run("news", benchNews)
}

// benchClaims has so many agents claim and report so many items over HTTP, and gives items/s.
func benchClaims(b *testing.B, m *team, agents, items int) float64 {
	workers := make([]*benchWorker, agents)
	for i := range workers {
		workers[i] = &benchWorker{team: m, key: m.worker(fmt.Sprint("worker-", i)), node: i % len(m.nodes)}
	}
	const first = 8 // items of each agent, by which connections and statements are there
	m.submit(first * agents)
	carryOut(b, workers)
	m.submit(items)
	b.ResetTimer()
	carryOut(b, workers)
	rate := float64(items) / b.Elapsed().Seconds()
	b.ReportMetric(rate, "items/s")
	if m.database != "" {
		all := items + first*agents
		require.Equal(b, all, m.one(`SELECT count(*) FROM work_items WHERE state = 'done'`))
		require.Equal(b, all, m.one(`SELECT count(*) FROM work_leases`), "none was claimed twice")
	}
	return rate
}

// benchWorker is an agent at a node.
type benchWorker struct {
	*team
	key    string
	node   int
	client *Remote
}

// call is a call with a token that has not ended.
func (w *benchWorker) call(ctx context.Context, tool string, args []byte) (Answer, error) {
	if w.client != nil {
		if a, err := w.client.Call(ctx, tool, args); err != nil || a.Code != "unauthenticated" {
			return a, err
		}
	}
	var err error
	if w.client, err = w.dial(ctx, w.key, w.node); err != nil {
		return Answer{}, err
	}
	return w.client.Call(ctx, tool, args)
}

// carryOut has each worker claim and report until there is nothing left.
func carryOut(b *testing.B, workers []*benchWorker) {
	var all sync.WaitGroup
	for _, worker := range workers {
		all.Go(func() {
			for {
				a, err := worker.call(b.Context(), "task_claim", []byte(`{}`))
				out, _ := a.Value.(map[string]any)
				w, ok := out["work"].(map[string]any)
				if err != nil || !ok {
					return
				}
				args, err := json.Marshal(map[string]any{"work_id": w["work_id"], "fence": w["fence"], "outcome": "done"})
				if err == nil {
					_, err = worker.call(b.Context(), "task_report", args)
				}
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// submit offers so many items.
func (m *team) submit(count int) {
	for at := 0; at < count; {
		var list []any
		for ; len(list) < 100 && at < count; at++ {
			list = append(list, map[string]any{"intent": fmt.Sprint("crate ", at)})
		}
		told(m, m.lead(0), "task_submit", map[string]any{"items": list})
	}
}

// benchBareClaims leases so many items by a statement, which is all that it does.
func benchBareClaims(b *testing.B, connections, each int) {
	m := newTeam(b, 1)
	m.submit(b.N)
	took := storetest.Repeat(b, m.database, connections, (b.N+each-1)/each, func(int) string {
		return fmt.Sprintf(`UPDATE work_items SET state = 'leased', holder = 'x', fence = fence + 1 WHERE n IN (SELECT n FROM
			work_items WHERE lane = (SELECT min(n) FROM work_lanes) AND state = 'ready'
			ORDER BY priority DESC, place LIMIT %d FOR UPDATE SKIP LOCKED)`, each)
	})
	b.ReportMetric(float64(b.N)/took.Seconds(), "items/s")
}

// benchNews measures from the answer of a write to the waking of a reader at another node.
func benchNews(b *testing.B) {
	url := storetest.Database(b, storetest.Server(b), b.Name())
	one, two := openStore(b, url), openStore(b, url)
	woken, end := two.Watch()
	defer end()
	<-woken // it listens
	var took []time.Duration
	for n := range min(b.N, 500) { // each waits for 30 ms of silence
		for drained := false; !drained; {
			select {
			case <-woken:
			case <-time.After(30 * time.Millisecond):
				drained = true
			}
		}
		begun := time.Now()
		require.NoError(b, one.Write(b.Context(), func(tx *store.Tx) error {
			tx.Notify()
			_, err := tx.Exec(`INSERT INTO node(name, value) VALUES (?, 'x')`, fmt.Sprint(b.N, " ", n))
			return err
		}))
		<-woken
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
