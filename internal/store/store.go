package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"cordelia/internal/store/migrate"
	"cordelia/internal/store/notify"
	"cordelia/internal/store/postgres"
)

// Durability is when SQLite answers a commit: the value of PRAGMA synchronous.
type Durability string

const (
	// Full acknowledges after the data reached the disk. The default.
	Full Durability = "FULL"
	// Relaxed acknowledges after the data reached the operating system: killed
	// processes lose nothing, a power cut may lose the last commits.
	Relaxed Durability = "NORMAL"
)

// Options of Open.
type Options struct {
	Path       string     // database file; its folder is created 0700
	URL        string     // of a PostgreSQL database, instead of a file
	Durability Durability // default Full
	Clock      Clock      // default SystemClock, corrected by the server's on PostgreSQL
	Alone      bool       // refuse to open what another process has open, and keep others out
	Direct     bool       // refuse a pooler's address, as Alone does: for a try of what runs alone

	// Wait bounds how long a write waits for other processes; default 10 s.
	Wait time.Duration

	pollEvery time.Duration // tests slow the poll down, so that only sockets wake
}

const (
	maxReaders = 4
	waitOthers = 10 * time.Second
)

// Store is an open database.
type Store struct {
	engine     engine
	clock      Clock
	writer     *writer
	readers    *pool
	concurrent *pool // of connections for WriteConcurrent; nil where all writers take turns
	news       notifier

	closing sync.Once
	quit    chan struct{}
}

// Open opens the database at o.Path or o.URL, creating and migrating it as needed.
// Errors: CodeUnavailable when the file system cannot hold it safely, the server cannot be
// reached, or a newer binary has written it.
func Open(ctx context.Context, o Options) (*Store, error) {
	o = o.withDefaults()
	choose := newFile
	if o.URL != "" {
		choose = newServer
	}
	e, err := choose(ctx, o)
	if err != nil {
		return nil, err
	}
	quit := make(chan struct{})
	s := &Store{engine: e, clock: e.clock(), readers: newPool(maxReaders, e.reader, quit), quit: quit}
	if e.sharing() {
		s.concurrent = newPool(maxConcurrent, e.writer, quit)
	}
	if err := s.open(ctx, o); err != nil {
		s.Close() //nolint:errcheck // the first error tells
		return nil, err
	}
	return s, nil
}

func (o Options) withDefaults() Options {
	if o.Durability == "" {
		o.Durability = Full
	}
	if o.Clock == nil {
		o.Clock = SystemClock{}
	}
	if o.Wait == 0 {
		o.Wait = waitOthers
	}
	if o.pollEvery == 0 {
		o.pollEvery = notify.PollEvery
	}
	return o
}

func (s *Store) open(ctx context.Context, o Options) error {
	w, ready := &writer{store: s, lock: s.engine.lock(), wait: o.Wait, jobs: make(chan *job, maxBatch), quit: s.quit,
		ended: make(chan struct{})}, s.current(ctx)
	if !ready {
		var err error
		if w.conn, err = s.engine.writer(ctx); err != nil {
			w.lock.Close() //nolint:errcheck // nothing was written
			return classify(fmt.Errorf("open database: %w", err))
		}
	}
	s.writer = w
	go w.run()
	if !ready {
		if err := s.prepare(ctx); err != nil {
			return err
		}
	}
	s.news = s.engine.notifier()
	if o.Alone {
		// What a process that was alone had under way when it was killed may still commit at a
		// server: it ends first, so that what is read next is what it left.
		return s.Write(ctx, func(*Tx) error { return nil })
	}
	return nil
}

// current reports whether the database is as this binary leaves it, so that nothing must be
// written to open it. Most processes start on such a one, and clients wait for them: the
// writing connection, with its own copy of the schema and its triggers, then comes with the
// first write. Opened at the start it makes the first answer take 25 ms instead of 22.
func (s *Store) current(ctx context.Context) bool {
	c, err := s.readers.take(ctx)
	if err != nil {
		return false // the writing connection finds out why
	}
	defer s.readers.give(c)
	have, err := s.engine.schema(c)
	return err == nil && have == SchemaVersion() && s.engine.inspect(c) == nil
}

// prepare makes the database what this binary needs.
func (s *Store) prepare(ctx context.Context) error {
	if err := s.engine.inspect(s.writer.conn); err != nil {
		return classify(err)
	}
	if err := s.migrate(ctx); err != nil {
		return err
	}
	return s.engine.guard(ctx, s.writer.conn)
}

// migrate brings the database to this binary's schema.
func (s *Store) migrate(ctx context.Context) error {
	all, err := s.engine.migrations()
	if err != nil {
		return err
	}
	have, err := s.engine.schema(s.writer.conn)
	if err != nil {
		return classify(fmt.Errorf("read schema version: %w", err))
	}
	if have == SchemaVersion() {
		return nil
	}
	err = s.Write(ctx, func(tx *Tx) error { // another process may have been faster
		var err error
		if have, err = s.engine.schema(tx.conn); err != nil {
			return err
		}
		return migrate.Up(tx.conn.c, have, all, tx.Micros())
	})
	if postgres.FaultOf(err) == postgres.Denied {
		return errNotOwner(have, err)
	}
	return err
}

// Path is the database file, "" of a server's database.
func (s *Store) Path() string {
	if f, ok := s.engine.(*file); ok {
		return f.path
	}
	return ""
}

// Clock is the clock transactions read.
func (s *Store) Clock() Clock { return s.clock }

// Drop ends the connections to a server that does not answer: what waits for it fails, and Close
// need not wait for it. A file has none.
func (s *Store) Drop() {
	if server, is := s.engine.(*server); is {
		server.drop()
	}
}

// Dropped reports whether Drop ended the connections, and so why something failed.
func (s *Store) Dropped() bool {
	server, is := s.engine.(*server)
	return is && server.lasting.Err() != nil
}

// Close finishes accepted writes and running reads and closes the database; Drop ends its wait.
// Safe to call twice; not from inside a transaction.
func (s *Store) Close() error {
	var err error
	s.closing.Do(func() { err = s.close() })
	return err
}

func (s *Store) close() error {
	var errs []error
	close(s.quit)
	waiting := s.writer != nil && !s.writer.end()
	if s.news != nil {
		s.news.Close()
	}
	errs = append(errs, s.readers.close())
	if s.concurrent != nil {
		errs = append(errs, s.concurrent.close())
	}
	if s.writer != nil {
		if s.writer.conn != nil {
			errs = append(errs, s.writer.conn.close())
		}
		if !waiting { // or the lock is freed with the process
			errs = append(errs, s.writer.lock.Close())
		}
	}
	return errors.Join(append(errs, s.engine.close())...)
}
