package store

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// alive tells the processes that use a database from those that were killed: each
// locks a file of its own for as long as it lives, and the kernel frees it.
type alive struct {
	dir string

	mu   sync.Mutex
	name string
	file *os.File
}

// Process returns the name of this process's use of the database, to be kept with
// what must not outlive it.
func (s *Store) Process() (string, error) {
	a := &s.alive
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.file == nil {
		if err := a.open(); err != nil {
			return "", fmt.Errorf("name this process: %w", err)
		}
	}
	return a.name, nil
}

// open makes and locks the file. It may leave it unmade: another process may have
// taken the new file for a dead one's before it was locked.
func (a *alive) open() error {
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return err
	}
	a.sweep()
	name := rand.Text()[:12]
	f, err := os.OpenFile(a.path(name), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if ok, err := tryLock(f, false); err != nil {
		f.Close() //nolint:errcheck // nothing was written
		return err
	} else if ok {
		if _, err := os.Stat(f.Name()); err == nil {
			a.name, a.file = name, f
			return nil
		}
	}
	return f.Close()
}

// Ended reports whether the process of that name no longer uses the database.
func (s *Store) Ended(process string) bool { return s.alive.ended(process) }

func (a *alive) ended(name string) bool {
	path := a.path(name)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return os.IsNotExist(err)
	}
	ok, err := tryLock(f, true) // shared: two that ask at once must not take each other for it
	dead := ok && err == nil
	if dead {
		os.Remove(path) //nolint:errcheck // another may have been first
	}
	f.Close() //nolint:errcheck // nothing was written
	if dead {
		// Windows removes no open file; a new process's that is not locked yet stays.
		os.Remove(path) //nolint:errcheck // mostly it is gone
	}
	return dead
}

// sweep removes the files of killed processes.
func (a *alive) sweep() {
	entries, err := os.ReadDir(a.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		a.ended(e.Name())
	}
}

// path is the file of a process; names come from the database.
func (a *alive) path(name string) string { return filepath.Join(a.dir, filepath.Base(name)) }

func (a *alive) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file != nil {
		a.file.Close()           //nolint:errcheck // nothing was written
		os.Remove(a.file.Name()) //nolint:errcheck // another may have been first
		a.name, a.file = "", nil
	}
}
