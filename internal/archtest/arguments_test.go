package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// blank imports each package as one without contents: the types of package ops itself are enough here.
type blank struct{}

func (blank) Import(of string) (*types.Package, error) {
	p := types.NewPackage(of, path.Base(of))
	p.MarkComplete()
	return p, nil
}

// inputs lists the fields of the inputs of operations, Define(Spec{…}, handler), by what they are called,
// and of those structs in them that the package declares. ignored are the fields that no code reads.
func inputs(fset *token.FileSet, files []*ast.File) (fields, ignored []string) {
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
		Uses: map[*ast.Ident]types.Object{}}
	look := types.Config{Importer: blank{}, Error: func(error) {}} // names of other packages are unknown
	pkg, _ := look.Check("ops", fset, files, info)                 //nolint:errcheck // for that reason
	read, written := map[types.Object]bool{}, map[ast.Expr]bool{}
	var of []types.Type
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, to := range n.Lhs {
					written[to] = n.Tok == token.ASSIGN
				}
			case *ast.SelectorExpr:
				if s := info.Selections[n]; s != nil && !written[n] {
					read[s.Obj()] = true
				}
			case *ast.CallExpr:
				if to, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) == 1 {
					x, _ := to.X.(*ast.Ident)
					s, _ := underlying(info.TypeOf(n.Args[0])).(*types.Struct)
					if _, ok := info.Uses[x].(*types.PkgName); ok && s != nil { // the whole is made a value of another package's
						for field := range s.Fields() {
							read[field] = true
						}
					}
				}
				if name, ok := n.Fun.(*ast.Ident); !ok || name.Name != "Define" || len(n.Args) != 2 {
					return true
				}
				if handler, ok := info.TypeOf(n.Args[1]).(*types.Signature); ok && handler.Params().Len() == 3 {
					of = append(of, handler.Params().At(2).Type())
				}
			}
			return true
		})
	}
	seen := map[types.Type]bool{}
	var list func(name string, t types.Type)
	list = func(name string, t types.Type) {
		switch u := t.(type) {
		case *types.Pointer:
			list(name, u.Elem())
		case *types.Slice:
			list(name, u.Elem())
		case *types.Named:
			s, ok := u.Underlying().(*types.Struct)
			if !ok || u.Obj().Pkg() != pkg || seen[t] {
				return
			}
			seen[t] = true
			for i := range s.NumFields() {
				field, of := s.Field(i), u.Obj().Name()+"."+s.Field(i).Name()
				if reflect.StructTag(s.Tag(i)).Get("json") != "-" && !field.Embedded() {
					if fields = append(fields, of); !read[field] {
						ignored = append(ignored, of)
					}
				}
				list(of, field.Type())
			}
		}
	}
	for _, t := range of {
		list("", t)
	}
	return fields, ignored
}

// underlying is the type that t is made of; nil for one that is not known.
func underlying(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	return t.Underlying()
}

// An argument that its handler ignores is one that a caller gives for nothing.
func TestHandlersReadTheirArguments(t *testing.T) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, f := range parsed(t) {
		if f.pkg != "ops" || f.test {
			continue
		}
		file, err := parser.ParseFile(fset, filepath.Join(root, f.path), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, file)
	}
	fields, ignored := inputs(fset, files)
	require.Greater(t, len(fields), 100, "the inputs of operations are written otherwise now")
	require.Empty(t, ignored, "pass them on, or drop them from the input")
}

// The rule must be able to fail.
func TestIgnoredArgumentsAreFound(t *testing.T) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "find.go", `package ops

import ("context"; "cordelia/memory")

var find = Define(Spec{Name: "find"}, func(ctx context.Context, c *Call, in findIn) (memory.Found, error) {
	in.Written = memory.Text(in.Whole)
	return Transact(ctx, c, func(g access.Grant) (memory.Found, error) {
		return memory.Find(g, memory.Search{Text: in.Text, Tags: in.Rows[0].Tags})
	})
})

type findIn struct {
	Text    string
	Group   memory.Group
	Written string
	Rows    []*rowIn
	Whole   wholeIn
}

type wholeIn struct{ Name string }

type rowIn struct{ Tags, Names []string }
`, parser.SkipObjectResolution)
	require.NoError(t, err)
	fields, ignored := inputs(fset, []*ast.File{file})
	require.Len(t, fields, 8)
	require.Equal(t, []string{"findIn.Group", "findIn.Written", "rowIn.Names"}, ignored)
}
