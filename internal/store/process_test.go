package store

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// roles are the processes that tests start.
func roles() map[string]func(context.Context, string, *bufio.Reader) error {
	all := map[string]func(context.Context, string, *bufio.Reader) error{
		"open": playOpen, "write": playWrite, "notify": playNotify, "watch": playWatch, "hold": playHold,
		"restore": playRestore, "live": playLive,
	}
	maps.Copy(all, linuxRoles())
	return all
}

func playOpen(ctx context.Context, path string, in *bufio.Reader) error {
	if _, err := in.ReadString('\n'); err != nil { // all start at once
		return err
	}
	s, err := Open(ctx, Options{Path: path})
	if err != nil {
		return err
	}
	return s.Close()
}

// playWrite prints each name once it is acknowledged, until it is killed.
func playWrite(ctx context.Context, path string, in *bufio.Reader) error {
	s, err := Open(ctx, Options{Path: path})
	if err != nil {
		return err
	}
	if _, err := in.ReadString('\n'); err != nil {
		return err
	}
	for id, i := rand.Text(), 0; ; i++ {
		name := fmt.Sprintf("%s-%d", id, i)
		if err := put(ctx, s, name, strings.Repeat("x", i%3000)); err != nil {
			return err
		}
		fmt.Println(name)
	}
}

func playNotify(ctx context.Context, path string, in *bufio.Reader) error {
	s, err := Open(ctx, Options{Path: path})
	if err != nil {
		return err
	}
	for {
		fmt.Println("ready")
		line, err := in.ReadString('\n')
		if err != nil {
			return s.Close()
		}
		if err := s.Write(ctx, func(tx *Tx) error {
			tx.Notify()
			_, err := tx.Exec(`INSERT INTO node(name, value) VALUES (?, '')`, line)
			return err
		}); err != nil {
			return err
		}
	}
}

func playWatch(ctx context.Context, path string, _ *bufio.Reader) error {
	s, err := Open(ctx, Options{Path: path, pollEvery: time.Hour})
	if err != nil {
		return err
	}
	woken, _ := s.Watch()
	fmt.Println("ready")
	for range woken {
		fmt.Println("woken")
	}
	return nil
}

// playHold keeps its write transaction open until it is told to end.
func playHold(ctx context.Context, path string, in *bufio.Reader) error {
	s, err := Open(ctx, Options{Path: path})
	if err != nil {
		return err
	}
	err = s.Write(ctx, func(tx *Tx) error {
		if _, err := tx.Exec(`INSERT INTO node(name, value) VALUES ('held', '')`); err != nil {
			return err
		}
		fmt.Println("holding")
		_, err := in.ReadString('\n')
		return err
	})
	fmt.Println("done", err)
	return s.Close()
}

// playLive says its name and lives until it is told to end.
func playLive(ctx context.Context, path string, in *bufio.Reader) error {
	s, err := Open(ctx, Options{Path: path})
	if err != nil {
		return err
	}
	name, err := s.Process()
	if err != nil {
		return err
	}
	fmt.Println(name)
	_, _ = in.ReadString('\n')
	return s.Close()
}

// A process has ended when it was killed or closed the database, and not before.
func TestProcessesThatEnded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n.db")
	s := openAt(t, path)
	own, err := s.Process()
	require.NoError(t, err)
	killed, closed := spawn(t, "live", path), spawn(t, "live", path)
	first, second := killed.hear(), closed.hear()
	require.Len(t, map[string]bool{own: true, first: true, second: true}, 3)
	for _, name := range []string{own, first, second} {
		require.False(t, s.Ended(name))
		require.False(t, s.Ended(name), "asking changes nothing")
	}
	require.NoError(t, killed.cmd.Process.Kill())
	_ = killed.cmd.Wait()
	require.True(t, s.Ended(first))
	require.False(t, s.Ended(second))
	closed.say("end")
	require.NoError(t, closed.cmd.Wait())
	require.True(t, s.Ended(second))
	require.True(t, s.Ended(first), "a second answer is the first")
	require.False(t, s.Ended(own))

	left := spawn(t, "live", path)
	left.hear()
	require.NoError(t, left.cmd.Process.Kill())
	_ = left.cmd.Wait()
	other := openAt(t, path)
	_, err = other.Process()
	require.NoError(t, err)
	files, err := os.ReadDir(path + ".alive")
	require.NoError(t, err)
	require.Len(t, files, 2, "what a killed process left is swept")
}

// Processes that start at once on an empty file all succeed (INV-MIGRATE).
func TestINV_MIGRATE(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n.db")
	var children []*child
	for range 8 {
		children = append(children, spawn(t, "open", path))
	}
	for _, c := range children {
		c.say("go")
	}
	for _, c := range children {
		require.NoError(t, c.cmd.Wait())
	}
	s := openAt(t, path)
	require.NoError(t, s.Read(t.Context(), func(tx *Tx) error {
		var n, newest int
		require.NoError(t, tx.QueryRow(`SELECT count(*), max(version) FROM schema_version`).Scan(&n, &newest))
		require.Equal(t, SchemaVersion(), n)
		require.Equal(t, SchemaVersion(), newest)
		return nil
	}))
}

