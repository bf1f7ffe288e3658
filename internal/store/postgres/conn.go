package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// conn is one connection. It keeps the statements it has prepared for its life, as all SQL
// of the project is constant text.
type conn struct {
	dial       *Connector
	pg         *pgconn.PgConn
	statements map[string]*pgconn.StatementDescription // by text and types of the arguments
	open       bool                                    // a transaction was begun, and not ended
	queue      []message                               // goes with the next message
	answers    []answered                              // to what was asked ahead
	ending     *pgconn.Pipeline                        // of a ROLLBACK whose answer was not awaited
}

// Broken reports whether the connection is lost; c is what sql.Conn.Raw gives.
func Broken(c any) bool {
	own, ok := c.(*conn)
	return ok && own.pg.IsClosed()
}

// IsValid implements driver.Validator: a lost connection is not handed on.
func (c *conn) IsValid() bool { return !c.pg.IsClosed() }

// Close implements driver.Conn.
func (c *conn) Close() error { return c.pg.Close(context.Background()) }

// Begin implements driver.Conn. The store writes its own BEGIN.
func (c *conn) Begin() (driver.Tx, error) {
	return nil, errors.New("postgres: the store begins by a statement")
}

// Prepare implements driver.Conn. The server hears of a statement when it runs first: the
// types of its arguments are known then.
func (c *conn) Prepare(query string) (driver.Stmt, error) {
	if !rowsPattern.MatchString(query) { // such as the schema's own text
		return &stmt{conn: c, text: query}, nil
	}
	text := Translate(query)
	return &stmt{conn: c, text: text, changes: changes(text), rows: true}, nil
}

// stmt is a statement of the project.
type stmt struct {
	conn    *conn
	text    string
	changes bool // rows, and so runs in a savepoint
	rows    bool // is prepared by the server; other statements have no arguments
}

var (
	rowsPattern = regexp.MustCompile(`^\s*(?i:SELECT|WITH|INSERT|UPDATE|DELETE|EXPLAIN|` +
		`BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b`)
	changesPattern = regexp.MustCompile(`^\s*(?i:INSERT|UPDATE|DELETE)\b|^\s*(?i:WITH)\b(?s:.*)\b(INSERT|UPDATE|DELETE)\b`)
)

func changes(text string) bool { return changesPattern.MatchString(text) }

// Close implements driver.Stmt: the server's statement stays with the connection.
func (s *stmt) Close() error { return nil }

// NumInput implements driver.Stmt; the server counts.
func (s *stmt) NumInput() int { return -1 }

// Exec implements driver.Stmt.
func (s *stmt) Exec([]driver.Value) (driver.Result, error) {
	return nil, errors.New("postgres: no context")
}

// Query implements driver.Stmt.
func (s *stmt) Query([]driver.Value) (driver.Rows, error) {
	return nil, errors.New("postgres: no context")
}

// ExecContext implements driver.StmtExecContext.
func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	r, err := s.run(ctx, args)
	if err != nil {
		return nil, err
	}
	return driver.RowsAffected(r.CommandTag.RowsAffected()), nil
}

// QueryContext implements driver.StmtQueryContext.
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	r, err := s.run(ctx, args)
	if err != nil {
		return nil, err
	}
	return &rows{fields: r.FieldDescriptions, left: r.Rows}, nil
}

func (s *stmt) run(ctx context.Context, args []driver.NamedValue) (*pgconn.Result, error) {
	if !s.rows {
		r, err := s.conn.simple(ctx, s.text)
		return r, marked(s.conn.pg, err)
	}
	m, err := s.message(args)
	if err != nil {
		return nil, err
	}
	r, err := s.conn.run(ctx, m, s.changes)
	return r, marked(s.conn.pg, err)
}

// message is the statement with these arguments.
func (s *stmt) message(args []driver.NamedValue) (message, error) {
	m := message{text: s.text, types: make([]uint32, len(args)), values: make([][]byte, len(args)),
		kinds: make([]int16, len(args))}
	for i, a := range args {
		var err error
		m.types[i] = typeOf(a.Value)
		if m.values[i], m.kinds[i], err = encode(a.Value); err != nil {
			return m, err
		}
		if m.types[i] == 0 && !s.mentions(i+1) { // the server could not choose one
			m.types[i] = typeText
		}
	}
	return m, nil
}

// mentions reports whether the statement has a parameter of that number.
func (s *stmt) mentions(n int) bool {
	for rest, sign := s.text, "$"+strconv.Itoa(n); ; {
		_, after, found := strings.Cut(rest, sign)
		if !found {
			return false
		}
		if after == "" || after[0] < '0' || '9' < after[0] {
			return true
		}
		rest = after
	}
}

// rows are the rest of an answer, which is all here.
type rows struct {
	fields []pgconn.FieldDescription
	left   [][][]byte
}

// Columns implements driver.Rows.
func (r *rows) Columns() []string {
	out := make([]string, len(r.fields))
	for i, f := range r.fields {
		out[i] = f.Name
	}
	return out
}

// Close implements driver.Rows.
func (r *rows) Close() error {
	r.left = nil
	return nil
}

// Next implements driver.Rows.
func (r *rows) Next(dest []driver.Value) (err error) {
	if len(r.left) == 0 {
		return io.EOF
	}
	for i, data := range r.left[0] {
		if dest[i], err = decode(r.fields[i], data); err != nil {
			return fmt.Errorf("postgres: column %s: %w", r.fields[i].Name, err)
		}
	}
	r.left = r.left[1:]
	return nil
}
