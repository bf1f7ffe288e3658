package store_test

import (
	"path/filepath"
	"testing"

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
