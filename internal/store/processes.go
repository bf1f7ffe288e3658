package store

import (
	"context"
)

// writeLock is the lock that a process holds while it writes; see package lock.
type writeLock interface {
	Take() error
	Release()
	Close() error
}

// notifier wakes waiting readers of all processes; see package notify.
type notifier interface {
	Notify()
	Watch() (woken <-chan struct{}, unsubscribe func())
	Close()
}

// Watch returns a channel that receives after commits that called Tx.Notify, of this or
// another process, and a function that ends the watch. Notifications coalesce: on each
// receive, read everything new.
func (s *Store) Watch() (woken <-chan struct{}, unsubscribe func()) { return s.news.Watch() }

// Process returns the name of this process's use of the database, to be kept with
// what must not outlive it; "" where a database cannot say which processes use it.
func (s *Store) Process() (string, error) { return s.engine.process() }

// Ended reports whether the process of that name no longer uses the database.
func (s *Store) Ended(process string) bool { return s.engine.ended(process) }

// openVersions opens a connection that tells when another one has committed.
func openVersions(e engine) (versions, error) {
	c, err := e.reader(context.Background())
	if err != nil {
		return versions{}, err
	}
	return versions{c}, nil
}

// versions asks for a number that moves with other connections' commits; it reads no table.
type versions struct{ conn *conn }

func (v versions) Version() (n int64, err error) {
	err = v.conn.c.QueryRowContext(context.Background(), v.conn.dialect.data).Scan(&n)
	return n, err
}

func (v versions) Close() error { return v.conn.close() }
