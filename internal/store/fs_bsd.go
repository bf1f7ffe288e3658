//go:build darwin || freebsd

package store

import "syscall"

// NetworkFileSystem names the file system dir is on if it is a network one:
// their locks do not protect a shared write-ahead log.
func NetworkFileSystem(dir string) (name string, bad bool) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return "", false
	}
	var kind []byte
	for _, c := range st.Fstypename {
		if c == 0 {
			break
		}
		kind = append(kind, byte(c))
	}
	switch string(kind) {
	case "nfs", "smbfs", "afpfs", "webdav", "p9fs":
		return string(kind), true
	}
	return "", false
}
