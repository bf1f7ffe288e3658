package store_test

import (
	"go/ast"
	"go/build"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store/storetest"
)

// sources reads the packages of the project; of others it knows nothing, which is enough to
// know the project's constants.
type sources struct {
	files    *token.FileSet
	packages map[string]*types.Package
	found    map[string]string // statements, and where they are used
	made     []string          // where statements are put together while the program runs
}

const (
	root   = "../.."
	module = "cordelia"
	own    = "internal/store" // which knows its engines
	proofs = "internal/proof" // which look into files
)

// statement is how SQL begins that PostgreSQL is to prepare.
var statement = regexp.MustCompile(`^\s*(SELECT|WITH|INSERT|UPDATE|DELETE)\s`)

// Import implements types.Importer.
func (s *sources) Import(name string) (*types.Package, error) {
	if p := s.packages[name]; p != nil {
		return p, nil
	}
	if !strings.HasPrefix(name, module+"/") {
		p := types.NewPackage(name, path.Base(name))
		p.MarkComplete()
		s.packages[name] = p
		return p, nil
	}
	found, err := build.Default.ImportDir(filepath.Join(root, strings.TrimPrefix(name, module+"/")), 0)
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, file := range found.GoFiles {
		f, err := parser.ParseFile(s.files, filepath.Join(found.Dir, file), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	checker := types.Config{Importer: s, Error: func(error) {}, FakeImportC: true}
	p, _ := checker.Check(name, s.files, files, info) //nolint:errcheck // other projects are not known
	s.packages[name] = p
	if folder := strings.TrimPrefix(name, module+"/"); folder != own && !strings.HasPrefix(folder, own+"/") {
		for _, f := range files {
			s.read(f, info)
		}
	}
	return p, nil
}

// read notes the statements that a file uses, whole: a constant that only begins or ends
// other ones is none.
func (s *sources) read(f *ast.File, info *types.Info) {
	ast.Inspect(f, func(n ast.Node) bool {
		if d, ok := n.(*ast.GenDecl); ok && d.Tok == token.CONST {
			return false
		}
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		if v := info.Types[e].Value; v != nil {
			if v.Kind() == constant.String && statement.MatchString(constant.StringVal(v)) {
				s.found[constant.StringVal(v)] = s.files.Position(e.Pos()).String()
			}
			return false
		}
		if b, ok := e.(*ast.BinaryExpr); ok && b.Op == token.ADD && begins(b, info) {
			s.made = append(s.made, s.files.Position(e.Pos()).String())
			return false
		}
		return true
	})
}

// begins reports whether a sum begins with SQL.
func begins(sum *ast.BinaryExpr, info *types.Info) bool {
	for e := sum.X; ; {
		if v := info.Types[e].Value; v != nil {
			return v.Kind() == constant.String && statement.MatchString(constant.StringVal(v))
		}
		b, ok := e.(*ast.BinaryExpr)
		if !ok {
			return false
		}
		e = b.X
	}
}

// PostgreSQL takes every statement of the project.
func TestPostgreSQLTakesEveryStatement(t *testing.T) {
	s := &sources{files: token.NewFileSet(), packages: map[string]*types.Package{}, found: map[string]string{}}
	require.NoError(t, filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		folder, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		folder = filepath.ToSlash(folder)
		if folder == proofs || folder != "." && strings.HasPrefix(d.Name(), ".") ||
			d.Name() == "testdata" {
			return fs.SkipDir
		}
		if sources, err := filepath.Glob(filepath.Join(p, "*.go")); err != nil || len(sources) == 0 || folder == "." {
			return err
		}
		_, err = s.Import(module + "/" + folder)
		return err
	}))
	require.Greater(t, len(s.found), 500, "the statements of the project")
	refused := storetest.Prepare(t, storetest.Database(t, storetest.Server(t), t.Name()),
		slices.Collect(maps.Keys(s.found)))
	for text, err := range refused {
		t.Errorf("%s: %v\n%s", s.found[text], err, text)
	}
	for _, where := range s.made { // tests of the packages run them
		require.Contains(t, where, "short", "a statement that is put together while the program runs")
	}
}
