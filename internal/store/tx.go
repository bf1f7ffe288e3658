package store

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"cordelia/schemas"
)

// Tx is one transaction. Its statements are prepared once per connection, so
// queries must be constant text; pass lists as JSON and unpack them with
// json_each. The rows of one query text cannot be open twice at a time. A Tx is
// for the goroutine and the time of its function: afterwards it refuses.
type Tx struct {
	ctx        context.Context
	conn       *conn
	clock      Clock
	now        time.Time // zero until it is asked for
	waits      bool      // its lock may not have been given yet
	failed     error     // why the lock was not given
	writable   bool
	fixed      bool               // all its queries see one commit
	asked      bool               // a query was made
	news       bool               // see Notify
	acting     []schemas.EntityID // whose sovereign rows it may change
	ended      atomic.Bool
	rows       []*sql.Rows // handed out, closed at the end if the caller did not
	kept       map[any]any // see Keep
	after      []func()
	concurrent bool     // others run beside it; see WriteConcurrent
	alone      bool     // it has to be made again alone
	last       []lastly // see Last
}

// errNoTx is what a nil transaction answers, so that an empty Grant opens
// nothing.
var errNoTx = errors.New("store: no transaction")

// errTxEnded is what a transaction kept beyond its function answers.
var errTxEnded = errors.New("store: the transaction has ended")

// errReadOnly is what a read transaction answers to a change.
var errReadOnly = errors.New("store: a read transaction cannot write")

// run gives fn the transaction and closes what fn left open.
func (t *Tx) run(fn func(*Tx) error) error {
	defer t.end()
	return guard(func() error {
		if err := fn(t); err != nil {
			return err
		}
		if t.failed != nil {
			return t.failed
		}
		if len(t.acting) == 0 || t.concurrent {
			return nil
		}
		return t.Act() // what runs next in the same commit acts for its own owners
	})
}

func (t *Tx) end() {
	t.ended.Store(true)
	for _, r := range t.rows {
		r.Close() //nolint:errcheck // nothing is read from them any more
	}
	t.rows = nil
}

// usable reports why statements cannot run.
func (t *Tx) usable() error {
	if t == nil {
		return errNoTx
	}
	if t.ended.Load() {
		return errTxEnded
	}
	return t.failed
}

// Now is the transaction's time: one value for everything it writes. It is read when it is first
// asked for, and not before the transaction has its lock: a lease begins, and a right ends, by the
// time at which the change is made, however long it waited.
func (t *Tx) Now() time.Time {
	if t.now.IsZero() {
		if t.waits && t.usable() == nil {
			t.failed = t.conn.flush()
			t.waits = false
		}
		t.now = t.clock.Now()
	}
	return t.now
}

// Micros is Now as UTC microseconds since 1970, the unit of every stored time.
func (t *Tx) Micros() int64 { return t.Now().UnixMicro() }

// Writable reports whether this is a write transaction.
func (t *Tx) Writable() bool { return t != nil && t.writable }

// Exec runs a statement and returns how many rows it changed.
func (t *Tx) Exec(query string, args ...any) (int64, error) {
	if err := t.usable(); err != nil {
		return 0, err
	}
	if err := t.mayChange(query); err != nil {
		return 0, err
	}
	s, err := t.conn.prepare(query)
	if err != nil {
		return 0, err
	}
	r, err := s.ExecContext(t.statementContext(), args...)
	if err != nil {
		return 0, err
	}
	t.waits = false
	return r.RowsAffected()
}

// Send is Exec of a change whose effect needs no look: the engine may send it along with the next
// statement. A failure may come to light there, or at the commit; nothing of the transaction is
// kept then, so what may fail without harm takes Exec.
func (t *Tx) Send(query string, args ...any) error {
	if err := t.usable(); err != nil {
		return err
	}
	if err := t.mayChange(query); err != nil {
		return err
	}
	s, err := t.conn.prepare(query)
	if err != nil {
		return err
	}
	_, err = s.ExecContext(t.conn.dialect.later, args...)
	return err
}

// mayChange reports why a statement that changes something cannot run.
func (t *Tx) mayChange(query string) error {
	switch {
	case !t.writable:
		return errReadOnly
	case t.concurrent && !sharedOnly(query):
		return t.Alone()
	}
	return nil
}

// Query runs a query; close the rows. In a read it ends when the caller gives up.
func (t *Tx) Query(query string, args ...any) (*sql.Rows, error) {
	return t.query(query, args, false)
}

