package archtest

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// proof is the folder of the packages that only prove things: they start the program, play
// simulations, or break rules and see which test fails. They import any package. Nothing
// imports them, but that tests ask soak how often to repeat what luck decides.
const (
	proof = "internal/proof/"
	soak  = proof + "soak"
)

// commands are the packages of the command line.
var commands = []string{"cmd/cordelia/cli", "cmd/cordelia/setup", "cmd/cordelia/audit", "cmd/cordelia/doctor",
	"cmd/cordelia"}

// reserved are the packages that only some may import: outside path → folders.
var reserved = []struct {
	imports string // the path, or what is below it
	folders []string
	tests   []string // folders whose tests may, too
}{
	{"github.com/mark3labs/mcp-go", []string{"mcp", "internal/proof/conformance", "internal/proof/bench/empty"}, nil},
	{"crypto/ed25519", []string{"internal/keys"}, nil},
	{"crypto/hpke", []string{"internal/keys"}, nil},
	{"modernc.org/sqlite", []string{"internal/store"}, []string{"internal/proof/scenario", "cmd/cordelia"}},
	{"github.com/jackc/pgx", []string{"internal/store/postgres", "internal/store/storetest"}, nil},
	{"github.com/nats-io", []string{"internal/jetstream", "internal/jetstream/jetstreamtest"}, nil},
	{"database/sql/driver", []string{"internal/store", "internal/store/postgres"},
		[]string{"internal/proof/scenario", "cmd/cordelia"}},
	{"github.com/spf13/cobra", commands, nil},
	{"github.com/chromedp", []string{"internal/proof/e2e"}, nil},
}

// testsMayImport are the packages above its own that a package's external tests may import.
var testsMayImport = map[string][]string{
	"node": {"ops", "ops/opstest"}, // what a home brings back and records comes of operations
}

// schemasMayImport besides the standard library.
const schemasMayImport = "github.com/google/uuid"

var forbiddenNames = []string{"util", "utils", "common", "models", "helpers", "misc", "shared"}

// layerOf is the layer of a package, that of the proofs above all others; -1 if it is in none.
func layerOf(folder string) int {
	if strings.HasPrefix(folder, proof) {
		return len(picture)
	}
	return slices.IndexFunc(picture, func(l layer) bool { return slices.Contains(l.folders, folder) })
}

func TestEveryPackageHasALayer(t *testing.T) {
	exists := map[string]bool{}
	for _, f := range parsed(t) {
		exists[f.pkg] = true
	}
	for folder := range exists {
		assert.GreaterOrEqual(t, layerOf(folder), 0, "package %s is in no layer: put it into picture", folder)
		assert.NotContains(t, forbiddenNames, path.Base(folder), "%s: a package is named for what it is about", folder)
	}
	for _, l := range picture {
		for _, folder := range l.folders {
			assert.True(t, exists[folder], "%s is in the picture and not in the tree", folder)
		}
	}
}

// maxFiles is how many files a package may have, tests left out. In ops each operation has a
// file of its own.
const maxFiles = 60

func TestPackagesAreSmall(t *testing.T) {
	count := map[string]int{}
	for _, f := range parsed(t) {
		if !f.test && f.pkg != "ops" {
			count[f.pkg]++
		}
	}
	assert.Empty(t, tooLarge(count, maxFiles), "make a room of what has the fewest names in common with the rest")
}

// tooLarge lists the packages of more than most files.
func tooLarge(files map[string]int, most int) (list []string) {
	for _, folder := range slices.Sorted(maps.Keys(files)) {
		if n := files[folder]; n > most {
			list = append(list, fmt.Sprintf("%s has %d files, more than %d", folder, n, most))
		}
	}
	return list
}

// The rule must be able to fail.
func TestLargePackagesAreFound(t *testing.T) {
	files := map[string]int{"memory": maxFiles, "run": maxFiles + 1}
	require.Equal(t, []string{"run has 61 files, more than 60"}, tooLarge(files, maxFiles))
}

func TestImportsGoDown(t *testing.T) {
	for _, f := range parsed(t) {
		for _, p := range f.imports {
			if folder, ok := internalImport(p); ok {
				assert.Empty(t, wrongWay(f, folder), f.path)
			}
		}
	}
}

