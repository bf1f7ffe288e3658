package events

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/proof/soak"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// A thousand members of a group, ten thousand events, and one member that never
// acknowledges: the others get each event once and in order, and what the stuck one
// costs is its place.
func TestCrowdWithOneStuckReader(t *testing.T) {
	f := newFixture(t)
	f.group("g", `{}`)
	readers, total := soak.Count(t, 40, 1000), soak.Count(t, 1000, 10_000)
	const batch, workers = 100, 8 // two batches stay within what a mailbox shows
	boxes, got := make([]Mailbox, readers), make([]int, readers)
	f.write(func(tx *store.Tx) error {
		for i := range boxes {
			boxes[i] = mailbox(schemas.EntityID(fmt.Sprintf("r%d", i)), "g")
			if err := Join(tx, boxes[i].Reader, "g"); err != nil {
				return err
			}
		}
		return Join(tx, "stuck", "g")
	})
	stuck := mailbox("stuck", "g")

	// catchUp reads and acknowledges all there is for one reader.
	catchUp := func(i int) error {
		for {
			var b Batch
			if err := f.store.Read(context.Background(), func(tx *store.Tx) (err error) {
				b, err = boxes[i].Unread(tx, MaxPage, 1<<20)
				return err
			}); err != nil || len(b.Events) == 0 {
				return err
			}
			if b.Skipped > 0 {
				return fmt.Errorf("reader %d lost %d events", i, b.Skipped)
			}
			for _, item := range items(b) {
				if item != fmt.Sprint(got[i]) {
					return fmt.Errorf("reader %d got %s, not %d", i, item, got[i])
				}
				got[i]++
			}
			if err := f.store.Write(context.Background(), func(tx *store.Tx) error {
				_, err := boxes[i].Acknowledge(tx, b.Cursor)
				return err
			}); err != nil {
				return err
			}
		}
	}
	round := func() {
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				for i := w; i < readers; i += workers {
					if err := catchUp(i); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	}
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	var early int64
	for written := 0; written < total && !t.Failed(); {
		var wg sync.WaitGroup
		wg.Go(round) // of what was written before, while more is
		list := make([]string, batch)
		for k := range list {
			list[k] = fmt.Sprint(written + k)
		}
		f.written(GroupStream("g"), "ann", list...)
		if written += batch; written == total/4 {
			early = heap()
		}
		wg.Wait()
	}
	round()
	for i, n := range got {
		require.Equal(t, total, n, "reader %d", i)
	}
	b := f.poll(stuck, MaxPage)
	require.Len(t, b.Events, MaxPage)
	require.Equal(t, total, b.Unread)
	require.Equal(t, total-MaxUnread, b.Skipped)
	require.Equal(t, fmt.Sprint(total-MaxUnread), items(b)[0], "the newest, and the number of those before")
	count := func(query string) (n int) {
		f.read(func(tx *store.Tx) error { return tx.QueryRow(query).Scan(&n) })
		return n
	}
	require.Equal(t, total, count(`SELECT count(*) FROM events`), "one row each, however many read it")
	require.LessOrEqual(t, count(`SELECT count(*) FROM cursors`), readers+1)
	grown := heap() - early
	require.Less(t, grown, int64(16<<20), "bytes")
	t.Logf("%d readers, %d events, 1 stuck: all delivered in order; the heap grew by %d KiB since a quarter of it",
		readers, total, grown>>10)
}
