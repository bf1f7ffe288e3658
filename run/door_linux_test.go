package run

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The door of a worker serves its client and what that starts, also what left its session
// and lost its parent; a process of the same user that is none of these is not served.
func TestDoorServesItsOwnWorkerAlone_INV_DOOR(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	open := func() *door {
		d, err := openDoor(func(_ context.Context, conn connection) error {
			_, err := conn.Write([]byte("served\n"))
			return err
		})
		require.NoError(t, err)
		t.Cleanup(d.close)
		return d
	}
	mine, other := open(), open()
	run := func(f *family, script string) string {
		t.Helper()
		exit, out, err := collect(t.Context(), command{program: "bash", args: []string{"-c", script, self,
			filepath.Join(t.TempDir(), "out")}, dir: t.TempDir(), self: self, family: f,
			environment: func(name string) bool { return name == knocker }}, time.Minute, 1000)
		require.NoError(t, err)
		require.Zero(t, exit, out)
		return out
	}
	t.Setenv(knocker, mine.path)
	require.Equal(t, "served\n", run(mine.family, `exec "$0"`))
	require.Equal(t, "served\n", run(mine.family,
		`(setsid "$0" > "$1" &); until [ -s "$1" ]; do sleep 0.01; done; cat "$1"`))
	// The worker is there, and asks for nothing.
	p, err := command{program: "sleep", args: []string{"600"}, dir: t.TempDir(), self: self, family: mine.family}.start()
	require.NoError(t, err)
	defer p.end(false) //nolint:errcheck // it was only there
	require.Empty(t, run(other.family, `exec "$0"`), "another worker")
	var out bytes.Buffer
	Knock(t.Context(), mine.path, strings.NewReader(""), &out) //nolint:errcheck // what it is served counts
	require.Empty(t, out.String(), "another process of the user")
}
