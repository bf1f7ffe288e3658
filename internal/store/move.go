package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"iter"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"cordelia/internal/store/postgres"
	"cordelia/schemas"
)

// TableContent says what a table holds.
type TableContent struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"`
	Hash  string `json:"hash"` // SHA-256 over all rows in the order of their keys
}

// table is a table as both engines have it.
type table struct {
	name    string
	columns []string
	key     []string // columns of the primary key
}

// Copy copies all rows of from into to, of which one is a transaction of a file, and compares
// what arrived: the number of rows of each table and the hash over them. The index of full
// text is the caller's to make, of the rows. to must be Empty and act for AnyOwner.
//
// Errors: CodeUnavailable when a table does not arrive as it is.
func Copy(from, to *Tx) ([]TableContent, error) {
	tables, err := tablesOf(from, to)
	if err != nil {
		return nil, err
	}
	if _, err := to.Exec(`DELETE FROM counters`); err != nil { // those that a new database has
		return nil, err
	}
	var sent []TableContent
	if to.conn.dialect != &sqliteDialect {
		if err := kept(from, tables); err != nil {
			return nil, err
		}
	}
	for _, t := range tables {
		sum := newSum(t)
		if err := to.conn.dialect.load(to, t, sum.over(t.rows(from))); err != nil {
			return nil, fmt.Errorf("copy table %s: %w", t.name, err)
		}
		sent = append(sent, sum.content())
	}
	arrived, err := contentsOf(to, tables)
	if err != nil {
		return nil, err
	}
	return arrived, differ(sent, arrived)
}

// Kept refuses a file with a text that a server cannot keep.
//
// Errors: CodeInvalid that names the row.
func Kept(file *Tx) error {
	tables, err := tablesOf(file, file)
	if err != nil {
		return err
	}
	return kept(file, tables)
}

func kept(file *Tx, tables []table) error {
	for _, t := range tables {
		for row, err := range t.rows(file) {
			if err != nil {
				return fmt.Errorf("read table %s: %w", t.name, err)
			}
			for i, v := range row {
				text, is := v.(string)
				if !is || !strings.Contains(text, "\x00") && utf8.ValidString(text) {
					continue
				}
				named := max(slices.Index(t.columns, "id"), 0) // else by the first column of its key
				return schemas.Invalidf("%s of the row of table %s with the %s %v holds the character NUL, or bytes that "+
					"are no UTF-8, which PostgreSQL keeps in no text; nothing was written", t.columns[i], t.name,
					t.columns[named], row[named]).
					Try("take it out and repeat the call: cordelia memory delete ID --mode purge ends an item; what hooks " +
						"told of a call goes after 30 days")
			}
		}
	}
	return nil
}

// Same compares what two databases hold, of which one is a file.
//
// Errors: CodeConflict that names a table that is not the same.
func Same(one, other *Tx) ([]TableContent, error) {
	tables, err := tablesOf(one, other)
	if err != nil {
		return nil, err
	}
	a, err := contentsOf(one, tables)
	if err != nil {
		return nil, err
	}
	b, err := contentsOf(other, tables)
	if err != nil {
		return nil, err
	}
	return b, differ(a, b)
}

func differ(sent, arrived []TableContent) error {
	for i, s := range sent {
		if a := arrived[i]; a.Rows != s.Rows {
			return schemas.Conflictf("table %s has %d rows here and %d there", s.Table, s.Rows, a.Rows)
		} else if a != s {
			return schemas.Conflictf("table %s has other rows here than there: its hash is %.12s here and %.12s there",
				s.Table, s.Hash, a.Hash)
		}
	}
	return nil
}

