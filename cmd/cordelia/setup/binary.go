package setup

import (
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"cordelia/internal/clientsettings"
	"cordelia/schemas"
)

// binary is the program clients will start, and where it comes from.
type binary struct {
	source, target string
	action         Action
}

// planBinary chooses where the program lives. One that runs from a folder on
// PATH stays there; one that go run or a download left somewhere is copied.
func planBinary(f setupFlags, m Manifest, userHome string) (binary, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return binary{}, fmt.Errorf("find this program: %w", err)
	}
	b := binary{source: self, target: self, action: Unchanged}
	name := "cordelia"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	switch {
	case f.binDir != "":
		dir, err := filepath.Abs(f.binDir)
		if err != nil {
			return b, fmt.Errorf("bin folder: %w", err)
		}
		b.target = filepath.Join(dir, name)
	case !Temporary(self) && OnPath(filepath.Dir(self)):
		return b, nil
	case len(m.Binaries) > 0:
		b.target = m.Binaries[len(m.Binaries)-1]
	default:
		b.target = filepath.Join(userHome, ".local", "bin", name)
	}
	there, err := os.Stat(b.target)
	if errors.Is(err, os.ErrNotExist) {
		b.action = created
		return b, nil
	}
	if err != nil || !there.Mode().IsRegular() {
		return b, schemas.Invalidf("%s is not a program",
			b.target).Try("move it away, or choose another folder with --bin-dir").Because(err)
	}
	same, err := SameContent(b.source, b.target)
	if err != nil || same {
		return b, err
	}
	b.action = Changed
	if !f.force && (!slices.Contains(m.Binaries, b.target) || !IsCordelia(b.target)) {
		return b, schemas.Conflictf("there is another program %s, which setup did not install", b.target).
			Try("choose another folder with --bin-dir, or replace it with --force")
	}
	return b, nil
}

// Temporary reports whether path is where programs do not stay: a temporary
// folder or the build cache.
func Temporary(path string) bool {
	places := []string{os.TempDir(), os.Getenv("GOCACHE"), os.Getenv("GOTMPDIR")}
	for _, dir := range places {
		if real, err := filepath.EvalSymlinks(dir); err == nil && dir != "" {
			if rel, err := filepath.Rel(real, path); err == nil && filepath.IsLocal(rel) {
				return true
			}
		}
	}
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(path), "/"), func(part string) bool {
		return strings.HasPrefix(part, "go-build")
	})
}

// OnPath reports whether dir is on PATH.
func OnPath(dir string) bool {
	want, err := os.Stat(dir)
	return slices.ContainsFunc(filepath.SplitList(os.Getenv("PATH")), func(entry string) bool {
		if filepath.Clean(entry) == dir {
			return true
		}
		have, statErr := os.Stat(entry)
		return err == nil && statErr == nil && os.SameFile(want, have)
	})
}

// IsCordelia reports whether the program at path was built from this module.
func IsCordelia(path string) bool {
	info, err := buildinfo.ReadFile(path)
	return err == nil && info.Main.Path == "cordelia"
}

// SameContent reports whether two files hold the same bytes.
func SameContent(a, b string) (bool, error) {
	x, err := fileSum(a)
	if err != nil {
		return false, err
	}
	y, err := fileSum(b)
	return x == y, err
}

func fileSum(path string) (sum [sha256.Size]byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return sum, unreadableProgram(path, err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, unreadableProgram(path, err)
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

func unreadableProgram(path string, err error) error {
	return schemas.Errorf(schemas.CodeUnavailable, "%s cannot be read", path).
		Try("check its owner and mode: ls -l %q", path).Because(err)
}

// install copies the program, in one step: a start meanwhile gets the old one or
// the new one, whole.
func (b binary) install() error {
	if b.action == Unchanged {
		return nil
	}
	temp := clientsettings.TempName(b.target)
	defer os.Remove(temp) //nolint:errcheck // renamed or worthless
	err := copyProgram(b.source, temp)
	if err == nil {
		err = os.Rename(temp, b.target)
	}
	if err != nil {
		return schemas.Errorf(schemas.CodeUnavailable, "the program %s cannot be written", b.target).
			Try("choose a folder of yours with --bin-dir").Because(err)
	}
	return nil
}

func copyProgram(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	os.Remove(to) //nolint:errcheck // left by a killed run, if at all
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Chmod(0o755), out.Sync(), out.Close())
}
