package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"cordelia/schemas"
)

// maxBatch bounds how many writes share one commit, and so how long another
// process waits for its turn.
const maxBatch = 256

// A job is queued until the writer begins it or its caller gives it up,
// whichever comes first.
const (
	queued int32 = iota
	begun
	givenUp
)

// job is one caller's write waiting for its commit.
type job struct {
	ctx   context.Context
	fn    func(*Tx) error
	since time.Time
	state atomic.Int32
	tx    *Tx
	err   error
	done  chan struct{}
}

// writer runs every write of this process on one goroutine and commits as many
// waiting ones as it can with one flush (group commit).
type writer struct {
	store *Store
	conn  *conn
	turn  *turn
	wait  time.Duration // for the other processes' turns
	jobs  chan *job
	quit  chan struct{}
	ended chan struct{}
}

// errLostGoroutine answers a function that called runtime.Goexit.
var errLostGoroutine = errors.New("a transaction function ended the writer's goroutine; nothing was written")

// Write runs fn in a write transaction and returns once its effects are on
// disk (INV-DURABLE). fn runs on the writer's goroutine together with other callers' writes:
// it must be short, must not block on anything but the database, and must not
// call Write. If fn returns an error or panics its changes are undone and the
// others' are not. A ctx that ends before the commit undoes them too.
//
// Errors: fn's own; CodeBusy when ctx ended or other processes kept writing
// for longer than Options.Wait; CodeUnavailable when the disk or the file
// failed or the store is closed.
func (s *Store) Write(ctx context.Context, fn func(*Tx) error) error {
	w := s.writer
	j := &job{ctx: ctx, fn: fn, since: time.Now(), done: make(chan struct{})}
	if err := ctx.Err(); err != nil {
		return classify(err)
	}
	select {
	case <-w.quit:
		return errClosed()
	default:
	}
	select {
	case w.jobs <- j:
	case <-ctx.Done():
		return classify(ctx.Err())
	case <-w.quit:
		return errClosed()
	}
	select {
	case <-j.done:
		return classify(j.err)
	case <-ctx.Done():
		if j.state.CompareAndSwap(queued, givenUp) {
			return classify(ctx.Err())
		}
	case <-w.ended:
	}
	// Once begun the outcome must be awaited: a write that was reported as given
	// up may not commit behind the caller's back.
	select {
	case <-j.done:
		return classify(j.err)
	case <-w.ended:
	}
	select {
	case <-j.done:
		return classify(j.err)
	default:
		return errClosed() // it came after the writer's last look at the queue
	}
}

// Backlog is how many writes of this process wait to be run.
func (s *Store) Backlog() int { return len(s.writer.jobs) }

func errClosed() error {
	return schemas.Errorf(schemas.CodeUnavailable, "the node is shutting down; nothing was written")
}

func (w *writer) run() {
	finished := false
	defer func() {
		if !finished { // a function took this goroutine along; the writer goes on
			go w.run()
			return
		}
		close(w.ended)
	}()
	for {
		select {
		case j := <-w.jobs:
			w.commit(j)
		case <-w.quit:
			for { // finish what was accepted
				select {
				case j := <-w.jobs:
					w.commit(j)
				default:
					finished = true
					return
				}
			}
		}
	}
}

// commit takes the process's turn and runs first and whatever else is waiting
// in one transaction, which begins IMMEDIATE (INV-IMMEDIATE).
func (w *writer) commit(first *job) {
	batch := []*job{first}
	if err := w.turn.take(w.wait - time.Since(first.since)); err != nil {
		answer(batch, err)
		return
	}
	err := w.conn.exec("BEGIN IMMEDIATE")
	if err != nil {
		w.turn.give()
		answer(batch, fmt.Errorf("begin: %w", err))
		return
	}
	err = errLostGoroutine
	defer func() { w.settle(batch, err) }()
	now := w.store.clock.Now()
	for i := 0; i < len(batch); i++ {
		if lost := w.runOne(batch[i], now); lost != nil {
			err = lost
			return
		}
		if len(batch) < maxBatch {
			select {
			case j := <-w.jobs:
				batch = append(batch, j)
			default:
			}
		}
	}
	if err = w.conn.exec("COMMIT"); err != nil {
		err = fmt.Errorf("commit: %w", err)
	}
}

// settle ends a transaction that was committed (nil) or lost, and tells everyone.
func (w *writer) settle(batch []*job, err error) {
	if err != nil {
		// An error here can mean SQLite already rolled back; asking again is harmless.
		if end := w.conn.exec("ROLLBACK"); end != nil && driverCode(end) == 0 {
			slog.Error("rollback after a failed write", "err", end)
		}
	}
	w.turn.give()
	rang := false
	if err == nil {
		for _, j := range batch {
			if j.err == nil && j.tx != nil {
				rang = rang || j.tx.rang
				j.tx.runAfter()
			}
		}
	}
	answer(batch, err)
	if rang {
		w.store.bell.ring()
	}
}

func answer(batch []*job, err error) {
	for _, j := range batch {
		if j.err == nil {
			j.err = err
		}
		close(j.done)
	}
}

// runOne runs one write inside a savepoint. It returns an error only when the
// whole transaction is lost.
func (w *writer) runOne(j *job, now time.Time) error {
	if !j.state.CompareAndSwap(queued, begun) {
		return nil // nobody waits for it
	}
	if j.err = j.ctx.Err(); j.err != nil {
		return nil
	}
	if err := w.conn.exec("SAVEPOINT job"); err != nil {
		return err
	}
	j.tx = &Tx{ctx: j.ctx, conn: w.conn, now: now, writable: true}
	j.err = j.tx.run(j.fn)
	if j.err == nil {
		// A caller that gave up meanwhile must not find its write done.
		j.err = j.ctx.Err()
	}
	if j.err != nil {
		// Fails if SQLite abandoned the whole transaction, as after an I/O error.
		if err := w.conn.exec("ROLLBACK TO job"); err != nil {
			return errors.Join(j.err, err)
		}
	}
	// And so does this, if fn swallowed the error.
	return w.conn.exec("RELEASE job")
}

// guard turns a panic of fn into an error: one caller's defect must not take
// the writer, and with it everyone, down.
func guard(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a transaction: %v\n%s", p, debug.Stack())
		}
	}()
	return fn()
}
