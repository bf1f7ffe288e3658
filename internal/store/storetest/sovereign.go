package storetest

import (
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// onServer reports whether s is in a database server, whose catalogue has other names.
func onServer(s *store.Store) bool { return s.Path() == "" }

// columns asks for those that need a value.
var columns = map[bool]string{
	false: `SELECT name, type FROM pragma_table_info(?) WHERE "notnull" AND dflt_value IS NULL`,
	true: `SELECT column_name, CASE data_type WHEN 'bigint' THEN 'INTEGER' WHEN 'bytea' THEN 'BLOB' ELSE 'TEXT' END
		FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = ? AND is_nullable = 'NO'
			AND column_default IS NULL AND is_identity = 'NO'`,
}

// row inserts what a test cares about and an empty value for every other column
// that needs one, so that the tables can grow without the test.
func row(s *store.Store, tx *store.Tx, table string, values map[string]any) error {
	rows, err := tx.Query(columns[onServer(s)], table)
	needed, err := store.Collect(rows, err, func(r *sql.Rows) (c [2]string, err error) {
		err = r.Scan(&c[0], &c[1])
		return c, err
	})
	if err != nil {
		return err
	}
	values = maps.Clone(values)
	for _, c := range needed {
		if _, ok := values[c[0]]; !ok {
			values[c[0]] = map[string]any{"TEXT": "", "INTEGER": 0, "BLOB": []byte{}}[c[1]]
		}
	}
	names := slices.Sorted(maps.Keys(values))
	args := make([]any, len(names))
	for i, n := range names {
		args[i] = values[n]
	}
	_, err = tx.Exec(`INSERT INTO `+table+`(`+strings.Join(names, ", ")+`) VALUES (?`+
		strings.Repeat(", ?", len(names)-1)+`)`, args...)
	return err
}

// act is a write that may change the owners' rows.
func act(s *store.Store, fn func(*store.Tx) error, owners ...schemas.EntityID) func(*testing.T) error {
	return func(t *testing.T) error {
		return s.Write(t.Context(), func(tx *store.Tx) error {
			if len(owners) > 0 {
				if err := tx.Act(owners...); err != nil {
					return err
				}
			}
			return fn(tx)
		})
	}
}

func exec(query string) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		n, err := tx.Exec(query)
		if err == nil && n != 1 {
			err = errors.New("no row was touched")
		}
		return err
	}
}

func sovereign(t *testing.T, s *store.Store) {
	l1 := func(owner string) func(*store.Tx) error {
		return func(tx *store.Tx) error { return row(s, tx, "l1", map[string]any{"entity_id": owner}) }
	}
	item := func(id, owner, visibility string, scope int) func(*store.Tx) error {
		return func(tx *store.Tx) error {
			return row(s, tx, "items", map[string]any{
				"id": id, "type": "learning", "owner": owner, "author": owner, "visibility": visibility, "scope": scope,
				"confidence": 500, "source": "user", "content_hash": []byte(id),
			})
		}
	}
	all := []func(*store.Tx) error{
		func(tx *store.Tx) error {
			for _, id := range []string{"ann", "bob"} {
				if err := row(s, tx, "entities", map[string]any{"id": id, "name": id, "kind": "human", "root_id": id,
					"status": "active"}); err != nil {
					return err
				}
			}
			for n, visibility := range []string{"private", "public"} {
				if err := row(s, tx, "scopes", map[string]any{"n": n, "visibility": visibility}); err != nil {
					return err
				}
			}
			return nil
		},
		l1("bob"), item("bobs", "bob", "private", 0),
	}
	for _, fn := range all {
		require.NoError(t, act(s, fn, "ann", "bob")(t))
	}
	from := `WITH w AS (SELECT 'ann' AS id) UPDATE main."l1" AS x SET doc = 'z' FROM w WHERE x.entity_id = w.id`
	replace := `REPLACE INTO items SELECT * FROM items WHERE id = 'anns'`
	if onServer(s) { // in its words
		from = strings.Replace(from, `main.`, ``, 1)
		replace = `INSERT INTO items SELECT * FROM items WHERE id = 'anns' ON CONFLICT (n) DO UPDATE SET data = excluded.data`
	}
	for _, test := range []struct {
		name   string
		change func(*store.Tx) error
	}{
		{"new L1", l1("ann")},
		{"change L1", exec(`UPDATE l1 SET doc = 'x' WHERE entity_id = 'ann'`)},
		{"change L1 from another table", exec(from)},
		{"delete L1", exec(`DELETE FROM l1 WHERE entity_id = 'ann'`)},
		{"new item", item("anns", "ann", "private", 0)},
		{"change item", exec(`UPDATE items SET data = 'x' WHERE id = 'anns'`)},
		{"replace item", exec(replace)},
		{"publish item", exec(`UPDATE items SET visibility = 'public' WHERE id = 'anns'`)},
		{"change and take home", exec(`UPDATE items SET visibility = 'private', data = 'y' WHERE id = 'anns'`)},
		{"delete item", exec(`DELETE FROM items WHERE id = 'anns'`)},
	} {
		require.ErrorContains(t, act(s, test.change)(t), "INV-SOVEREIGN", "%s by nobody", test.name)
		require.ErrorContains(t, act(s, test.change, "bob")(t), "INV-SOVEREIGN", "%s by another", test.name)
		require.NoError(t, act(s, test.change, "bob", "ann")(t), test.name)
	}
	for _, give := range []string{
		`UPDATE l1 SET entity_id = 'ann' WHERE entity_id = 'bob'`,
		`UPDATE items SET owner = 'ann' WHERE id = 'bobs'`,
	} {
		require.ErrorContains(t, act(s, exec(give), "ann", "bob")(t), "INV-SOVEREIGN", "nobody's rows become another's")
	}
	require.NoError(t, act(s, item("open", "bob", "public", 1))(t), "what is not private is not guarded here")

	// Neither a failed neighbour nor an earlier Act leaves rights behind.
	remove := exec(`DELETE FROM l1 WHERE entity_id = 'bob'`)
	errs := together(t, s, func(tx *store.Tx) error { return errors.Join(tx.Act("bob"), errWanted) }, remove)
	require.ErrorIs(t, errs[0], errWanted)
	require.ErrorContains(t, errs[1], "INV-SOVEREIGN")
	require.ErrorIs(t, s.Write(t.Context(), func(tx *store.Tx) error { return errors.Join(tx.Act("bob"), errWanted) }),
		errWanted)
	require.ErrorContains(t, s.Write(t.Context(), remove), "INV-SOVEREIGN")
	require.ErrorContains(t, act(s, func(tx *store.Tx) error { return errors.Join(tx.Act("ann"), remove(tx)) },
		"bob")(t), "INV-SOVEREIGN")
	require.NoError(t, act(s, remove, store.AnyOwner)(t), "the node's own routines")
}
