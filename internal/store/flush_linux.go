package store

import (
	"errors"
	"os"
	"syscall"
)

// reserve makes f that long, with room on the disk where the system can reserve it: a
// page without ends the process that first writes it on a full disk.
func reserve(f *os.File, size int64) error {
	for {
		switch err := syscall.Fallocate(int(f.Fd()), 0, 0, size); {
		case err == nil, errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
			return err
		case !errors.Is(err, syscall.EINTR):
			return f.Truncate(size)
		}
	}
}

// Flush spares what a log does not need: the times of the file.
func (l osLog) Flush() error {
	for {
		if err := syscall.Fdatasync(int(l.Fd())); err != syscall.EINTR {
			return err
		}
	}
}
