package scenario

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/drive"
	"cordelia/internal/proof/soak"
)

// INV-DURABLE, INV-AUDIT, through the whole binary: four agents write, each from a process
// of its own, and one of the four is killed again and again, at times all of
// them at once. What was answered is there afterwards, nothing is there in part,
// and the file and the record are sound.
func TestNothingAcknowledgedIsLost(t *testing.T) {
	const writers = 4
	n := newNode(t)
	parent := open(t, n, "")
	must(t, parent, "memory_group", `{"action": "create", "group": "ledger"}`)
	for i := range writers {
		must(t, parent, "agent_register",
			fmt.Sprintf(`{"agent_type": "swarm-worker", "display_name": "w", "name": "w%d", "groups": ["ledger"]}`, i))
	}
	require.NoError(t, parent.Close())

	var mu sync.Mutex
	acknowledged := map[string]int{} // item id → writer
	progress := make(chan int, 64)   // who has just been answered
	stop := make(chan struct{})
	var running [writers]*Process
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
				if errors.Is(err, drive.ErrEnded) {
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
	restart := func(i int) {
		running[i] = open(t, n, fmt.Sprintf("w%d", i))
		write(i, running[i])
	}
	for i := range writers {
		restart(i)
	}
	random := rand.New(rand.NewPCG(1, 2))
	kills, together := soak.Count(t, 6, 1000), 0
	for done := 0; done < kills; {
		victim := random.IntN(writers)
		for seen := 0; seen < 3; { // it is writing, not starting
			if <-progress == victim {
				seen++
			}
		}
		soak.Strike(random, 3*time.Millisecond) // in its next call
		if random.IntN(6) == 0 {
			n.Kill()
			for i := range writers {
				restart(i)
			}
			done += writers
			together++
			continue
		}
		running[victim].Kill()
		restart(victim)
		done++
	}
	close(stop)
	wg.Wait()
	for _, c := range running {
		require.NoError(t, c.Close())
	}

	kept := map[string]bool{}
	for _, id := range texts(t, openDB(t, n), `SELECT id FROM items WHERE current = 1`) {
		kept[id] = true
	}
	require.Greater(t, len(acknowledged), 2*kills)
	lost := 0
	for id, by := range acknowledged {
		if !kept[id] {
			lost++
			t.Errorf("the write of %s, acknowledged to w%d, is lost", id, by)
		}
	}
	items, entries := requireWhole(t, n.Database())
	t.Logf("%d kills (%d times all at once): %d acknowledged, %d lost, %d done without an answer; %d items and %d "+
		"audit entries are whole",
		kills, together, len(acknowledged), lost, len(kept)-len(acknowledged)+lost, items, entries)
}
