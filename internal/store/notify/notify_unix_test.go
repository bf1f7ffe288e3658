//go:build unix

package notify

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// counted is a database whose version a test moves.
type counted struct{ n *atomic.Int64 }

func (c counted) Version() (int64, error) { return c.n.Load(), nil }
func (c counted) Close() error            { return nil }

func notifier(t *testing.T, dir string, every time.Duration) (*Notifier, *atomic.Int64) {
	version := new(atomic.Int64)
	n := New(dir, every, func() (Versions, error) { return counted{version}, nil })
	t.Cleanup(n.Close)
	return n, version
}

func listening(t *testing.T, n *Notifier) int {
	t.Helper()
	entries, err := os.ReadDir(n.signals.(*sockets).place())
	require.NoError(t, err)
	return len(entries)
}

func hear(t *testing.T, woken <-chan struct{}) {
	t.Helper()
	select {
	case <-woken:
	case <-time.After(20 * time.Second):
		require.FailNow(t, "not woken")
	}
}

// One notifier wakes another by its socket, and removes the socket of a killed process.
func TestNotifyBySocket(t *testing.T) {
	short := filepath.Join(t.TempDir(), "n")
	long := filepath.Join(t.TempDir(), strings.Repeat("long/", 30), "n")
	for name, dir := range map[string]string{"beside the file": short, "path too long for a socket": long} {
		t.Run(name, func(t *testing.T) {
			one, _ := notifier(t, dir, time.Hour) // an hour between polls: only sockets wake
			other, _ := notifier(t, dir, time.Hour)
			woken, end := one.Watch()
			defer end()
			for range 3 {
				other.Notify()
				hear(t, woken)
			}
			left, err := net.ListenUnixgram("unixgram",
				&net.UnixAddr{Name: filepath.Join(one.signals.(*sockets).place(), "1.left"), Net: "unixgram"})
			require.NoError(t, err)
			require.NoError(t, left.Close()) // as the kernel does with a killed process's; the file stays
			require.Equal(t, 2, listening(t, one))
			require.Eventually(t, func() bool {
				other.Notify()
				return listening(t, one) == 1
			}, 10*time.Second, time.Millisecond)
		})
	}
}

// A folder that others could write to is not used: then the poll wakes.
func TestForeignFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "n")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.Chmod(dir, 0o777))
	n, version := notifier(t, dir, time.Millisecond)
	woken, end := n.Watch()
	defer end()
	require.Zero(t, listening(t, n))
	version.Store(7)
	hear(t, woken)
}

// A poll that could not open the database, as with too many open files, tries again.
func TestPollOpensAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "n")
	require.NoError(t, os.WriteFile(dir, nil, 0o600)) // no folder: only the poll wakes
	version, tries := new(atomic.Int64), new(atomic.Int64)
	n := New(dir, time.Millisecond, func() (Versions, error) {
		if tries.Add(1) < 3 {
			return nil, os.ErrPermission
		}
		return counted{version}, nil
	})
	t.Cleanup(n.Close)
	woken, end := n.Watch()
	defer end()
	version.Store(7)
	hear(t, woken)
	require.EqualValues(t, 3, tries.Load())
}

// A process without a watcher is not woken by others' commits, and hears them again as
// soon as it has one.
func TestWithoutAWatcherItRests(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "n")
	n, _ := notifier(t, dir, time.Millisecond)
	for range 3 {
		_, end := n.Watch()
		require.Equal(t, 1, listening(t, n))
		end()
		require.Eventually(t, func() bool { return listening(t, n) == 0 }, 20*time.Second, time.Millisecond)
	}
	woken, end := n.Watch()
	defer end()
	time.Sleep(10 * unwatchedPolls * time.Millisecond)
	require.Equal(t, 1, listening(t, n), "it goes on for as long as there is a watcher")
	other, _ := notifier(t, dir, time.Hour)
	other.Notify()
	hear(t, woken)
}

// A process that does not read its socket, such as a stopped one, costs the sender nothing.
func TestNotifyNeverWaits(t *testing.T) {
	n, _ := notifier(t, filepath.Join(t.TempDir(), "n"), time.Hour)
	place := n.signals.(*sockets).place()
	require.NoError(t, os.Mkdir(place, 0o700))
	deaf, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(place, "1.deaf"), Net: "unixgram"})
	require.NoError(t, err)
	defer deaf.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 5000 { // far beyond any socket buffer
			n.Notify()
		}
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		require.FailNow(t, "a notification waited for its reader")
	}
	require.FileExists(t, filepath.Join(place, "1.deaf"), "it lives: it only does not read")
}
