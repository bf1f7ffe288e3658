package archtest

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// picture is the layers, lowest first: a package imports only from layers below
// its own, so those of one layer never import each other. A package that exists
// and is not here fails, and so does one that is here and does not exist.
var picture = [][]string{
	{"internal/soak", "internal/figures"},
	{"schemas"},
	{"internal/store/lock", "internal/store/notify", "internal/store/migrate", "internal/endpoint"},
	{"internal/store", "internal/keys", "internal/check", "internal/embed", "internal/conform", "internal/merkle"},
	{"internal/store/storetest", "internal/embed/embedtest", "internal/drive"},
	{"events", "memory/text"},
	{"access"},
	{"access/accesstest"},
	{"agents", "memory", "trust", "work", "pipeline"},
	{"pipeline/controller", "swarm", "review"},
	{"run"},
	{"ops"},
	{"ops/opstest"},
	{"mcp", "hooks", "plugin", "internal/clients", "internal/demo"},
	{"cmd/cordelia"},
	// Proofs: they start binaries or look at the tree, and nothing imports them.
	{"internal/e2e"}, // the bench measures with its scripted model
	{"internal/archtest", "internal/bench", "internal/bench/empty", "internal/conformance", "internal/gatesim",
		"internal/mutate", "internal/release", "internal/replansim", "internal/scenario", "internal/trustsim"},
}

// firstProof is the layer from which on packages only prove things.
var firstProof = layerOf("internal/e2e")

// reserved are the packages that only some may import: outside path → folders.
var reserved = []struct {
	imports string // the path, or what is below it
	folders []string
	tests   []string // folders whose tests may, too
}{
	{"github.com/mark3labs/mcp-go", []string{"mcp", "internal/conformance", "internal/bench/empty"}, nil},
	{"crypto/ed25519", []string{"internal/keys"}, nil},
	{"crypto/hpke", []string{"internal/keys"}, nil},
	{"modernc.org/sqlite", []string{"internal/store"}, []string{"internal/scenario", "cmd/cordelia"}},
	{"database/sql/driver", []string{"internal/store"}, []string{"internal/scenario", "cmd/cordelia"}},
	{"github.com/spf13/cobra", []string{"cmd/cordelia"}, nil},
}

// schemasMayImport besides the standard library.
const schemasMayImport = "github.com/google/uuid"

var forbiddenNames = []string{"util", "utils", "common", "models", "helpers", "misc", "shared"}

func layerOf(folder string) int {
	return slices.IndexFunc(picture, func(l []string) bool { return slices.Contains(l, folder) })
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
	for _, layer := range picture {
		for _, folder := range layer {
			assert.True(t, exists[folder], "%s is in the picture and not in the tree", folder)
		}
	}
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
	case f.test && strings.HasPrefix(folder, f.pkg+"/"): // what a package offers to tests of its users, and its own
		return ""
	case to == from:
		return fmt.Sprintf("%s imports its sibling %s", f.pkg, folder)
	case to > from:
		return fmt.Sprintf("%s imports %s, which is above it", f.pkg, folder)
	case to >= firstProof && from < firstProof:
		return fmt.Sprintf("%s imports %s, which is a proof", f.pkg, folder)
	case (slices.Contains([]string{"storetest", "embedtest", "accesstest", "opstest"}, path.Base(folder)) ||
		folder == "internal/soak") && !f.test:
		return fmt.Sprintf("%s imports %s outside of tests", f.pkg, folder)
	}
	return ""
}

// The rule must be able to fail.
func TestWrongWaysAreFound(t *testing.T) {
	for _, tt := range []struct{ from, to, want string }{
		{"memory", "agents", "sibling"},
		{"access", "ops", "above"},
		{"schemas", "internal/store", "above"},
		{"internal/keys", "internal/store", "sibling"},
		{"ops", "internal/store/storetest", "outside of tests"},
		{"ops", "access", ""},
	} {
		got := wrongWay(sourceFile{pkg: tt.from}, tt.to)
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
