package store_test

import (
	"context"
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
		EXIT WHEN EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory');
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
