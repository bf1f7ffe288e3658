package lock

import (
	"fmt"
	"os"
	"sync"
	"time"

	"cordelia/schemas"
)

// Write is the lock that a process holds while it writes: an exclusive lock on a file
// beside the database. The kernel gives it to the processes in the order in which they
// asked, and frees it when a process is killed.
type Write struct {
	file *os.File

	mu     sync.Mutex
	wanted bool       // a caller still waits on given
	given  chan error // receives when the wait in flight ends; nil if there is none
}

// OpenWrite opens the lock file at path, which it makes as needed.
func OpenWrite(path string) (*Write, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open write lock: %w", err)
	}
	return &Write{file: f}, nil
}

// Take waits until this process has the lock, at most for limit. One goroutine at a
// time may take and release it. Errors: CodeBusy when limit was over first.
func (w *Write) Take(limit time.Duration) error {
	given, err := w.ask()
	if given == nil {
		return err
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case err := <-given:
		return err
	case <-timer.C:
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case err := <-given: // at the last moment
		return err
	default:
	}
	w.wanted = false
	return schemas.Errorf(schemas.CodeBusy, "another process has been writing for too long; nothing was written").
		Try("repeat the call; if it happens again look for a stopped cordelia process: cordelia doctor")
}

// ask takes a free lock at once (nil, nil) or returns the channel that receives when
// the lock was given.
func (w *Write) ask() (<-chan error, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wanted = true
	if w.given != nil {
		return w.given, nil // an abandoned wait has kept our place in the queue
	}
	ok, err := Try(w.file, false)
	if ok || err != nil {
		return nil, err
	}
	// Only the blocking call queues fairly, and it cannot be given a deadline.
	w.given = make(chan error, 1)
	go w.wait(w.given)
	return w.given, nil
}

// wait blocks for the lock, then hands it to the caller that waits, or frees it if the
// caller gave up.
func (w *Write) wait(given chan<- error) {
	err := wait(w.file)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.given = nil
	if w.wanted {
		given <- err
	} else if err == nil {
		free(w.file)
	}
}

// Release frees the lock for the next process.
func (w *Write) Release() { free(w.file) }

// Close frees the lock; a wait in flight frees its own when it ends.
func (w *Write) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wanted = false
	if w.given != nil {
		return nil // closing the file under the wait would let it lock a reused descriptor
	}
	return w.file.Close()
}
