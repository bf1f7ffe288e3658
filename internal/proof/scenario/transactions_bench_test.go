//go:build unix

package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
)

// The transaction that is measured is the least that a node makes: it reads what it decides by,
// then writes two rows with its commit. That is two exchanges.
const (
	readFirst  = `SELECT value FROM counters WHERE name = 'epoch'`
	writeRow   = `INSERT INTO cursors(entity_id, stream, seq) VALUES (?1, 'x', 1)`
	writeAgain = `UPDATE cursors SET seq = seq + 1 WHERE entity_id = ?1 AND stream = 'x'`
)

// benchTransactions has 16 callers make b.N transactions by the driver alone and by nodes, and that in
// rounds, for a machine is faster in one minute than in the next. It gives medians of them, and of the
// ratios within a round. In the round before the first, connections and statements are made.
func benchTransactions(b *testing.B) {
	const rounds = 9
	url := storetest.Database(b, storetest.Server(b), b.Name())
	own := strings.NewReplacer("?", "$").Replace
	bare := storetest.Exchanges(b, url, 16, [][]string{{"BEGIN", readFirst}, {own(writeRow), own(writeAgain), "COMMIT"}})
	nodes := []*store.Store{openStore(b, url), openStore(b, url)}
	ways := []struct {
		name string
		run  storetest.Times
	}{
		{"bare", bare},
		{"one-node", byNodes(b, nodes[:1], besideOthers)},
		{"two-nodes", byNodes(b, nodes, besideOthers)},
		{"one-node-in-turn", byNodes(b, nodes[:1], alone)},
		{"two-nodes-in-turn", byNodes(b, nodes, alone)},
	}
	rates, ratios := map[string][]float64{}, map[string][]float64{}
	b.ResetTimer()
	for round := range rounds + 1 {
		var floor float64
		for i, way := range ways {
			took := way.run(b.N, func(n int) string { return fmt.Sprint(b.N, " ", round, " ", i, " ", n) })
			rate := float64(b.N) / took.Seconds()
			if i == 0 {
				floor = rate
			}
			if round > 0 {
				rates[way.name] = append(rates[way.name], rate)
				ratios[way.name] = append(ratios[way.name], rate/floor)
			}
		}
	}
	for i, way := range ways {
		b.ReportMetric(median(rates[way.name]), way.name+"/s")
		if i > 0 {
			b.ReportMetric(median(ratios[way.name]), way.name+"-of-bare")
		}
	}
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

func openStore(b *testing.B, url string) *store.Store {
	b.Helper()
	s, err := store.Open(b.Context(), store.Options{URL: url})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, s.Close()) })
	return s
}

// writing makes the transaction for one of the callers.
type writing func(ctx context.Context, s *store.Store, caller int, row string) error

func alone(ctx context.Context, s *store.Store, _ int, row string) error {
	return s.Write(ctx, func(tx *store.Tx) error { return readAndWrite(tx, row) })
}

func besideOthers(ctx context.Context, s *store.Store, caller int, row string) error {
	return s.WriteConcurrent(ctx, fmt.Sprint(caller), func(tx *store.Tx) error { return readAndWrite(tx, row) })
}

func readAndWrite(tx *store.Tx, row string) error {
	var epoch int64
	err := tx.QueryRow(readFirst).Scan(&epoch)
	if err == nil {
		err = tx.Send(writeRow, row)
	}
	if err == nil {
		err = tx.Send(writeAgain, row)
	}
	return err
}

// byNodes has 16 callers at these nodes make the transaction so many times.
func byNodes(b *testing.B, nodes []*store.Store, write writing) storetest.Times {
	return func(times int, row func(n int) string) time.Duration {
		return storetest.Spread(b, 16, times, func(caller, n int) error {
			return write(b.Context(), nodes[caller%len(nodes)], caller, row(n))
		})
	}
}
