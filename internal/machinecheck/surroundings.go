package machinecheck

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// tempHome is the home folder of one command.
type tempHome string

func newHome() (tempHome, error) {
	dir, err := os.MkdirTemp("", "cordelia-check-")
	if err != nil {
		return "", err
	}
	return tempHome(dir), os.Mkdir(tempHome(dir).temp(), 0o700)
}

func (h tempHome) temp() string { return filepath.Join(string(h), "tmp") }

// remove deletes the folder, also if the command made read-only folders in it, as module caches
// are.
func (h tempHome) remove() {
	if os.RemoveAll(string(h)) == nil {
		return
	}
	if r, err := os.OpenRoot(string(h)); err == nil {
		fs.WalkDir(r.FS(), ".", func(path string, d fs.DirEntry,
			err error) error { //nolint:errcheck // the next line tells
			if err == nil && d.IsDir() {
				r.Chmod(path, 0o700) //nolint:errcheck // as above
			}
			return nil
		})
		r.Close() //nolint:errcheck // only read
	}
	os.RemoveAll(string(h)) //nolint:errcheck // a folder for temporary files is swept by others, too
}

// environment is all that a command gets of ours: where programs are. Keys and
// tokens in the node's own environment are none of its business.
func environment(home string) []string {
	temp := tempHome(home).temp()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + temp, "LANG=C.UTF-8"}
	if runtime.GOOS == "windows" {
		env = append(env, "USERPROFILE="+home, "TEMP="+temp, "TMP="+temp, "PATHEXT="+os.Getenv("PATHEXT"))
	}
	return env
}
