package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// FuzzVerifyFile reads backups with a piece of them replaced: they are found to
// be whole or refused with what to do, and reading them changes nothing.
func FuzzVerifyFile(f *testing.F) {
	dir := f.TempDir()
	s, err := Open(f.Context(), Options{Path: filepath.Join(dir, "n.db"), Durability: Relaxed})
	require.NoError(f, err)
	good := filepath.Join(dir, "good.db")
	_, err = s.Backup(f.Context(), good, nil)
	require.NoError(f, err)
	require.NoError(f, s.Close())
	whole, err := os.ReadFile(good)
	require.NoError(f, err)
	f.Add(uint32(0), []byte{}, uint32(0))
	f.Add(uint32(16), []byte{2, 0}, uint32(0))                 // page size 512
	f.Add(uint32(18), []byte{9, 9}, uint32(0))                 // a format of the future
	f.Add(uint32(56), []byte{0, 0, 0, 2}, uint32(0))           // UTF-16
	f.Add(uint32(60), []byte{0, 0, 4, 0}, uint32(0))           // user_version
	f.Add(uint32(100), []byte{5, 0, 1, 0xff, 0xff}, uint32(0)) // the first page's tree
	f.Add(uint32(4096), []byte("\x0d\x00\x00\xff\xff"), uint32(100))
	path := filepath.Join(dir, "fuzzed.db")
	f.Fuzz(func(t *testing.T, at uint32, piece []byte, cut uint32) {
		raw := append([]byte(nil), whole[:len(whole)-int(cut)%len(whole)]...)
		copy(raw[int(at)%len(raw):], piece)
		require.NoError(t, os.WriteFile(path, raw, 0o600))
		_, err := VerifyFile(t.Context(), path, checkEpoch)
		var e *schemas.Error
		if err != nil {
			require.True(t, errors.As(err, &e), "%v", err)
			require.NotEmpty(t, e.Hint, "%v", err)
		}
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, raw, after, "the file was changed")
		require.NoFileExists(t, path+"-wal")
	})
}
