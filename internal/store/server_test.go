package store_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
	"cordelia/schemas"
)

// patience is how long something that must happen may take.
const patience = 20 * time.Second

func openServer(t *testing.T, name string) *store.Store {
	t.Helper()
	return openAddress(t, storetest.Database(t, storetest.Server(t), name))
}

func openPooled(t *testing.T, name string) *store.Store {
	t.Helper()
	return openAddress(t, storetest.PooledDatabase(t, name))
}

func openAddress(t *testing.T, address string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{URL: address})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// lines are the rows of a query of texts.
func lines(t *testing.T, s *store.Store, query string) (out []string) {
	t.Helper()
	require.NoError(t, s.Read(t.Context(), func(tx *store.Tx) error {
		rows, err := tx.Query(query)
		out, err = store.Collect(rows, err, store.Column[string])
		return err
	}))
	slices.Sort(out)
	return out
}

// Both engines have the same tables, columns and indexes; of the full-text index each its own.
func TestTheSchemasAreEqual(t *testing.T) {
	server := openServer(t, t.Name())
	file, err := store.Open(t.Context(), store.Options{Path: filepath.Join(t.TempDir(), "n.db")})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })

	newest := `SELECT CAST(max(version) AS TEXT) FROM schema_version`
	require.Equal(t, lines(t, file, newest), lines(t, server, newest), "a migration of the one needs one of the other")
	require.Equal(t, lines(t, file, `SELECT t.name || '.' || c.name || ' ' || c.type || ' ' ||
			CASE WHEN c."notnull" = 1 OR c.pk > 0 THEN 'needed' ELSE '' END || ' ' || coalesce(c.dflt_value, '')
			FROM pragma_table_list t JOIN pragma_table_info(t.name) c
			WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`),
		lines(t, server, `SELECT c.table_name || '.' || c.column_name || ' ' ||
			CASE c.data_type WHEN 'bigint' THEN 'INTEGER' WHEN 'bytea' THEN 'BLOB'
			WHEN 'double precision' THEN 'REAL' ELSE 'TEXT' END || ' ' ||
			CASE c.is_nullable WHEN 'NO' THEN 'needed' ELSE '' END || ' ' ||
			coalesce(replace(replace(c.column_default, '::text', ''), '''-1''::integer', '-1'), '')
			FROM information_schema.columns c WHERE c.table_schema = current_schema()
			AND c.table_name NOT LIKE 'items\_fts%'`))
	require.Equal(t, lines(t, file, `SELECT tbl_name || ' ' || name ||
			CASE WHEN sql LIKE '%UNIQUE%' THEN ' unique' ELSE '' END
			FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL`),
		lines(t, server, `SELECT tablename || ' ' || indexname ||
			CASE WHEN indexdef LIKE '%UNIQUE%' THEN ' unique' ELSE '' END
			FROM pg_indexes WHERE schemaname = current_schema()
			AND indexname NOT LIKE '%\_pkey' AND indexname NOT LIKE '%\_key'
			AND tablename NOT LIKE 'items\_fts%'`))
	triggers := lines(t, server, `SELECT DISTINCT event_object_table || ' ' || event_manipulation
		FROM information_schema.triggers WHERE trigger_schema = current_schema()`)
	for _, line := range lines(t, file, `SELECT tbl_name || ' ' || CASE WHEN sql LIKE '%DELETE ON%' THEN 'DELETE'
			WHEN sql LIKE '%INSERT ON%' THEN 'INSERT' ELSE 'UPDATE' END FROM sqlite_schema WHERE type = 'trigger'`) {
		require.Contains(t, triggers, line)
	}
}

// Nodes that open an empty database at once make its schema once.
func TestNodesMigrateOnce(t *testing.T) {
	server := storetest.Server(t)
	empty := storetest.Empty(t, server, t.Name())
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			s, err := store.Open(t.Context(), store.Options{URL: empty})
			if err == nil {
				err = s.Close()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s, err := store.Open(t.Context(), store.Options{URL: empty})
	require.NoError(t, err)
	defer s.Close() //nolint:errcheck // only a test
	require.Equal(t, []string{"audit_leaf", "functions", "listings", "names", "plans", "retention", "role_due", "words"},
		lines(t, s, `SELECT name FROM schema_version`))
}

// The words of items in order go with their item, and give what the index of words gives.
func TestNodesKeepWordsInOrder(t *testing.T) {
	s := openServer(t, t.Name())
	write := func(query string, args ...any) {
		require.NoError(t, s.Write(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(query, args...)
			return err
		}))
	}
	for n, entries := range []string{"s1m s1wferry s1tx", "s1m s1wferry s1wcrane", "q7m q7wferry", "s1m s1wdock"} {
		write(`INSERT INTO items_fts(rowid, entries) VALUES (?, ?)`, n+1, entries)
	}
	for query, want := range map[string]string{
		`"s1wferry"`:                    "2 1",
		`"s1wferry" OR "s1wcrane"`:      "2 1",
		`("s1wferry" OR "q7wferry")`:    "3 2 1",
		`("s1m")`:                       "4 2 1",
		`"s1wdock" OR "s1tx"`:           "4 1",
		`("s1wferry") NOT ("s1wcrane")`: "1",
		`("s1m") AND ("s1tx")`:          "1",
		`"s1wabsent"`:                   "",
	} {
		require.Equal(t, []string{want},
			lines(t, s, `SELECT coalesce(string_agg(n::text, ' '), '') FROM newest('`+query+`', 9) AS n`), query)
	}
	require.Equal(t, []string{"4 2"}, lines(t, s, `SELECT string_agg(n::text, ' ') FROM newest('"s1m"', 2) AS n`))
	write(`DELETE FROM items_fts WHERE rowid < 4`)
	require.Equal(t, []string{"4 s1m", "4 s1wdock"}, lines(t, s, `SELECT item || ' ' || word FROM items_fts_words`))
}

