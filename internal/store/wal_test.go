package store

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/proof/soak"
)

// walImage is a database whose last commits are all in its log. Each wrote two
// rows: <i>/a and <i>/b.
type walImage struct {
	main, log []byte
	ends      []int // where the log ended after each commit
}

func makeWAL(t *testing.T, commits int) walImage {
	t.Helper()
	path := filepath.Join(t.TempDir(), "n.db")
	first, err := Open(t.Context(), Options{Path: path})
	require.NoError(t, err)
	require.NoError(t, first.Close()) // the schema is in the file
	s := openAt(t, path)
	require.NoError(t, s.Write(t.Context(), func(tx *Tx) error {
		_, err := tx.Exec(`PRAGMA wal_autocheckpoint=0`)
		return err
	}))
	var img walImage
	for i := range commits {
		require.NoError(t, s.Write(t.Context(), func(tx *Tx) error {
			for _, half := range []string{"a", "b"} {
				if _, err := tx.Exec(`INSERT INTO node(name, value) VALUES (?, ?)`,
					fmt.Sprintf("%d/%s", i, half), strings.Repeat("x", i*500)); err != nil {
					return err
				}
			}
			return nil
		}))
		fi, err := os.Stat(path + "-wal")
		require.NoError(t, err)
		img.ends = append(img.ends, int(fi.Size()))
	}
	img.main, err = os.ReadFile(path)
	require.NoError(t, err)
	img.log, err = os.ReadFile(path + "-wal")
	require.NoError(t, err)
	require.Equal(t, img.ends[commits-1], len(img.log))
	return img
}

// commits opens the image with another log, requires whole transactions
// without a gap and the file sound, and counts them.
func (img walImage) commits(t *testing.T, dir string, log []byte) int {
	t.Helper()
	path := filepath.Join(dir, "n.db")
	for _, side := range []string{"", "-wal", "-shm"} {
		os.Remove(path + side) //nolint:errcheck // of the last round
	}
	require.NoError(t, os.WriteFile(path, img.main, 0o600))
	require.NoError(t, os.WriteFile(path+"-wal", log, 0o600))
	have, err := readNames(t.Context(), path)
	require.NoError(t, err)
	n := len(have) / 2
	for i := range n {
		require.True(t, have[fmt.Sprintf("%d/a", i)] && have[fmt.Sprintf("%d/b", i)], "torn: %v", have)
	}
	require.Len(t, have, 2*n)
	return n
}

// The log is copied into the database, and begins anew, without any commit doing so.
func TestLogIsCopiedBetweenCommits(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "n.db"))
	require.NoError(t, s.Write(t.Context(), func(tx *Tx) error {
		_, err := tx.Exec(`PRAGMA wal_autocheckpoint=0`)
		return err
	}))
	for i := range 200 { // 13 MB
		require.NoError(t, s.Write(t.Context(), func(tx *Tx) error {
			_, err := tx.Exec(`INSERT INTO node(name, value) VALUES (?, hex(randomblob(32768)))`, fmt.Sprint(i))
			return err
		}))
	}
	fi, err := os.Stat(s.Path() + "-wal")
	require.NoError(t, err)
	require.Less(t, fi.Size(), int64(2*maxQueued*4096))
}

// A log cut anywhere holds exactly the commits that are wholly inside.
func TestTornLog(t *testing.T) {
	img := makeWAL(t, 12)
	var cuts []int
	for i, n := 0, soak.Count(t, 150, 2500); i < n; i++ {
		cuts = append(cuts, i*len(img.log)/(n-1))
	}
	for _, end := range img.ends {
		cuts = append(cuts, end-1, end)
	}
	dir := t.TempDir()
	for _, at := range cuts {
		want := 0
		for want < len(img.ends) && img.ends[want] <= at {
			want++
		}
		require.Equal(t, want, img.commits(t, dir, img.log[:at]), "cut at %d", at)
	}
	t.Logf("%d cuts of a log of %d bytes: each left exactly the commits before it", len(cuts), len(img.log))
}

// A flipped bit in the log costs at most the commits from there on.
func TestFlippedLog(t *testing.T) {
	img := makeWAL(t, 12)
	random := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	lost, flips := 0, soak.Count(t, 60, 300)
	for range flips {
		at := random.IntN(len(img.log))
		log := append([]byte(nil), img.log...)
		log[at] ^= 1 << random.IntN(8)
		whole := 0
		for img.ends[whole] <= at {
			whole++
		}
		got := img.commits(t, dir, log)
		if at >= 32 { // behind the log's header
			require.GreaterOrEqual(t, got, whole, "flip at %d", at)
		}
		lost += len(img.ends) - got
	}
	require.NotZero(t, lost, "no flip was noticed")
	t.Logf("%d flipped bits: none cost a commit before it, all together %d after it", flips, lost)
}
