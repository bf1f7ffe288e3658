//go:build unix

package main

import (
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
)

// A part that reads a database as anyone would may come before one that opens a store: the
// locks of a process are chosen once, before either. It needs a process of its own.
func TestPartsMayComeInAnyOrder(t *testing.T) {
	folder := os.Getenv("BENCH_TEST_FOLDER")
	if folder == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), "BENCH_TEST_FOLDER="+t.TempDir())
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return
	}
	require.ErrorContains(t, run([]string{"-parts", "none such"}), "there is no part")
	db, err := sql.Open("sqlite", "file:"+filepath.Join(folder, "read.db"))
	require.NoError(t, err)
	_, err = db.Exec(`CREATE TABLE t (x); INSERT INTO t VALUES (1)`)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	st, err := store.Open(t.Context(), store.Options{Path: filepath.Join(folder, "store.db")})
	require.NoError(t, err)
	require.NoError(t, st.Close())
}
