//go:build unix

package lock

import (
	"errors"
	"os"
	"syscall"
)

// Try locks f, shared or exclusively, if that needs no waiting.
func Try(f *os.File, shared bool) (bool, error) {
	how := syscall.LOCK_EX
	if shared {
		how = syscall.LOCK_SH
	}
	err := flock(f, how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// wait blocks until f is locked exclusively.
func wait(f *os.File) error { return flock(f, syscall.LOCK_EX) }

func free(f *os.File) {
	flock(f, syscall.LOCK_UN) //nolint:errcheck // cannot fail on an open descriptor
}

func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
