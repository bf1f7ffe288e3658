package keys

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Of what killed processes left goes what is surely dead: half a file, or a second name of
// a key file, an hour old. What holds a key that no other file holds is only told of.
func TestUnfinished(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, content string, mode os.FileMode) {
		require.NoError(t, os.WriteFile(at(name), []byte(content), mode))
		require.NoError(t, os.Chmod(at(name), mode))
	}
	require.NoError(t, CreateFile(at("human.key"), agentFile(t), nil))
	require.NoError(t, os.Link(at("human.key"), at(".new-key-1")))
	write(".new-key-2", "", 0o600)
	write(".new-key-3", `{"v":1,"entity_id":"an`, 0o600)
	write(".new-key-4", "\x00\x00\x00\x00", 0o600) // as after a power failure
	require.NoError(t, CreateFile(at(".new-key-5"), agentFile(t), nil))
	write(".new-key-6", `{"v":2,"key":"of a later version"}`, 0o600)
	write(".new-key-7", "half", 0o644) // none of ours
	require.NoError(t, os.Symlink(at("human.key"), at(".new-key-8")))
	require.NoError(t, os.Mkdir(at(".new-key-9"), 0o700))
	write("mine.new-key-1", "half", 0o600)
	old := now.Add(-deadAfter)
	for _, name := range []string{"1", "2", "3", "4", "5", "6", "7", "9"} {
		require.NoError(t, os.Chtimes(at(".new-key-"+name), old, old))
	}
	write(".new-key-0", "half", 0o600) // somebody is at it

	list, err := FindUnfinished(dir, now)
	require.NoError(t, err)
	dead := map[string]bool{}
	for _, u := range list {
		dead[filepath.Base(u.Path)] = u.Dead
	}
	require.Equal(t, map[string]bool{".new-key-1": true, ".new-key-2": true, ".new-key-3": true, ".new-key-4": true,
		".new-key-5": false, ".new-key-6": false}, dead)

	require.NoError(t, DropUnfinished(dir, now))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	require.Equal(t, []string{".new-key-0", ".new-key-5", ".new-key-6", ".new-key-7", ".new-key-8", ".new-key-9",
		"human.key", "mine.new-key-1"}, left)
	_, err = LoadFile(at("human.key"), nil)
	require.NoError(t, err)

	require.NoError(t, DropUnfinished(filepath.Join(dir, "nowhere"), now))
}
