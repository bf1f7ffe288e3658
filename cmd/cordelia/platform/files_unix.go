//go:build unix

package platform

import (
	"errors"
	"io/fs"
	"os"
	accounts "os/user"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// FreeSpace is what this user may still write below dir, in bytes.
func FreeSpace(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return uint64(st.Bavail) * uint64(st.Bsize), nil
}

// OwnedByMe reports whether the file is this user's.
func OwnedByMe(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// OwnerName is the user a file belongs to.
func OwnerName(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "another user"
	}
	id := strconv.FormatUint(uint64(st.Uid), 10)
	if u, err := accounts.LookupId(id); err == nil {
		return u.Username
	}
	return "user " + id
}

// SameDisk reports whether two paths are on one file system.
func SameDisk(a, b string) bool {
	var x, y unix.Stat_t
	return unix.Stat(a, &x) == nil && unix.Stat(b, &y) == nil && x.Dev == y.Dev
}

// Listened reports whether a process listens on the datagram socket at path;
// nothing is sent.
func Listened(path string) (bool, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
	if err != nil {
		return false, err
	}
	defer unix.Close(fd) //nolint:errcheck // nothing was sent
	err = unix.Connect(fd, &unix.SockaddrUnix{Name: path})
	if errors.Is(err, unix.ECONNREFUSED) || errors.Is(err, unix.ENOENT) {
		return false, nil
	}
	return err == nil, err
}

// KeepDescriptors keeps every descriptor that this program was started with, but for the standard
// ones, out of the programs that it starts: a confined worker would read what a shell left open.
func KeepDescriptors() {
	const first = 3
	open, err := os.ReadDir("/dev/fd")
	if err != nil { // as in a bare chroot: those that a shell gives
		for fd := first; fd < 1024; fd++ {
			syscall.CloseOnExec(fd)
		}
	}
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd >= first {
			syscall.CloseOnExec(fd)
		}
	}
}
