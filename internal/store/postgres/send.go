package postgres

import (
	"context"
	"errors"
	"fmt"
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
}

// Later is the context of a statement whose answer nothing needs: it is sent along with the
// next one, in one exchange. If it fails so does that one, and with it the transaction.
var Later = context.WithValue(context.Background(), laterKey{}, true)

type laterKey struct{}

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
	return own.flush(context.Background())
}

// run sends a statement, or keeps it for later, and gives its answer.
func (c *conn) run(ctx context.Context, m message, changes bool) (*pgconn.Result, error) {
	switch {
	case ctx.Value(laterKey{}) != nil:
		c.queue = append(c.queue, m)
		return &pgconn.Result{}, nil
	case m.text == rollback:
		return &pgconn.Result{}, c.rollback(ctx)
	case strings.HasPrefix(m.text, rollback): // to a savepoint: what failed before is undone with the rest
		c.flush(ctx) //nolint:errcheck // that is why
	case m.text == commit && c.idle(): // never in one exchange with BEGIN: that is sent again if the connection is lost
		if err := c.flush(ctx); err != nil {
			return nil, err
		}
	}
	r, err := c.send(ctx, m, changes && (len(c.queue) > 0 || !c.idle()))
	if err == nil && m.text == commit && r.CommandTag.String() != commit { // what failed before was not undone
		err = errors.New("postgres: the transaction had failed and was rolled back")
	}
	return r, err
}

// idle reports whether the server has no transaction of this connection.
func (c *conn) idle() bool { return c.ending != nil || c.pg.TxStatus() == 'I' || c.pg.IsClosed() }

// send sends m behind what is queued, in one exchange, and gives the answer to m. If it is
// alone a failure of m undoes nothing but m: it travels with a savepoint.
func (c *conn) send(ctx context.Context, m message, alone bool) (*pgconn.Result, error) {
	list, at := append(c.queue, m), len(c.queue)
	if alone {
		list, at = append(c.queue, message{text: save}, m, message{text: keep}), at+1
	}
	c.queue = nil
	again := c.idle() && (strings.HasPrefix(list[0].text, begin) || !changes(m.text))
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
	if err := c.settle(); err != nil {
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
		p.SendQueryStatement(prepared[i], m.values, m.kinds, formats(prepared[i].Fields))
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
		if err = r.Err; n == want {
			out = r
			if r.FieldDescriptions == nil {
				r.FieldDescriptions = prepared[n].Fields
			}
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
	c.queue = nil
	if c.idle() {
		return nil
	}
	d, err := c.prepare(ctx, rollback, nil)
	if err != nil {
		return err
	}
	p := c.pg.StartPipeline(context.Background())
	p.SendQueryStatement(d, nil, nil, nil)
	if err := p.Sync(); err != nil {
		return errors.Join(err, p.Close())
	}
	c.ending = p
	return nil
}

// settle reads the answer that rollback left.
func (c *conn) settle() error {
	if c.ending == nil {
		return nil
	}
	p := c.ending
	c.ending = nil
	return p.Close()
}

// renew replaces a lost connection.
func (c *conn) renew(ctx context.Context) error {
	pg, err := c.dial.Dial(ctx)
	if err == nil {
		c.pg, c.statements = pg, map[string]*pgconn.StatementDescription{}
	}
	return err
}

// simple runs statements that have no arguments, such as the schema's, in one message.
func (c *conn) simple(ctx context.Context, text string) (*pgconn.Result, error) {
	if err := errors.Join(c.flush(ctx), c.settle()); err != nil {
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
