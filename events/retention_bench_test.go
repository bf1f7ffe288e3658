package events_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
)

// BenchmarkRetention measures, on PostgreSQL, what it takes to remove old events that a hundred
// readers of each stream acknowledged, while a node goes on writing: events a second, how long a
// transaction takes and a look at all streams, what the writes wait, and what room is left behind.
func BenchmarkRetention(b *testing.B) {
	const rows, streams, readers = 400_000, 16, 100
	address := storetest.Database(b, storetest.Server(b), b.Name())
	s, err := store.Open(b.Context(), store.Options{URL: address})
	require.NoError(b, err)
	defer s.Close() //nolint:errcheck // only a benchmark
	storetest.Admin(b, address, fmt.Sprintf(`INSERT INTO entities(id, kind, root_id, depth, name, display_name, public_key,
		enc_public_key, enc_binding, status, status_by, status_at, created_at)
		SELECT 'agent-' || n, 'agent', '', 1, n, n, '', '', '', 'active', 'node', 0, 0 FROM generate_series(1, %d) AS n`,
		readers))
	storetest.Admin(b, address, fmt.Sprintf(`INSERT INTO groups(id, kind, owner_id, created_at)
		SELECT 'group-' || g, 'normal', 'agent-1', 0 FROM generate_series(0, %d) AS g`, streams-1))
	for table, columns := range map[string]string{
		"members(group_id, entity_id, role, added_by, joined_at)": `'group-' || g, 'agent-' || n, 'member', '', 0`,
		"cursors(stream, entity_id, seq)":                         `'g/group-' || g, 'agent-' || n, 1000000`,
	} {
		storetest.Admin(b, address, fmt.Sprintf(`INSERT INTO %s SELECT %s FROM generate_series(0, %d) AS g,
			generate_series(1, %d) AS n`, table, columns, streams-1, readers))
	}
	fill := func(from, to int) {
		storetest.Admin(b, address, fmt.Sprintf(`INSERT INTO events(stream, seq, id, type, source, domain, payload, at)
			SELECT 'g/group-' || n %% %[1]d, n / %[1]d + 1, gen_random_uuid()::text, 'memory.written', repeat('a', 64),
			'group-' || n %% %[1]d,
			'{"item_id":"' || gen_random_uuid() || '","type":"learning","group_id":"group-' || n %% %[1]d || '"}', n
			FROM generate_series(%[2]d, %[3]d) AS n`, streams, from, to-1))
		storetest.Admin(b, address, fmt.Sprintf(`INSERT INTO streams(name, head) SELECT 'g/group-' || g, %[2]d
			FROM generate_series(0, %[1]d) AS g ON CONFLICT(name) DO UPDATE SET head = excluded.head`, streams-1, to/streams))
	}
	bytes := func() (n float64) {
		require.NoError(b, s.Read(b.Context(), func(tx *store.Tx) error {
			return tx.QueryRow(`SELECT pg_total_relation_size('events')`).Scan(&n)
		}))
		return n
	}
	write := func() (took []time.Duration, err error) {
		for range 200 {
			begun := time.Now()
			if err := s.Write(b.Context(), func(tx *store.Tx) error {
				_, err := tx.Exec(`UPDATE counters SET value = value + 1 WHERE name = 'epoch'`)
				return err
			}); err != nil {
				return nil, err
			}
			took = append(took, time.Since(begun))
			time.Sleep(time.Millisecond)
		}
		slices.Sort(took)
		return took, nil
	}
	fill(0, rows)
	full := bytes()
	alone, err := write()
	require.NoError(b, err)
	var waited []time.Duration
	var failed error
	var beside sync.WaitGroup
	beside.Go(func() { waited, failed = write() })
	keep, half := events.Retention{Events: time.Microsecond}, time.UnixMicro(rows/2+1)
	look := func() (old []events.Stream) {
		require.NoError(b, s.Read(b.Context(), func(tx *store.Tx) (err error) {
			old, err = keep.Old(tx, half)
			return err
		}))
		return old
	}
	removed, longest, begun := 0, time.Duration(0), time.Now()
	for old := look(); len(old) > 0; old = look() {
		begun := time.Now()
		require.NoError(b, s.Write(b.Context(), func(tx *store.Tx) error {
			n, err := keep.Remove(tx, half, old)
			removed += n
			return err
		}))
		longest = max(longest, time.Since(begun))
	}
	require.Equal(b, rows/2, removed)
	took := time.Since(begun)
	beside.Wait()
	require.NoError(b, failed)
	begun = time.Now()
	require.Empty(b, look())
	looked := time.Since(begun)
	begun = time.Now()
	storetest.Admin(b, address, `VACUUM events`)
	vacuum := time.Since(begun)
	left := bytes()
	fill(rows, rows+rows/2)
	b.ReportMetric(full/rows, "B/event")
	b.ReportMetric(rows/2/took.Seconds(), "deleted/s")
	b.ReportMetric(float64(longest.Microseconds())/1000, "ms-transaction-max")
	b.ReportMetric(float64(looked.Microseconds())/1000, "ms-look")
	b.ReportMetric(float64(alone[len(alone)*99/100].Microseconds())/1000, "ms-write-p99-alone")
	b.ReportMetric(float64(waited[len(waited)*99/100].Microseconds())/1000, "ms-write-p99-beside")
	b.ReportMetric(vacuum.Seconds(), "s-vacuum")
	b.ReportMetric(left/full, "size-after-delete")
	b.ReportMetric(bytes()/full, "size-after-refill")
}
