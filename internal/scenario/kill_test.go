package scenario

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/events"
	"cordelia/internal/store"
)

// INV-DURABLE, INV-AUDIT, through the whole binary: four agents write, each from a process
// of its own, and one of the four is killed again and again. What was answered
// is there afterwards, and the file and the record are sound.
func TestNothingAcknowledgedIsLost(t *testing.T) {
	const writers = 4
	n := newNode(t)
	parent := open(t, n, "")
	must(t, parent, "memory_group", `{"action": "create", "group": "ledger"}`)
	for i := range writers {
		must(t, parent, "agent_register", fmt.Sprintf(`{"agent_type": "swarm-worker", "display_name": "w", "name": "w%d", "groups": ["ledger"]}`, i))
	}
	require.NoError(t, parent.Close())

	var mu sync.Mutex
	acknowledged := map[string]int{} // item id → writer
	progress := make(chan int, 64)   // who has just been answered
	stop := make(chan struct{})
	var running [writers]*Process
	restart := func(i int) { running[i] = open(t, n, fmt.Sprintf("w%d", i)) }
	var wg sync.WaitGroup
	write := func(i int, c *Process) {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), uint64(c.PID())))
			for {
				select {
				case <-stop:
					return
				default:
				}
				a, err := c.Call(t.Context(), "memory_write_warm", fmt.Appendf(nil,
					`{"type": "learning", "group": "ledger", "data": {"type": "insight", "content": "%x %x %x"}}`,
					random.Uint64(), random.Uint64(), random.Uint64()))
				if errors.Is(err, errEnded) {
					return // killed, perhaps after the write and before the answer
				}
				if err != nil || a.Code != "" {
					t.Errorf("write of w%d: %v %s", i, err, a.Text)
					return
				}
				id, _ := look(a, "id")
				mu.Lock()
				acknowledged[fmt.Sprint(id)] = i
				mu.Unlock()
				select {
				case progress <- i:
				case <-stop:
					return
				}
			}
		})
	}
	for i := range writers {
		restart(i)
		write(i, running[i])
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range rounds(t, 6) {
		victim := random.IntN(writers)
		for seen := 0; seen < 3; { // it is writing, not starting
			if <-progress == victim {
				seen++
			}
		}
		running[victim].Kill()
		restart(victim)
		write(victim, running[victim])
	}
	close(stop)
	wg.Wait()
	for _, c := range running {
		require.NoError(t, c.Close())
	}

	db := openDB(t, n)
	kept := map[string]bool{}
	for _, id := range texts(t, db, `SELECT id FROM items WHERE current = 1`) {
		kept[id] = true
	}
	require.Greater(t, len(acknowledged), 3*rounds(t, 6))
	for id, by := range acknowledged {
		require.True(t, kept[id], "the write of %s, acknowledged to w%d, is lost", id, by)
	}
	require.Equal(t, []string{"ok"}, texts(t, db, `PRAGMA integrity_check`))
	require.Zero(t, count(t, db, `SELECT count(*) FROM items i WHERE NOT EXISTS (SELECT 1 FROM audit a WHERE a.target = 'item/' || i.id)`))
	st, err := store.Open(t.Context(), store.Options{Path: n.Database()})
	require.NoError(t, err)
	defer st.Close()
	require.NoError(t, st.Read(t.Context(), func(tx *store.Tx) error {
		_, _, err := events.VerifyAudit(tx)
		return err
	}))
}

// rounds is how often a race runs: few in tests, many times more in a soak.
func rounds(t testing.TB, n int) int {
	soak := os.Getenv("CORDELIA_SOAK")
	if soak == "" {
		return n
	}
	times, err := strconv.Atoi(soak)
	require.NoError(t, err, "CORDELIA_SOAK")
	return n * times
}
