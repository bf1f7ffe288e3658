package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// message is a statement with its arguments, as it is sent.
type message struct {
	text   string
	types  []uint32
	values [][]byte
	kinds  []int16
	ahead  bool // its answer is kept until it is asked for
}

// same reports whether two ask the same.
func (m message) same(o message) bool {
	return m.text == o.text && slices.Equal(m.types, o.types) &&
		slices.EqualFunc(m.values, o.values, func(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) })
}

// answered is a question that was asked ahead, with its answer once it is there.
type answered struct {
	message
	answer *pgconn.Result
}

// Deferred is the context of a statement whose answer nothing needs: it is sent along with the
// next one, in one exchange. If it fails so does that one, and with it the transaction.
var Deferred = context.WithValue(context.Background(), laterKey{}, true)

// Ahead is the context of a query that is going to be made: it is sent along with the next
// statement, and then answered without another exchange unless something was changed since.
var Ahead = context.WithValue(context.Background(), aheadKey{}, true)

type (
	laterKey struct{}
	aheadKey struct{}
)

const (
	begin    = "BEGIN"
	commit   = "COMMIT"
	rollback = "ROLLBACK"
	save     = "SAVEPOINT change"
	keep     = "RELEASE SAVEPOINT change"
	undone   = "ROLLBACK TO SAVEPOINT change; RELEASE SAVEPOINT change"
)

// Flush sends what was to be sent later; c is what sql.Conn.Raw gives.
func Flush(c any) error {
	own, ok := c.(*conn)
	if !ok {
		return errors.New("postgres: no connection of this driver")
	}
	return marked(own.pg, own.flush(context.Background()))
}

// run sends a statement, or keeps it for later, and gives its answer.
func (c *conn) run(ctx context.Context, m message, changes bool) (*pgconn.Result, error) {
	if changes || !m.asks() {
		c.forget()
	} else if r, err := c.known(ctx, m); r != nil || err != nil {
		return r, err
	}
	switch {
	case ctx.Value(aheadKey{}) != nil:
		m.ahead = true
		c.queue = append(c.queue, m)
		return &pgconn.Result{}, nil
	case ctx.Value(laterKey{}) != nil:
		c.open = c.open || m.begins()
		c.queue = append(c.queue, m)
		return &pgconn.Result{}, nil
	case m.text == rollback:
		return &pgconn.Result{}, c.rollback(ctx)
	case strings.HasPrefix(m.text, rollback): // to a savepoint: what failed before is undone with the rest
		c.flush(ctx) //nolint:errcheck // that is why
	case m.text == commit && len(c.queue) > 0 && c.queue[0].begins(): // which may be sent twice
		if err := c.flush(ctx); err != nil {
			return nil, err
		}
	}
	r, err := c.send(ctx, m, changes && c.open)
	if m.text == commit {
		c.open = false
	}
	if err == nil && m.text == commit && r.CommandTag.String() != commit { // what failed before was not undone
		err = errors.New("postgres: the transaction had failed and was rolled back")
	}
	return r, err
}

// asks reports whether the message is a query.
func (m message) asks() bool {
	return strings.HasPrefix(m.text, "SELECT") || strings.HasPrefix(m.text, "WITH")
}

// forget drops what was asked ahead.
func (c *conn) forget() {
	c.answers = nil
	c.queue = slices.DeleteFunc(c.queue, func(m message) bool { return m.ahead })
}

// known gives the answer to a query that was asked ahead, nil if it was not.
func (c *conn) known(ctx context.Context, m message) (*pgconn.Result, error) {
	if slices.ContainsFunc(c.queue, func(q message) bool { return q.ahead && q.same(m) }) {
		if err := c.flush(ctx); err != nil {
			return nil, err
		}
	}
	at := slices.IndexFunc(c.answers, func(a answered) bool { return a.same(m) })
	if at < 0 {
		return nil, nil
	}
	r := c.answers[at].answer
	c.answers = slices.Delete(c.answers, at, at+1)
	return r, nil
}

// begins reports whether the message begins a transaction.
func (m message) begins() bool { return strings.HasPrefix(m.text, begin) }

