//go:build unix

package mcp

import (
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// pollable gives in, if it is a pipe or a socket, as the runtime's poller reads it;
// restore makes it what it was. A socket that is also written to is read as it is: made not
// to block, it would refuse an answer whose reader is slow. A read that waits in the system instead has the
// scheduler look after it every few microseconds for the first 10 ms of every wait:
// claims and writes took an eighth more processor time so, and a search 2.4 ms instead of 2.1.
func pollable(in io.Reader) (_ io.Reader, restore func()) {
	same := func() (io.Reader, func()) { return in, func() {} }
	f, ok := in.(*os.File)
	if !ok {
		return same()
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return same() // a terminal is its shell's, too
	}
	for _, out := range []*os.File{os.Stdout, os.Stderr} {
		if written, err := out.Stat(); err == nil && os.SameFile(info, written) {
			return same()
		}
	}
	fd, err := polledCopy(f)
	if err != nil {
		return same()
	}
	polled := os.NewFile(uintptr(fd), f.Name())
	return polled, func() {
		syscall.SetNonblock(int(f.Fd()), false) //nolint:errcheck // gives the file back as it was
		polled.Close()                          //nolint:errcheck // nothing was written
	}
}

// polledCopy is another descriptor of what f reads, made not to block: each file
// closes its own. An error says that f has to be read as it is, or may be.
func polledCopy(f *os.File) (fd int, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	if control := raw.Control(func(own uintptr) {
		var flags int
		if flags, err = unix.FcntlInt(own, unix.F_GETFL, 0); err == nil && flags&unix.O_NONBLOCK != 0 {
			err = os.ErrExist // it is polled already
		}
		if err == nil {
			fd, err = unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, 0)
		}
	}); control != nil || err != nil {
		return 0, errors.Join(control, err)
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		return 0, errors.Join(err, syscall.Close(fd))
	}
	return fd, nil
}
