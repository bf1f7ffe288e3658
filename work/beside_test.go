package work

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/store/storetest"
)

// While the transaction of one agent is open, another claims and learns that there is nothing, and signs
// of life are noted. An item that the open one may yet give back is waited for.
func TestIdleAgentsWaitForNobodyOnPostgreSQL(t *testing.T) {
	t.Setenv(storetest.Engine, "postgres")
	n := newNode(t)
	n.none(b)
	errUndone := errors.New("undone")
	open := func(do func(access.Grant) error) (end func()) {
		begun, release, ended := make(chan struct{}), make(chan struct{}), make(chan error)
		go func() {
			ended <- n.doConcurrent(a, func(g access.Grant) error {
				if err := do(g); err != nil {
					return err
				}
				close(begun)
				<-release
				var n int // the server ends what is idle for five seconds
				if err := g.Tx().QueryRow(countLate, 0).Scan(&n); err != nil {
					return err
				}
				return errUndone
			})
		}()
		<-begun
		return func() { close(release); require.ErrorIs(t, <-ended, errUndone) }
	}

	end := open(func(g access.Grant) error { _, err := access.Epoch(g.Tx()); return err })
	n.none(b)
	n.Auth.Flush(t.Context())
	require.EqualValues(t, 1, n.one(`SELECT count(*) FROM entities WHERE id = ? AND last_seen_at > 0`, b))
	end()

	n.submit(lead, "team", Draft{Intent: "a crate"})
	end = open(func(g access.Grant) error { _, _, err := Claim(g, Wanted{}, time.Minute); return err })
	got := make(chan string)
	go func() {
		c, _, err := n.tryClaim(b, time.Minute)
		got <- c.Intent
		if err != nil {
			t.Error(err)
		}
	}()
	select {
	case <-got:
		t.Fatal("the claim did not wait")
	case <-time.After(200 * time.Millisecond):
	}
	end()
	require.Equal(t, "a crate", <-got)
}
