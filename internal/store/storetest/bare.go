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
	return bare(t, address, connections, times, nil, func(ctx context.Context, pg *pgconn.PgConn, n int) error {
		_, err := pg.Exec(ctx, statement(n)).ReadAll()
		return err
	})
}

// Exchanges does the same with a transaction of prepared statements that are sent in so many
// exchanges. A statement with $1 gets arg.
func Exchanges(t testing.TB, address string, connections, times int, exchanges [][]string,
	arg func(n int) string) time.Duration {
	t.Helper()
	prepare := func(ctx context.Context, pg *pgconn.PgConn) {
		for _, statements := range exchanges {
			for _, s := range statements {
				_, err := pg.Prepare(ctx, s, s, nil)
				require.NoError(t, err, s)
			}
		}
	}
	return bare(t, address, connections, times, prepare, func(ctx context.Context, pg *pgconn.PgConn, n int) error {
		for _, statements := range exchanges {
			if err := exchange(ctx, pg, statements, []byte(arg(n))); err != nil {
				return err
			}
		}
		return nil
	})
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

// bare has so many connections do something so many times in all.
func bare(t testing.TB, address string, connections, times int, prepare func(context.Context, *pgconn.PgConn),
	do func(ctx context.Context, pg *pgconn.PgConn, n int) error) time.Duration {
	t.Helper()
	ctx := context.Background()
	turns := make(chan int)
	var all sync.WaitGroup
	for range connections {
		pg, err := pgconn.Connect(ctx, address)
		require.NoError(t, err)
		if prepare != nil {
			prepare(ctx, pg)
		}
		all.Go(func() {
			defer pg.Close(ctx) //nolint:errcheck // only a test
			for n := range turns {
				if err := do(ctx, pg, n); err != nil {
					t.Error(err)
				}
			}
		})
	}
	begun := time.Now()
	for n := range times {
		turns <- n
	}
	close(turns)
	all.Wait()
	return time.Since(begun)
}
