//go:build amd64 || arm64

package store

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	sqlite3 "modernc.org/sqlite/lib"

	"cordelia/schemas"
)

// What a power cut at the moment of an acknowledgement leaves on the disk has
// the acknowledged write (INV-DURABLE). The weaker modes must be caught.
func TestINV_DURABLE_powerCut(t *testing.T) {
	for name, mode := range map[string]Durability{"default": "", "relaxed": Relaxed, "off": "OFF"} {
		survives := name == "default"
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			d := watchDisk(t, dir)
			s := openAt(t, filepath.Join(dir, "n.db"), func(o *Options) { o.Durability = mode })
			// Soon enough for the log to be copied back and reused in between.
			require.NoError(t, s.writer.conn.exec(`PRAGMA wal_autocheckpoint=100`))
			type shot struct {
				name  string
				image map[string][]byte
			}
			var mu sync.Mutex
			var shots []shot
			var writers sync.WaitGroup
			for w := range 3 { // together, so that commits carry several
				writers.Go(func() {
					for i := range 14 {
						name := fmt.Sprintf("%d-%d", w, i)
						if err := put(context.Background(), s, name, strings.Repeat("x", 50_000)); err != nil {
							t.Error(err)
							return
						}
						image := d.image()
						mu.Lock()
						shots = append(shots, shot{name, image})
						mu.Unlock()
					}
				})
			}
			writers.Wait()
			require.NotZero(t, d.reached(), "the disk was not watched")
			lost := 0
			for _, shot := range shots {
				have, err := readNames(t.Context(), develop(t, shot.image))
				if err != nil || !have[shot.name] {
					lost++
				}
			}
			if survives {
				require.Zero(t, lost, "of %d", len(shots))
			} else {
				require.NotZero(t, lost, "this test cannot tell durable from not")
			}
		})
	}
}

// Whatever write, sync or truncation fails, alone or with all that follow: the
// caller is told, nothing acknowledged is lost, nothing half done is seen, and
// the store goes on when the disk does.
func TestDiskFaults(t *testing.T) {
	const forever = 1 << 30
	for name, test := range map[string]struct {
		code int32
		last int // calls that fail
		says string
	}{
		"full":         {sqlite3.SQLITE_FULL, forever, "the disk is full"},
		"broken write": {sqlite3.SQLITE_IOERR | 3<<8, forever, "the disk reported an error"},
		"broken fsync": {sqlite3.SQLITE_IOERR | 4<<8, forever, "the disk reported an error"},
		"one failure":  {sqlite3.SQLITE_IOERR | 3<<8, 1, "the disk reported an error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			d := watchDisk(t, dir)
			s := openAt(t, filepath.Join(dir, "n.db"))
			require.NoError(t, s.writer.conn.exec(`PRAGMA wal_autocheckpoint=40`))
			acked := map[string]bool{}
			pair := func(name string) error { // two rows, or none
				return s.Write(t.Context(), func(tx *Tx) error {
					for _, half := range []string{"/a", "/b"} {
						if _, err := tx.Exec(`INSERT INTO node(name, value) VALUES (?, ?)`, name+half, strings.Repeat("x", 9000)); err != nil {
							return err
						}
					}
					return nil
				})
			}
			failed, n := 0, 1
			for ; ; n++ {
				d.set(fault{from: n, to: n + test.last, code: test.code})
				clean := false
				for i := range 3 {
					name := fmt.Sprintf("%d-%d", n, i)
					err := pair(name)
					if err == nil {
						acked[name+"/a"], acked[name+"/b"] = true, true
						continue
					}
					failed++
					require.ErrorIs(t, err, schemas.ErrUnavailable)
					require.ErrorContains(t, err, test.says)
				}
				if d.reached() < n {
					clean = true // nothing was left to fail
				}
				d.set(fault{})
				require.Equal(t, acked, names(t, s))
				name := fmt.Sprintf("%d-healed", n)
				require.NoError(t, pair(name))
				acked[name+"/a"], acked[name+"/b"] = true, true
				if clean {
					break
				}
			}
			require.Greater(t, n, 10)
			require.GreaterOrEqual(t, failed, n/2)
			t.Logf("%d points, %d failures told", n-1, failed)
			require.NoError(t, s.Close())
			have, err := readNames(t.Context(), filepath.Join(dir, "n.db"))
			require.NoError(t, err)
			require.Equal(t, acked, have)
			requireSound(t, filepath.Join(dir, "n.db"))
		})
	}
}
