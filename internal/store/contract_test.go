package store_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
)

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) *store.Store {
		s, err := store.Open(t.Context(), store.Options{Path: filepath.Join(t.TempDir(), "n.db")})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		return s
	})
}

// The same contract on PostgreSQL.
func TestContractOnPostgreSQL(t *testing.T) {
	server := storetest.Server(t)
	storetest.Run(t, func(t *testing.T) *store.Store {
		s, err := store.Open(t.Context(), store.Options{URL: storetest.Database(t, server, t.Name())})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		return s
	})
}

// The same contract behind a pooler that hands each transaction another session.
func TestContractOnPostgreSQLBehindAPooler(t *testing.T) {
	storetest.Pooled(t)
	storetest.Run(t, func(t *testing.T) *store.Store {
		s, err := store.Open(t.Context(), store.Options{URL: storetest.PooledDatabase(t, t.Name())})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		return s
	})
}

// On a server writes of two agents run at the same time, and one of Write waits for both.
func TestWritesRunConcurrentlyOnPostgreSQL(t *testing.T) {
	s, err := store.Open(t.Context(), store.Options{URL: storetest.Database(t, storetest.Server(t), t.Name())})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	const patience = 20 * time.Second
	met, done := make(chan string), make(chan error, 3)
	writer := func(agent string, begun, until chan struct{}) {
		done <- s.WriteConcurrent(t.Context(), agent, func(tx *store.Tx) error {
			if err := tx.QueryRow(`SELECT value FROM counters WHERE name = 'epoch'`).Scan(new(int)); err != nil {
				return err
			}
			close(begun)
			<-until
			return nil
		})
	}
	begun, end := [2]chan struct{}{make(chan struct{}), make(chan struct{})}, make(chan struct{})
	for i, agent := range []string{"ann", "bob"} {
		go writer(agent, begun[i], end)
	}
	for _, b := range begun {
		select {
		case <-b:
		case <-time.After(patience):
			close(end)
			t.Fatal("one waits for the other")
		}
	}
	go func() {
		done <- s.Write(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(`UPDATE counters SET value = value + 1 WHERE name = 'epoch'`)
			met <- "alone"
			return err
		})
	}()
	select {
	case <-met:
		t.Error("it ran beside others")
	case <-time.After(200 * time.Millisecond):
	}
	close(end)
	select {
	case <-met:
	case <-time.After(patience):
		t.Fatal("it waits for nothing")
	}
	for range 3 {
		require.NoError(t, <-done)
	}
}

// Writes of one agent that wait for their turn hold up no other's: one of Write comes before them.
func TestAnAgentsTurnHoldsUpNobodyOnPostgreSQL(t *testing.T) {
	s, err := store.Open(t.Context(), store.Options{URL: storetest.Database(t, storetest.Server(t), t.Name())})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	const waiting = `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
	waits := func(most int) {
		require.Eventually(t, func() (yes bool) {
			require.NoError(t, s.Read(t.Context(), func(tx *store.Tx) error {
				var n int
				err := tx.QueryRow(waiting).Scan(&n)
				yes = n == most
				return err
			}))
			return yes
		}, 20*time.Second, 5*time.Millisecond)
	}
	order, ended := make(chan string, 3), make(chan error, 3)
	says := func(what string, then func()) func(*store.Tx) error {
		return func(tx *store.Tx) error {
			err := tx.QueryRow(`SELECT value FROM counters WHERE name = 'epoch'`).Scan(new(int))
			order <- what
			then()
			return err
		}
	}
	begun, release := make(chan struct{}), make(chan struct{})
	go func() {
		ended <- s.WriteConcurrent(t.Context(), "ann", says("first", func() { close(begun); <-release }))
	}()
	<-begun
	go func() { ended <- s.WriteConcurrent(t.Context(), "ann", says("second", func() {})) }()
	waits(1)
	go func() { ended <- s.Write(t.Context(), says("alone", func() {})) }()
	waits(2)
	close(release)
	for range 3 {
		require.NoError(t, <-ended)
	}
	require.Equal(t, []string{"first", "alone", "second"}, []string{<-order, <-order, <-order})
}
