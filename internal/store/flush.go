package store

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"cordelia/schemas"
)

// flusher brings commits to the disk. SQLite would do that within the commit, while
// nobody else has a turn; here a process gives its turn on as soon as the others see
// its commit, and flushes then, so that flushes of several processes run side by
// side and one may serve many. The log is a chain: whoever's flush returns has on
// disk what was committed before it, and a power cut takes the youngest commits
// first, never one from between.
//
// In the meantime others see what a power cut could still take. They build on it,
// for their own flush brings it along; before anybody is told of it, who read it
// waits for it too (catchUp).
type flusher struct {
	path  string                             // of the log
	open  func(path string) (logFile, error) // tests look on
	lazy  bool                               // the operator's choice: nothing is flushed
	marks *marks                             // nil: SQLite flushes

	mu   sync.Mutex // one flush of this process at a time; who waits may find it done
	file logFile    // opened before the first commit, so that it hears of every failure

	mapped sync.RWMutex // for who looks at the marks outside of a transaction
}

// logFile is the log as the flusher uses it.
type logFile interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Flush() error // what was written, by any process, is on disk
}

// marks are in memory that all processes on a database share: numbers of commits,
// of which there is one more with each. Only who has the turn moves the first two.
type marks struct {
	begun   atomic.Uint64 // may be seen by others
	done    atomic.Uint64 // is in the log
	flushed atomic.Uint64 // is on disk, and all before it
	broken  atomic.Uint64 // not 0: a flush failed, and the log was not written again

	generation generation
}

// mostCommits is more than there will ever be: marks beyond it are no marks.
const mostCommits = 1 << 62

var (
	// errLostFlush answers a write that was committed and could not be flushed.
	errLostFlush = errors.New("the log could not be flushed")
	// errTornLog answers all who would build on a log that is no longer what was written.
	errTornLog = errors.New("the log lost what could not be flushed")
)

// begin gives the next commit its number, before anybody can see it.
func (f *flusher) begin() (n uint64) {
	if f.marks == nil || f.lazy {
		return 0
	}
	m := f.marks
	// After a power cut they are what the disk had of them, each from a moment of its own.
	n = max(m.begun.Load(), m.done.Load(), m.flushed.Load()) + 1
	if n == 0 || n > mostCommits {
		m.flushed.Store(0)
		n = 1
	}
	m.begun.Store(n)
	return n
}

// end says that commit n is in the log, or that it failed and is nowhere.
func (f *flusher) end(n uint64, committed bool) {
	switch {
	case n == 0:
	case committed:
		f.marks.done.Store(n)
	default:
		f.marks.begun.Store(f.marks.done.Load()) // or all who read would wait for it
	}
}

// resume ends the commit of a process that was killed in it: it is in the log now, or
// nowhere. Only who has the turn may call it.
func (f *flusher) resume() {
	if f.marks != nil && !f.lazy {
		f.marks.done.Store(f.marks.begun.Load())
	}
}

// flush returns once commit n is on disk. After an error it is in the log for all to
// see and may be lost in a power cut.
func (f *flusher) flush(n uint64) error {
	if n == 0 {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.marks
	if m.flushed.Load() >= n {
		return nil // somebody's flush brought it along
	}
	if m.broken.Load() != 0 {
		return errLostFlush // the system tells a failure once, and then calls it done
	}
	if err := f.openFile(); err != nil {
		return err
	}
	upTo := m.done.Load()
	if err := f.file.Flush(); err != nil {
		m.broken.Store(1)
		slog.Error("flush the log", "err", err)
		return errors.Join(errLostFlush, err)
	}
	for {
		have := m.flushed.Load()
		if have >= upTo || m.flushed.CompareAndSwap(have, upTo) {
			return nil
		}
	}
}

// catchUp returns once all that a transaction could see which has ended is on disk.
// Where the disk refuses, what is there is told all the same: who wrote it hears of it.
func (f *flusher) catchUp() {
	if f.marks == nil || f.lazy {
		return
	}
	n := f.marks.begun.Load()
	if f.marks.flushed.Load() >= n {
		return
	}
	// The commit that began last may not be in the log yet: then the transaction did
	// not see it, and a flush from now on has all that it did see.
	if err := f.flush(n); err != nil && !errors.Is(err, errLostFlush) {
		slog.Error("flush the log", "err", err)
	}
}

// torn reports whether a flush failed since the log was last written: nothing may be
// built on it, nor copied from it into the database.
func (f *flusher) torn() bool { return f.marks != nil && f.marks.broken.Load() != 0 }

// tear says that SQLite itself could not flush.
func (f *flusher) tear() {
	if f.marks != nil {
		f.marks.broken.Store(1)
	}
}

// mend writes the whole log again after a flush of it failed: the system may have given
// up on pages that it could not write, and would say of the next flush that all is
// well. It may even have dropped them; then what SQLite takes for its frames, of which
// there are that many, is not what was written, and only reading the log anew, which
// the first process does after all have ended, tells what is left. Only who has the turn
// may call it, in a transaction that keeps others out.
func (f *flusher) mend(frames int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.openFile(); err != nil {
		return err
	}
	f.file.Flush() //nolint:errcheck // hears of the failure that is being mended; the next one tells
	if whole, err := wholeFrames(f.file); err != nil {
		return fmt.Errorf("read the log: %w", err)
	} else if whole < frames {
		return errTornLog
	}
	upTo := f.marks.done.Load()
	if err := rewrite(f.file); err != nil {
		return fmt.Errorf("write the log again: %w", err)
	}
	if err := f.file.Flush(); err != nil {
		return fmt.Errorf("flush the log: %w", err)
	}
	f.marks.flushed.Store(upTo)
	f.marks.broken.Store(0)
	return nil
}

// rewrite writes to a file what is in it.
func rewrite(file logFile) error {
	buf := make([]byte, 1<<20)
	for at := int64(0); ; {
		n, err := file.ReadAt(buf, at)
		if n > 0 {
			if _, err := file.WriteAt(buf[:n], at); err != nil {
				return err
			}
			at += int64(n)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// ready opens the log, which is there once a connection looked at the database. A writer
// calls it before its turn: it may have to wait for a flush.
func (f *flusher) ready() error {
	if f.marks == nil || f.lazy {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.openFile()
}

func (f *flusher) openFile() (err error) {
	if f.file != nil {
		return nil
	}
	if f.file, err = f.open(f.path); err != nil {
		return schemas.Errorf(schemas.CodeUnavailable, "the log of the database cannot be opened; nothing was written").
			Try("repeat the call; if it happens again, run: cordelia doctor").Because(err)
	}
	return nil
}

func (f *flusher) close() error {
	f.mapped.Lock()
	defer f.mapped.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	if f.file != nil {
		errs = append(errs, f.file.Close())
		f.file = nil
	}
	if f.marks != nil {
		errs = append(errs, unmap(f.marks))
		f.marks = nil
	}
	return errors.Join(errs...)
}

// osLog is the log in the file system.
type osLog struct{ *os.File }

// openLog sees to it that the log's name is on disk, too: it may be new, and SQLite
// does so only in the process that made it.
func openLog(path string) (logFile, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return osLog{file}, nil
}
