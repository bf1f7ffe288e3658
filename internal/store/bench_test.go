package store

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const benchUpsert = `INSERT INTO node(name, value) VALUES ('bench', ?) ON CONFLICT DO UPDATE SET value = excluded.value`

func benchStore(b *testing.B) *Store {
	s, err := Open(b.Context(), Options{Path: filepath.Join(b.TempDir(), "n.db")})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, s.Close()) })
	return s
}

func BenchmarkWrite(b *testing.B) {
	s := benchStore(b)
	for i := 0; b.Loop(); i++ {
		require.NoError(b, s.Write(context.Background(), func(tx *Tx) error {
			_, err := tx.Exec(benchUpsert, i)
			return err
		}))
	}
}

// BenchmarkWriteActing is what an authorised call pays.
func BenchmarkWriteActing(b *testing.B) {
	s := benchStore(b)
	for i := 0; b.Loop(); i++ {
		require.NoError(b, s.Write(context.Background(), func(tx *Tx) error {
			if err := tx.Act("a"); err != nil {
				return err
			}
			_, err := tx.Exec(benchUpsert, i)
			return err
		}))
	}
}

func BenchmarkWriteParallel(b *testing.B) {
	s := benchStore(b)
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			require.NoError(b, s.Write(context.Background(), func(tx *Tx) error {
				_, err := tx.Exec(benchUpsert, 1)
				return err
			}))
		}
	})
}

// BenchmarkFloorWrite is the least a durable write can cost: the driver alone,
// prepared, with the same settings and bytes.
func BenchmarkFloorWrite(b *testing.B) {
	s := benchStore(b)
	path := s.Path()
	require.NoError(b, s.Close())
	db, err := sql.Open("sqlite", dsn(path, false, Options{}.withDefaults()))
	require.NoError(b, err)
	defer db.Close()
	c, err := newConn(b.Context(), db, &sqliteDialect)
	require.NoError(b, err)
	stmt, err := c.prepare(benchUpsert)
	require.NoError(b, err)
	for i := 0; b.Loop(); i++ {
		require.NoError(b, c.exec("BEGIN IMMEDIATE"))
		_, err = stmt.Exec(i)
		require.NoError(b, err)
		require.NoError(b, c.exec("COMMIT"))
	}
	require.NoError(b, c.close())
}

const benchSelect = `SELECT value FROM counters WHERE name = 'epoch'`

func BenchmarkRead(b *testing.B) {
	s := benchStore(b)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var v int64
	for b.Loop() {
		require.NoError(b, s.Read(ctx, func(tx *Tx) error { return tx.QueryRow(benchSelect).Scan(&v) }))
	}
}

func BenchmarkFloorRead(b *testing.B) {
	s := benchStore(b)
	c, err := s.engine.reader(b.Context())
	require.NoError(b, err)
	stmt, err := c.prepare(benchSelect)
	require.NoError(b, err)
	var v int64
	for b.Loop() {
		require.NoError(b, stmt.QueryRow().Scan(&v))
	}
	require.NoError(b, c.close())
}
