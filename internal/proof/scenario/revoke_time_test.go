package scenario

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/proof/soak"
	"cordelia/mcp"
)

// How long a revocation takes to be felt: by a stream over HTTP and by a wait
// over stdio, each held by a process other than the one that revokes, and by
// one that writes as fast as it can. Figures; that nothing lands behind the
// revocation is demanded.
func TestRevocationIsFelt(t *testing.T) {
	n := newNode(t)
	parent := open(t, n, "")
	address, err := n.Serve(t.Context())
	require.NoError(t, err)
	rounds := soak.Count(t, 3, 200)
	var streams, waits, writes []time.Duration
	accepted := 0
	for round := range rounds {
		name := fmt.Sprintf("w%d", round)
		a := must(t, parent, "agent_register",
			fmt.Sprintf(`{"agent_type": "swarm-worker", "display_name": "w", "name": %q}`, name))
		writer, waiter := open(t, n, name), open(t, n, name)
		must(t, writer, "events_subscribe", `{"action": "set", "events": [{"event": "memory.conflict"}]}`)
		remote, err := n.Dial(t.Context(), address, "agents/"+at[string](t, a, "agent_id")+".key")
		require.NoError(t, err)

		var ended, refused, last time.Time
		var wg sync.WaitGroup
		limited, cancel := context.WithTimeout(t.Context(), time.Minute)
		toEnd, err := remote.Listen(limited, mcp.EventsURI, nil)
		require.NoError(t, err)
		wg.Go(func() {
			toEnd() //nolint:errcheck // however it ends
			ended = time.Now()
		})
		wait, err := waiter.Begin("events_poll", []byte(`{"wait_seconds": 50}`))
		require.NoError(t, err)
		wg.Go(func() {
			a, err := wait(limited)
			refused = time.Now()
			if err != nil || a.Code != "revoked" && a.Code != "denied" {
				t.Errorf("the wait came to %q %v", a.Code, err)
			}
		})
		begun := make(chan struct{})
		wg.Go(func() {
			for i := 0; ; i++ {
				a, err := writer.Call(limited, "events_subscribe",
					fmt.Appendf(nil, `{"action": "set", "events": [{"event": %q}]}`,
						[]string{"memory.written", "memory.conflict"}[i%2]))
				if err != nil || a.Code != "" {
					if a.Code != "revoked" && a.Code != "denied" {
						t.Errorf("a write came to %q %v", a.Code, err)
					}
					return
				}
				last = time.Now()
				if accepted++; i == 4 {
					close(begun)
				}
			}
		})
		<-begun
		must(t, parent, "agent_deactivate", fmt.Sprintf(`{"agent": %q}`, name))
		answered := time.Now()
		wg.Wait()
		require.NoError(t, limited.Err(), "all of them ended by themselves")
		cancel()
		streams, waits, writes = append(streams, ended.Sub(answered)), append(waits,
			refused.Sub(answered)), append(writes, last.Sub(answered))
		writer.Kill()
		waiter.Kill()
	}
	require.NoError(t, parent.Close())
	db := openDB(t, n)
	require.Zero(t, count(t, db, `SELECT count(*) FROM audit a JOIN audit d ON d.action = 'agent_deactivate'
		AND d.target = a.actor AND a.seq > d.seq`))
	t.Logf("%d revocations, %d writes accepted before, 0 late. From the revocation's answer to the stream's end: "+
		"%s; to the wait's end: %s; to the last accepted write's answer: %s",
		rounds, accepted, spread(streams), spread(waits), spread(writes))
}

// spread is the least, middle, nearly worst and worst of some durations.
func spread(d []time.Duration) string {
	slices.Sort(d)
	q := func(p int) time.Duration { return d[(len(d)-1)*p/100].Round(100 * time.Microsecond) }
	return fmt.Sprintf("least %s, p50 %s, p99 %s, worst %s", q(0), q(50), q(99), q(100))
}
