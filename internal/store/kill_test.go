package store

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/proof/soak"
)

// No acknowledged write is lost when processes are killed (INV-DURABLE): one of
// four that write, one that only starts, and at times all at once, so that the
// next to open the file finds a log that nobody has open.
func TestINV_DURABLE_kill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n.db")
	openAt(t, path).Close() //nolint:errcheck // closed again at the end, which tells
	var acked []string
	begin := func() *child {
		c := spawn(t, "write", path)
		c.say("go")
		return c
	}
	kill := func(c *child) {
		require.NoError(t, c.cmd.Process.Kill())
		for line := range c.lines {
			acked = append(acked, line)
		}
		c.cmd.Wait() //nolint:errcheck // killed
	}
	writers := [4]*child{begin(), begin(), begin(), begin()}
	random := rand.New(rand.NewPCG(1, 2))
	kills, starting, together := soak.Count(t, 30, 1000), 0, 0
	for done := 0; done < kills; {
		victim := random.IntN(len(writers))
		switch random.IntN(10) {
		case 0:
			for _, c := range writers { // one alive would keep the log in its hands
				require.NoError(t, c.cmd.Process.Kill())
			}
			for i, c := range writers {
				kill(c)
				writers[i] = begin()
			}
			done += len(writers)
			together++
		case 1:
			c := begin()
			soak.Strike(random, 30*time.Millisecond) // in its start
			kill(c)
			done++
			starting++
		default:
			for range 1 + random.IntN(40) { // never twice at the same point
				acked = append(acked, writers[victim].hear())
			}
			kill(writers[victim])
			writers[victim] = begin()
			done++
		}
	}
	for _, c := range writers {
		acked = append(acked, c.hear()) // all have gone on
		kill(c)
	}
	have := names(t, openAt(t, path))
	lost := 0
	for _, name := range acked {
		if !have[name] {
			lost++
		}
	}
	t.Logf("%d kills (%d while starting, %d times all at once): %d acknowledged, %d lost, %d done without an answer",
		kills, starting, together, len(acked), lost, len(have)-len(acked)+lost)
	require.Zero(t, lost)
	requireSound(t, path)
}
