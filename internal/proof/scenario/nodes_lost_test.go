//go:build unix

package scenario

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/proof/soak"
	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
)

// The primary is lost together with what it had not sent yet. A standby that commits wait for has
// each acknowledged write. One that they do not wait for lacks the last of them, which the log of
// the test counts, and nothing before those.
func TestLostPrimaryOnPostgreSQL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what  string
		away  time.Duration // the standby, from the primary
		waits bool          // commits, for the standby
	}{
		{"synchronous, 5 ms away", 5 * time.Millisecond, true},
		{"asynchronous, beside it", 0, false},
		{"asynchronous, 5 ms away", 5 * time.Millisecond, false},
		{"asynchronous, 50 ms away", 50 * time.Millisecond, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			var lost []int
			acknowledged, took := 0, time.Duration(0)
			for range soak.Count(t, 1, 10) {
				n, of, within := lostPrimary(t, c.away, c.waits)
				lost, acknowledged, took = append(lost, n), acknowledged+of, took+within
				if c.waits {
					require.Zero(t, n, "an acknowledged write is lost")
				}
			}
			t.Logf("lost %v of %d acknowledged writes, at %.0f/s", lost, acknowledged, float64(acknowledged)/took.Seconds())
		})
	}
}

// lostPrimary has eight callers write until the primary is lost, and counts those of the
// acknowledged writes that its standby lacks.
func lostPrimary(t *testing.T, away time.Duration, waits bool) (lost, acknowledged int, took time.Duration) {
	primary := storetest.NewInstance(t)
	storetest.Admin(t, primary.Address()+" dbname=postgres", `CREATE DATABASE team TEMPLATE template0`)
	s, err := store.Open(t.Context(), store.Options{URL: primary.Address() + " dbname=team"})
	require.NoError(t, err)
	defer s.Close() //nolint:errcheck // its server is gone
	w, instead := newWire(t, primary.Address(), away)
	standby := primary.Follower(hostPattern.FindStringSubmatch(instead)[1])
	if waits {
		primary.Await()
	}
	const callers, until = 8, 400
	var all sync.WaitGroup
	var mu sync.Mutex
	done := make([]int, callers) // acknowledged, of each caller
	enough := make(chan struct{})
	begun := time.Now()
	for caller := range callers {
		all.Go(func() {
			for n := 0; ; n++ {
				if err := s.Write(t.Context(), func(tx *store.Tx) error {
					_, err := tx.Exec(`INSERT INTO node(name, value) VALUES (?, 'x')`, fmt.Sprint("write ", caller, " ", n))
					return err
				}); err != nil {
					return
				}
				mu.Lock()
				if acknowledged < until { // later ones are of a primary that is cut off already
					done[caller]++
					if acknowledged++; acknowledged == until {
						took = time.Since(begun)
						w.gone.Store(true)
						close(enough)
					}
				}
				mu.Unlock()
			}
		})
	}
	<-enough
	primary.Kill()
	all.Wait()
	standby.Promote()
	after, err := store.Open(t.Context(), store.Options{URL: standby.Address() + " dbname=team"})
	require.NoError(t, err)
	defer after.Close() //nolint:errcheck // only read
	kept := make([]map[int]bool, callers)
	for caller := range callers {
		kept[caller] = map[int]bool{}
	}
	require.NoError(t, after.Read(t.Context(), func(tx *store.Tx) error {
		names, err := column(tx, `SELECT name FROM node WHERE name LIKE 'write %'`)
		if err != nil {
			return err
		}
		for name := range names {
			var caller, n int
			if _, err := fmt.Sscanf(strings.TrimSpace(name), "write %d %d", &caller, &n); err != nil {
				return err
			}
			kept[caller][n] = true
		}
		return nil
	}))
	for caller, count := range done {
		missing := 0
		for n := range count {
			if kept[caller][n] {
				require.Zero(t, missing, "a write is lost, and a later one is not")
			} else {
				missing++
			}
		}
		lost += missing
	}
	return lost, acknowledged, took
}
