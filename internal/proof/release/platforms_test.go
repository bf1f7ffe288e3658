package main

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// listed is a package as `go list` tells of it.
type listed struct {
	ImportPath, Name, Dir string
	GoFiles, Imports      []string
	ImportMap             map[string]string
	Standard              bool
}

func (l listed) own() bool { return strings.HasPrefix(l.ImportPath, "cordelia/") }

// sources parses each file once, however many platforms it is for.
type sources struct {
	testing.TB
	fset  *token.FileSet
	files map[string]*ast.File
}

// parse reads the files of a package; of others' without what is in their functions.
func (s *sources) parse(p listed) (files []*ast.File) {
	for _, name := range p.GoFiles {
		path := filepath.Join(p.Dir, name)
		if s.files[path] == nil {
			file, err := parser.ParseFile(s.fset, path, nil, parser.SkipObjectResolution)
			require.NoError(s, err)
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && !p.own() {
					f.Body = nil
				}
			}
			s.files[path] = file
		}
		files = append(files, s.files[path])
	}
	return files
}

// packages lists what the program is made of on a platform, each after what it imports.
func (s *sources) packages(platform string) (list []listed) {
	system, machine, _ := strings.Cut(platform, "/")
	cmd := exec.CommandContext(s.Context(), "go", "list", "-deps",
		"-json=ImportPath,Name,Dir,GoFiles,Imports,ImportMap,Standard", "./cmd/cordelia")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+machine)
	out, err := cmd.Output()
	require.NoError(s, err, platform)
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return list
		}
		require.NoError(s, err)
		list = append(list, p)
	}
}

// known are packages checked so far, as those that import them see them.
type known map[string]*types.Package

func (k known) importer(p listed) types.Importer {
	return importerFunc(func(path string) (*types.Package, error) {
		if mapped := p.ImportMap[path]; mapped != "" {
			path = mapped
		}
		if path == "unsafe" {
			return types.Unsafe, nil
		}
		return k[path], nil
	})
}

type importerFunc func(path string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }

// wrongs are what a compiler would not take of the program's own packages.
func (s *sources) wrongs(platform string) (list []string) {
	all := s.packages(platform)
	direct := map[string]bool{} // of modules, what they are made of themselves is left out
	for _, p := range all {
		for _, path := range p.Imports {
			direct[path] = direct[path] || p.own()
		}
	}
	seen := known{}
	_, machine, _ := strings.Cut(platform, "/")
	for _, p := range all {
		if !p.own() && !p.Standard && !direct[p.ImportPath] {
			seen[p.ImportPath] = types.NewPackage(p.ImportPath, p.Name)
			seen[p.ImportPath].MarkComplete()
			continue
		}
		conf := types.Config{IgnoreFuncBodies: !p.own(), Importer: seen.importer(p),
			Sizes: types.SizesFor("gc", machine), Error: func(err error) {
				if p.own() {
					list = append(list, err.Error())
				}
			}}
		seen[p.ImportPath], _ = conf.Check(p.ImportPath, s.fset, s.parse(p), nil) //nolint:errcheck // it is in the list
	}
	return list
}

// The program of every other platform compiles, as far as types tell: a build of all takes
// minutes from nothing, and so `make release` alone does that.
func TestEveryPlatformCompiles(t *testing.T) {
	s := &sources{t, token.NewFileSet(), map[string]*ast.File{}}
	checked := 0
	for platform := range strings.SplitSeq(platforms, ",") {
		if platform != runtime.GOOS+"/"+runtime.GOARCH {
			require.Empty(t, s.wrongs(platform), platform)
			checked++
		}
	}
	require.GreaterOrEqual(t, checked, 5)
}