// wrongWay says what is wrong with f's import of folder, "" if nothing is.
func wrongWay(f sourceFile, folder string) string {
	from, to := layerOf(f.pkg), layerOf(folder)
	switch {
	case from < 0 || to < 0:
		return "" // TestEveryPackageHasALayer says so
	case folder == f.pkg: // an external test package
		return ""
	case f.test && slices.Contains(testsMayImport[f.pkg], folder):
		return ""
	case f.test && strings.HasPrefix(folder, f.pkg+"/"): // what a package offers to tests of its users, and its own
		return ""
	case from == len(picture), f.test && folder == soak:
		return ""
	case to == len(picture):
		return fmt.Sprintf("%s imports %s, which is a proof", f.pkg, folder)
	case to == from:
		return fmt.Sprintf("%s imports its sibling %s", f.pkg, folder)
	case to > from:
		return fmt.Sprintf("%s imports %s, which is above it", f.pkg, folder)
	case forTests(folder) && !f.test && !forTests(f.pkg):
		return fmt.Sprintf("%s imports %s outside of tests", f.pkg, folder)
	}
	return ""
}

// forTests reports whether a package is only for tests of other packages.
func forTests(folder string) bool {
	return slices.Contains([]string{"storetest", "embeddingtest", "jetstreamtest", "accesstest",
		"opstest", "gittest"}, path.Base(folder))
}

// faces reach no store: what they ask goes through an operation or the node. Their tests
// write rows behind its back.
var faces = append([]string{"mcp", "hooks", "console"}, commands...)

func TestFacesReachNoStore(t *testing.T) {
	for _, f := range parsed(t) {
		if f.test || !slices.Contains(faces, f.pkg) {
			continue
		}
		assert.NotContains(t, f.imports, module+"/internal/store", "%s reaches the store", f.path)
		ast.Inspect(f.syntax, func(at ast.Node) bool { // n.Store.Read
			if outer, ok := at.(*ast.SelectorExpr); ok {
				inner, ok := outer.X.(*ast.SelectorExpr)
				assert.False(t, ok && inner.Sel.Name == "Store", "%s reaches the store: Store.%s", f.path, outer.Sel.Name)
			}
			return true
		})
	}
}

// The rule must be able to fail.
func TestWrongWaysAreFound(t *testing.T) {
	for _, tt := range []struct {
		from, to string
		test     bool
		want     string
	}{
		{"memory", "agents", false, "sibling"},
		{"access", "ops", false, "above"},
		{"schemas", "internal/store", false, "above"},
		{"internal/keys", "internal/store", false, "sibling"},
		{"ops", "internal/store/storetest", false, "outside of tests"},
		{"ops", "internal/store/storetest", true, ""},
		{"ops", "access", false, ""},
		{"cmd/cordelia", "internal/proof/e2e", false, "a proof"},
		{"cmd/cordelia", "internal/proof/e2e", true, "a proof"},
		{"events", "internal/proof/soak", false, "a proof"},
		{"events", "internal/proof/soak", true, ""},
		{"internal/proof/bench", "internal/proof/e2e", false, ""},
	} {
		got := wrongWay(sourceFile{pkg: tt.from, test: tt.test}, tt.to)
		require.Equal(t, tt.want == "", got == "", "%s → %s: %s", tt.from, tt.to, got)
		require.Contains(t, got, tt.want)
	}
}

func TestReservedImports(t *testing.T) {
	for _, f := range parsed(t) {
		for _, p := range f.imports {
			for _, r := range reserved {
				if p != r.imports && !strings.HasPrefix(p, r.imports+"/") {
					continue
				}
				allowed := slices.Contains(r.folders, f.pkg) || f.test && slices.Contains(r.tests, f.pkg)
				assert.True(t, allowed, "%s imports %s, which only %v may", f.path, p, r.folders)
			}
			if _, ours := internalImport(p); f.pkg == "schemas" && !f.test && p != schemasMayImport {
				assert.False(t, ours || strings.Contains(strings.Split(p, "/")[0], "."), "%s imports %s", f.path, p)
			}
		}
	}
}

func TestEveryPackageHasADoc(t *testing.T) {
	documented, all := map[string]bool{}, map[string]bool{}
	for _, f := range parsed(t) {
		all[f.pkg] = true
		switch path.Base(f.path) {
		case "doc.go":
			documented[f.pkg] = f.syntax.Doc != nil
		case "main.go": // of a command: its doc is its help
			documented[f.pkg] = documented[f.pkg] || f.syntax.Name.Name == "main" && f.syntax.Doc != nil
		}
	}
	for folder := range all {
		assert.True(t, documented[folder], "%s has no doc.go with a package comment", folder)
	}
}

// An init function runs before main can decide anything.
func TestNoInit(t *testing.T) {
	for _, f := range parsed(t) {
		if f.test {
			continue
		}
		assert.Nil(t, f.syntax.Scope.Lookup("init"), "%s has an init function", f.path)
	}
}
