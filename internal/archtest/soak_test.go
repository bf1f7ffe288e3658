package archtest

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// soaks reports whether a test of f does more when CORDELIA_SOAK is set.
func soaks(f sourceFile) (found bool) {
	if !f.test || f.pkg == "internal/archtest" {
		return false
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		found = found || ok && lit.Kind == token.STRING && strings.Contains(lit.Value, "CORDELIA_SOAK")
		return !found
	})
	return found || slices.Contains(f.imports, module+"/"+soak)
}

// `make soak` runs every package whose tests have a full count, whole, and no other.
func TestSoakLeavesNothingOut(t *testing.T) {
	want := map[string]bool{}
	for _, f := range parsed(t) {
		if soaks(f) {
			want["./"+f.pkg] = true
		}
	}
	raw, err := os.ReadFile(filepath.Join(root, "scripts/soak.sh"))
	require.NoError(t, err)
	have := map[string]bool{}
	for line := range strings.Lines(string(raw)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, word := range strings.FieldsFunc(line,
			func(r rune) bool { return strings.ContainsRune(" \t\n()\"", r) }) {
			require.NotEqual(t, "-run", word, "a filter leaves tests out: %s", line)
			if strings.HasPrefix(word, "./") {
				have[word] = true
			}
		}
	}
	require.Equal(t, want, have)
}
