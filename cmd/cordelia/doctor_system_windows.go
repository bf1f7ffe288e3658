package main

import (
	"io/fs"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

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
