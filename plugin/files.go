package plugin

import (
	"bytes"
	"embed"
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
)

//go:embed all:files
var tree embed.FS

// File is a file of the plugin.
type File struct {
	Path    string // below the plugin's folder, with /
	Content []byte
}

// Program is what the plugin starts.
type Program struct {
	Path    string   // absolute
	More    []string // arguments that each command gets, such as --home and a folder
	Release string   // its version, as v1.2.3; "" = 0.0.0, no release
}

// Files lists the plugin's files for p, in a fixed order. The plugin's version is that of
// the program, and 0.0.0 in the tree and of builds that are no release.
func Files(p Program) []File {
	var list []File
	err := fs.WalkDir(tree, "files", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := tree.ReadFile(path)
		if strings.HasSuffix(path, ".json") {
			content = p.versioned(p.started(content))
		}
		list = append(list, File{strings.TrimPrefix(path, "files/"), content})
		return err
	})
	if err != nil {
		panic(err) // the files are in the program: a defect
	}
	return list
}

// started puts the program and its arguments where a file starts cordelia from PATH.
func (p Program) started(content []byte) []byte {
	content = bytes.ReplaceAll(content, []byte(`"command": "cordelia"`), []byte(`"command": `+quoted(p.Path)))
	for _, command := range []string{"mcp", "hook"} {
		content = bytes.ReplaceAll(content, []byte(`"args": ["`+command+`"]`),
			[]byte(`"args": `+quoted(slices.Concat([]string{command}, p.More))))
	}
	return content
}

// versioned puts the version into the manifest.
func (p Program) versioned(content []byte) []byte {
	if p.Release == "" {
		return content
	}
	return bytes.Replace(content, []byte(`"version": "0.0.0"`),
		[]byte(`"version": `+quoted(strings.TrimPrefix(p.Release, "v"))), 1)
}

func quoted(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // strings only: a defect
	}
	return strings.TrimSpace(b.String())
}
