package lock

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// Processes separates the processes that use a database from those that were killed: each locks
// one file while it lives, and the kernel frees it.
type Processes struct {
	Dir string // of the files

	mu   sync.Mutex
	name string
	file *os.File
}

// Own returns the name of this process's use of the database, to be kept with
// what must not outlive it.
func (p *Processes) Own() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.file == nil {
		if err := p.open(); err != nil {
			return "", fmt.Errorf("name this process: %w", err)
		}
	}
	return p.name, nil
}

// open makes and locks the file. It may leave it unmade: another process may have
// taken the new file for a dead one's before it was locked.
func (p *Processes) open() error {
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		return err
	}
	p.sweep()
	name := rand.Text()[:12]
	f, err := os.OpenFile(p.path(name), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if ok, err := Try(f, false); err != nil {
		f.Close() //nolint:errcheck // nothing was written
		return err
	} else if ok {
		if _, err := os.Stat(f.Name()); err == nil {
			p.name, p.file = name, f
			return nil
		}
	}
	return f.Close()
}

// Ended reports whether the process of that name no longer uses the database.
func (p *Processes) Ended(name string) bool {
	path := p.path(name)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return os.IsNotExist(err)
	}
	ok, err := Try(f, true) // shared: two that ask at once must not take each other for it
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
func (p *Processes) sweep() {
	entries, err := os.ReadDir(p.Dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		p.Ended(e.Name())
	}
}

// path is the file of a process; names come from the database.
func (p *Processes) path(name string) string { return filepath.Join(p.Dir, filepath.Base(name)) }

// Close ends this process's use of the database.
func (p *Processes) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file != nil {
		p.file.Close()           //nolint:errcheck // nothing was written
		os.Remove(p.file.Name()) //nolint:errcheck // another may have been first
		p.name, p.file = "", nil
	}
}