// send sends m behind what is queued, in one exchange, and gives the answer to m. If it is
// alone a failure of m undoes nothing but m: it travels with a savepoint.
func (c *conn) send(ctx context.Context, m message, alone bool) (*pgconn.Result, error) {
	list, at := append(c.queue, m), len(c.queue)
	if alone {
		list, at = append(c.queue, message{text: save}, m, message{text: keep}), at+1
	}
	c.queue = nil
	again := list[0].begins() || !c.open && m.asks() && !changes(m.text)
	out, failed, err := c.exchange(ctx, list, at)
	if err != nil && again && c.pg.IsClosed() && ctx.Err() == nil { // it was lost while nothing used it
		if err := c.renew(ctx); err != nil {
			return nil, err
		}
		out, failed, err = c.exchange(ctx, list, at)
	}
	switch {
	case err == nil:
		return out, nil
	case failed < at-1 || failed < at && !alone:
		return nil, fmt.Errorf("earlier statement %.60q: %w", list[failed].text, err)
	case alone && c.pg.TxStatus() == 'E':
		if _, undo := c.simple(ctx, undone); undo != nil {
			return nil, errors.Join(err, undo)
		}
	}
	return nil, err
}

// exchange sends messages together and waits for the answers, of which it gives one. If one
// fails the server leaves out those behind it.
func (c *conn) exchange(ctx context.Context, list []message, want int) (out *pgconn.Result, failed int, err error) {
	if err := c.awaitRollback(); err != nil {
		return nil, 0, err
	}
	prepared := make([]*pgconn.StatementDescription, len(list))
	for i, m := range list {
		if prepared[i], err = c.prepare(ctx, m.text, m.types); err != nil {
			return nil, i, err
		}
	}
	p := c.pg.StartPipeline(ctx)
	for i, m := range list {
		m.send(p, prepared[i])
	}
	err = p.Sync()
	for n := 0; err == nil && n < len(list); n++ {
		failed = n
		var got any
		if got, err = p.GetResults(); err != nil {
			break
		}
		reader, ok := got.(*pgconn.ResultReader)
		if !ok {
			err = fmt.Errorf("postgres: no answer to %.60q", list[n].text)
			break
		}
		r := reader.Read()
		if err = r.Err; r.FieldDescriptions == nil && prepared[n] != nil {
			r.FieldDescriptions = prepared[n].Fields
		}
		if n == want {
			out = r
		}
		if list[n].ahead {
			c.answers = append(c.answers, answered{list[n], r})
		}
	}
	if closed := p.Close(); err == nil {
		err = closed
	}
	return out, failed, err
}

// flush sends what is queued.
func (c *conn) flush(ctx context.Context) error {
	if len(c.queue) == 0 {
		return nil
	}
	last := c.queue[len(c.queue)-1]
	c.queue = c.queue[:len(c.queue)-1]
	_, err := c.send(ctx, last, false)
	return err
}

// rollback gives the transaction up. It does not wait for the answer, which the next exchange
// reads: nothing depends on it.
func (c *conn) rollback(ctx context.Context) error {
	c.queue, c.open = nil, false
	if c.ending != nil || c.pg.TxStatus() == 'I' || c.pg.IsClosed() {
		return nil // nothing has begun, or it is gone
	}
	d, err := c.prepare(ctx, rollback, nil)
	if err != nil {
		return err
	}
	p := c.pg.StartPipeline(context.Background())
	message{text: rollback}.send(p, d)
	if err := p.Sync(); err != nil {
		return errors.Join(err, p.Close())
	}
	c.ending = p
	return nil
}

// awaitRollback reads the answer that rollback left.
func (c *conn) awaitRollback() error {
	if c.ending == nil {
		return nil
	}
	p := c.ending
	c.ending = nil
	return p.Close()
}

// renew replaces a lost connection. What the lost one had answered ahead counts no more: the server
// has given up its locks.
func (c *conn) renew(ctx context.Context) error {
	pg, err := c.dial.Dial(ctx)
	if err == nil {
		c.pg, c.statements, c.answers = pg, map[string]*pgconn.StatementDescription{}, nil
	}
	return err
}

// simple runs statements that have no arguments, such as the schema's, in one message.
func (c *conn) simple(ctx context.Context, text string) (*pgconn.Result, error) {
	if err := errors.Join(c.flush(ctx), c.awaitRollback()); err != nil {
		return nil, err
	}
	results, err := c.pg.Exec(ctx, text).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(results) == 0 {
		return &pgconn.Result{}, nil
	}
	return results[len(results)-1], nil
}

// send adds the message to p; without a prepared statement its answer comes as text.
func (m message) send(p *pgconn.Pipeline, prepared *pgconn.StatementDescription) {
	if prepared == nil {
		p.SendQueryParams(m.text, m.values, m.types, m.kinds, nil)
		return
	}
	p.SendQueryStatement(prepared, m.values, m.kinds, formats(prepared.Fields))
}

// prepare gives the server's statement for a text and the types of its arguments; nil where
// the next transaction may run in a session that has not prepared it.
func (c *conn) prepare(ctx context.Context, text string, types []uint32) (*pgconn.StatementDescription, error) {
	if c.dial.pooled {
		return nil, nil
	}
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
