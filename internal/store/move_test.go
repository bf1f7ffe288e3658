package store

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// A copy that lacks a row, or has another value, is found, and the table is named.
func TestACopyIsCompared(t *testing.T) {
	open := func(name string) *Store {
		s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), name)})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		return s
	}
	one, other := open("one.db"), open("other.db")
	rows := 2*pageRows + 7 // several pages
	require.NoError(t, one.Write(t.Context(), func(tx *Tx) error {
		for n := range rows {
			if _, err := tx.Exec(`INSERT INTO audit_details(seq, salt, detail) VALUES (?, x'', ?)`, n+1, "ferry"); err != nil {
				return err
			}
		}
		_, err := tx.Exec(`INSERT INTO node(name, value) VALUES ('ä', '')`)
		return err
	}))
	both := func(do func(from, to *Tx) error) error {
		return one.Read(t.Context(), func(from *Tx) error {
			return other.Write(t.Context(), func(to *Tx) error { return do(from, to) })
		})
	}
	var copied []TableContent
	require.NoError(t, both(func(from, to *Tx) (err error) {
		empty, err := Empty(to, from)
		require.NoError(t, err)
		require.True(t, empty)
		copied, err = Copy(from, to)
		return err
	}))
	require.Contains(t, copied, TableContent{Table: "audit_details", Rows: int64(rows), Hash: copied[index(copied,
		"audit_details")].Hash})
	for _, c := range []struct{ change, says string }{
		{`UPDATE audit_details SET detail = 'Ferry' WHERE seq = 600`, "table audit_details has other rows"},
		{`DELETE FROM audit_details WHERE seq = 600`, "table audit_details has 1007 rows here and 1006 there"},
		{`UPDATE node SET value = 'a' WHERE name = 'ä'`, "table node has other rows"},
		{`UPDATE counters SET value = value + 1 WHERE name = 'epoch'`, "table counters has other rows"},
	} {
		err := both(func(from, to *Tx) error {
			_, err := to.Exec(c.change)
			require.NoError(t, err)
			_, err = Same(from, to)
			return err // and undoes the change
		})
		require.Equal(t, schemas.CodeConflict, schemas.CodeOf(err))
		require.ErrorContains(t, err, c.says)
	}
	require.NoError(t, both(func(from, to *Tx) error { _, err := Same(from, to); return err }))
}

// What a server cannot keep is named before anything is copied there.
func TestATextThatAServerCannotKeepIsNamed(t *testing.T) {
	s := open(t)
	kept := func() error { return s.Read(t.Context(), Kept) }
	require.NoError(t, kept())
	require.NoError(t, put(t.Context(), s, "bell", "a\x00b"))
	require.ErrorContains(t, kept(), "value of the row of table node with the name bell holds the character NUL")
	require.NoError(t, s.Write(t.Context(), func(tx *Tx) error {
		_, err := tx.Exec(`UPDATE node SET value = CAST(x'61ff' AS TEXT) WHERE name = 'bell'`)
		return err
	}))
	require.ErrorContains(t, kept(), "no UTF-8")
}

func index(list []TableContent, name string) int {
	for i, c := range list {
		if c.Table == name {
			return i
		}
	}
	return -1
}
