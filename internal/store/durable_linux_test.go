//go:build amd64 || arm64

package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	sqlite3 "modernc.org/sqlite/lib"

	"cordelia/internal/proof/soak"
	"cordelia/schemas"
)

// What a power cut at the moment of an acknowledgement leaves on the disk has
// the acknowledged write (INV-DURABLE), whether it leaves only what was synced
// or, too, any sectors of what was not. The weaker modes must be caught; relaxed
// durability loses the last writes and damages nothing.
func TestINV_DURABLE_powerCut(t *testing.T) {
	for name, mode := range map[string]Durability{"default": "", "relaxed": Relaxed, "off": "OFF"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			d := watchDisk(t, dir)
			s := openAt(t, filepath.Join(dir, "n.db"), func(o *Options) { o.Durability = mode })
			// Soon enough for the log to be copied back and reused in between.
			require.NoError(t, s.Write(t.Context(), func(tx *Tx) error {
				_, err := tx.Exec(`PRAGMA wal_autocheckpoint=30`)
				return err
			}))
			var mu sync.Mutex
			images, lost, damaged := 0, 0, 0
			var writers sync.WaitGroup
			each := soak.Count(t, 8, 100)
			for w := range 3 { // together, so that commits carry several
				random, folder := rand.New(rand.NewPCG(5, uint64(w))), t.TempDir()
				writers.Go(func() {
					for i := range each {
						name := fmt.Sprintf("%d-%d", w, i)
						if err := put(context.Background(), s, name,
							strings.Repeat("x", random.IntN(20_000))); err != nil {
							t.Error(err)
							return
						}
						for _, kept := range []func() bool{
							func() bool { return false },
							func() bool { return random.IntN(2) == 0 },
							func() bool { return random.IntN(20) != 0 },
						} {
							path := develop(t, folder, d.image(kept))
							have, err := readNames(t.Context(), path)
							if err == nil {
								_, err = VerifyFile(t.Context(), path, nil)
							}
							mu.Lock()
							images++
							if err != nil {
								damaged++
							} else if !have[name] {
								lost++
							}
							mu.Unlock()
						}
					}
				})
			}
			writers.Wait()
			require.NotZero(t, d.reached(), "the disk was not watched")
			t.Logf("%s: %d images of %d answered writes: %d without the write, %d damaged", name, images, 3*each, lost,
				damaged)
			switch name {
			case "default":
				require.Zero(t, lost+damaged)
			case "relaxed":
				require.NotZero(t, lost, "this test cannot tell durable from not")
				require.Zero(t, damaged)
			default:
				require.NotZero(t, lost+damaged, "this test cannot tell durable from not")
			}
		})
	}
}

// Whatever write, sync or truncation fails, alone or with all that follow: the
// caller is told, nothing acknowledged is lost, nothing half done or refused is seen, and
// the store goes on when the disk does: then all that is seen is on disk, although a disk
// calls done what it gave up.
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
		"one fsync":    {sqlite3.SQLITE_IOERR | 4<<8, 1, "the disk reported an error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			d := watchDisk(t, dir)
			s := openAt(t, filepath.Join(dir, "n.db"))
			require.NoError(t, s.Write(t.Context(), func(tx *Tx) error {
				_, err := tx.Exec(`PRAGMA wal_autocheckpoint=40`)
				return err
			}))
			seen := map[string]bool{}
			pair := func(name string) error { // two rows, or none
				return s.Write(t.Context(), func(tx *Tx) error {
					for _, half := range []string{"/a", "/b"} {
						if _, err := tx.Exec(`INSERT INTO node(name, value) VALUES (?, ?)`, name+half,
							strings.Repeat("x", 9000)); err != nil {
							return err
						}
					}
					return nil
				})
			}
			failed, n, folder := 0, 1, t.TempDir()
			for ; ; n++ {
				d.set(fault{from: n, to: n + test.last, code: test.code})
				clean := false
				for i := range 3 {
					name := fmt.Sprintf("%d-%d", n, i)
					err := pair(name)
					if err == nil {
						seen[name+"/a"], seen[name+"/b"] = true, true
						continue
					}
					failed++
					require.ErrorIs(t, err, schemas.ErrUnavailable)
					require.ErrorContains(t, err, test.says)
					require.ErrorContains(t, err, "nothing was written")
				}
				if d.reached() < n {
					clean = true // nothing was left to fail
				}
				d.set(fault{})
				require.Equal(t, seen, names(t, s))
				name := fmt.Sprintf("%d-healed", n)
				require.NoError(t, pair(name))
				seen[name+"/a"], seen[name+"/b"] = true, true
				have, err := readNames(t.Context(), develop(t, folder, d.image(func() bool { return false })))
				require.NoError(t, err)
				require.Equal(t, seen, have, "what a power cut now leaves")
				if clean {
					break
				}
			}
			require.Greater(t, n, 10)
			require.GreaterOrEqual(t, failed, n/2)
			t.Logf("%s: %d points, %d failures told, 0 answers lost", name, n-1, failed)
			require.NoError(t, s.Close())
			have, err := readNames(t.Context(), filepath.Join(dir, "n.db"))
			require.NoError(t, err)
			require.Equal(t, seen, have)
			requireSound(t, filepath.Join(dir, "n.db"))
		})
	}
}

// No reader sees a commit before it is on disk (INV-DURABLE): while SQLite waits for the
// disk, every way to read in another process gets what was there before.
func TestINV_DURABLE_read(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "n.db")
	d := watchDisk(t, dir)
	writer, other := openAt(t, path), openAt(t, path)
	require.NoError(t, put(t.Context(), writer, "before", ""))
	asked := func() (n int) {
		require.NoError(t, other.Ask(t.Context(), func(tx *Tx) error {
			return tx.QueryRow(`SELECT count(*) FROM node`).Scan(&n)
		}))
		return n
	}
	syncing, release, written := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	d.onSync(func() {
		close(syncing)
		<-release
	})
	go func() { written <- put(context.Background(), writer, "young", "") }()
	select {
	case <-syncing:
	case err := <-written:
		require.FailNow(t, "answered without a flush", "%v", err)
	}
	before := map[string]bool{"before": true}
	require.Equal(t, before, names(t, other))
	require.Equal(t, before, names(t, writer), "nor in its own process")
	require.Equal(t, 1, asked())
	close(release)
	require.NoError(t, <-written)
	left, err := readNames(t.Context(), develop(t, t.TempDir(), d.image(func() bool { return false })))
	require.NoError(t, err)
	require.Equal(t, names(t, other), left)
	require.Equal(t, 2, asked())
}
