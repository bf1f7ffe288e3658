package scenario

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/node"
)

const aNote = `{"type": "learning", "data": {"type": "insight", "content": "of this place"}}`

// A folder is that of the process over stdio, or the one it was told at its
// start; over HTTP there is none.
func TestFolderOfAProcess(t *testing.T) {
	n := newNode(t)
	bound := filepath.Join(filepath.Dir(n.Home), "bound")
	require.NoError(t, os.Mkdir(bound, 0o755))
	c := open(t, n, "")
	must(t, c, "memory_group", `{"action": "create", "group": "team"}`)
	_, errOut, code, err := n.Run(t.Context(), "memory", "bind", bound, "team")
	require.NoError(t, err)
	require.Zero(t, code, errOut)

	told, err := n.Open(t.Context(), "", "--dir", bound)
	require.NoError(t, err)
	t.Cleanup(func() { told.Close() })
	require.Equal(t, "team", at[string](t, must(t, told, "memory_write_warm", aNote), "bound_to"))
	_, errOut, code, err = n.Run(t.Context(), "mcp", "--dir", filepath.Join(bound, "absent"))
	require.NoError(t, err)
	require.Equal(t, 4, code)
	require.Contains(t, errOut, "there is no folder")

	n.Folder = bound
	address, err := n.Serve(t.Context())
	require.NoError(t, err)
	remote, err := n.Dial(t.Context(), address, "claude-code.key")
	require.NoError(t, err)
	written := must(t, remote, "memory_write_warm", aNote)
	_, there := look(written, "bound_to")
	require.False(t, there)
	item := must(t, remote, "memory_read_warm", `{"ids": ["`+at[string](t, written, "id")+`"]}`)
	require.Equal(t, "private", at[string](t, item, "items.0.visibility"))
}

// What a folder is bound to is looked up once: a search there costs no statement
// more than elsewhere.
func TestFoldersCostNothing(t *testing.T) {
	s := newInside(t)
	c := s.caller(lead)
	s.must(c, "memory_group", `{"action": "create", "group": "team"}`)
	s.must(c, "memory_write_warm", aNote)
	search := func() int64 {
		ctx := &statements{Context: t.Context()}
		_, err := s.try(ctx, c, "memory_search", `{"query": "place"}`)
		require.NoError(t, err)
		return ctx.n.Load()
	}
	dir := t.TempDir()
	ring := s.Keyring(nil)
	defer ring.Close()
	person, err := s.Person(t.Context(), ring, "")
	require.NoError(t, err)
	_, err = s.Bind(t.Context(), person.Principal, dir, "team")
	require.NoError(t, err)
	c.Dir, err = node.Folder(dir)
	require.NoError(t, err)
	require.Equal(t, "team", at[string](t, s.must(c, "memory_write_warm", aNote), "bound_to"))
	first, here := search(), search()
	require.Greater(t, first, here, "a look-up is counted")
	c.Dir = ""
	require.Equal(t, search(), here)
}
