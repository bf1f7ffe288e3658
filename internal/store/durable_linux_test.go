//go:build amd64 || arm64

package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	sqlite3 "modernc.org/sqlite/lib"

	"cordelia/internal/soak"
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
			s := openAt(t, filepath.Join(dir, "n.db"), d.watch, func(o *Options) { o.Durability = mode })
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
						if err := put(context.Background(), s, name, strings.Repeat("x", random.IntN(20_000))); err != nil {
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
			t.Logf("%s: %d images of %d answered writes: %d without the write, %d damaged", name, images, 3*each, lost, damaged)
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
// caller is told, nothing acknowledged is lost, nothing half done is seen, what could
// not be flushed is said to be there, and the store goes on when the disk does: then
// all that is seen is on disk, although a disk calls done what it gave up.
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
			s := openAt(t, filepath.Join(dir, "n.db"), d.watch)
			require.NoError(t, s.Write(t.Context(), func(tx *Tx) error {
				_, err := tx.Exec(`PRAGMA wal_autocheckpoint=40`)
				return err
			}))
			seen := map[string]bool{}
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
			failed, unflushed, n, folder := 0, 0, 1, t.TempDir()
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
					if errors.Is(err, errLostFlush) {
						unflushed++
						seen[name+"/a"], seen[name+"/b"] = true, true
					} else {
						require.ErrorContains(t, err, "nothing was written")
					}
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
			require.Equal(t, test.last == forever, unflushed > 0, "a flush that fails once is made good")
			t.Logf("%s: %d points, %d failures told, %d of them of a flush, 0 answers lost", name, n-1, failed, unflushed)
			require.NoError(t, s.Close())
			have, err := readNames(t.Context(), filepath.Join(dir, "n.db"))
			require.NoError(t, err)
			require.Equal(t, seen, have)
			requireSound(t, filepath.Join(dir, "n.db"))
		})
	}
}

// Nobody is told what is not on disk (INV-DURABLE): who read a commit whose writer
// still waits for the disk, or was killed meanwhile, has it flushed first. So does
// who is refused for what it says.
func TestINV_DURABLE_read(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "n.db")
	d := watchDisk(t, dir)
	stuck := make(chan struct{}, 2)
	release := make(chan struct{})
	hang := false
	writer := openAt(t, path, d.watch, func(o *Options) {
		open := o.openLog
		o.openLog = func(path string) (logFile, error) {
			f, err := open(path)
			return hangingLog{f, func() {
				if hang {
					stuck <- struct{}{}
					<-release
				}
			}}, err
		}
	})
	require.NoError(t, put(t.Context(), writer, "before", ""))
	other := openAt(t, path, d.watch)
	folder := t.TempDir()
	onDisk := func() map[string]bool {
		have, err := readNames(t.Context(), develop(t, folder, d.image(func() bool { return false })))
		require.NoError(t, err)
		return have
	}
	hang = true
	var writes sync.WaitGroup
	defer writes.Wait()
	defer close(release)
	refused := errors.New("refused")
	for name, tell := range map[string]func(saw func(*Tx) error) error{
		"Read":    func(saw func(*Tx) error) error { return other.Read(t.Context(), saw) },
		"Ask":     func(saw func(*Tx) error) error { return other.Ask(t.Context(), saw) },
		"Peek":    func(saw func(*Tx) error) error { return other.Peek(t.Context(), saw) },
		"refusal": func(saw func(*Tx) error) error { return other.Write(t.Context(), saw) },
	} {
		writes.Go(func() {
			if err := put(context.Background(), writer, name, ""); err != nil {
				t.Error(err)
			}
		})
		<-stuck
		require.NotContains(t, onDisk(), name)
		require.ErrorIs(t, tell(func(tx *Tx) error {
			var n int
			require.NoError(t, tx.QueryRow(`SELECT count(*) FROM node WHERE name = ?`, name).Scan(&n))
			require.Equal(t, 1, n)
			return refused
		}), refused)
		require.Contains(t, onDisk(), name, "told before it was on disk")
		before := d.reached()
		require.Contains(t, names(t, other), name)
		require.Equal(t, before, d.reached(), "flushed twice")
		release <- struct{}{}
	}
}

// hangingLog waits before each flush.
type hangingLog struct {
	logFile
	wait func()
}

func (l hangingLog) Flush() error {
	l.wait()
	return l.logFile.Flush()
}
