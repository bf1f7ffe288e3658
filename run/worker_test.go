package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/run/git/gittest"
	"cordelia/schemas"
)

// What no worker may read is not opened by a folder that it lies in, nor by a part of it,
// whatever links lead there.
func TestWhatNoWorkerMayReadStaysClosed(t *testing.T) {
	r := gittest.New(t)
	top := t.TempDir()
	home, tools := filepath.Join(top, "user", "cordelia"), filepath.Join(top, "tools")
	for _, dir := range []string{filepath.Join(home, "keys"), tools} {
		require.NoError(t, os.MkdirAll(dir, 0o700))
	}
	link := filepath.Join(top, "link")
	require.NoError(t, os.Symlink(filepath.Join(top, "user"), link))
	t.Setenv("HOME", filepath.Join(top, "elsewhere"))
	path := os.Getenv("PATH")
	for _, tt := range []struct {
		reads, path, closed string
		why                 string // "" = it stays closed
	}{
		{"", "", home, ""},
		{tools, "", home, ""},
		{filepath.Join(top, "user", "cord"), "", home, ""},
		{home, "", home, "--read"},
		{top, "", home, "--read"},
		{link, "", home, "--read"},
		{filepath.Join(home, "keys"), "", home, "--read"},
		{filepath.Join(top, "user"), "", filepath.Join(link, "later", "runs"), "--read"}, // not there so far
		{"", filepath.Join(home, "keys"), home, ""},                                      // its programs lie there
		{"", filepath.Join(top, "user"), home, "out of PATH"},
		{"", "", "/usr/share/cordelia", "elsewhere"},
	} {
		t.Setenv("PATH", path+string(filepath.ListSeparator)+tt.path)
		var add Reach
		if tt.reads != "" {
			add.Read = []string{tt.reads}
		}
		err := KeepClosed(t.Context(), r.Repository, add, filepath.Join(top, "other"), tt.closed)
		if tt.why == "" {
			require.NoError(t, err, "%+v", tt)
			continue
		}
		require.ErrorIs(t, err, schemas.ErrInvalid, "%+v", tt)
		e, ok := errors.AsType[*schemas.Error](err)
		require.True(t, ok)
		require.Contains(t, fmt.Sprint(e.Hint), tt.why)
	}
}
