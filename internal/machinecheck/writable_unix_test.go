//go:build unix

package machinecheck

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// What this process's user owns its agents could have written; what the system keeps from
// that user they could not. The superuser may write everything, so its test is run again
// as a user without rights.
func TestForeign(t *testing.T) {
	const marker = "CORDELIA_TEST_FOREIGN"
	if os.Geteuid() == 0 && os.Getenv(marker) == "" {
		require.False(t, Foreign([]string{"/etc"}, schemas.Check{Kind: schemas.CheckFile, Path: "passwd"}, time.Now(),
			true),
			"the superuser may write everything")
		dir, err := os.MkdirTemp("", "foreign")
		require.NoError(t, err)
		t.Cleanup(func() { os.RemoveAll(dir) }) //nolint:errcheck // a temporary folder
		require.NoError(t, os.Chmod(dir, 0o755))
		program := filepath.Join(dir, "test")
		copyProgram(t, program)
		cmd := exec.Command(program, "-test.run=^TestForeign$")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), marker+"=1", "TMPDIR=/tmp")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "PASS")
		return
	}
	own := t.TempDir()
	path := filepath.Join(own, "a")
	require.NoError(t, os.WriteFile(path, nil, 0o400))
	written := time.Now()
	require.NoError(t, os.Chtimes(path, written, written))
	dated := filepath.Join(own, "dated")
	require.NoError(t, os.WriteFile(dated, nil, 0o400))
	require.NoError(t, os.Chtimes(dated, written.AddDate(-6, 0, 0), written.AddDate(-6, 0, 0)))
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(own, "link")))
	for name, tt := range map[string]struct {
		root, path string
		since      time.Time
		met        bool
		want       bool
	}{
		"its own":                          {own, "a", written.Add(-time.Hour), true, false},
		"its own, not written since":       {own, "a", written.Add(time.Hour), false, runtime.GOOS == "linux"},
		"its own, with a date set back":    {own, "dated", written.Add(-time.Hour), false, false},
		"its own, that holds nevertheless": {own, "a", written.Add(time.Hour), true, false},
		"absent":                           {own, "b", written, false, false},
		"a link that it owns":              {own, "link", written, true, false},
		"the system's":                     {"/etc", "passwd", time.Time{}, true, true},
		"absent there":                     {"/etc", "absent-file", time.Time{}, false, true},
	} {
		c := schemas.Check{Kind: schemas.CheckFile, Path: tt.path}
		require.Equal(t, tt.want, Foreign([]string{tt.root}, c, tt.since, tt.met), name)
	}
	require.False(t, Foreign([]string{"/etc", own}, schemas.Check{Kind: schemas.CheckFile, Path: "passwd"}, time.Time{},
		true),
		"below one of the folders it could be put")
	require.False(t, Foreign(nil, schemas.Check{Kind: schemas.CheckFile, Path: "a"}, time.Time{}, true))
}

func copyProgram(t *testing.T, to string) {
	self, err := os.Executable()
	require.NoError(t, err)
	from, err := os.Open(self)
	require.NoError(t, err)
	defer from.Close()                                                    //nolint:errcheck // only read
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755) //nolint:gosec // another user runs it
	require.NoError(t, err)
	_, err = io.Copy(out, from)
	require.NoError(t, err)
	require.NoError(t, out.Close())
}
