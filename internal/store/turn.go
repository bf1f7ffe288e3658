package store

import (
	"fmt"
	"os"
	"sync"
	"time"

	"cordelia/schemas"
)

// turn is the processes' place in the queue for writing: an exclusive lock on
// a file beside the database. SQLite's own waiting polls, and under load lets
// one process write thousands of times while another waits for seconds; the
// kernel's queue is fair. What is written is safe without it, by BEGIN IMMEDIATE. The
// kernel frees it when a process is killed.
type turn struct {
	file *os.File

	mu      sync.Mutex
	wanted  bool       // someone still waits on arrived
	arrived chan error // of the wait in flight, nil if there is none
}

func newTurn(path string) (*turn, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open write-turn file: %w", err)
	}
	return &turn{file: f}, nil
}

// take waits until it is this process's turn, at most for limit. One goroutine
// at a time may take and give.
func (t *turn) take(limit time.Duration) error {
	arrived, err := t.ask()
	if arrived == nil {
		return err
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case err := <-arrived:
		return err
	case <-timer.C:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case err := <-arrived: // at the last moment
		return err
	default:
	}
	t.wanted = false
	return schemas.Errorf(schemas.CodeBusy, "another process has been writing for too long; nothing was written").
		Try("repeat the call; if it happens again look for a stopped cordelia process: cordelia doctor")
}

// ask takes a free lock at once (nil, nil) or returns where it will arrive.
func (t *turn) ask() (<-chan error, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wanted = true
	if t.arrived != nil {
		return t.arrived, nil // an abandoned wait has kept our place in the queue
	}
	ok, err := tryLock(t.file, false)
	if ok || err != nil {
		return nil, err
	}
	// Only the blocking call queues fairly, and it cannot be given a deadline.
	t.arrived = make(chan error, 1)
	go t.wait(t.arrived)
	return t.arrived, nil
}

// wait blocks for the lock and hands it over, or straight back if nobody wants
// it any more.
func (t *turn) wait(arrived chan<- error) {
	err := lock(t.file)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.arrived = nil
	if t.wanted {
		arrived <- err
	} else if err == nil {
		unlock(t.file)
	}
}

// give ends this process's turn.
func (t *turn) give() { unlock(t.file) }

// close frees the lock; a wait in flight frees its own when it comes.
func (t *turn) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wanted = false
	if t.arrived != nil {
		return nil // closing the file under the wait would let it lock a reused descriptor
	}
	return t.file.Close()
}
