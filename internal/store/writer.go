package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"cordelia/schemas"
)

// maxBatch bounds how many writes share one commit, and so how long another
// process waits for the write lock.
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
	state atomic.Int32
	tx    *Tx
	err   error
	done  chan struct{}
}

// writer runs every write of this process on one goroutine and commits as many
// waiting ones as it can with one flush (group commit).
type writer struct {
	store  *Store
	conn   *conn // nil until the first write
	opened atomic.Bool
	lock   writeLock
	wait   time.Duration // of a call for the lock
	queues atomic.Bool   // for the lock, now
	jobs   chan *job
	quit   chan struct{}
	ended  chan struct{}
}

// errLostGoroutine answers a function that called runtime.Goexit.
var errLostGoroutine = errors.New("a transaction function ended the writer's goroutine; nothing was written")

// Write runs fn in a write transaction and returns once its effects are on
// disk. fn runs on the writer's goroutine together with other callers' writes:
// it must be short, must not block on anything but the database, and must not
// call Write. If fn returns an error or panics its changes are undone and the
// others' are not. A ctx that ends before the commit undoes them too.
//
// Errors: fn's own; CodeBusy when ctx ended or other processes kept writing
// for longer than Options.Wait; CodeUnavailable when the disk or the file
// failed or the store is closed.
func (s *Store) Write(ctx context.Context, fn func(*Tx) error) error {
	w := s.writer
	j := &job{ctx: ctx, fn: fn, done: make(chan struct{})}
	if err := ctx.Err(); err != nil {
		return classify(err)
	}
	select {
	case <-w.quit:
		return errClosed()
	default:
	}
	limit := time.NewTimer(w.wait)
	defer limit.Stop()
	if err := w.enqueue(ctx, j, limit); err != nil {
		return err
	}
	for waiting := true; waiting; {
		select {
		case <-j.done:
			return classify(j.err)
		case <-ctx.Done():
			if j.state.CompareAndSwap(queued, givenUp) {
				return classify(ctx.Err())
			}
			waiting = false
		case <-limit.C:
			if limit.Reset(w.wait); w.queues.Load() && j.state.CompareAndSwap(queued, givenUp) {
				return errLockHeld()
			}
		case <-w.ended:
			waiting = false
		}
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

// enqueue hands a job to the writing goroutine.
func (w *writer) enqueue(ctx context.Context, j *job, limit *time.Timer) error {
	for {
		select {
		case w.jobs <- j:
			return nil
		case <-ctx.Done():
			return classify(ctx.Err())
		case <-w.quit:
			return errClosed()
		case <-limit.C:
			if limit.Reset(w.wait); w.queues.Load() {
				return errLockHeld()
			}
		}
	}
}

// Backlog is how many writes of this process wait to be run.
func (s *Store) Backlog() int { return len(s.writer.jobs) }

// Wrote reports whether this process began to write.
func (s *Store) Wrote() bool { return s.writer.opened.Load() }

func errLockHeld() error {
	return schemas.Errorf(schemas.CodeBusy, "another process has been writing for too long; nothing was written").
		Try("repeat the call; if it happens again look for a stopped cordelia process: cordelia doctor")
}

func errClosed() error {
	return schemas.Errorf(schemas.CodeUnavailable, "the node is shutting down; nothing was written")
}

// errUncertain answers a commit whose answer was lost.
func errUncertain(cause error) error {
	return schemas.Errorf(schemas.CodeUnavailable,
		"the connection to the database was lost during the commit; it may have been written").
		Try("look whether it was, then repeat the call if it was not").Because(cause)
}

// end waits until the accepted writes are done; false if it still waits for the lock when
// all their callers have given up.
func (w *writer) end() bool {
	for {
		select {
		case <-w.ended:
			return true
		case <-time.After(w.wait + time.Second):
			if w.queues.Load() {
				return false
			}
		}
	}
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

// commit takes the write lock and runs first and all other waiting jobs in one transaction,
// which begins IMMEDIATE (INV-IMMEDIATE).
func (w *writer) commit(first *job) {
	batch := []*job{first}
	if err := w.open(); err != nil {
		answer(batch, err)
		return
	}
	w.queues.Store(true)
	err := w.lock.Take()
	w.queues.Store(false)
	if err != nil {
		answer(batch, err)
		return
	}
	err = errLostGoroutine
	held := 0 // jobs whose changes the open transaction holds
	defer func() { w.finish(batch, held, err) }()
	for i := 0; i < len(batch); i++ {
		kept, lost := w.runOne(batch[i], held == 0)
		if lost != nil {
			err = lost
			return
		}
		if kept {
			held++
		}
		if next := w.next(len(batch)); next != nil {
			batch = append(batch, next)
			if kept && held == 1 && !w.sent(batch[i]) {
				held = 0
			}
		}
	}
	if err = nil; held > 0 {
		if err = w.conn.exec("COMMIT"); err != nil {
			if err = fmt.Errorf("commit: %w", err); w.conn.broken() {
				err = errUncertain(err)
			}
		}
	}
}

// next gives another waiting job, nil if there is none or the batch is full.
func (w *writer) next(have int) *job {
	if have == maxBatch {
		return nil
	}
	select {
	case j := <-w.jobs:
		return j
	default:
		return nil
	}
}

// sent sends all of the first job before another one begins, so that what fails now fails that
// job alone. One without another behind it goes with its COMMIT.
func (w *writer) sent(first *job) bool {
	if first.err = w.conn.flush(); first.err != nil {
		first.err = errors.Join(first.err, w.rollback())
	}
	return first.err == nil
}

// open opens the writing connection unless it is.
func (w *writer) open() error {
	if w.conn == nil {
		c, err := w.store.engine.writer(context.Background())
		if err != nil {
			return fmt.Errorf("open database: %w", err)
		}
		if err := w.store.engine.guard(context.Background(), c); err != nil {
			return errors.Join(err, c.close())
		}
		w.conn = c
	}
	w.opened.Store(true)
	return nil
}

// finish ends a transaction that was committed with the changes of held jobs, or failed
// with err, and answers all its callers.
func (w *writer) finish(batch []*job, held int, err error) {
	if err != nil {
		// An error here can mean SQLite already rolled back; asking again is harmless.
		if end := w.rollback(); end != nil && driverCode(end) == 0 {
			slog.Error("rollback after a failed write", "err", end)
		}
	}
	w.lock.Release()
	if w.conn != nil && w.conn.broken() {
		w.conn.close() //nolint:errcheck // it is lost
		w.conn = nil   // the next write opens another
	}
	news := false
	for _, j := range batch {
		if err == nil && j.err == nil && j.tx != nil {
			news = news || j.tx.news
			j.tx.runAfter()
		}
	}
	answer(batch, err)
	if news {
		runtime.Gosched() // the callers go on first: a write is answered 4 % sooner
		w.store.news.Notify()
	}
	if err == nil && w.conn != nil {
		w.store.engine.committed(w.conn, held)
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

// runOne runs one write and reports whether the open transaction now holds it.
// The first one opens the transaction and a failure takes it back; those behind
// it each run in a savepoint, which costs a copy of every page they touch. It
// returns an error only when the whole transaction is lost.
func (w *writer) runOne(j *job, first bool) (kept bool, err error) {
	begin, undo, keep := []string{"SAVEPOINT job"}, "ROLLBACK TO job", "RELEASE job"
	if first {
		begin, undo, keep = w.conn.dialect.begin, "ROLLBACK", ""
	}
	if !j.state.CompareAndSwap(queued, begun) {
		return false, nil // its caller has given up
	}
	if j.err = j.ctx.Err(); j.err != nil {
		return false, nil
	}
	for _, statement := range begin {
		if err := w.conn.later(statement); err != nil {
			return false, fmt.Errorf("begin: %w", err)
		}
	}
	j.tx = &Tx{ctx: j.ctx, conn: w.conn, clock: w.store.clock, waits: first, writable: true}
	j.err = j.tx.run(j.fn)
	if j.err == nil {
		// A caller that gave up meanwhile must not find its write done.
		j.err = j.ctx.Err()
	}
	if j.err == nil && !first {
		j.err = w.conn.exec(keep) // fails with what fn sent, or if the transaction was abandoned
	}
	if j.err == nil {
		return true, nil
	}
	// Fails if SQLite abandoned the whole transaction, as after an I/O error.
	if err := w.conn.exec(undo); err != nil {
		return false, errors.Join(j.err, err)
	}
	if first {
		return false, nil
	}
	return false, w.conn.exec(keep)
}

// rollback gives the open transaction up; a lost connection has none.
func (w *writer) rollback() error {
	if w.conn == nil || w.conn.broken() {
		return nil
	}
	return w.conn.exec("ROLLBACK")
}

// guard turns a panic of fn into an error: one caller's defect must not stop the writer for all
// callers.
func guard(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a transaction: %v\n%s", p, debug.Stack())
		}
	}()
	return fn()
}
