package memory

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
)

// upgrade runs what the migration does to the rows of an earlier version, then what the
// node does when it opens the database.
func (n *warmNode) upgrade() {
	n.t.Helper()
	files, err := filepath.Glob("../internal/store/migrations/*_successors.sql")
	require.NoError(n.t, err)
	require.Len(n.t, files, 1)
	raw, err := os.ReadFile(files[0])
	require.NoError(n.t, err)
	var lines []string
	for line := range strings.Lines(string(raw)) {
		if !strings.HasPrefix(line, "--") {
			lines = append(lines, line)
		}
	}
	for _, statement := range strings.Split(strings.Join(lines, ""), ";") {
		if s := strings.TrimSpace(statement); s != "" && !strings.HasPrefix(s, "CREATE") {
			n.sql(s)
		}
	}
	require.NoError(n.t, n.do(access.NodeEntity, access.Write, func(g access.Grant) error {
		some, err := ToRecheck(g)
		require.True(n.t, some)
		require.NoError(n.t, err)
		return Recheck(g, known)
	}))
	require.Equal(n.t, "0", n.one(`SELECT count(*) FROM rechecks`))
}

// What took effect on its own by an earlier rule waits again unless it would take effect
// today; what a person released stays; what buried a person's words no longer does.
func TestAnUpgradeDecidesAnew_INV_RELEASE(t *testing.T) {
	n, cyd := newReleaseNode(t)
	near := n.write(ada, procedure(rule("gannet", "oldest"), "memory_search"))
	released := n.write(ada, procedure(rule("puffin", "newest"), "memory_search"))
	require.NoError(t, n.release(russell, released.ID, true))
	agreed := n.write(ada, procedure(rule("fulmar", "newest"), "memory_search"))
	n.write(cyd, procedure(rule("fulmar", "newest"), "memory_search"))
	persons := n.write(russell, procedure(rule("skua", "newest"), "memory_search"))
	fact := n.write(russell, inGroup(learning("The tern nests on the cliff."), "team"))
	lie := n.write(ada, inGroup(learning("The tern nests in trees."), "team"))
	own := n.write(cyd, inGroup(learning("The shag dives."), "team"))
	next := inGroup(learning("The shag dives deep."), "team")
	next.Supersedes = own.ID
	later := n.write(cyd, next)

	// As an earlier version left them.
	require.NoError(t, n.do(access.NodeEntity, access.Write, func(g access.Grant) error {
		found, err := rowsOf(g.Tx(), selectOwn, near.ID)
		require.NoError(t, err)
		return g.Routine(func() error { return free(g, &found[0], true) })
	}))
	require.Contains(t, idsOf(n.search(bob, "gannet backup")), near.ID)
	n.sql(`UPDATE items SET superseded_by = ?1, current = 0, valid_to = (SELECT created_at FROM items WHERE id = ?1)
		WHERE id = ?2`, lie.ID, fact.ID)
	n.sql(`UPDATE items SET valid_to = (SELECT created_at FROM items WHERE id = ?1) WHERE id = ?2`, later.ID, own.ID)
	n.sql(`DELETE FROM item_bands WHERE item = (SELECT n FROM items WHERE id = ?)`, fact.ID)
	size := n.one(`SELECT items FROM scopes WHERE visibility = 'group' AND ref = 'team'`)
	n.upgrade()

	require.Equal(t, stateUnreleased, n.read(ada, near.ID).State)
	require.NotContains(t, idsOf(n.search(bob, "gannet backup")), near.ID)
	for _, id := range []schemas.ItemID{released.ID, agreed.ID, persons.ID, fact.ID} {
		require.Equal(t, stateCurrent, n.read(bob, id).State)
		require.Equal(t, "1", n.one(`SELECT current FROM items WHERE id = ?`, id))
	}
	require.Contains(t, idsOf(n.search(bob, "tern nests cliff")), fact.ID)
	require.Equal(t, "8", n.one(`SELECT count(*) FROM item_bands b JOIN items i ON i.n = b.item WHERE i.id = ?`,
		fact.ID))
	require.Equal(t, stateSuperseded, n.read(bob, own.ID).State)
	require.NoError(t, n.remove(cyd, later.ID, Bury))
	require.Equal(t, stateCurrent, n.read(bob, own.ID).State, "its end was its successor's beginning")
	require.NoError(t, n.remove(cyd, later.ID, Undo))
	require.NoError(t, n.release(russell, near.ID, true))
	require.Equal(t, size, n.one(`SELECT items FROM scopes WHERE visibility = 'group' AND ref = 'team'`),
		"what is counted stays right")
}
