package archtest

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// maxLines is how long a file may be; one of tests may be longer.
const (
	maxLines     = 400
	maxTestLines = 500
)

// unwanted is what no file may contain. The expressions are written so that
// they do not match themselves.
var unwanted = []struct {
	what string
	expr *regexp.Regexp
}{
	{"a path of one machine", regexp.MustCompile(`(^|[^A-Za-z0-9_.~}>])/(work|root|home/[a-z]+)/[a-z.]`)},
	{"the host of a package registry", regexp.MustCompile(
		`(?i)(registry\.npm[j]s|proxy\.golan[g]|sum\.golan[g]|pyp[i]\.org|crates[.]io)`)},
	{"work left over", regexp.MustCompile(`\b(TOD[O]|FIXM[E]|XX[X]|HAC[K])\b`)},
}

func TestNoUnwantedText(t *testing.T) {
	names, err := textFiles(".go", ".sql", ".sh", ".md", ".json", ".txt", ".html", ".css", ".js", ".yml", ".yaml",
		"Makefile", ".ci/run")
	require.NoError(t, err)
	for _, name := range names {
		raw, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		for i, line := range strings.Split(string(raw), "\n") {
			for _, u := range unwanted {
				assert.False(t, u.expr.MatchString(line), "%s:%d holds %s: %s", name, i+1, u.what,
					strings.TrimSpace(line))
			}
		}
	}
}

// The expressions must be able to match.
func TestUnwantedTextIsFound(t *testing.T) {
	for i, sample := range []string{"see /ho" + "me/me/x", "from registry.np" + "mjs.org", "// TO" + "DO later"} {
		require.True(t, unwanted[i].expr.MatchString(sample), sample)
	}
}

const maxColumns = 120

// A line fits on a screen, but for texts in back quotes, in which a break would change them.
func TestLinesAreShort(t *testing.T) {
	for _, f := range parsed(t) {
		raw, err := os.ReadFile(filepath.Join(root, f.path))
		require.NoError(t, err)
		quoted := false
		for i, line := range strings.Split(string(raw), "\n") {
			exempt := quoted || strings.Contains(line, "`") || strings.HasPrefix(f.path, "internal/proof/mutate/")
			if strings.Count(line, "`")%2 == 1 {
				quoted = !quoted
			}
			assert.True(t, exempt || utf8.RuneCountInString(line) <= maxColumns, "%s:%d is longer than %d columns",
				f.path, i+1, maxColumns)
		}
	}
}

// A file fits in the head.
func TestFilesAreShort(t *testing.T) {
	for _, f := range parsed(t) {
		raw, err := os.ReadFile(filepath.Join(root, f.path))
		require.NoError(t, err)
		most := maxLines
		if f.test {
			most = maxTestLines
		}
		assert.LessOrEqual(t, strings.Count(string(raw), "\n"), most, "%s: split it by subject", f.path)
	}
}

// The comment of a function or type begins with its name: one that was renamed and kept its
// comment speaks of something that is not there.
func TestCommentsNameWhatTheyDescribe(t *testing.T) {
	for _, f := range parsed(t) {
		if f.test || strings.HasPrefix(f.path, "internal/proof/") {
			continue
		}
		for _, d := range f.syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				assert.True(t, d.Doc != nil || d.Recv != nil || !d.Name.IsExported(), "%s: %s has no comment", f.path, d.Name)
				assertNames(t, f.path, d.Name, d.Doc)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if of, ok := s.(*ast.TypeSpec); ok && of.Doc != nil {
						assertNames(t, f.path, of.Name, of.Doc)
					} else if ok && len(d.Specs) == 1 {
						assertNames(t, f.path, of.Name, d.Doc)
					}
				}
			}
		}
	}
}

func assertNames(t *testing.T, path string, name *ast.Ident, doc *ast.CommentGroup) {
	t.Helper()
	if text := strings.Fields(doc.Text()); len(text) > 0 {
		first := strings.TrimSuffix(strings.Trim(text[0], ",.:"), "'s")
		assert.Equal(t, name.Name, first, "%s: the comment of %s begins with its name", path, name.Name)
	}
}
