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

	sqlite3 "modernc.org/sqlite/lib"

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
	store  *Store
	conn   *conn // nil until the first write
	opened atomic.Bool
	turn   *turn
	wait   time.Duration // for the other processes' turns
	jobs   chan *job
	quit   chan struct{}
	ended  chan struct{}

	unlooked int // writes since it last looked how long the log is
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
// failed or the store is closed. Of these only a flush that failed leaves what was
// written to be seen, and says so.
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

// Wrote reports whether this process began to write.
func (s *Store) Wrote() bool { return s.writer.opened.Load() }

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
	if err := w.open(); err != nil {
		answer(batch, err)
		return
	}
	if err := w.turn.take(w.wait - time.Since(first.since)); err != nil {
		answer(batch, err)
		return
	}
	w.store.flusher.resume()
	if err := w.mend(); err != nil {
		w.turn.give()
		answer(batch, err)
		return
	}
	var n uint64 // of the commit, once it has one
	err := errLostGoroutine
	defer func() { w.settle(batch, n, err) }()
	now := w.store.clock.Now()
	held := 0 // jobs whose changes the open transaction holds
	for i := 0; i < len(batch); i++ {
		kept, lost := w.runOne(batch[i], now, held == 0)
		if lost != nil {
			err = lost
			return
		}
		if kept {
			held++
		}
		if len(batch) < maxBatch {
			select {
			case j := <-w.jobs:
				batch = append(batch, j)
			default:
			}
		}
	}
	if err = nil; held > 0 {
		n, err = w.conclude()
	}
}

// conclude commits and gives the commit's number, 0 if nobody flushes it.
func (w *writer) conclude() (n uint64, err error) {
	f := w.store.flusher
	n = f.begin()
	err = w.conn.exec("COMMIT")
	if f.end(n, err == nil); err != nil {
		return 0, fmt.Errorf("commit: %w", err)
	}
	return n, nil
}

// flush has commit n on disk. A flush that failed is made good at once if the disk lets
// it: until then the log may lose what it holds.
func (w *writer) flush(n uint64) error {
	err := w.store.flusher.flush(n)
	if !errors.Is(err, errLostFlush) || w.turn.take(w.wait) != nil {
		return err
	}
	defer w.turn.give()
	if mend := w.mend(); mend != nil {
		return errors.Join(err, mend)
	}
	return nil
}

// mend writes the log anew if a flush of it failed, before anything is built on it. It
// is called in this process's turn.
func (w *writer) mend() error {
	f := w.store.flusher
	if !f.torn() {
		return nil
	}
	logged, _, err := w.logged()
	if err != nil {
		return fmt.Errorf("length of the log: %w", err)
	}
	if err := w.conn.exec("BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	return errors.Join(f.mend(logged), w.conn.exec("ROLLBACK"))
}

// mendLast is mend for who writes no more.
func (w *writer) mendLast() error {
	if err := w.open(); err != nil {
		return err
	}
	if err := w.turn.take(w.wait); err != nil {
		return err
	}
	defer w.turn.give()
	return w.mend()
}

// open opens the writing connection unless it is.
func (w *writer) open() error {
	if w.conn == nil {
		c, err := w.store.connect(context.Background(), w.turn, w.wait)
		if err != nil {
			return fmt.Errorf("open database: %w", err)
		}
		if err := guardOwners(context.Background(), c); err != nil {
			return errors.Join(err, c.close())
		}
		w.conn = c
	}
	w.opened.Store(true)
	return w.store.flusher.ready()
}

// settle ends a transaction that was committed as n (0: it wrote nothing) or lost, has
// it flushed, and tells everyone.
func (w *writer) settle(batch []*job, n uint64, err error) {
	if err != nil {
		// An error here can mean SQLite already rolled back; asking again is harmless.
		if end := w.conn.exec("ROLLBACK"); end != nil && driverCode(end) == 0 {
			slog.Error("rollback after a failed write", "err", end)
		}
	}
	if m := w.store.flusher.marks; m != nil {
		m.generation.settle() // in our turn still, and only now that the commit is seen or undone
	}
	w.turn.give()
	if n == 0 {
		w.store.flusher.catchUp() // a refusal tells of others' commits, too
	} else {
		err = w.flush(n)
	}
	rang := false
	for _, j := range batch {
		if j.err == nil && j.tx != nil {
			rang = rang || j.tx.rang && (err == nil || n != 0) // what could not be flushed is there, too
			if err == nil {
				j.tx.runAfter()
			}
		}
	}
	answer(batch, err)
	if rang {
		runtime.Gosched() // who waited goes on first: a write is answered 4 % sooner
		w.store.bell.ring()
	}
	if err == nil {
		w.backfill(len(batch))
	}
}

// Pages of the log: how many may wait to be copied into the database, and at how
// many in all the commit itself copies what waits, so that the log ends. A process
// looks after every few writes, of which one has some 20 pages.
const (
	mostWaiting = 1000
	mostLogged  = 4000
	lookEvery   = 8
)

// backfill copies the log into the database when enough of it waits. SQLite would
// do that within a commit, for milliseconds in which nobody else has a turn and
// the caller waits; here all are answered and others write meanwhile. A failure
// loses nothing: the log is kept, and somebody tries again after the next commit.
func (w *writer) backfill(writes int) {
	if w.unlooked += writes; w.unlooked < lookEvery {
		return
	}
	w.unlooked = 0
	logged, copied, err := w.logged()
	if err == nil && logged-copied >= mostWaiting && !w.store.flusher.torn() {
		err = w.conn.exec("PRAGMA wal_checkpoint(PASSIVE)") // at once if another process is at it
		if driverCode(err)&0xff == sqlite3.SQLITE_IOERR {
			w.store.flusher.tear() // the flush of the log may have been what failed
		}
	}
	if err != nil {
		slog.Warn("copying the log", "err", err)
	}
}

// logged tells how many frames the log has, and how many of them the database has too.
func (w *writer) logged() (frames, copied int, err error) {
	s, err := w.conn.prepare("PRAGMA wal_checkpoint(NOOP)")
	if err != nil {
		return 0, 0, err
	}
	var busy int
	err = s.QueryRowContext(context.Background()).Scan(&busy, &frames, &copied)
	return frames, copied, err
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
func (w *writer) runOne(j *job, now time.Time, first bool) (kept bool, err error) {
	begin, undo, keep := "SAVEPOINT job", "ROLLBACK TO job", "RELEASE job"
	if first {
		begin, undo, keep = "BEGIN IMMEDIATE", "ROLLBACK", ""
	}
	if !j.state.CompareAndSwap(queued, begun) {
		return false, nil // nobody waits for it
	}
	if j.err = j.ctx.Err(); j.err != nil {
		return false, nil
	}
	if err := w.conn.exec(begin); err != nil {
		return false, fmt.Errorf("begin: %w", err)
	}
	j.tx = &Tx{ctx: j.ctx, conn: w.conn, now: now, writable: true, flusher: w.store.flusher}
	j.err = j.tx.run(j.fn)
	if j.err == nil {
		// A caller that gave up meanwhile must not find its write done.
		j.err = j.ctx.Err()
	}
	if j.err != nil {
		// Fails if SQLite abandoned the whole transaction, as after an I/O error.
		if err := w.conn.exec(undo); err != nil {
			return false, errors.Join(j.err, err)
		}
		if first {
			return false, nil
		}
	}
	if keep != "" {
		// Fails too if it was abandoned and fn swallowed the error.
		if err := w.conn.exec(keep); err != nil {
			return false, err
		}
	}
	return j.err == nil, nil
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
