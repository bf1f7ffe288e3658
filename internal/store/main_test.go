package store

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// childRole makes this test binary play a process of its own; its database is
// in childPath. Roles read and write one line at a time.
const (
	childRole = "CORDELIA_STORE_CHILD"
	childPath = "CORDELIA_STORE_PATH"
)

func TestMain(m *testing.M) {
	role := os.Getenv(childRole)
	if role == "" {
		os.Exit(m.Run())
	}
	play, ok := roles()[role]
	if !ok {
		panic("no role " + role)
	}
	if err := play(context.Background(), os.Getenv(childPath), bufio.NewReader(os.Stdin)); err != nil {
		fmt.Fprintln(os.Stderr, role, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child is a running role.
type child struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string // closed at its end
}

func spawn(t *testing.T, role, path string) *child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childRole+"="+role, childPath+"="+path)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	c := &child{t: t, cmd: cmd, in: in, lines: make(chan string, 1<<16)}
	go func() {
		defer close(c.lines)
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return // half a line is no acknowledgement
			}
			c.lines <- line[:len(line)-1]
		}
	}()
	t.Cleanup(func() {
		cmd.Process.Kill() //nolint:errcheck // mostly over already
		for range c.lines {
		}
		cmd.Wait() //nolint:errcheck // killed
	})
	return c
}

// say sends a line.
func (c *child) say(line string) {
	c.t.Helper()
	_, err := io.WriteString(c.in, line+"\n")
	require.NoError(c.t, err)
}

// hear waits for the next line.
func (c *child) hear() string {
	c.t.Helper()
	select {
	case line, ok := <-c.lines:
		require.True(c.t, ok, "the child ended")
		return line
	case <-time.After(30 * time.Second):
		require.FailNow(c.t, "the child said nothing")
		return ""
	}
}

func openAt(t *testing.T, path string, change ...func(*Options)) *Store {
	t.Helper()
	o := Options{Path: path}
	for _, f := range change {
		f(&o)
	}
	s, err := Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func open(t *testing.T) *Store { return openAt(t, filepath.Join(t.TempDir(), "n.db")) }

func put(ctx context.Context, s *Store, name, value string) error {
	return s.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec(`INSERT INTO node(name, value) VALUES (?, ?)`, name, value)
		return err
	})
}

// names lists what put has written.
func names(t *testing.T, s *Store) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	require.NoError(t, s.Read(t.Context(), func(tx *Tx) error {
		rows, err := tx.Query(`SELECT name FROM node`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var n string
			if err := rows.Scan(&n); err != nil {
				return err
			}
			out[n] = true
		}
		return rows.Err()
	}))
	return out
}

// readNames reads like names, from a bare file; an unreadable one is an error.
func readNames(ctx context.Context, path string) (map[string]bool, error) {
	c, err := connect(ctx, fileURI(path, url.Values{}))
	if err != nil {
		return nil, err
	}
	defer c.closeAll() //nolint:errcheck // a copy
	out := map[string]bool{}
	err = c.read(ctx, func(tx *Tx) error {
		rows, err := tx.Query(`SELECT name FROM node`)
		if err != nil {
			return err
		}
		for rows.Next() {
			var n string
			if err := rows.Scan(&n); err != nil {
				return err
			}
			out[n] = true
		}
		return rows.Err()
	})
	return out, err
}
