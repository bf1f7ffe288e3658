//go:build unix

package store

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// maxSocketPath is what fits sockaddr_un on every unix.
const maxSocketPath = 100

// peers are the sockets of the processes that wait on the same database, one
// file each in dir.
type peers struct {
	dir string

	mu     sync.Mutex
	own    *net.UnixConn // where this process is rung
	name   string        // its file
	out    int           // unbound socket to ring from, once opened
	opened bool
	names  []string  // the others' files
	seen   time.Time // dir's mtime when names was read
}

// place is dir, or a short stand-in when its path would not fit a socket name.
func (p *peers) place() string {
	if len(p.dir)+17 <= maxSocketPath {
		return p.dir
	}
	sum := sha256.Sum256([]byte(p.dir))
	return filepath.Join(os.TempDir(), fmt.Sprintf("cordelia-%d-%s", os.Getuid(), hex.EncodeToString(sum[:6])))
}

// listen opens this process's socket and calls rung for each datagram. Without
// a socket the poll remains.
func (p *peers) listen(rung func()) error {
	dir := p.place()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	fi, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !fi.IsDir() || fi.Mode().Perm()&0o077 != 0 || !ownedByUs(fi) {
		return fmt.Errorf("the folder %s is not ours alone", dir)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.name = fmt.Sprintf("%d.%s", os.Getpid(), rand.Text()[:8])
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, p.name), Net: "unixgram"})
	if err != nil {
		return err
	}
	p.own = c
	go func() {
		buf := make([]byte, 1)
		for {
			if _, err := c.Read(buf); err != nil {
				return // closed
			}
			rung()
		}
	}()
	return nil
}

func ownedByUs(fi os.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}

// ring sends one byte to every other process, never waiting for any; sockets
// nobody reads any more are removed.
func (p *peers) ring() {
	p.mu.Lock()
	defer p.mu.Unlock()
	dir := p.place()
	fi, err := os.Stat(dir)
	if err != nil || !ownedByUs(fi) {
		return // nobody of ours has ever listened
	}
	if !fi.ModTime().Equal(p.seen) {
		p.refresh(dir)
		p.seen = fi.ModTime()
		if time.Since(p.seen) < time.Second {
			p.seen = time.Time{} // a newcomer may yet get the same coarse mtime
		}
	}
	if len(p.names) == 0 || !p.open() {
		return
	}
	kept := p.names[:0]
	for _, name := range p.names {
		path := filepath.Join(dir, name)
		// A full buffer (EAGAIN) means a ring is already waiting there.
		err := syscall.Sendto(p.out, []byte{1}, syscall.MSG_DONTWAIT, &syscall.SockaddrUnix{Name: path})
		if errors.Is(err, syscall.ECONNREFUSED) {
			os.Remove(path) //nolint:errcheck // left by a killed process; another may have been first
			continue
		}
		if errors.Is(err, syscall.ENOENT) {
			continue
		}
		kept = append(kept, name)
	}
	p.names = kept
}

// open makes the outgoing socket.
func (p *peers) open() bool {
	if p.opened {
		return true
	}
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return false
	}
	syscall.CloseOnExec(fd)
	p.out, p.opened = fd, true
	return true
}

// refresh reads which sockets there are.
func (p *peers) refresh(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	p.names = p.names[:0]
	for _, e := range entries {
		if e.Name() != p.name && e.Type() == os.ModeSocket {
			p.names = append(p.names, e.Name())
		}
	}
}

// deafen closes this process's socket.
func (p *peers) deafen() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.own != nil {
		p.own.Close()                               //nolint:errcheck // the file is removed next
		os.Remove(filepath.Join(p.place(), p.name)) //nolint:errcheck // gone is what we want
		p.own, p.name = nil, ""
	}
}

func (p *peers) close() {
	p.deafen()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.opened {
		syscall.Close(p.out) //nolint:errcheck // outgoing only
		p.opened = false
	}
	p.names = nil
}
