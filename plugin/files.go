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

// Files lists the plugin's files, in a fixed order. program is the absolute path of the
// binary; more are arguments that each command gets, such as --home and a folder.
func Files(program string, more []string) []File {
	var list []File
	err := fs.WalkDir(tree, "files", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := tree.ReadFile(path)
		if strings.HasSuffix(path, ".json") {
			content = started(content, program, more)
		}
		list = append(list, File{strings.TrimPrefix(path, "files/"), content})
		return err
	})
	if err != nil {
		panic(err) // the files are in the program: a defect
	}
	return list
}

// started puts program and more where a file starts cordelia from PATH.
func started(content []byte, program string, more []string) []byte {
	content = bytes.ReplaceAll(content, []byte(`"command": "cordelia"`), []byte(`"command": `+quoted(program)))
	for _, command := range []string{"mcp", "hook"} {
		content = bytes.ReplaceAll(content, []byte(`"args": ["`+command+`"]`),
			[]byte(`"args": `+quoted(slices.Concat([]string{command}, more))))
	}
	return content
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
