package postgres

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Clock shows the server's time on any machine: the machine's own time, corrected by how far
// the server's was ahead when it was last asked. Nodes whose clocks differ by minutes so agree
// on when a lease ends.
type Clock struct {
	Machine interface{ Now() time.Time }
	asked   atomic.Bool  // the server was, once
	ahead   atomic.Int64 // nanoseconds that the server's time is ahead of the machine's
}

// Micros is the column that Set is given.
const Micros = `(extract(epoch FROM clock_timestamp()) * 1000000)::bigint`

// Now is the server's time.
func (c *Clock) Now() time.Time {
	return c.Machine.Now().Add(time.Duration(c.ahead.Load()))
}

// Set corrects the clock: the server was asked when the machine's clock showed asked, and has
// just answered with its time in microseconds. When in between it looked at its clock is not known,
// so what fits an answer is kept: one that took seconds moves the clock no further than it must.
func (c *Clock) Set(asked time.Time, micros int64) {
	most := time.UnixMicro(micros).Sub(asked)
	least := most - c.Machine.Now().Sub(asked)
	if c.asked.Swap(true) {
		c.ahead.Store(min(max(c.ahead.Load(), int64(least)), int64(most)))
	} else {
		c.ahead.Store(int64(least+most) / 2)
	}
}

// ask asks a new connection's server for its time.
func (c *Clock) ask(ctx context.Context, pg *pgconn.PgConn) error {
	asked := c.Machine.Now()
	text, err := value(ctx, pg, "SELECT "+Micros)
	if err != nil {
		return fmt.Errorf("ask for the time: %w", err)
	}
	micros, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return fmt.Errorf("read the time: %w", err)
	}
	c.Set(asked, micros)
	return nil
}
