package run

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"cordelia/run/git"
	"cordelia/schemas"
)

// Reach is what workers may reach beside their worktree, as the user says.
type Reach struct {
	Read  []string // files and folders, such as caches of dependencies
	Ports []uint16 // TCP ports
}

// systemFolders are readable on any system.
var systemFolders = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt",
	"/proc", "/sys", "/nix", "/snap",
	"/run/systemd/resolve", "/run/resolvconf", "/run/current-system", "/var/lib/alternatives",
	"/var/lib/ca-certificates"}

// WorkerShield is the shield of one worker: it may write its worktree, and a HOME and a TMPDIR
// in place. It may read the system, the programs in PATH, its repository's .git, and the
// folders that the user adds; nothing else of the user's home.
func WorkerShield(ctx context.Context, r *git.Repository, place string, w *git.Worktree, door string,
	add Reach) (Shield, error) {
	s := everyWorker(ctx, r, add)
	s.Write, s.Sockets = []string{w.Path}, []string{door}
	s.Home, s.Temp = filepath.Join(place, "home"), filepath.Join(place, "tmp")
	for _, dir := range []string{s.Home, s.Temp} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return s, err
		}
		s.Write = append(s.Write, dir)
	}
	return s, nil
}

// everyWorker is what the shields of all workers have alike.
func everyWorker(ctx context.Context, r *git.Repository, add Reach) Shield {
	s := Shield{On: true, Ports: append([]uint16{443}, add.Ports...)}
	s.Read = append(s.Read, systemFolders...)
	s.Read = append(s.Read, r.Dir())
	s.Read = append(s.Read, add.Read...)
	s.Read = append(s.Read, programFolders()...)
	s.readGo(ctx)
	return s
}

// KeepClosed refuses a reach by which workers could read folders that none may, such as the
// node's home: what lies below an open folder cannot be closed again.
func KeepClosed(ctx context.Context, r *git.Repository, add Reach, folders ...string) error {
	for _, open := range everyWorker(ctx, r, add).Read {
		given := slices.Contains(add.Read, open)
		for _, folder := range folders {
			if !liesIn(folder, open) && (!given || !liesIn(open, folder)) {
				continue
			}
			err := schemas.Invalidf("workers could read %s, for they may read %s", folder, open).
				Expecting("a folder that no worker can read")
			if given {
				return err.Try("name less by --read")
			}
			return err.Try("move cordelia's files elsewhere, or take that folder out of PATH")
		}
	}
	return nil
}

// liesIn reports whether a path is a folder, or lies below it.
func liesIn(path, folder string) bool {
	rel, err := filepath.Rel(resolved(folder), resolved(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// programFolders are the folders in PATH but for the user's home and what it lies in, also
// where PATH names those by a link or with a slash at the end.
func programFolders() (list []string) {
	home, err := os.UserHomeDir()
	if err == nil {
		home = resolved(home)
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if up, bad := filepath.Rel(resolved(dir), home); err != nil || bad != nil || strings.HasPrefix(up, "..") {
			list = append(list, dir)
		}
	}
	return list
}

// resolved is a path without links, as far as it leads anywhere.
func resolved(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if up := filepath.Dir(path); err != nil && up != path {
		return filepath.Join(resolved(up), filepath.Base(path))
	} else if err != nil {
		return filepath.Clean(path)
	}
	return real
}

// readGo lets workers read the Go toolchain and the modules that are there already.
func (s *Shield) readGo(ctx context.Context) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT", "GOMODCACHE").Output()
	if err != nil {
		return // there is no Go
	}
	if root, modules, ok := strings.Cut(strings.TrimSpace(string(out)), "\n"); ok && root != "" && modules != "" {
		s.Read = append(s.Read, root, modules)
		s.Env = append(s.Env, "GOROOT="+root, "GOMODCACHE="+modules)
	}
}
