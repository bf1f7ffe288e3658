package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	root    = "../../.."
	version = "v1.2.3-test.4"
)

// elsewhere copies what a build reads into another folder.
func elsewhere(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if rel != "." && strings.HasPrefix(rel, ".") || rel == "bin" || rel == "dist" || d.Name() == "testdata" {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(dir, rel), 0o700)
		}
		if !d.Type().IsRegular() || strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, rel), raw, 0o600)
	}))
	return dir
}

// unpack writes an archive into a folder and gives the paths in it.
func unpack(t *testing.T, archive, into string) (names []string) {
	t.Helper()
	put := func(name string, mode os.FileMode, r io.Reader) {
		raw, err := io.ReadAll(r)
		require.NoError(t, err)
		path := filepath.Join(into, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, raw, mode))
		names = append(names, name)
	}
	raw, err := os.ReadFile(archive)
	require.NoError(t, err)
	if strings.HasSuffix(archive, ".zip") {
		z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
		require.NoError(t, err)
		for _, f := range z.File {
			r, err := f.Open()
			require.NoError(t, err)
			put(f.Name, f.Mode().Perm(), r)
		}
		return names
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	require.NoError(t, err)
	r := tar.NewReader(z)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		require.NoError(t, err)
		put(h.Name, h.FileInfo().Mode().Perm(), r)
	}
}

// The archive of this platform holds a program that says the version it was given,
// with all that belongs to it; and whoever builds it elsewhere gets the same bytes.
func TestRelease(t *testing.T) {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	out, again := filepath.Join(t.TempDir(), "dist"), filepath.Join(t.TempDir(), "dist")
	require.NoError(t, release(t.Context(), options{root: root, version: version, out: out,
		platforms: []string{platform}}))
	require.ErrorContains(t, release(t.Context(), options{root: root, version: version, out: out,
		platforms: []string{platform}}), "holds something")

	name := "cordelia_1.2.3-test.4_" + runtime.GOOS + "_" + runtime.GOARCH
	archive, program := name+".tar.gz", "cordelia"
	if runtime.GOOS == "windows" {
		archive, program = name+".zip", "cordelia.exe"
	}
	sums := ""
	for _, file := range []string{archive, name + ".cdx.json"} {
		raw, err := os.ReadFile(filepath.Join(out, file))
		require.NoError(t, err)
		sums += fmt.Sprintf("%x  %s\n", sha256.Sum256(raw), file)
	}
	written, err := os.ReadFile(filepath.Join(out, "SHA256SUMS"))
	require.NoError(t, err)
	require.Equal(t, sums, string(written))

	dir := t.TempDir()
	var want []string
	for _, file := range []string{"LICENSE", "LICENSES.txt", "NOTICE", "README.md", "SECURITY.md", "completions/_cordelia",
		"completions/cordelia.bash",
		"completions/cordelia.fish", "completions/cordelia.ps1", program, "man/cordelia.1"} {
		want = append(want, name+"/"+file)
	}
	require.Equal(t, want, unpack(t, filepath.Join(out, archive), dir))
	said, err := exec.CommandContext(t.Context(), filepath.Join(dir, name, program), "version", "--json").Output()
	require.NoError(t, err)
	var is struct{ Version, Go string }
	require.NoError(t, json.Unmarshal(said, &is))
	require.Equal(t, version, is.Version)
	manual, err := os.ReadFile(filepath.Join(dir, name, "man", "cordelia.1"))
	require.NoError(t, err)
	require.Contains(t, string(manual), `"cordelia v1.2.3\-test.4"`)
	licences, err := os.ReadFile(filepath.Join(dir, name, "LICENSES.txt"))
	require.NoError(t, err)
	for _, part := range []string{"The Go standard library, go", "modernc.org/sqlite v", "github.com/spf13/cobra v"} {
		require.Contains(t, string(licences), "==== "+part)
	}
	requireParts(t, filepath.Join(out, name+".cdx.json"), filepath.Join(dir, name, program))

	home, err := os.UserHomeDir()
	require.NoError(t, err)
	raw, err := os.ReadFile(filepath.Join(dir, name, program))
	require.NoError(t, err)
	for _, file := range [][]byte{raw, manual} {
		require.False(t, bytes.Contains(file, []byte(home+string(filepath.Separator))),
			"it names a folder of whoever built it")
	}

	require.NoError(t, release(t.Context(), options{root: elsewhere(t), version: version, out: again,
		platforms: []string{platform}}))
	for _, file := range []string{archive, name + ".cdx.json", "SHA256SUMS"} {
		a, err := os.ReadFile(filepath.Join(out, file))
		require.NoError(t, err)
		b, err := os.ReadFile(filepath.Join(again, file))
		require.NoError(t, err)
		require.True(t, bytes.Equal(a, b), "%s differs from one build to the next", file)
	}
}