// A write begins only when nobody else writes, even a program that knows
// nothing of the write lock, and so reads what holds when it commits (INV-IMMEDIATE).
func TestINV_IMMEDIATE(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "n.db"), func(o *Options) { o.Wait = 500 * time.Millisecond })
	other, err := connect(t.Context(), dsn(s.Path(), false, Options{}.withDefaults()))
	require.NoError(t, err)
	defer other.closeAll() //nolint:errcheck // only a test
	require.NoError(t, other.exec(`BEGIN IMMEDIATE`))
	began, done := make(chan struct{}), make(chan error, 1)
	next := func() {
		done <- s.Write(context.Background(), func(tx *Tx) error {
			var v int
			if err := tx.QueryRow(`SELECT value FROM counters WHERE name = 'epoch'`).Scan(&v); err != nil {
				return err
			}
			close(began)
			_, err := tx.Exec(`UPDATE counters SET value = ? WHERE name = 'epoch'`, v+1)
			return err
		})
	}
	go next()
	select {
	case <-began:
		require.FailNow(t, "began while another was writing")
	case <-time.After(50 * time.Millisecond): // time enough to do it wrong
	}
	require.NoError(t, other.exec(`UPDATE counters SET value = 50 WHERE name = 'epoch'`))
	require.NoError(t, other.exec(`COMMIT`))
	require.NoError(t, <-done)
	require.NoError(t, s.Read(t.Context(), func(tx *Tx) error {
		var v int
		require.NoError(t, tx.QueryRow(`SELECT value FROM counters WHERE name = 'epoch'`).Scan(&v))
		require.Equal(t, 51, v)
		return nil
	}))

	require.NoError(t, other.exec(`BEGIN IMMEDIATE`)) // and never ends
	err = put(t.Context(), s, "a", "")
	require.ErrorIs(t, err, schemas.ErrBusy)
	require.ErrorContains(t, err, "another process held the database for too long")
	require.NoError(t, other.exec(`ROLLBACK`))
	require.NoError(t, put(t.Context(), s, "a", ""))
}

func TestNewerSchemaIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n.db")
	s, err := Open(t.Context(), Options{Path: path})
	require.NoError(t, err)
	require.NoError(t, s.Write(t.Context(), func(tx *Tx) error {
		_, err := tx.Exec(`INSERT INTO schema_version(version, name, at) VALUES (?, 'later', 0)`, SchemaVersion()+1)
		return err
	}))
	require.NoError(t, s.Close())
	_, err = Open(t.Context(), Options{Path: path})
	require.ErrorIs(t, err, schemas.ErrUnavailable)
	require.ErrorContains(t, err, fmt.Sprintf("schema %d, this cordelia knows up to %d", SchemaVersion()+1,
		SchemaVersion()))
	require.ErrorContains(t, err, "install the newer program")
}

func requireSound(t *testing.T, path string) {
	t.Helper()
	_, err := VerifyFile(t.Context(), path, nil)
	require.NoError(t, err)
}

// Processes that write without pause all get to write.
func TestTheWriteLockIsFair(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n.db")
	openAt(t, path)
	got := make(chan int, 1<<16)
	for i := range 4 {
		c := spawn(t, "write", path)
		c.say("go")
		c.hear()
		go func() {
			for range c.lines {
				got <- i
			}
		}()
	}
	for len(got) > 0 {
		<-got // what the first wrote before the last began
	}
	const total = 2000
	var writes [4]int
	for range total {
		writes[<-got]++
	}
	t.Log(writes)
	for _, n := range writes {
		require.Greater(t, n, total/40, "one process starved: %v", writes)
	}
}

// A stopped process that holds the write lock makes the others say so, and they go on
// when it does.
func TestStoppedProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n.db")
	s := openAt(t, path, func(o *Options) { o.Wait = 300 * time.Millisecond })
	holder := spawn(t, "hold", path)
	require.Equal(t, "holding", holder.hear())
	stopProcess(t, holder)

	started := time.Now()
	errs := make(chan error, 20)
	for i := range cap(errs) {
		go func() { errs <- put(context.Background(), s, fmt.Sprint("refused", i), "") }()
	}
	for range cap(errs) {
		err := <-errs
		require.ErrorIs(t, err, schemas.ErrBusy)
		require.ErrorContains(t, err, "look for a stopped cordelia process")
	}
	require.Less(t, time.Since(started), 5*time.Second, "each waits from its own beginning, not in line")
	// Nobody reads a transaction that is not done, and reading goes on.
	require.Empty(t, names(t, s))

	// A caller may leave earlier, and then nothing is written.
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	require.ErrorIs(t, put(ctx, s, "given up", ""), schemas.ErrBusy)

	// A process that waits for the lock can end, and then writes nothing.
	ending, err := Open(t.Context(), Options{Path: path, Wait: 50 * time.Millisecond})
	require.NoError(t, err)
	require.ErrorIs(t, put(t.Context(), ending, "ended", ""), schemas.ErrBusy)
	require.NoError(t, ending.Close())

	continueProcess(t, holder)
	holder.say("end")
	require.Equal(t, "done <nil>", holder.hear())
	require.NoError(t, put(t.Context(), s, "after", ""))
	require.Equal(t, map[string]bool{"held": true, "after": true}, names(t, s))

	// The wait that was given up has not kept the lock.
	require.NoError(t, put(t.Context(), openAt(t, path), "other", ""))
}
