package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	module = "cordelia"
	root   = "../.."
)

// sourceFile is one parsed Go file, whatever its build constraints.
type sourceFile struct {
	path    string // slash-separated, from the root
	pkg     string // folder
	test    bool
	syntax  *ast.File
	imports []string
}

// goFiles parses every Go file of the tree, once.
var goFiles = sync.OnceValues(func() (files []sourceFile, err error) {
	all, err := textFiles(".go")
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	for _, name := range all {
		syntax, err := parser.ParseFile(fset, filepath.Join(root, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		f := sourceFile{path: name, pkg: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), syntax: syntax}
		for _, spec := range syntax.Imports {
			p, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return nil, err
			}
			f.imports = append(f.imports, p)
		}
		files = append(files, f)
	}
	return files, nil
})

// textFiles lists the files with one of the endings, hidden folders and
// other modules left out.
func textFiles(endings ...string) (names []string, err error) {
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		if d.IsDir() {
			base := d.Name()
			if rel != "." && (strings.HasPrefix(base, ".") && base != ".ci" || base == "node_modules" ||
				base == "bin") {
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(name, "go.mod")); rel != "." && err == nil {
				return filepath.SkipDir
			}
			return nil
		}
		if slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(rel, e) }) {
			names = append(names, filepath.ToSlash(rel))
		}
		return nil
	})
	return names, err
}

func parsed(t *testing.T) []sourceFile {
	t.Helper()
	files, err := goFiles()
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

// internalImport gives the folder of an import of this module.
func internalImport(p string) (folder string, ok bool) {
	return strings.CutPrefix(p, module+"/")
}
