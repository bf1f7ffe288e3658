//go:build unix

package store

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store/notify"
)

func hear(t *testing.T, woken <-chan struct{}) {
	t.Helper()
	select {
	case <-woken:
	case <-time.After(20 * time.Second):
		require.FailNow(t, "not woken")
	}
}

// A commit that notifies wakes the watchers of other processes.
func TestACommitWakesAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n.db")
	s := openAt(t, path, func(o *Options) { o.pollEvery = time.Hour }) // only sockets wake
	woken, end := s.Watch()
	defer end()
	sender := spawn(t, "notify", path)
	for i := range 3 {
		require.Equal(t, "ready", sender.hear())
		sender.say(fmt.Sprint("news", i))
		hear(t, woken)
	}
	watcher := spawn(t, "watch", path)
	require.Equal(t, "ready", watcher.hear())
	require.NoError(t, s.Write(t.Context(), func(tx *Tx) error {
		tx.Notify()
		_, err := tx.Exec(`INSERT INTO node(name, value) VALUES ('here', '')`)
		return err
	}))
	require.Equal(t, "woken", watcher.hear())
}

// Without its socket a watcher still learns of commits, by the poll.
func TestPollIsTheSafetyNet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n.db")
	s := openAt(t, path)
	woken, end := s.Watch()
	defer end()
	require.NoError(t, os.RemoveAll(path+".bells"))
	sender := spawn(t, "notify", path)
	require.Equal(t, "ready", sender.hear())
	drain := time.After(10 * notify.PollEvery) // the first look at the file always wakes
	for waiting := true; waiting; {
		select {
		case <-woken:
		case <-drain:
			waiting = false
		}
	}
	sender.say("silent")
	hear(t, woken)
}
