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
	pg         *pgconn.PgConn
	statements map[string]*pgconn.StatementDescription // by text and types of the arguments
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
	rowsPattern    = regexp.MustCompile(`^\s*(?i:SELECT|WITH|INSERT|UPDATE|DELETE|EXPLAIN)\b`)
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
		return s.conn.simple(ctx, s.text)
	}
	types, values, kinds := make([]uint32, len(args)), make([][]byte, len(args)), make([]int16, len(args))
	for i, a := range args {
		var err error
		types[i] = typeOf(a.Value)
		if values[i], kinds[i], err = encode(a.Value); err != nil {
			return nil, err
		}
		if types[i] == 0 && !s.mentions(i+1) { // the server could not choose one
			types[i] = typeText
		}
	}
	save := s.changes && s.conn.pg.TxStatus() == 'T'
	d, err := s.conn.prepare(ctx, s.text, types)
	if err != nil {
		return nil, err
	}
	var r *pgconn.Result
	if save {
		r, err = s.conn.saved(ctx, d, values, kinds)
	} else {
		r = s.conn.pg.ExecStatement(ctx, d, values, kinds, formats(d.Fields)).Read()
		err = r.Err
	}
	if err != nil {
		return nil, err
	}
	if r.FieldDescriptions == nil {
		r.FieldDescriptions = d.Fields
	}
	return r, nil
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

// simple runs statements that change no rows, such as BEGIN, in one message.
func (c *conn) simple(ctx context.Context, text string) (*pgconn.Result, error) {
	results, err := c.pg.Exec(ctx, text).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(results) == 0 {
		return &pgconn.Result{}, nil
	}
	last := results[len(results)-1]
	if text == commit && last.CommandTag.String() != commit { // what failed before was not undone
		return nil, errors.New("postgres: the transaction had failed and was rolled back")
	}
	return last, nil
}

// prepare gives the server's statement for a text and the types of its arguments.
func (c *conn) prepare(ctx context.Context, text string, types []uint32) (*pgconn.StatementDescription, error) {
	var key strings.Builder
	key.WriteString(text)
	for _, t := range types {
		key.WriteString("\x00" + strconv.FormatUint(uint64(t), 10))
	}
	if d, ok := c.statements[key.String()]; ok {
		return d, nil
	}
	d, err := c.pg.Prepare(ctx, "s"+strconv.Itoa(len(c.statements)), text, types)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", text, err)
	}
	c.statements[key.String()] = d
	return d, nil
}

const (
	commit = "COMMIT"
	save   = "SAVEPOINT change"
	keep   = "RELEASE SAVEPOINT change"
	undone = "ROLLBACK TO SAVEPOINT change; RELEASE SAVEPOINT change"
)

// saved runs a change so that its failure undoes nothing but itself. The savepoint travels
// with the change.
func (c *conn) saved(ctx context.Context, d *pgconn.StatementDescription, values [][]byte, kinds []int16) (
	*pgconn.Result, error,
) {
	begin, err := c.prepare(ctx, save, nil)
	if err != nil {
		return nil, err
	}
	end, err := c.prepare(ctx, keep, nil)
	if err != nil {
		return nil, err
	}
	p := c.pg.StartPipeline(ctx)
	p.SendQueryStatement(begin, nil, nil, nil)
	p.SendQueryStatement(d, values, kinds, formats(d.Fields))
	p.SendQueryStatement(end, nil, nil, nil)
	err = p.Sync()
	var out *pgconn.Result
	for n := 0; err == nil && n < 3; n++ {
		var got any
		if got, err = p.GetResults(); err != nil {
			break
		}
		if reader, ok := got.(*pgconn.ResultReader); ok {
			r := reader.Read()
			if err = r.Err; n == 1 {
				out = r
			}
		}
	}
	if closed := p.Close(); err == nil {
		err = closed
	}
	if err == nil {
		return out, nil
	}
	if c.pg.TxStatus() == 'E' {
		if _, undo := c.simple(ctx, undone); undo != nil {
			return nil, errors.Join(err, undo)
		}
	}
	return nil, err
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
