//go:build amd64 || arm64

package store

import (
	"bufio"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	sqlite3 "modernc.org/sqlite/lib"

	"cordelia/internal/proof/soak"
	"cordelia/schemas"
)

// playUpgrade opens the database and is killed before the writing call it is
// told; it prints how many there were.
func playUpgrade(ctx context.Context, path string, in *bufio.Reader) error {
	line, err := in.ReadString('\n')
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		return err
	}
	d := newDisk(filepath.Dir(path))
	d.set(fault{from: n, to: n + 1, kill: true})
	o := Options{Path: path}
	s, err := Open(ctx, o)
	if err != nil {
		return err
	}
	fmt.Println(d.reached())
	d.set(fault{})
	return s.Close()
}

// upgradePoints are the writing calls of an upgrade at which something happens:
// all of them, or some of them evenly.
func upgradePoints(t *testing.T, total int) (points []int) {
	count := min(total, soak.Count(t, 3, 10_000))
	for i := range count {
		points = append(points, 1+i*(total-1)/max(1, count-1))
	}
	return points
}

// upgradesFrom are the schemas, by version, whose upgrade is disturbed: all, or the
// empty file, the first and the newest two. TestUpgrade goes through every one.
func upgradesFrom(t *testing.T) map[int]string {
	all := fixtures(t)
	some := map[int]string{}
	for v, text := range all {
		if soak.Count(t, 1, 10) > 1 || v <= 1 || v >= len(all)-2 {
			some[v] = text
		}
	}
	return some
}

// A process that is killed at any step of an upgrade leaves the old database or
// the new one, and the next one goes on from there.
func TestUpgradeKilled(t *testing.T) {
	fresh := filepath.Join(t.TempDir(), "n.db")
	require.NoError(t, openAt(t, fresh).Close())
	newest := inspectFile(t, fresh, nil)
	kills, old, done := 0, 0, 0
	from := upgradesFrom(t)
	for v, text := range from {
		t.Run(fmt.Sprint("from ", v), func(t *testing.T) { // its files go when it ends
			run := func(n int) (path, said string) {
				path = filepath.Join(t.TempDir(), "n.db")
				load(t, text, path)
				c := spawn(t, "upgrade", path)
				c.say(fmt.Sprint(n))
				said = <-c.lines
				err := c.cmd.Wait()
				require.Equal(t, said == "", err != nil, "%v", err)
				return path, said
			}
			path, said := run(1 << 30)
			total, err := strconv.Atoi(said)
			require.NoError(t, err)
			before := &contents{}
			if v > 0 {
				original := filepath.Join(t.TempDir(), "n.db")
				load(t, text, original)
				before = inspectFile(t, original, nil)
			}
			before.requireKept(t, path, newest)
			for _, n := range upgradePoints(t, total) {
				path, said := run(n)
				require.Empty(t, said, "not killed at %d of %d", n, total)
				kills++
				left := inspectFile(t, path, before)
				if left.version == v && v != newest.version {
					require.Equal(t, before.schema, inspectFile(t, path, nil).schema, "killed at %d", n)
					old++
				} else {
					require.Equal(t, newest.version, left.version, "killed at %d", n)
					require.Equal(t, newest.schema, inspectFile(t, path, nil).schema, "killed at %d", n)
					done++
				}
				before.requireRows(t, left)
				s := openAt(t, path)
				require.NoError(t, put(t.Context(), s, "goes on", ""))
				require.NoError(t, s.Close())
				before.requireKept(t, path, newest)
			}
		})
	}
	require.NotZero(t, old)
	t.Logf("%d schemas, %d kills: %d left the old database, %d the new one, 0 anything between", len(from),
		kills, old, done)
}

// A disk that fails at any step of an upgrade is told of, and costs nothing.
func TestUpgradeFaults(t *testing.T) {
	fresh := filepath.Join(t.TempDir(), "n.db")
	require.NoError(t, openAt(t, fresh).Close())
	newest := inspectFile(t, fresh, nil)
	failed, points := 0, 0
	for v, text := range upgradesFrom(t) {
		t.Run(fmt.Sprint("from ", v), func(t *testing.T) { // its files, and what is known of them, go when it ends
			open := func(n int, code int32) (calls int, err error) {
				dir := t.TempDir()
				path := filepath.Join(dir, "n.db")
				load(t, text, path)
				before := inspectFile(t, path, nil)
				d := watchDisk(t, dir)
				d.set(fault{from: n, to: 1 << 31, code: code})
				o := Options{Path: path}
				s, err := Open(t.Context(), o)
				calls = d.reached()
				d.set(fault{})
				if err == nil {
					require.NoError(t, s.Close())
				}
				require.NoError(t, openAt(t, path).Close())
				before.requireKept(t, path, newest)
				return calls, err
			}
			total, err := open(1<<30, 0)
			require.NoError(t, err)
			codes := []int32{sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR | 3<<8, sqlite3.SQLITE_IOERR | 4<<8}
			for i, n := range upgradePoints(t, total) {
				points++
				if _, err := open(n, codes[i%len(codes)]); err != nil {
					failed++
					require.ErrorIs(t, err, schemas.ErrUnavailable, "call %d", n)
					require.ErrorContains(t, err, "the disk", "call %d", n)
				}
			}
		})
	}
	require.NotZero(t, failed)
	t.Logf("%d points, %d failures told, 0 rows lost", points, failed)
}

func linuxRoles() map[string]func(context.Context, string, *bufio.Reader) error {
	return map[string]func(context.Context, string, *bufio.Reader) error{"upgrade": playUpgrade}
}
