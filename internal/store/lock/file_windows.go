package lock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

func lockFile(f *os.File, flags uint32) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{})
}

// Try locks f, shared or exclusively, if that needs no waiting.
func Try(f *os.File, shared bool) (bool, error) {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if !shared {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := lockFile(f, flags)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// wait blocks until f is locked exclusively.
func wait(f *os.File) error { return lockFile(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

func free(f *os.File) {
	windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0,
		&windows.Overlapped{}) //nolint:errcheck // released at close anyway
}
