package main

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// options say what to make.
type options struct {
	root      string // the module's folder
	version   string
	out       string
	platforms []string // as linux/amd64
}

// file is one that goes into an archive, or beside it.
type file struct {
	name string // slash-separated
	mode os.FileMode
	data []byte
}

// release makes the folder o.out.
func release(ctx context.Context, o options) error {
	if !semver.IsValid(o.version) {
		return fmt.Errorf("%q is no version: want one like v1.2.3", o.version)
	}
	if there, err := os.ReadDir(o.out); err == nil && len(there) > 0 {
		return fmt.Errorf("%s holds something: move it away", o.out)
	}
	work, err := os.MkdirTemp("", "cordelia-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work) //nolint:errcheck // a temporary folder
	host := runtime.GOOS + "/" + runtime.GOARCH
	own, err := o.build(ctx, work, host)
	if err != nil {
		return err
	}
	common, err := o.common(ctx, own)
	if err != nil {
		return err
	}
	var made []file
	for _, platform := range o.platforms {
		slog.Info("building", "platform", platform)
		program := own
		if platform != host {
			if program, err = o.build(ctx, work, platform); err != nil {
				return err
			}
		}
		list, err := o.pack(ctx, platform, program, common)
		if err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
		made = append(made, list...)
	}
	return o.write(append(made, checksums(made)))
}

// build compiles the program for a platform. Nothing of the machine gets into it:
// neither paths, nor the state of a checkout, nor what the environment asks for.
func (o options) build(ctx context.Context, dir, platform string) (string, error) {
	system, machine, ok := strings.Cut(platform, "/")
	if !ok {
		return "", fmt.Errorf("%q is no platform: want one like linux/amd64", platform)
	}
	path := filepath.Join(dir, system+"_"+machine, "cordelia")
	if system == "windows" {
		path += ".exe"
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -X cordelia/cmd/cordelia/cli.release="+o.version, "-o", path, "./cmd/cordelia")
	cmd.Dir = o.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+machine,
		"GOFLAGS=-mod=readonly", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build for %s: %w\n%s", platform, err, out)
	}
	return path, nil
}

// common makes what is the same on every platform, by asking the program of this
// one: completions and the manual page.
func (o options) common(ctx context.Context, program string) ([]file, error) {
	list := []file{}
	for what, name := range map[string]string{
		"bash": "completions/cordelia.bash", "zsh": "completions/_cordelia",
		"fish": "completions/cordelia.fish", "powershell": "completions/cordelia.ps1",
		"man": "man/cordelia.1",
	} {
		cmd := exec.CommandContext(ctx, program, "completion", what)
		cmd.Env = []string{} // defaults may come from it, and help shows them
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("completion %s: %w", what, err)
		}
		list = append(list, file{name, 0o644, out})
	}
	for _, name := range []string{"README.md", "LICENSE", "NOTICE", "SECURITY.md"} {
		raw, err := os.ReadFile(filepath.Join(o.root, name))
		if err != nil {
			return nil, err
		}
		list = append(list, file{name, 0o644, raw})
	}
	return list, nil
}

// pack makes the archive of a platform and the list of its parts.
func (o options) pack(ctx context.Context, platform, program string, common []file) ([]file, error) {
	raw, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	terms, err := licences(ctx, o.root, info)
	if err != nil {
		return nil, err
	}
	content := append(slices.Clone(common), file{filepath.Base(program), 0o755, raw},
		file{"LICENSES.txt", 0o644, terms})
	slices.SortFunc(content, func(a, b file) int { return strings.Compare(a.name, b.name) })
	name := "cordelia_" + strings.TrimPrefix(o.version, "v") + "_" + strings.ReplaceAll(platform, "/", "_")
	archive := file{name: name + ".tar.gz", mode: 0o644}
	if strings.HasPrefix(platform, "windows/") {
		archive.name = name + ".zip"
		archive.data, err = zipped(name, content)
	} else {
		archive.data, err = tarred(name, content)
	}
	parts, partsErr := bill(info, o.version, platform, raw)
	return []file{archive, {name + ".cdx.json", 0o644, parts}}, errors.Join(err, partsErr)
}

// checksums lists the SHA-256 of files, as sha256sum checks them.
func checksums(list []file) file {
	var b strings.Builder
	for _, f := range list {
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(f.data), f.name)
	}
	return file{"SHA256SUMS", 0o644, []byte(b.String())}
}

// write puts the files into the folder of the release.
func (o options) write(list []file) error {
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	for _, f := range list {
		if err := os.WriteFile(filepath.Join(o.out, f.name), f.data, f.mode); err != nil {
			return err
		}
	}
	return nil
}
