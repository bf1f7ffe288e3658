//go:build unix

package keys

import (
	"io/fs"
	"os"
	"syscall"

	"cordelia/schemas"
)

// checkFile refuses a file that another user owns or may touch.
func checkFile(path string, info fs.FileInfo) error {
	if uid, ok := owner(info); !ok || uid != os.Geteuid() {
		return schemas.Deniedf("key file %s belongs to another user (uid %d)", path, uid).
			Expecting("uid %d", os.Geteuid()).
			Try("run as that user, or make the file yours: chown %d %q", os.Geteuid(), path)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return schemas.Deniedf("key file %s is open to other users (mode %04o)", path, mode).
			Expecting("mode 0600").
			Try("chmod 600 %q, and if others use this machine make a new key", path)
	}
	return nil
}

// checkSettings refuses a settings file that another user owns or may write.
func checkSettings(path string, info fs.FileInfo) error {
	if uid, ok := owner(info); !ok || uid != os.Geteuid() {
		return schemas.Deniedf("settings file %s belongs to another user (uid %d)", path, uid).
			Expecting("uid %d", os.Geteuid()).
			Try("run as that user, or make the file yours: chown %d %q", os.Geteuid(), path)
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return schemas.Deniedf("other users may write settings file %s (mode %04o)", path, mode).
			Expecting("mode 0600").
			Try("read what it says, then: chmod 600 %q", path)
	}
	return nil
}

// checkFolder refuses a folder in which another user, other than root, could
// replace a key file.
func checkFolder(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return unreadable(path, err)
	}
	if uid, ok := owner(info); !ok || uid != os.Geteuid() && uid != 0 {
		return schemas.Deniedf("the key folder %s belongs to another user (uid %d)", path, uid).
			Expecting("uid %d", os.Geteuid()).
			Try("run as that user, or make the folder yours: chown %d %q", os.Geteuid(), path)
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return schemas.Deniedf("other users may write the key folder %s (mode %04o)", path, mode).
			Expecting("mode 0700").
			Try("chmod 700 %q", path)
	}
	return nil
}

func owner(info fs.FileInfo) (uid int, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return -1, false
	}
	return int(stat.Uid), true
}

// syncFolder makes the names in a folder last.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
