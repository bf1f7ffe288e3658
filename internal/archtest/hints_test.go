package archtest

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tools are the names of all tools, from their published schemas.
func tools(t *testing.T) (names []string) {
	t.Helper()
	list, err := os.ReadDir(filepath.Join(root, "schemas", "tools"))
	require.NoError(t, err)
	for _, f := range list {
		if name, ok := strings.CutSuffix(f.Name(), ".schema.json"); ok {
			names = append(names, name)
		}
	}
	require.Greater(t, len(names), 30)
	return names
}

// literal is a text that is written out, in one piece or several.
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		if err == nil && e.Kind == token.STRING {
			return text
		}
	case *ast.BinaryExpr:
		return literal(e.X) + literal(e.Y)
	}
	return ""
}

// A hint names tools as calls: a face words those in its own way, and a tool of another name is found here.
func TestHintsNameToolsAsCalls(t *testing.T) {
	names := tools(t)
	word := regexp.MustCompile(`\b(` + strings.Join(names, "|") + `)\b`)
	calls, bad := 0, []string{}
	for _, f := range parsed(t) {
		if f.test {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			of, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			text := literal(call.Args[0])
			switch x, _ := of.X.(*ast.Ident); {
			case of.Sel.Name == "Try", of.Sel.Name == "Hintf":
				if name := word.FindString(text); name != "" {
					bad = append(bad, f.path+": name "+name+" with schemas.Tool, not in words: "+text)
				}
			case x != nil && x.Name == "schemas" &&
				slices.Contains([]string{"Tool", "Do", "Other", "Alone"}, of.Sel.Name):
				if calls++; text != "" && !slices.Contains(names, text) {
					bad = append(bad, f.path+": there is no tool "+text)
				}
			}
			return true
		})
	}
	require.Empty(t, bad)
	require.Greater(t, calls, 100, "hints are written otherwise now")
}
