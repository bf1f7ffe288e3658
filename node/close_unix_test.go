//go:build unix

package node_test

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
	"cordelia/node"
	"cordelia/ops"
)

// A process ends although the server hangs. It says once what it gave up, and what was acknowledged
// is kept.
func TestTheEndOfAProcessWhoseServerHangs(t *testing.T) {
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	h := homestead{T: t, home: node.Home(filepath.Join(t.TempDir(), "home"))}
	address := storetest.Database(t, storetest.Server(t), t.Name())
	n, err := ops.Open(t.Context(), node.Config{Home: h.home, Database: address})
	require.NoError(t, err)
	_, err = n.Establish(t.Context(), "ann", nil, nil)
	require.NoError(t, err)
	r := n.Keyring(nil)
	defer r.Close()
	ann, err := n.Person(t.Context(), r, "test")
	require.NoError(t, err)
	h.call(n, ann, "memory_write_warm", `{"type":"learning","data":{"type":"insight","content":"Gannets dive"}}`)

	goOn := stopBackends(t, n.Store)
	ended := make(chan error, 1)
	go func() { ended <- n.Close() }()
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(time.Minute):
		require.FailNow(t, "it still waits")
	}
	require.Equal(t, 1, strings.Count(log.String(), "\n"), log.String())
	require.Contains(t, log.String(), "does not answer")

	goOn()
	n, err = ops.Open(t.Context(), node.Config{Home: h.home, Database: address})
	require.NoError(t, err)
	defer func() { require.NoError(t, n.Close()) }()
	require.Len(t, h.call(n, ann, "memory_search", `{"query":"gannets"}`)["results"], 1)
}

// stopBackends stops the server's processes that serve s, until the function that it gives is called.
func stopBackends(t *testing.T, s *store.Store) (goOn func()) {
	t.Helper()
	var pids []string
	require.NoError(t, s.Read(t.Context(), func(tx *store.Tx) (err error) {
		rows, err := tx.Query(`SELECT pid::text FROM pg_stat_activity
			WHERE datname = current_database() AND application_name = 'cordelia'`)
		pids, err = store.Collect(rows, err, store.Column[string])
		return err
	}))
	require.NotEmpty(t, pids)
	signal := func(s syscall.Signal) {
		for _, text := range pids {
			pid, err := strconv.Atoi(text)
			require.NoError(t, err)
			syscall.Kill(pid, s) //nolint:errcheck // it may have ended
		}
	}
	signal(syscall.SIGSTOP)
	goOn = func() { signal(syscall.SIGCONT) }
	t.Cleanup(goOn)
	return goOn
}
