//go:build unix

package store

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBellWakesAnotherProcess(t *testing.T) {
	short := filepath.Join(t.TempDir(), "n.db")
	long := filepath.Join(t.TempDir(), strings.Repeat("long/", 30), "n.db")
	for name, path := range map[string]string{"beside the file": short, "path too long for a socket": long} {
		t.Run(name, func(t *testing.T) {
			// An hour between polls: what is heard is the bell.
			s := openAt(t, path, func(o *Options) { o.pollEvery = time.Hour })
			rung, end := s.Watch()
			defer end()
			ringer := spawn(t, "ring", path)
			for i := range 3 {
				require.Equal(t, "ready", ringer.hear())
				ringer.say(fmt.Sprint("ring", i))
				select {
				case <-rung:
				case <-time.After(20 * time.Second):
					require.FailNow(t, "no ring")
				}
			}

			watcher := spawn(t, "watch", path)
			require.Equal(t, "ready", watcher.hear())
			ring(t, s, "here")
			require.Equal(t, "rung", watcher.hear())

			// A killed listener leaves a socket; the next ring removes it.
			place := s.bell.peers.place()
			require.NoError(t, watcher.cmd.Process.Kill())
			watcher.cmd.Wait() //nolint:errcheck // killed
			entries, err := os.ReadDir(place)
			require.NoError(t, err)
			require.Len(t, entries, 2)
			ring(t, s, "there")
			require.Eventually(t, func() bool {
				entries, err = os.ReadDir(place)
				return err == nil && len(entries) == 1
			}, 10*time.Second, time.Millisecond)
		})
	}
}

func ring(t *testing.T, s *Store, name string) {
	t.Helper()
	require.NoError(t, s.Write(t.Context(), func(tx *Tx) error {
		tx.Ring()
		_, err := tx.Exec(`INSERT INTO node(name, value) VALUES (?, '')`, name)
		return err
	}))
}

// Without its socket a watcher still learns of commits, by the poll.
func TestPollIsTheSafetyNet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n.db")
	s := openAt(t, path)
	rung, end := s.Watch()
	defer end()
	require.NoError(t, os.RemoveAll(s.bell.peers.place()))
	ringer := spawn(t, "ring", path)
	require.Equal(t, "ready", ringer.hear())
	drain := time.After(10 * pollEvery) // the first look at the file always wakes
	for waiting := true; waiting; {
		select {
		case <-rung:
		case <-drain:
			waiting = false
		}
	}
	ringer.say("silent")
	select {
	case <-rung:
	case <-time.After(20 * time.Second):
		require.FailNow(t, "the poll saw nothing")
	}
}

// A process in which nobody watches any more is not woken by others' commits, and
// hears them again as soon as somebody does.
func TestNobodyWatchesNobodyListens(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "n.db"), func(o *Options) { o.pollEvery = time.Millisecond })
	sockets := func() int {
		entries, err := os.ReadDir(s.bell.peers.place())
		require.NoError(t, err)
		return len(entries)
	}
	for range 3 {
		_, end := s.Watch()
		require.Equal(t, 1, sockets())
		end()
		require.Eventually(t, func() bool { return sockets() == 0 }, 20*time.Second, time.Millisecond)
	}
	rung, end := s.Watch()
	defer end()
	time.Sleep(10 * unwatchedPolls * time.Millisecond)
	require.Equal(t, 1, sockets(), "it goes on for as long as somebody watches")
	ringer := spawn(t, "ring", s.Path())
	require.Equal(t, "ready", ringer.hear())
	ringer.say("again")
	select {
	case <-rung:
	case <-time.After(20 * time.Second):
		require.FailNow(t, "no ring")
	}
}

// A listener that does not read, such as a stopped process, costs nothing.
func TestRingNeverWaits(t *testing.T) {
	s := open(t)
	place := s.bell.peers.place()
	require.NoError(t, os.Mkdir(place, 0o700))
	deaf, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(place, "1.deaf"), Net: "unixgram"})
	require.NoError(t, err)
	defer deaf.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 5000 { // far beyond any socket buffer
			s.bell.ring()
		}
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		require.FailNow(t, "a ring waited for its reader")
	}
	require.FileExists(t, filepath.Join(place, "1.deaf"), "it lives: it only does not read")
}
