package lock

import (
	"fmt"
	"os"
)

// Write is the lock that a process holds while it writes: an exclusive lock on a file
// beside the database. The kernel gives it to the processes in the order in which they
// asked, and frees it when a process is killed.
type Write struct{ file *os.File }

// OpenWrite opens the lock file at path, which it makes as needed.
func OpenWrite(path string) (*Write, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open write lock: %w", err)
	}
	return &Write{file: f}, nil
}

// Take blocks until this process has the lock, for as long as that takes: only the call
// that blocks in the kernel queues fairly, and it has no deadline. One goroutine at a time
// may take and release it.
func (w *Write) Take() error { return wait(w.file) }

// Release frees the lock for the next process.
func (w *Write) Release() { free(w.file) }

// Close frees the lock. Not while Take waits, which could then lock a reused descriptor.
func (w *Write) Close() error { return w.file.Close() }