// requireParts checks a list of parts against what the program says it is made of.
func requireParts(t *testing.T, list, program string) {
	t.Helper()
	raw, err := os.ReadFile(list)
	require.NoError(t, err)
	var parts struct {
		BomFormat, SpecVersion string
		Version                int
		Metadata               struct{ Component component }
		Components             []component
		Dependencies           []dependency
	}
	require.NoError(t, json.Unmarshal(raw, &parts))
	require.Equal(t, "CycloneDX 1.6 1", fmt.Sprint(parts.BomFormat, " ", parts.SpecVersion, " ", parts.Version))
	built, err := os.ReadFile(program)
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("%x", sha256.Sum256(built)), parts.Metadata.Component.Hashes[0].Content)
	out, err := exec.CommandContext(t.Context(), "go", "version", "-m", program).Output()
	require.NoError(t, err)
	want := []string{"stdlib@" + strings.TrimPrefix(runtime.Version(), "go")}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) > 2 && f[0] == "dep" {
			want = append(want, f[1]+"@"+f[2])
		}
	}
	var have, refs []string
	for _, c := range parts.Components {
		have = append(have, c.Name+"@"+c.Version)
		refs = append(refs, c.Ref)
		require.Equal(t, "pkg:golang/"+c.Name+"@"+c.Version, c.Purl)
	}
	require.Equal(t, want, have)
	require.Equal(t, refs, parts.Dependencies[0].On)
	require.Len(t, parts.Dependencies, len(refs)+1)
}

func TestNoReleaseWithoutAVersion(t *testing.T) {
	for _, version := range []string{"", "1.2.3", "latest", "v1.2.3 -X main.x=y"} {
		out := filepath.Join(t.TempDir(), "dist")
		require.ErrorContains(t, release(t.Context(), options{root: root, version: version, out: out}), "is no version")
		require.NoDirExists(t, out)
	}
}

// The version that a checkout without a tag has is one.
func TestVersionFile(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root, "version"))
	require.NoError(t, err)
	_, err = (options{root: root}).build(t.Context(), t.TempDir(), "nowhere")
	require.ErrorContains(t, err, "is no platform")
	require.Regexp(t, `^v\d+\.\d+\.\d+(-[a-z.0-9]+)?\n$`, string(raw))
}

// A module whose terms nobody can pass on is refused.
func TestPartsNeedALicence(t *testing.T) {
	dir := t.TempDir()
	texts, err := licenceFiles(dir)
	require.NoError(t, err)
	require.Empty(t, texts)
	for _, name := range []string{"LICENSE", "LICENSE-SQLITE", "license.md", "COPYING", "licenses.go", "README"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("terms"), 0o600))
	}
	texts, err = licenceFiles(dir)
	require.NoError(t, err)
	require.Len(t, texts, 4)
	_, err = licences(t.Context(), root,
		&debug.BuildInfo{Deps: []*debug.Module{{Path: "example.org/nothing", Version: "v1.0.0"}}})
	require.Error(t, err)
}
