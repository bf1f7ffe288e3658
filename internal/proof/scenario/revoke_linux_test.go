package scenario

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/proof/soak"
)

// INV-REVOKE, across processes: one process writes as a worker, another revokes
// it. In every round one write is accepted before, one is under way when the
// revocation commits and is aborted, and one is refused after; nothing lands
// behind the revocation.
//
// The round is no matter of luck: this test holds the lock the processes queue
// for, sees in the kernel's table that first the revocation and then the write
// wait for it, and lets go.
func TestRevocationRace(t *testing.T) {
	n := newNode(t)
	parent := open(t, n, "")
	gate, err := os.OpenFile(n.Database()+".lock", os.O_RDWR, 0)
	require.NoError(t, err)
	defer gate.Close()

	const writing = `{"action": "set", "events": [{"event": %q}]}`
	overtaken, missed, rounds := 0, 0, soak.Count(t, 50, 1000)
	for round := 0; round < rounds; {
		name := fmt.Sprintf("w%d-%d", round, overtaken+missed)
		must(t, parent, "agent_register", fmt.Sprintf(`{"agent_type": "swarm-worker", "display_name": "w", "name": %q}`,
			name))
		worker := open(t, n, name)
		must(t, worker, "events_subscribe", fmt.Sprintf(writing, "memory.written")) // before

		require.NoError(t, syscall.Flock(int(gate.Fd()), syscall.LOCK_EX))
		revoked, err := parent.Begin("agent_deactivate", []byte(fmt.Sprintf(`{"agent": %q}`, name)))
		require.NoError(t, err)
		waitsFor(t, gate, parent.PID())
		under, err := worker.Begin("events_subscribe", []byte(fmt.Sprintf(writing, "memory.conflict")))
		require.NoError(t, err)
		waitsFor(t, gate, worker.PID())
		require.NoError(t, syscall.Flock(int(gate.Fd()), syscall.LOCK_UN))

		limited, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		a, err := revoked(limited)
		require.NoError(t, err)
		require.Empty(t, a.Code, a.Text)
		aborted, err := under(limited)
		require.NoError(t, err)
		after, err := worker.Call(limited, "events_subscribe", []byte(fmt.Sprintf(writing, "trust.score_changed")))
		require.NoError(t, err)
		cancel()
		worker.Kill()

		require.Equal(t, "denied", after.Code, after.Text)
		if aborted.Code == "" { // another waiter came first: it was a write before, and no round
			overtaken++
			require.Less(t, overtaken, 10+round, "the processes' queue is not in order")
			continue
		}
		if aborted.Code == "denied" { // what waited was the worker's own counting, and the write came after
			missed++
			require.Less(t, missed, 10+round/10, "the write is never under way")
			continue
		}
		require.Equal(t, "revoked", aborted.Code, aborted.Text)
		round++
	}
	must(t, parent, "agent_list", `{}`)
	require.NoError(t, parent.Close())

	// The record agrees: no entry of a worker behind the one that ended it, and
	// what stands is what was accepted before.
	db := openDB(t, n)
	require.Zero(t, count(t, db, `SELECT count(*) FROM audit a JOIN audit d ON d.action = 'agent_deactivate'
		AND d.target = a.actor AND a.seq > d.seq`))
	require.Equal(t, rounds+missed+overtaken, count(t, db,
		`SELECT count(*) FROM entities WHERE status = 'deactivated'`))
	require.Equal(t, rounds+missed+2*overtaken, count(t, db,
		`SELECT count(*) FROM audit WHERE action = 'events_subscribe'`))
	require.Equal(t, overtaken, count(t, db, `SELECT count(*) FROM subscriptions WHERE type = 'memory.conflict'`))
	require.Zero(t, count(t, db, `SELECT count(*) FROM subscriptions WHERE type = 'trust.score_changed'`))
	t.Logf("%d revocations: %d writes accepted before, %d aborted in flight, %d refused after, 0 late; %d rounds "+
		"more in which the write came too early, %d too late",
		rounds, rounds+missed+2*overtaken, rounds, rounds+missed+overtaken, overtaken, missed)
}

// waitsFor returns once the process is in the queue for the lock on gate.
func waitsFor(t *testing.T, gate *os.File, pid int) {
	t.Helper()
	var st syscall.Stat_t
	require.NoError(t, syscall.Fstat(int(gate.Fd()), &st))
	inode, waiter := fmt.Sprintf(":%d", st.Ino), strconv.Itoa(pid)
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		f, err := os.Open("/proc/locks")
		require.NoError(t, err)
		found := false
		for lines := bufio.NewScanner(f); lines.Scan(); {
			// 1: -> FLOCK  ADVISORY  WRITE 4711 08:01:123456 0 EOF
			w := strings.Fields(lines.Text())
			found = found || len(w) > 6 && w[1] == "->" && w[5] == waiter && strings.HasSuffix(w[6], inode)
		}
		f.Close() //nolint:errcheck // only read
		if found {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("process %d never queued for its turn to write", pid)
		}
	}
}
