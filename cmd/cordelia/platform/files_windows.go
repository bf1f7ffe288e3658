package platform

import (
	"io/fs"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// FreeSpace is what this user may still write below dir, in bytes.
func FreeSpace(dir string) (free uint64, err error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	return free, windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
}

// OwnedByMe is true: the access lists of a user's profile keep others out.
func OwnedByMe(fs.FileInfo) bool { return true }

// OwnerName names no user: see OwnedByMe.
func OwnerName(fs.FileInfo) string { return "another user" }

// SameDisk reports whether two paths are on one volume.
func SameDisk(a, b string) bool {
	return strings.EqualFold(filepath.VolumeName(a), filepath.VolumeName(b))
}

// Listened is true: there are no sockets here, only polling.
func Listened(string) (bool, error) { return true, nil }

// KeepDescriptors has nothing to do: a program gets the handles that are meant for it alone.
func KeepDescriptors() {}