// Empty reports whether no table but those that a new database fills holds a row; like is a
// transaction of a file, to whose tables it looks.
func Empty(tx, like *Tx) (bool, error) {
	tables, err := tablesOf(tx, like)
	if err != nil {
		return false, err
	}
	for _, t := range tables {
		if t.name == "counters" {
			continue
		}
		var some bool
		if err := tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM ` + quoted(t.name) + `)`).Scan(&some); err != nil || some {
			return false, err
		}
	}
	return true, nil
}

func contentsOf(tx *Tx, tables []table) (out []TableContent, err error) {
	for _, t := range tables {
		sum := newSum(t)
		for _, err := range sum.over(t.rows(tx)) {
			if err != nil {
				return nil, fmt.Errorf("read table %s: %w", t.name, err)
			}
		}
		out = append(out, sum.content())
	}
	return out, nil
}

// Tables of a file that hold what the other engine has otherwise are no part of a copy: the
// index of full text is made anew, and the schema's versions are those of the engine.
const (
	selectColumns = `SELECT t.name, c.name, c.pk FROM sqlite_schema t JOIN pragma_table_info(t.name) c
		WHERE t.type = 'table' AND t.name NOT GLOB 'sqlite_*' AND t.name NOT GLOB 'items_fts*'
		AND t.name <> 'schema_version' ORDER BY t.name, c.pk = 0, c.pk, c.cid`
	selectReferred = `SELECT t.name, f."table" FROM sqlite_schema t JOIN pragma_foreign_key_list(t.name) f
		WHERE t.type = 'table' ORDER BY 1, 2`
)

// tablesOf lists the tables, each behind those that its rows refer to. A test holds the
// tables of both engines equal, so those of the file are asked.
func tablesOf(a, b *Tx) ([]table, error) {
	tx := a
	if tx.conn.dialect != &sqliteDialect {
		tx = b
	}
	type pair struct {
		table, other string
		key          int
	}
	ask := func(query string, key bool) ([]pair, error) {
		rows, err := tx.Query(query)
		return Collect(rows, err, func(r *sql.Rows) (p pair, err error) {
			if !key {
				return p, r.Scan(&p.table, &p.other)
			}
			return p, r.Scan(&p.table, &p.other, &p.key)
		})
	}
	columns, err := ask(selectColumns, true)
	if err != nil {
		return nil, fmt.Errorf("list tables: %w", err)
	}
	referred, err := ask(selectReferred, false)
	if err != nil {
		return nil, fmt.Errorf("list tables: %w", err)
	}
	known := map[string]*table{}
	var names []string
	for _, c := range columns {
		t := known[c.table]
		if t == nil {
			t = &table{name: c.table}
			known[c.table], names = t, append(names, c.table)
		}
		if t.columns = append(t.columns, c.other); c.key > 0 {
			t.key = append(t.key, c.other)
		}
	}
	needs := map[string][]string{}
	for _, r := range referred {
		needs[r.table] = append(needs[r.table], r.other)
	}
	return inOrder(names, known, needs), nil
}

// inOrder lists tables, each behind those that it needs.
func inOrder(names []string, known map[string]*table, needs map[string][]string) (out []table) {
	var add func(name string)
	add = func(name string) {
		t := known[name]
		if t == nil {
			return // it is there already, or under way
		}
		delete(known, name)
		for _, other := range needs[name] {
			add(other)
		}
		out = append(out, *t)
	}
	for _, name := range names {
		add(name)
	}
	return out
}

// pageRows is how many rows are read at a time.
const pageRows = 500

// rows reads all rows in the order of their keys.
func (t table) rows(tx *Tx) iter.Seq2[[]any, error] {
	key, order := list(t.key), ` ORDER BY `+list(t.key)+` LIMIT ?`
	first := `SELECT ` + list(t.columns) + ` FROM ` + quoted(t.name)
	next := first + ` WHERE (` + key + `) > (` + strings.TrimSuffix(strings.Repeat("?, ", len(t.key)), ", ") + `)` + order
	return func(yield func([]any, error) bool) {
		query, args := first+order, []any{pageRows}
		for {
			rows, err := tx.Query(query, args...)
			page, err := Collect(rows, err, t.scan)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, row := range page {
				if !yield(row, nil) {
					return
				}
			}
			if len(page) < pageRows {
				return
			}
			query, args = next, append(slices.Clone(page[pageRows-1][:len(t.key)]), pageRows) // the key comes first
		}
	}
}

func (t table) scan(r *sql.Rows) ([]any, error) {
	row := make([]any, len(t.columns))
	into := make([]any, len(row))
	for i := range row {
		into[i] = &row[i]
	}
	err := r.Scan(into...)
	for i, v := range row {
		if b, ok := v.([]byte); ok && b == nil { // the driver's empty blob, which it would write as NULL
			row[i] = []byte{}
		}
	}
	return row, err
}

func list(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = quoted(n)
	}
	return strings.Join(out, ", ")
}

func quoted(name string) string { return `"` + name + `"` }

// sum is the hash over a table's rows.
type sum struct {
	TableContent
	hash hash.Hash
	buf  []byte
}

func newSum(t table) *sum { return &sum{TableContent: TableContent{Table: t.name}, hash: sha256.New()} }

// over adds the rows that pass by.
func (s *sum) over(rows iter.Seq2[[]any, error]) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		for row, err := range rows {
			if err == nil {
				err = s.add(row)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// add adds a row: of each value its kind, its length and its bytes.
func (s *sum) add(row []any) error {
	b := s.buf[:0]
	for _, v := range row {
		switch v := v.(type) {
		case nil:
			b = append(b, 'n')
		case int64:
			b = binary.BigEndian.AppendUint64(append(b, 'i'), uint64(v))
		case float64:
			b = binary.BigEndian.AppendUint64(append(b, 'f'), math.Float64bits(v))
		case string:
			b = append(binary.BigEndian.AppendUint64(append(b, 's'), uint64(len(v))), v...)
		case []byte:
			b = append(binary.BigEndian.AppendUint64(append(b, 'b'), uint64(len(v))), v...)
		default:
			return fmt.Errorf("table %s has a value of type %T", s.Table, v)
		}
	}
	s.buf = b
	s.hash.Write(b) //nolint:errcheck // a hash takes everything
	s.Rows++
	return nil
}

func (s *sum) content() TableContent {
	s.Hash = hex.EncodeToString(s.hash.Sum(nil))
	return s.TableContent
}

// loadRows inserts rows into a table of a file.
func loadRows(tx *Tx, t table, rows iter.Seq2[[]any, error]) error {
	if _, err := tx.Exec(`PRAGMA defer_foreign_keys = 1`); err != nil { // a row may refer to a later one of its table
		return err
	}
	insert := `INSERT INTO ` + quoted(t.name) + `(` + list(t.columns) + `) VALUES (` +
		strings.TrimSuffix(strings.Repeat("?, ", len(t.columns)), ", ") + `)`
	for row, err := range rows {
		if err != nil {
			return err
		}
		if _, err := tx.Exec(insert, row...); err != nil {
			return err
		}
	}
	return nil
}

// copyRows inserts rows into a table of a server's database.
func copyRows(tx *Tx, t table, rows iter.Seq2[[]any, error]) error {
	return tx.conn.c.Raw(func(driver any) error {
		return postgres.Load(context.Background(), driver, t.name, t.columns, rows)
	})
}

// Analyze has a server count what its tables hold, in a transaction that runs alone. Its plans go by
// that, and else it counts only some minutes after they were filled.
func (t *Tx) Analyze() error {
	if err := t.usable(); err != nil {
		return err
	}
	if !t.writable {
		return errReadOnly
	}
	if err := t.Alone(); err != nil || t.conn.dialect.analyze == "" {
		return err
	}
	return t.conn.exec(t.conn.dialect.analyze)
}