// A plan that is made while a table is small goes by an index, for it stays when the table grows.
func TestNodesPlanForWhatGrows(t *testing.T) {
	s := openServer(t, t.Name())
	require.NoError(t, s.Write(t.Context(), func(tx *store.Tx) error { // the server sees that it is small
		_, err := tx.Exec(`ANALYZE counters`)
		return err
	}))
	plan := lines(t, s, `EXPLAIN SELECT value FROM counters WHERE name = 'epoch'`)
	require.Contains(t, strings.Join(plan, "\n"), "Index Scan using counters_pkey")
}

// Two nodes count one row up: what a transaction has read holds until it commits.
func TestNodesWriteOneAfterTheOther(t *testing.T) {
	writeInTurns(t, openServer(t, t.Name()), openServer(t, t.Name()))
}

func writeInTurns(t *testing.T, nodes ...*store.Store) {
	t.Helper()
	const writers, rounds = 4, 25
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			for range rounds {
				if err := nodes[i%2].Write(context.Background(), func(tx *store.Tx) error {
					var v int
					if err := tx.QueryRow(`SELECT value FROM counters WHERE name = 'epoch'`).Scan(&v); err != nil {
						return err
					}
					_, err := tx.Exec(`UPDATE counters SET value = ? WHERE name = 'epoch'`, v+1)
					return err
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	require.Equal(t, []string{fmt.Sprint(1 + writers*rounds)},
		lines(t, nodes[1], `SELECT CAST(value AS TEXT) FROM counters WHERE name = 'epoch'`))
}

// A commit of one node wakes another, and a process that ended is told from one that lives.
func TestNodesHearOfEachOther(t *testing.T) {
	one, two := openServer(t, t.Name()), openServer(t, t.Name())
	woken, end := two.Watch()
	defer end()
	for i := range 3 {
		require.NoError(t, one.Write(t.Context(), func(tx *store.Tx) error {
			tx.Notify()
			_, err := tx.Exec(`INSERT INTO node(name, value) VALUES (?, '')`, fmt.Sprint(i))
			return err
		}))
		select {
		case <-woken:
		case <-time.After(patience):
			require.FailNow(t, "not woken")
		}
	}
	name, err := one.Process()
	require.NoError(t, err)
	require.False(t, one.Ended(name))
	require.False(t, two.Ended(name))
	require.NoError(t, one.Close())
	require.Eventually(t, func() bool { return two.Ended(name) }, patience, patience/200)
}

// Lost connections are made anew: the next call finds the database again.
func TestConnectionsComeBack(t *testing.T) {
	comeBack(t, openServer(t, t.Name()))
}

func comeBack(t *testing.T, s *store.Store) {
	t.Helper()
	put := func(name string) error {
		return s.Write(context.Background(), func(tx *store.Tx) error {
			_, err := tx.Exec(`INSERT INTO node(name, value) VALUES (?, '')`, name)
			return err
		})
	}
	for i := range 3 {
		require.NoError(t, put(fmt.Sprint(i)))
		require.Len(t, lines(t, s, `SELECT name FROM node`), i+1)
		storetest.Cut(t, storetest.Server(t), t.Name())
	}
}

// A connection that is lost amid a write takes all of it along, whatever its function makes of
// the errors.
func TestALostServerKeepsNoHalfWrite(t *testing.T) {
	keepNoHalf(t, openServer(t, t.Name()))
}

func keepNoHalf(t *testing.T, s *store.Store) {
	t.Helper()
	name := t.Name()
	const insert = `INSERT INTO node(name, value) VALUES (?, '')`
	try := func(tx *store.Tx, name string) {
		_, _ = tx.Exec(insert, name) //nolint:errcheck // the function that is tested lets it pass
	}
	for _, c := range []struct {
		what string
		then func(tx *store.Tx)
	}{
		{"nothing", func(*store.Tx) {}},
		{"a change", func(tx *store.Tx) { try(tx, "b") }},
		{"two changes", func(tx *store.Tx) { try(tx, "b"); try(tx, "c") }},
		{"questions", func(tx *store.Tx) {
			for range 2 {
				var n int
				_ = tx.QueryRow(`SELECT count(*) FROM node`).Scan(&n) //nolint:errcheck // the same
			}
			try(tx, "d")
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			require.Error(t, s.Write(t.Context(), func(tx *store.Tx) error {
				if _, err := tx.Exec(insert, "a"); err != nil {
					return err
				}
				storetest.Cut(t, storetest.Server(t), name)
				c.then(tx)
				return nil
			}))
			require.Empty(t, lines(t, s, `SELECT name FROM node`))
		})
	}
}

// The password of an address is in no error.
func TestErrorsShowNoPassword(t *testing.T) {
	for _, address := range []string{"postgres://ann:hunter2@127.0.0.1:1/x?connect_timeout=1",
		"postgres://ann:hunter2@:bad:/"} {
		_, err := store.Open(t.Context(), store.Options{URL: address})
		require.Error(t, err)
		for ; err != nil; err = unwrap(err) {
			require.False(t, strings.Contains(err.Error(), "hunter2"), err.Error())
		}
	}
	_, err := store.Open(t.Context(), store.Options{URL: "postgres://ann@127.0.0.1:1/x?connect_timeout=1"})
	require.ErrorIs(t, err, schemas.ErrUnavailable)
}

func unwrap(err error) error {
	if u, ok := err.(interface{ Unwrap() error }); ok {
		return u.Unwrap()
	}
	return nil
}

// What the server cannot keep is refused in words, and costs no connection.
func TestAServerRefusesNUL(t *testing.T) {
	s := openServer(t, t.Name())
	for _, text := range []string{"a\x00b", "a\xffb"} {
		err := s.Write(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(`INSERT INTO node(name, value) VALUES ('x', ?)`, text)
			return err
		})
		require.ErrorIs(t, err, schemas.ErrInvalid)
		require.ErrorContains(t, err, "leave them out")
	}
	require.NoError(t, s.Write(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(`INSERT INTO node(name, value) VALUES ('x', 'y')`)
		return err
	}))
}

// A node that stops amid a write does not hold the others up for longer than they wait.
func TestNodesDoNotWaitForAStoppedOne(t *testing.T) {
	stopAmidAWrite(t, storetest.Database(t, storetest.Server(t), t.Name()))
}

func stopAmidAWrite(t *testing.T, address string) {
	t.Helper()
	const wait = 2 * time.Second
	open := func() *store.Store {
		s, err := store.Open(t.Context(), store.Options{Wait: wait, URL: address})
		require.NoError(t, err)
		t.Cleanup(func() { s.Close() }) //nolint:errcheck // it lost its connection
		return s
	}
	count := func(tx *store.Tx) error {
		_, err := tx.Exec(`UPDATE counters SET value = value + 1 WHERE name = 'epoch'`)
		return err
	}
	stopped, other := open(), open()
	begun, written := make(chan struct{}), make(chan error, 1)
	go func() {
		written <- stopped.Write(context.Background(), func(tx *store.Tx) error {
			if err := count(tx); err != nil {
				return err
			}
			close(begun)
			time.Sleep(3 * wait)
			return nil
		})
	}()
	<-begun
	require.NoError(t, other.Write(t.Context(), count), "within the time that a write waits")
	require.Error(t, <-written, "its changes are undone")
	require.NoError(t, stopped.Write(t.Context(), count), "it goes on with another connection")
	require.Equal(t, []string{"3"}, lines(t, other, `SELECT CAST(value AS TEXT) FROM counters WHERE name = 'epoch'`))
}

// The addresses of one database have its number in common, and other databases have another one.
func TestADatabaseHasOnePlace(t *testing.T) {
	server := storetest.Server(t)
	one, two := storetest.Database(t, server, t.Name()), storetest.Database(t, server, t.Name()+"2")
	place := func(o store.Options) (address, database string) {
		s, err := store.Open(t.Context(), o)
		require.NoError(t, err)
		defer s.Close() //nolint:errcheck // only read
		place, err := s.Place(t.Context())
		require.NoError(t, err)
		address, database, _ = strings.Cut(place, "-")
		return address, database
	}
	address, database := place(store.Options{URL: one})
	pooledAddress, pooled := place(store.Options{URL: storetest.PooledDatabase(t, t.Name())})
	require.NotEqual(t, address, pooledAddress)
	require.Len(t, database, 8)
	require.Equal(t, database, pooled)
	_, other := place(store.Options{URL: two})
	require.NotEqual(t, database, other)
	_, file := place(store.Options{Path: filepath.Join(t.TempDir(), "file.db")})
	require.Empty(t, file)
	storetest.Admin(t, two, "REVOKE EXECUTE ON FUNCTION pg_control_system FROM PUBLIC", "CREATE ROLE unknowing LOGIN",
		"GRANT pg_read_all_data TO unknowing")
	defer storetest.Admin(t, server+" dbname=postgres", "DROP ROLE unknowing")
	_, unknown := place(store.Options{URL: strings.Replace(two, "user=postgres", "user=unknowing", 1)})
	require.Empty(t, unknown)
}
