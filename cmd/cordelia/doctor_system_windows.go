package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// lockFree reports whether nobody holds a lock on the file at path. It holds the
// lock for an instant itself. A file that is not there is free.
func lockFree(path string) (bool, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// freeSpace is what this user may still write below dir, in bytes.
func freeSpace(dir string) (free uint64, err error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	return free, windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
}

// ownedByMe is true: the access lists of a user's profile keep others out.
func ownedByMe(fs.FileInfo) bool { return true }

// ownerName is nobody in particular: see ownedByMe.
func ownerName(fs.FileInfo) string { return "another user" }

// sameDisk reports whether two paths are on one volume.
func sameDisk(a, b string) bool {
	return strings.EqualFold(filepath.VolumeName(a), filepath.VolumeName(b))
}

// listened is true: there are no sockets here, only polling.
func listened(string) (bool, error) { return true, nil }
