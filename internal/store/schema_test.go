package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store/migrate"
)

// A fixture is a database of an earlier schema, as SQL text: tables, rows,
// indexes and triggers as they were when it was current. There is one for every
// migration file, and `UPDATE_GOLDEN=1 go test ./internal/store` makes those that
// are missing.

func fixturePath(m migrate.Migration) string {
	return filepath.Join("testdata", "schema", fmt.Sprintf("%04d_%s.sql", m.Version, m.Name))
}

// fixtureRows is how many rows a fixture has in each table.
const fixtureRows = 3

// fixtures gives the text of every version's fixture; the first, of version 0,
// is empty.
func fixtures(t *testing.T) []string {
	t.Helper()
	all, err := migrations()
	require.NoError(t, err)
	texts := []string{""}
	for _, m := range all {
		raw, err := os.ReadFile(fixturePath(m))
		if errors.Is(err, fs.ErrNotExist) && os.Getenv("UPDATE_GOLDEN") != "" {
			raw = []byte(makeFixture(t, all[:m.Version]))
			require.NoError(t, os.MkdirAll(filepath.Dir(fixturePath(m)), 0o755))
			err = os.WriteFile(fixturePath(m), raw, 0o644)
		}
		require.NoError(t, err, "schema %d has no fixture: run UPDATE_GOLDEN=1 go test ./internal/store -run %s", m.Version,
			t.Name())
		texts = append(texts, string(raw))
	}
	return texts
}

// load makes a database file of a fixture, closed in good order.
func load(t *testing.T, text, path string) {
	t.Helper()
	c, err := connect(t.Context(), dsn(path, false, Options{}.withDefaults()))
	require.NoError(t, err)
	_, err = c.c.ExecContext(t.Context(), `PRAGMA foreign_keys = 0`)
	require.NoError(t, err)
	_, err = c.c.ExecContext(t.Context(), "BEGIN;\n"+text+"COMMIT")
	require.NoError(t, err)
	require.NoError(t, c.closeAll())
}

// contents is what a database file holds.
type contents struct {
	version int
	schema  []string            // the definition of everything in it
	rows    map[string][]string // by table
	found   int                 // in the full-text index, by a word of the fixture
}

// inspectFile reads the file at path. Of tables that as has, only as's columns
// are read; as may be nil.
func inspectFile(t *testing.T, path string, as *contents) *contents {
	t.Helper()
	c, err := connect(t.Context(), fileURI(path, url.Values{}))
	require.NoError(t, err)
	defer c.closeAll() //nolint:errcheck // only read
	out := &contents{rows: map[string][]string{}}
	out.version, err = migrate.Version(c.c)
	require.NoError(t, err)
	out.schema = c.strings(t, `SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_schema
		WHERE name NOT LIKE 'sqlite_stat%' ORDER BY 1`)
	for _, table := range c.tables(t, "table") {
		columns := c.columns(t, table)
		if as != nil {
			if as.rows[table] == nil {
				continue
			}
			columns = strings.Split(as.rows[table][0], ",")
		}
		quoted := make([]string, len(columns))
		for i, name := range columns {
			quoted[i] = "quote(" + name + ")"
		}
		out.rows[table] = append([]string{strings.Join(columns, ",")},
			c.strings(t, "SELECT "+strings.Join(quoted, " || ',' || ")+" FROM "+table+" ORDER BY 1")...)
	}
	for _, table := range c.tables(t, "virtual") {
		out.found += len(c.strings(t, "SELECT rowid FROM "+table+" WHERE "+table+" MATCH 'kept'"))
	}
	return out
}

func (l loose) strings(t *testing.T, query string) []string {
	t.Helper()
	rows, err := l.c.QueryContext(context.Background(), query)
	out, err := Collect(rows, err, Column[string])
	require.NoError(t, err, query)
	return out
}

func (l loose) tables(t *testing.T, kind string) []string {
	t.Helper()
	return l.strings(t, fmt.Sprintf(
		`SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = '%s' AND name NOT LIKE 'sqlite%%'
			ORDER BY 1`, kind))
}

func (l loose) columns(t *testing.T, table string) []string {
	t.Helper()
	return l.strings(t, fmt.Sprintf(`SELECT name FROM pragma_table_info('%s') ORDER BY cid`, table))
}

