//go:build unix

package scenario

import (
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
func BenchmarkNodes(b *testing.B) {
	for _, count := range []int{1, 2} {
		b.Run(fmt.Sprint("commits/nodes=", count), func(b *testing.B) { benchCommits(b, count) })
	}
	for _, count := range []int{0, 1, 2} {
		b.Run(fmt.Sprint("claims/nodes=", count), func(b *testing.B) { benchClaims(b, count) })
	}
	b.Run("news", benchNews)
}

// benchCommits has 16 callers write a small row each, again and again.
func benchCommits(b *testing.B, nodes int) {
	url := storetest.Database(b, storetest.Server(b), b.Name())
	var stores []*store.Store
	for range nodes {
		s, err := store.Open(b.Context(), store.Options{URL: url})
		require.NoError(b, err)
		b.Cleanup(func() { require.NoError(b, s.Close()) })
		stores = append(stores, s)
	}
	var all sync.WaitGroup
	turns := make(chan int)
	for caller := range 16 {
		all.Go(func() {
			for n := range turns {
				if err := stores[caller%nodes].Write(b.Context(), func(tx *store.Tx) error {
					_, err := tx.Exec(`INSERT INTO node(name, value) VALUES (?, 'x')`, fmt.Sprint(b.N, " ", n))
					return err
				}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	b.ResetTimer()
	for n := range b.N {
		turns <- n
	}
	close(turns)
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
}

// benchClaims has 16 agents claim and report over HTTP; no nodes are one with a file.
func benchClaims(b *testing.B, nodes int) {
	m := newTeam(b, nodes)
	var clients []*Remote
	for w := range 16 {
		c, err := m.dial(b.Context(), m.worker(fmt.Sprint("worker-", w)), w%max(nodes, 1))
		require.NoError(b, err)
		clients = append(clients, c)
	}
	for at := 0; at < b.N; {
		var list []any
		for ; len(list) < 100 && at < b.N; at++ {
			list = append(list, map[string]any{"intent": fmt.Sprint("crate ", at)})
		}
		told(b, m.lead(0), "task_submit", map[string]any{"items": list})
	}
	var all sync.WaitGroup
	b.ResetTimer()
	for _, c := range clients {
		all.Go(func() {
			for {
				a, err := c.Call(b.Context(), "task_claim", []byte(`{}`))
				out, _ := a.Value.(map[string]any)
				w, ok := out["work"].(map[string]any)
				if err != nil || !ok {
					return
				}
				args, err := json.Marshal(map[string]any{"work_id": w["work_id"], "fence": w["fence"], "outcome": "done"})
				if err == nil {
					_, err = c.Call(b.Context(), "task_report", args)
				}
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "items/s")
	if nodes > 0 {
		require.Equal(b, b.N, m.one(`SELECT count(*) FROM work_items WHERE state = 'done'`))
	}
}

// benchNews measures from the answer of a write to the waking of a reader at another node.
func benchNews(b *testing.B) {
	url := storetest.Database(b, storetest.Server(b), b.Name())
	open := func() *store.Store {
		s, err := store.Open(b.Context(), store.Options{URL: url})
		require.NoError(b, err)
		b.Cleanup(func() { require.NoError(b, s.Close()) })
		return s
	}
	one, two := open(), open()
	woken, end := two.Watch()
	defer end()
	<-woken // it listens
	var took []time.Duration
	for n := range b.N {
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
