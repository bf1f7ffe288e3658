package store_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
)

// BenchmarkRetention measures, on PostgreSQL, what it takes to remove old events in ranges while
// a node goes on writing: rows a second, what the writes wait, and what room is left behind.
func BenchmarkRetention(b *testing.B) {
	const rows, streams, span = 400_000, 16, 5_000
	address := storetest.Database(b, storetest.Server(b), b.Name())
	s, err := store.Open(b.Context(), store.Options{URL: address})
	require.NoError(b, err)
	defer s.Close() //nolint:errcheck // only a benchmark
	fill := func(from, to int) {
		storetest.Admin(b, address, fmt.Sprintf(`INSERT INTO events(stream, seq, id, type, source, domain, payload, at)
			SELECT 'g/group-' || n %% %d, n, gen_random_uuid()::text, 'memory.written', repeat('a', 64), 'group-' || n %% %d,
			'{"item_id":"' || gen_random_uuid() || '","type":"learning","group_id":"group-' || n %% %d || '"}', n
			FROM generate_series(%d, %d) AS n`, streams, streams, streams, from, to-1))
	}
	bytes := func() (n float64) {
		require.NoError(b, s.Read(b.Context(), func(tx *store.Tx) error {
			return tx.QueryRow(`SELECT pg_total_relation_size('events')`).Scan(&n)
		}))
		return n
	}
	write := func() (took []time.Duration) {
		for range 200 {
			begun := time.Now()
			require.NoError(b, s.Write(context.Background(), func(tx *store.Tx) error {
				_, err := tx.Exec(`UPDATE counters SET value = value + 1 WHERE name = 'epoch'`)
				return err
			}))
			took = append(took, time.Since(begun))
			time.Sleep(time.Millisecond)
		}
		slices.Sort(took)
		return took
	}
	fill(0, rows)
	full, alone := bytes(), write()
	beside := make(chan []time.Duration, 1)
	go func() { beside <- write() }()
	begun := time.Now()
	for from := 0; from < rows/2; from += span {
		require.NoError(b, s.Write(context.Background(), func(tx *store.Tx) error {
			for stream := range streams { // by the primary key, as retention would
				if _, err := tx.Exec(`DELETE FROM events WHERE stream = ? AND seq < ?`, fmt.Sprint("g/group-", stream),
					from+span); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	took := time.Since(begun)
	waited := <-beside
	begun = time.Now()
	storetest.Admin(b, address, `VACUUM events`)
	vacuum := time.Since(begun)
	left := bytes()
	fill(rows, rows+rows/2)
	b.ReportMetric(full/rows, "B/event")
	b.ReportMetric(rows/2/took.Seconds(), "deleted/s")
	b.ReportMetric(float64(alone[len(alone)*99/100].Microseconds())/1000, "ms-write-p99-alone")
	b.ReportMetric(float64(waited[len(waited)*99/100].Microseconds())/1000, "ms-write-p99-beside")
	b.ReportMetric(vacuum.Seconds(), "s-vacuum")
	b.ReportMetric(left/full, "size-after-delete")
	b.ReportMetric(bytes()/full, "size-after-refill")
}