// makeFixture runs the migrations, puts rows into every table and writes all of
// it down.
func makeFixture(t *testing.T, all []migrate.Migration) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "n.db")
	c, err := connect(t.Context(), dsn(path, false, Options{}.withDefaults()))
	require.NoError(t, err)
	defer c.closeAll() //nolint:errcheck // only a means
	run := func(text string) {
		_, err := c.c.ExecContext(context.Background(), text)
		require.NoError(t, err, text)
	}
	run(`PRAGMA foreign_keys = 0; BEGIN`)
	for _, m := range all {
		run(m.SQL)
		run(fmt.Sprintf(`INSERT INTO schema_version(version, name, at) VALUES (%d, '%s', %d)`, m.Version, m.Name,
			m.Version))
	}
	var out strings.Builder
	fmt.Fprintf(&out, "-- A database of schema version %d with rows in every table. Made by tests; not to be edited.\n",
		len(all))
	definitions := func(kinds string) {
		for _, text := range c.strings(t, `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND type IN (`+kinds+`)
				AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow') ORDER BY rowid`) {
			out.WriteString(text + ";\n")
		}
	}
	definitions(`'table'`)
	for _, table := range c.tables(t, "table") {
		columns := c.columns(t, table)
		if table != "schema_version" {
			for i := range fixtureRows {
				values := make([]string, len(columns))
				for n, name := range columns {
					values[n] = c.value(t, table, name, i)
				}
				run(insert(table, columns, values))
			}
		}
		quoted := make([]string, len(columns))
		for i, name := range columns {
			quoted[i] = "quote(" + name + ")"
		}
		for _, row := range c.strings(t, "SELECT "+strings.Join(quoted, " || ', ' || ")+" FROM "+table+" ORDER BY 1") {
			out.WriteString(insert(table, columns, []string{row}))
		}
	}
	for _, table := range c.tables(t, "virtual") {
		columns := append([]string{"rowid"}, c.columns(t, table)...)
		for i := range fixtureRows {
			values := []string{fmt.Sprint(i + 1)}
			for _, name := range columns[1:] {
				values = append(values, fmt.Sprintf("'kept %s %d'", name, i))
			}
			run(insert(table, columns, values))
			out.WriteString(insert(table, columns, values))
		}
	}
	definitions(`'index', 'trigger', 'view'`)
	require.Empty(t, c.strings(t, `SELECT "table" FROM pragma_foreign_key_check`))
	return out.String()
}

func insert(table string, columns, values []string) string {
	return fmt.Sprintf("INSERT INTO %s(%s) VALUES (%s);\n", table, strings.Join(columns, ", "),
		strings.Join(values, ", "))
}

// value is what row i of a fixture has in a column: what its checks allow and
// what it refers to, else something that is like no other.
func (l loose) value(t *testing.T, table, column string, i int) string {
	t.Helper()
	if to := l.strings(t, fmt.Sprintf(
		`SELECT "table" || ' ' || "to" FROM pragma_foreign_key_list('%s') WHERE "from" = '%s'`, table,
		column)); len(to) == 1 {
		other, key, _ := strings.Cut(to[0], " ")
		return l.value(t, other, key, i)
	}
	definition := l.strings(t, fmt.Sprintf(`SELECT sql FROM sqlite_schema WHERE name = '%s'`, table))[0]
	if m := regexp.MustCompile(`CHECK \(` + column + ` IN \(([^)]*)\)\)`).FindStringSubmatch(definition); m != nil {
		allowed := strings.Split(m[1], ",")
		return strings.TrimSpace(allowed[i%len(allowed)])
	}
	switch kind := l.strings(t, fmt.Sprintf(`SELECT type FROM pragma_table_info('%s') WHERE name = '%s'`, table,
		column))[0]; kind {
	case "INTEGER":
		return fmt.Sprint(i + 1)
	case "REAL":
		return fmt.Sprintf("%d.5", i)
	case "BLOB":
		return fmt.Sprintf("x'00ff%02x'", i)
	default:
		return fmt.Sprintf("'%s ''%s'' ü %d'", table, column, i)
	}
}

// Every schema there ever was becomes the present one with nothing lost.
func TestUpgrade(t *testing.T) {
	texts := fixtures(t)
	fresh := filepath.Join(t.TempDir(), "n.db")
	require.NoError(t, openAt(t, fresh).Close())
	newest := inspectFile(t, fresh, nil)
	all, err := migrations()
	require.NoError(t, err)
	for v, text := range texts {
		t.Run(fmt.Sprint(v), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "n.db")
			load(t, text, path)
			before := inspectFile(t, path, nil)
			require.Equal(t, v, before.version)
			if v > 0 {
				asMade := filepath.Join(t.TempDir(), "n.db")
				load(t, makeFixture(t, all[:v]), asMade)
				require.Equal(t, inspectFile(t, asMade, nil).schema, before.schema,
					"migration %d is not what it was when its fixture was made; if it was released take the change "+
						"back, else delete %s and run UPDATE_GOLDEN=1 go test ./internal/store -run %s",
					v, fixturePath(all[v-1]), strings.Split(t.Name(), "/")[0])
			}
			for table, rows := range before.rows {
				require.Greater(t, len(rows), 1, "%s has rows to lose", table)
			}
			require.NoError(t, openAt(t, path).Close())
			before.requireKept(t, path, newest)
		})
	}
}

// requireKept demands that the file has the newest schema, is sound, and has
// every row that before has.
func (before *contents) requireKept(t *testing.T, path string, newest *contents) {
	t.Helper()
	after := inspectFile(t, path, before)
	require.Equal(t, newest.version, after.version)
	require.Equal(t, newest.schema, inspectFile(t, path, nil).schema)
	before.requireRows(t, after)
	requireSound(t, path)
}

func (before *contents) requireRows(t *testing.T, after *contents) {
	t.Helper()
	for table, rows := range before.rows {
		for _, row := range rows {
			require.True(t, slices.Contains(after.rows[table], row), "%s has lost %s", table, row)
		}
	}
	require.Equal(t, before.found, after.found, "the full-text index finds what it found")
}
