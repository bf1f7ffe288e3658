//go:build unix

package notify

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

// sockets are those of the processes that listen for commits to the same database, one
// file each in dir.
type sockets struct {
	dir string

	mu     sync.Mutex
	own    *net.UnixConn // where this process is notified
	name   string        // its file
	out    int           // unbound socket to send from, once opened
	opened bool
	names  []string  // the others' files
	seen   time.Time // dir's mtime when names was read
}

// place is dir, or a short stand-in when its path would not fit a socket name.
func (s *sockets) place() string {
	if len(s.dir)+17 <= maxSocketPath {
		return s.dir
	}
	sum := sha256.Sum256([]byte(s.dir))
	return filepath.Join(os.TempDir(), fmt.Sprintf("cordelia-%d-%s", os.Getuid(), hex.EncodeToString(sum[:6])))
}

// Discard removes the sockets of a database that no process uses.
func Discard(dir string) {
	s := sockets{dir: dir}
	if fi, err := os.Lstat(s.place()); err == nil && ownedByUs(fi) {
		os.RemoveAll(s.place()) //nolint:errcheck // what stays is found again
	}
}

// Listen opens this process's socket and calls woken for each datagram. Without
// a socket the poll remains.
func (s *sockets) Listen(woken func()) error {
	dir := s.place()
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
	s.mu.Lock()
	defer s.mu.Unlock()
	s.name = fmt.Sprintf("%d.%s", os.Getpid(), rand.Text()[:8])
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, s.name), Net: "unixgram"})
	if err != nil {
		return err
	}
	s.own = c
	go func() {
		buf := make([]byte, 1)
		for {
			if _, err := c.Read(buf); err != nil {
				return // closed
			}
			woken()
		}
	}()
	return nil
}

func ownedByUs(fi os.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}

// Send sends one byte to every other process, never waiting for any; sockets of
// killed processes are removed.
func (s *sockets) Send() {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir := s.place()
	fi, err := os.Stat(dir)
	if err != nil || !ownedByUs(fi) {
		return // no process of ours has ever listened
	}
	if !fi.ModTime().Equal(s.seen) {
		s.refresh(dir)
		s.seen = fi.ModTime()
		if time.Since(s.seen) < time.Second {
			s.seen = time.Time{} // a newcomer may yet get the same coarse mtime
		}
	}
	if len(s.names) == 0 || !s.open() {
		return
	}
	kept := s.names[:0]
	for _, name := range s.names {
		path := filepath.Join(dir, name)
		// A full buffer (EAGAIN) means that a notification is already waiting there.
		err := syscall.Sendto(s.out, []byte{1}, syscall.MSG_DONTWAIT, &syscall.SockaddrUnix{Name: path})
		if errors.Is(err, syscall.ECONNREFUSED) {
			os.Remove(path) //nolint:errcheck // left by a killed process; another may have been first
			continue
		}
		if errors.Is(err, syscall.ENOENT) {
			continue
		}
		kept = append(kept, name)
	}
	s.names = kept
}

// open makes the outgoing socket.
func (s *sockets) open() bool {
	if s.opened {
		return true
	}
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return false
	}
	syscall.CloseOnExec(fd)
	s.out, s.opened = fd, true
	return true
}

// refresh reads which sockets there are.
func (s *sockets) refresh(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	s.names = s.names[:0]
	for _, e := range entries {
		if e.Name() != s.name && e.Type() == os.ModeSocket {
			s.names = append(s.names, e.Name())
		}
	}
}

// Unlisten closes this process's socket.
func (s *sockets) Unlisten() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own != nil {
		s.own.Close()                               //nolint:errcheck // the file is removed next
		os.Remove(filepath.Join(s.place(), s.name)) //nolint:errcheck // gone is what we want
		s.own, s.name = nil, ""
	}
}

func (s *sockets) Close() {
	s.Unlisten()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened {
		syscall.Close(s.out) //nolint:errcheck // outgoing only
		s.opened = false
	}
	s.names = nil
}
