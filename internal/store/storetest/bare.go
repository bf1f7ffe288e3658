package storetest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// Repeat has so many connections run a statement so many times in all, each in a transaction of
// its own, and gives how long that took: what is left of a server when nothing stands before it.
func Repeat(t testing.TB, address string, connections, times int, statement func(n int) string) time.Duration {
	t.Helper()
	return connect(t, address, connections).run(t, times, func(ctx context.Context, pg *pgconn.PgConn, n int) error {
		_, err := pg.Exec(ctx, statement(n)).ReadAll()
		return err
	})
}

// Times has something done so many times, and gives how long that took; arg is that of the n-th time.
type Times func(times int, arg func(n int) string) time.Duration

// Exchanges has so many connections do the same with a transaction of prepared
// statements, which are sent in so many exchanges. A statement with $1 gets arg.
func Exchanges(t testing.TB, address string, connections int, exchanges [][]string) Times {
	t.Helper()
	c := connect(t, address, connections)
	for _, pg := range c {
		for _, statements := range exchanges {
			for _, s := range statements {
				_, err := pg.Prepare(t.Context(), s, s, nil)
				require.NoError(t, err, s)
			}
		}
	}
	return func(times int, arg func(n int) string) time.Duration {
		return c.run(t, times, func(ctx context.Context, pg *pgconn.PgConn, n int) error {
			for _, statements := range exchanges {
				if err := exchange(ctx, pg, statements, []byte(arg(n))); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

func exchange(ctx context.Context, pg *pgconn.PgConn, statements []string, arg []byte) error {
	p := pg.StartPipeline(ctx)
	for _, s := range statements {
		var args [][]byte
		if strings.Contains(s, "$1") {
			args = [][]byte{arg}
		}
		p.SendQueryPrepared(s, args, nil, nil)
	}
	err := p.Sync()
	for n := 0; n < len(statements) && err == nil; n++ {
		var got any
		if got, err = p.GetResults(); err == nil {
			if r, is := got.(*pgconn.ResultReader); is {
				err = r.Read().Err
			}
		}
	}
	return errors.Join(err, p.Close())
}

// connections are of the driver, without a pool.
type connections []*pgconn.PgConn

// connect makes them; they are closed with the test.
func connect(t testing.TB, address string, count int) connections {
	t.Helper()
	c := make(connections, count)
	for i := range c {
		pg, err := pgconn.Connect(context.Background(), address)
		require.NoError(t, err)
		t.Cleanup(func() { pg.Close(context.Background()) }) //nolint:errcheck // only a test
		c[i] = pg
	}
	return c
}

// run has them do something so many times in all.
func (c connections) run(t testing.TB, times int,
	do func(ctx context.Context, pg *pgconn.PgConn, n int) error) time.Duration {
	t.Helper()
	return Spread(t, len(c), times, func(caller, n int) error { return do(context.Background(), c[caller], n) })
}

// Spread has so many callers at once do something so many times in all, and gives how long that took.
func Spread(t testing.TB, callers, times int, do func(caller, n int) error) time.Duration {
	t.Helper()
	turns := make(chan int)
	var all sync.WaitGroup
	begun := time.Now()
	for caller := range callers {
		all.Go(func() {
			for n := range turns {
				if err := do(caller, n); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for n := range times {
		turns <- n
	}
	close(turns)
	all.Wait()
	return time.Since(begun)
}
