package store_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
	"cordelia/schemas"
)

// Behind a pooler nodes write in turns with each other and with one that has sessions of its
// own, and lose no more with a connection than that one does.
func TestNodesBehindAPooler(t *testing.T) {
	storetest.Pooled(t)
	t.Run("write one after the other", func(t *testing.T) {
		writeInTurns(t, openPooled(t, t.Name()), openServer(t, t.Name()), openPooled(t, t.Name()))
	})
	t.Run("come back", func(t *testing.T) { comeBack(t, openPooled(t, t.Name())) })
	t.Run("keep no half write", func(t *testing.T) { keepNoHalf(t, openPooled(t, t.Name())) })
	t.Run("do not wait for a stopped one", func(t *testing.T) {
		stopAmidAWrite(t, storetest.PooledDatabase(t, t.Name()))
	})
}

// Nothing that a node does stays in a session: the pooler hands it to the next transaction.
func TestNodesLeaveNothingInAPoolersSessions(t *testing.T) {
	address := storetest.PooledDatabase(t, t.Name())
	s := openAddress(t, address)
	_, end := s.Watch()
	defer end()
	sessions := map[string]bool{}
	limit := time.Now().Add(patience)
	for i := 0; i < 30 || len(sessions) < 3; i++ {
		require.True(t, time.Now().Before(limit), "the pooler always gives the same session")
		require.NoError(t, s.Write(t.Context(), func(tx *store.Tx) error {
			var pid, wait, idle string
			if err := tx.QueryRow(`SELECT pg_backend_pid()::text, current_setting('lock_timeout'),
				current_setting('idle_in_transaction_session_timeout')`).Scan(&pid, &wait, &idle); err != nil {
				return err
			}
			sessions[pid] = true
			require.Equal(t, []string{"10s", "5s"}, []string{wait, idle})
			tx.Notify()
			if err := tx.Act("ann"); err != nil {
				return err
			}
			_, err := tx.Exec(`INSERT INTO node(name, value) VALUES (?, '')`, schemas.NewID())
			return err
		}))
		require.NoError(t, s.Ask(t.Context(), func(tx *store.Tx) error {
			var readOnly string
			err := tx.QueryRow(`SELECT current_setting('transaction_read_only')`).Scan(&readOnly)
			require.Equal(t, "on", readOnly)
			return err
		}))
		left := lines(t, s, `SELECT 'statement ' || name FROM pg_prepared_statements
			UNION ALL SELECT 'lock' FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
			UNION ALL SELECT 'channel ' || c FROM pg_listening_channels() AS c
			UNION ALL SELECT 'setting ' || name FROM pg_settings WHERE source = 'session'
				AND name NOT IN ('application_name', 'client_encoding', 'DateStyle', 'TimeZone',
				'standard_conforming_strings', 'transaction_read_only', 'transaction_isolation')
			UNION ALL SELECT 'acting' WHERE current_setting('cordelia.acting', true) <> ''`)
		require.Empty(t, left)
	}
}

// Without notifications a commit of one node wakes another within the period of the poll.
func TestNodesBehindAPoolerHearOfEachOther(t *testing.T) {
	one, two := openPooled(t, t.Name()), openPooled(t, t.Name())
	woken, end := two.Watch()
	defer end()
	var took []time.Duration
	for range 20 {
		time.Sleep(30 * time.Millisecond)
		drain(woken)
		require.NoError(t, one.Write(t.Context(), func(tx *store.Tx) error {
			tx.Notify()
			_, err := tx.Exec(`INSERT INTO node(name, value) VALUES (?, '')`, schemas.NewID())
			return err
		}))
		begun := time.Now()
		wake(t, woken)
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	t.Logf("woken after %s in the middle, %s at most", took[len(took)/2], took[len(took)-1])
	name, err := one.Process()
	require.NoError(t, err)
	require.Empty(t, name, "no lock lasts as long as the process")
	require.False(t, two.Ended("another"), "which is not known")
}

// A commit is noticed also when a transaction that began later has ended before it.
func TestNodesBehindAPoolerMissNoCommit(t *testing.T) {
	address := storetest.PooledDatabase(t, t.Name())
	one, two := openAddress(t, address), openAddress(t, address)
	woken, end := two.Watch()
	defer end()
	require.NoError(t, one.Write(t.Context(), func(tx *store.Tx) error {
		tx.Notify()
		if _, err := tx.Exec(`INSERT INTO node(name, value) VALUES ('a', '')`); err != nil {
			return err
		}
		storetest.Admin(t, storetest.Database(t, storetest.Server(t), t.Name()), `SELECT pg_current_xact_id()`)
		wake(t, woken)
		for limit := time.Now().Add(time.Second); time.Now().Before(limit); { // the poll sees that one
			drain(woken)
			time.Sleep(10 * time.Millisecond)
		}
		return nil
	}))
	wake(t, woken)
}

// drain takes what was rung for before.
func drain(woken <-chan struct{}) {
	select {
	case <-woken:
	default:
	}
}

func wake(t *testing.T, woken <-chan struct{}) {
	t.Helper()
	select {
	case <-woken:
	case <-time.After(patience):
		require.FailNow(t, "not woken")
	}
}

// A pooler that the address does not name is found out; what needs to be alone refuses one.
func TestAServerBehindAPoolerIsNamed(t *testing.T) {
	pooled := storetest.PooledDatabase(t, t.Name())
	direct := storetest.Database(t, storetest.Server(t), t.Name())
	for _, c := range []struct {
		options store.Options
		says    string
	}{
		{store.Options{URL: storetest.Pooled(t) + pooled[len(storetest.Pooled(t)+" pooler=transaction"):]},
			"add pooler=transaction"},
		{store.Options{URL: storetest.Pooled(t) + pooled[len(storetest.Pooled(t)+" pooler=transaction"):], Alone: true},
			"the server's own address"},
		{store.Options{URL: direct + " pooler=session"}, "write pooler=transaction"},
		{store.Options{URL: pooled, Alone: true}, "the server's own address"},
		{store.Options{URL: pooled, Direct: true}, "the server's own address"},
		{store.Options{URL: pooled + " search_path=public"}, "sets search_path for its session"},
	} {
		_, err := store.Open(t.Context(), c.options)
		require.ErrorContains(t, err, c.says)
	}
	s := openAddress(t, pooled)
	require.NoError(t, s.Read(context.Background(), func(tx *store.Tx) error {
		var one int
		return tx.QueryRow(`SELECT 1`).Scan(&one)
	}))
	_, err := store.Open(t.Context(), store.Options{URL: direct, Alone: true})
	require.ErrorContains(t, err, "other nodes use the database", "the pooler's sessions count as a node's")
}
