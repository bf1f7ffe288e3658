package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
	"cordelia/schemas"
)

// alone opens a server's database for a process that is to be alone.
func alone(t *testing.T, address string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{URL: address, Alone: true})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() }) //nolint:errcheck // some lose their connection
	return s
}

// A process that is to be alone waits for the transaction that one before it, which was killed,
// has under way at the server.
func TestAloneComesAfterWhatIsUnderWay(t *testing.T) {
	address := storetest.Database(t, storetest.Server(t), t.Name())
	require.NoError(t, alone(t, address).Close())
	done := make(chan struct{})
	go func() {
		defer close(done)
		storetest.Admin(t, address, `BEGIN; SELECT pg_advisory_xact_lock(7165071307693648225);
			INSERT INTO node(name, value) VALUES ('left', ''); SELECT pg_sleep(2); COMMIT`)
	}()
	storetest.Admin(t, address, `DO $$ BEGIN LOOP
		EXIT WHEN EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock'
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database()));
		PERFORM pg_sleep(0.01); END LOOP; END $$`)
	require.Equal(t, []string{"left"}, lines(t, alone(t, address), `SELECT name FROM node WHERE name = 'left'`))
	<-done
}

// While a process is alone no other one connects, so none can write what it does not see. A process that
// is to be alone waits for sessions that are about to end.
func TestAloneKeepsOthersOut(t *testing.T) {
	address := storetest.Database(t, storetest.Server(t), t.Name())
	other := openAddress(t, address)
	_, err := store.Open(t.Context(), store.Options{URL: address, Alone: true})
	require.ErrorIs(t, err, schemas.ErrBusy)
	require.ErrorContains(t, err, "other nodes use the database")
	ending := time.AfterFunc(300*time.Millisecond, func() { other.Close() }) //nolint:errcheck // closed again below
	defer ending.Stop()
	s := alone(t, address)
	_, err = store.Open(t.Context(), store.Options{URL: address})
	require.ErrorIs(t, err, schemas.ErrUnavailable)
	require.ErrorContains(t, err, "the database is being replaced or moved")
	_, err = store.Open(t.Context(), store.Options{URL: address, Alone: true})
	require.ErrorIs(t, err, schemas.ErrBusy)
	require.NoError(t, s.Close())
	require.NoError(t, openAddress(t, address).Close())
}

// A node that was cut off while the state was moved away writes nothing into what is left of it. A
// process that lost its connection is not alone any more, and moves nothing.
func TestACutOffNodeFindsTheStateMoved(t *testing.T) {
	server := storetest.Server(t)
	address := storetest.Database(t, server, t.Name())
	node := openAddress(t, address)
	write := func(tx *store.Tx) error {
		_, err := tx.Exec(`INSERT INTO node(name, value) VALUES ('late', '')`)
		return err
	}
	require.NoError(t, node.Write(t.Context(), func(*store.Tx) error { return nil }))
	storetest.Cut(t, server, t.Name())
	s := alone(t, address)
	storetest.Cut(t, server, t.Name())
	require.Error(t, s.Write(t.Context(), s.MarkMoved))
	require.Error(t, s.Write(t.Context(), s.MarkMoved), "also on a new connection")
	require.NoError(t, s.Close())

	storetest.Cut(t, server, t.Name())
	s = alone(t, address)
	require.NoError(t, s.Write(t.Context(), s.MarkMoved))
	require.NoError(t, s.Close())
	require.Eventually(t, func() bool { // the first finds that its connection is lost
		err := node.Write(context.Background(), write)
		return err != nil && strings.Contains(err.Error(), "was moved to another one")
	}, patience, 10*time.Millisecond)
}

// A process may lose the lock after it asked for the last time: no node writes into the state that it moves away.
func TestNoNodeWritesAmidAMove(t *testing.T) {
	address := storetest.Database(t, storetest.Server(t), t.Name())
	s := alone(t, address)
	late := make(chan error, 1)
	require.NoError(t, s.Write(t.Context(), func(tx *store.Tx) error {
		if err := s.MarkMoved(tx); err != nil {
			return err
		}
		storetest.Admin(t, address, `SELECT pg_terminate_backend(pid) FROM pg_locks l WHERE locktype = 'advisory'
			AND mode = 'ExclusiveLock' AND NOT EXISTS (SELECT FROM pg_locks o WHERE o.pid = l.pid AND
			o.locktype = 'relation' AND o.mode = 'AccessExclusiveLock')
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
		go func() {
			node, err := store.Open(context.Background(), store.Options{URL: address})
			if err == nil {
				err = errors.Join(node.Write(context.Background(), func(tx *store.Tx) error {
					_, err := tx.Exec(`INSERT INTO node(name, value) VALUES ('late', '')`)
					return err
				}), node.Close())
			}
			late <- err
		}()
		time.Sleep(500 * time.Millisecond) // so that it would come in
		return nil
	}))
	require.ErrorContains(t, <-late, "was moved to another one")
}

// What is done alone may take longer than a session of the database is let idle.
func TestAloneOutlivesTheLimitsOfADatabase(t *testing.T) {
	address := storetest.Database(t, storetest.Server(t), t.Name())
	for _, limit := range []string{"idle_session_timeout", "idle_in_transaction_session_timeout"} {
		storetest.Admin(t, address, `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET `+limit+` = 300',
			current_database()); END $$`)
	}
	s := alone(t, address)
	time.Sleep(time.Second)
	require.NoError(t, s.Write(t.Context(), func(tx *store.Tx) error {
		time.Sleep(time.Second)
		return s.MarkMoved(tx)
	}))
}

// A database with another program's table of a name that is looked for first is refused as another program's.
func TestAnotherProgramsCounters(t *testing.T) {
	for i, columns := range []string{"id int", "name int, value int", "name text, value text"} {
		address := storetest.Empty(t, storetest.Server(t), fmt.Sprint(t.Name(), i))
		storetest.Admin(t, address, "CREATE TABLE counters("+columns+")")
		_, err := store.Vacant(t.Context(), store.Options{URL: address})
		require.ErrorIs(t, err, schemas.ErrConflict, columns)
		require.ErrorContains(t, err, "of another program", columns)
	}
}
