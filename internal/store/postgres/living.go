package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Living tells the processes that use a database from those that ended: each holds an
// advisory lock, on a connection of its own, for as long as it lives. The server frees it
// when the connection ends, however it ends.
type Living struct {
	dial *Connector

	mu   sync.Mutex
	name string
	pg   *pgconn.PgConn
}

// NewLiving makes one for the database that dial connects to.
func NewLiving(dial *Connector) *Living { return &Living{dial: dial} }

// namespace of the locks, beside the database's other advisory locks.
const namespace = "1668248164"

// askLimit is how long an answer about another process may take.
const askLimit = 5 * time.Second

// Own returns the name of this process's use of the database.
func (l *Living) Own() (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.name == "" {
		l.name = rand.Text()[:12]
	}
	if err := l.connect(); err != nil {
		return "", fmt.Errorf("name this process: %w", err)
	}
	return l.name, nil
}

// connect opens the connection, and takes the lock of a process that has a name.
func (l *Living) connect() error {
	if l.pg != nil && !l.pg.IsClosed() {
		return nil
	}
	ctx, end := context.WithTimeout(context.Background(), askLimit)
	defer end()
	pg, err := l.dial.Dial(ctx)
	if err != nil {
		return err
	}
	if l.name != "" {
		if _, err := ask(ctx, pg, "SELECT pg_advisory_lock("+namespace+", hashtext($1))::text", l.name); err != nil {
			pg.Close(context.Background()) //nolint:errcheck // the first error tells
			return err
		}
	}
	l.pg = pg
	return nil
}

// Ended reports whether the process of that name no longer uses the database. While the
// server cannot be asked none has ended.
func (l *Living) Ended(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if name == l.name || l.connect() != nil {
		return false
	}
	ctx, end := context.WithTimeout(context.Background(), askLimit)
	defer end()
	got, err := ask(ctx, l.pg, // shared: two that ask at once must not take each other for it
		"SELECT pg_try_advisory_xact_lock_shared("+namespace+", hashtext($1))::text", name)
	return err == nil && got == "true"
}

// ask runs a query about one name that answers with one text.
func ask(ctx context.Context, pg *pgconn.PgConn, query, name string) (string, error) {
	r := pg.ExecParams(ctx, query, [][]byte{[]byte(name)}, []uint32{typeText}, nil, nil).Read()
	if r.Err != nil {
		return "", r.Err
	}
	if len(r.Rows) != 1 {
		return "", errors.New("postgres: no answer")
	}
	return string(r.Rows[0][0]), nil
}

// Close ends this process's use of the database.
func (l *Living) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pg != nil {
		l.pg.Close(context.Background()) //nolint:errcheck // the server frees the lock
		l.pg, l.name = nil, ""
	}
}