func (t *Tx) query(query string, args []any, one bool) (*sql.Rows, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	if t.concurrent && !sharedOnly(query) {
		return nil, t.Alone()
	}
	ctx := t.statementContext()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if one {
		ctx = context.Background()
	}
	s, err := t.conn.prepare(query)
	if err != nil {
		return nil, err
	}
	rows, err := s.QueryContext(ctx, args...)
	if err == nil {
		t.asked, t.waits = true, false
		t.rows = append(t.rows, rows)
	}
	return rows, err
}

// Ahead says that the transaction is going to make this query, with these arguments: the engine
// may send it along with the next statement. Nothing else changes by it: a change in between has
// the query made anew.
func (t *Tx) Ahead(query string, args ...any) error {
	if err := t.usable(); err != nil || t.conn.dialect.ahead == nil || !t.writable && !t.fixed {
		return err
	}
	s, err := t.conn.prepare(query)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(t.conn.dialect.ahead, args...)
	if err != nil {
		return err
	}
	return rows.Close()
}

// Snapshot names what the database holds for a transaction: two that are equal and
// not zero see the same. It costs no query.
type Snapshot struct {
	conn    *conn
	version uint32
}

// Snapshot names what t sees; zero if that is not known: before the first query,
// outside of Read, and where t itself may have changed it.
func (t *Tx) Snapshot() Snapshot {
	if t.usable() != nil || !t.fixed || !t.asked || t.conn.dialect.version == nil {
		return Snapshot{}
	}
	version, err := t.conn.dialect.version(t.conn)
	if err != nil {
		return Snapshot{}
	}
	return Snapshot{conn: t.conn, version: version}
}

// Row is the answer of QueryRow.
type Row struct {
	rows *sql.Rows
	err  error
}

// Scan copies the row's columns and closes it; ErrNoRows when there is none.
func (r Row) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return ErrNoRows
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	return r.rows.Close()
}

// QueryRow runs a query for at most one row. Once begun it runs to its end: to watch for a
// caller that gives up costs two goroutines, three times what it takes to find a row by its key.
func (t *Tx) QueryRow(query string, args ...any) Row {
	rows, err := t.query(query, args, true)
	return Row{rows: rows, err: err}
}

// HasTable reports whether the database has a table of that name: a copy of an older one may
// not.
func (t *Tx) HasTable(name string) (bool, error) {
	if err := t.usable(); err != nil {
		return false, err
	}
	var n int
	err := t.QueryRow(t.conn.dialect.tables, name).Scan(&n)
	return n > 0, err
}

// Keep caches a value for the rest of a transaction that sees one commit: what it read and
// would read again. Code that changes the row must Keep the new value.
func (t *Tx) Keep(key, value any) {
	if t == nil || !t.fixed && !t.writable {
		return
	}
	if t.kept == nil {
		t.kept = map[any]any{}
	}
	t.kept[key] = value
}

// Kept gives what was kept under key, nil if nothing was.
func (t *Tx) Kept(key any) any {
	if t == nil {
		return nil
	}
	return t.kept[key]
}

// AfterCommit runs f once the transaction is on disk, never otherwise, before
// Write returns and in commit order; behind WriteConcurrent in any order. f may run
// on the writer's goroutine: it must be short and must not call Write.
func (t *Tx) AfterCommit(f func()) { t.after = append(t.after, f) }

func (t *Tx) runAfter() {
	for _, f := range t.after {
		if err := guard(func() error { f(); return nil }); err != nil {
			slog.Error("after a commit", "err", err)
		}
	}
}

// Notify wakes waiting readers, here and in other processes, once the transaction is
// on disk.
func (t *Tx) Notify() { t.news = true }

// statementContext lets a reader be interrupted; a writer shares its
// transaction with others and runs to its end.
func (t *Tx) statementContext() context.Context {
	if t.writable {
		return context.Background()
	}
	return t.ctx
}

// Collect scans every row with scan and closes rows.
func Collect[T any](rows *sql.Rows, err error, scan func(*sql.Rows) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// Column scans a row of one column, for Collect.
func Column[T any](r *sql.Rows) (v T, err error) { return v, r.Scan(&v) }

// AnyOwner is for the node's own routines, such as archiving an agent.
const AnyOwner schemas.EntityID = "*"

// Act says whose sovereign rows (L1 entries and private items) this write
// transaction may change; none until it is called. Triggers of this connection
// refuse the others (INV-SOVEREIGN), so a forgotten check elsewhere fails closed. A transaction
// that fails needs no call to take it back: its rollback does.
func (t *Tx) Act(owners ...schemas.EntityID) error {
	if err := t.usable(); err != nil {
		return err
	}
	if !t.writable {
		return errReadOnly
	}
	if err := t.conn.dialect.act(t, owners); err != nil {
		return err
	}
	t.acting = owners
	return nil
}
