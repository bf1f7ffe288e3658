package run

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// WorkerShield is the shield of one worker: it may write its worktree, a HOME and a TMPDIR
// of its own in place, and read the system, the programs in PATH, its repository's .git,
// and what the user adds. Nothing else of the user's home can be read.
func (r *Repository) WorkerShield(ctx context.Context, place string, w *Worktree, door string,
	add Reach) (Shield, error) {
	s := Shield{On: true, Write: []string{w.Path}, Sockets: []string{door}, Ports: append([]uint16{443}, add.Ports...),
		Home: filepath.Join(place, "home"), Temp: filepath.Join(place, "tmp")}
	for _, dir := range []string{s.Home, s.Temp} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return s, err
		}
		s.Write = append(s.Write, dir)
	}
	s.Read = append(s.Read, systemFolders...)
	s.Read = append(s.Read, r.git.dir)
	s.Read = append(s.Read, add.Read...)
	s.Read = append(s.Read, programFolders()...)
	s.readGo(ctx)
	return s, nil
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

// resolved is a path without links, or cleaned where it does not lead anywhere.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
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
