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
